"""Odoo Community with PostgreSQL, by the calls of its web client."""

import json
import os
import subprocess
from pathlib import Path

import data
from common import CARDS, PAGE, RUN, System, binary, run, size, until

ODOO = Path(os.environ.get("ODOO_DIR", "/usr/lib/python3/dist-packages/odoo"))
PYTHON = os.environ.get("ODOO_PYTHON", "python3")
HERE = Path(__file__).parent
DATABASE_PORT = 5533


def fields(plain, linked, tags=True):
    """What the web client asks for: fields, and links with the names of their records."""
    tags = {"tag_ids": {"fields": {"display_name": {}, "color": {}}}} if tags else {}
    return {**{name: {} for name in plain.split()},
            **{name: {"fields": {"display_name": {}}} for name in linked.split()}, **tags}


# The form, the list and the card of the views of the module `crm`.
FORM = fields("name type active contact_name partner_name email_from email_cc phone mobile website street street2 city zip "
              "function priority probability expected_revenue date_deadline description referred create_date date_open "
              "date_closed", "partner_id state_id country_id title user_id team_id company_id stage_id campaign_id "
              "medium_id source_id lost_reason_id")
LIST = fields("name contact_name email_from phone city create_date active date_deadline", "country_id user_id team_id",
              tags=False)
CARD = fields("name probability color priority expected_revenue activity_date_deadline activity_summary active "
              "activity_state activity_ids recurring_revenue_monthly",
              "stage_id user_id partner_id company_currency team_id")
LEAD, OPPORTUNITY = [["type", "=", "lead"]], [["type", "=", "opportunity"]]


def any_of(fields, text):
    """The domain in which a text is part of one of the fields."""
    if not text:
        return []
    return ["|"] * (len(fields) - 1) + [[field, "ilike", text] for field in fields]


class Odoo(System):
    name, port = "Odoo", 8169

    def __init__(self):
        super().__init__()
        self.bin = Path(binary("postgres", "usr/lib/postgresql/*/bin/postgres")).parent
        self.program = ODOO / "odoo-bin" if (ODOO / "odoo-bin").exists() else binary("odoo", "usr/bin/odoo")

    def version(self):
        postgres = subprocess.check_output([self.bin / "postgres", "--version"], text=True).split()[2]
        odoo = subprocess.check_output([PYTHON, self.program, "--version"], text=True).split()[-1]
        return f"Odoo {odoo}, PostgreSQL {postgres}"

    def start_database(self):
        files = RUN / "postgresql"
        if not files.exists():
            run(self.bin / "initdb", "-D", files, "-U", "odoo", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8",
                stdout=subprocess.DEVNULL)
        self.spawn("postgresql", self.bin / "postgres", "-D", files, "-p", DATABASE_PORT, "-k", RUN,
                   "-c", "listen_addresses=127.0.0.1", "-c", "shared_buffers=512MB")
        until(lambda: run(self.bin / "pg_isready", "-q", "-h", "127.0.0.1", "-p", DATABASE_PORT))

    def odoo(self, *arguments):
        return [PYTHON, self.program, *arguments, "-d", "peer", "--db_host", "127.0.0.1", "--db_port", DATABASE_PORT,
                "--db_user", "odoo", "--data-dir", RUN / "odoo", "--log-level", "warn"]

    def start(self):
        self.start_database()
        self.spawn("odoo", *self.odoo("--http-interface", "127.0.0.1", "--http-port", self.port,
                                      "--gevent-port", self.port + 1, "--workers", 4, "--max-cron-threads", 0))
        until(lambda: self.client().get("/web/health"))
        client = self.client()
        client.post("/web/session/authenticate", {"jsonrpc": "2.0", "params": {
            "db": "peer", "login": "admin", "password": "admin"}})
        self.headers["Cookie"] = client.cookie.split(";")[0]
        # Odoo numbers the records in the order of their creation.
        self.first = json.loads(self.sql("""SELECT json_build_object(
            'partner', (SELECT min(id) - 1 FROM res_partner WHERE ref = 'peer'),
            'lead', (SELECT min(id) - 1 FROM crm_lead WHERE type = 'lead'),
            'opportunity', (SELECT min(id) - 1 FROM crm_lead WHERE type = 'opportunity'),
            'user', (SELECT min(id) - 1 FROM res_users WHERE login LIKE 'user%'),
            'stages', (SELECT json_agg(id ORDER BY sequence) FROM crm_stage))"""))

    def load(self):
        self.start_database()
        run(*self.odoo("-i", "crm", "--without-demo", "all", "--stop-after-init", "--max-cron-threads", 0))
        with open(HERE / "odoo_load.py") as script:
            run(*self.odoo("shell", "--no-http"), stdin=script, env={**os.environ, "PYTHONPATH": str(HERE)})
        self.sql("VACUUM ANALYZE")

    def sql(self, statement):
        command = ["psql", "-h", "127.0.0.1", "-p", str(DATABASE_PORT), "-U", "odoo", "-d", "peer", "-Atc", statement]
        return subprocess.check_output(command, text=True)

    def size(self):
        """The database without its write-ahead log, and the files of attachments."""
        return int(self.sql("SELECT pg_database_size('peer')")) + size(RUN / "odoo")

    def call(self, client, method, *arguments, **options):
        answer = client.post(f"/web/dataset/call_kw/crm.lead/{method}", {"jsonrpc": "2.0", "method": "call", "params": {
            "model": "crm.lead", "method": method, "args": arguments,
            "kwargs": {**options, "context": {"lang": "en_US", "tz": "UTC", "uid": 2}}}})
        if "error" in answer:
            raise SystemExit(answer["error"]["data"]["debug"])
        return answer["result"]

    def lead(self, client, number):
        return self.call(client, "web_read", [self.first["lead"] + number], specification=FORM)

    def leads(self, client, offset=0, text=""):
        domain = LEAD + any_of(["partner_name", "email_from", "contact_name", "name"], text)
        return self.call(client, "web_search_read", domain, specification=LIST, offset=offset, limit=PAGE,
                         count_limit=10_001)["length"]

    def cards(self, client, domain, limit, offset=0):
        return len(self.call(client, "web_search_read", OPPORTUNITY + domain, specification=CARD, limit=limit,
                             offset=offset, count_limit=10_001)["records"])

    def board(self, client, text=""):
        """The web client asks for the columns, for their progress bars and for the cards of each column."""
        domain = any_of(["name"], text)
        groups = self.call(client, "web_read_group", OPPORTUNITY + domain, groupby=["stage_id"],
                           fields=["expected_revenue:sum", "recurring_revenue_monthly:sum", "stage_id"])["groups"]
        self.call(client, "read_progress_bar", OPPORTUNITY + domain, group_by="stage_id", progress_bar={
            "field": "activity_state", "colors": {"planned": "success", "today": "warning", "overdue": "danger"},
            "sum_field": "expected_revenue"})
        for group in groups:
            self.cards(client, domain + [["stage_id", "=", group["stage_id"][0]]], CARDS)
        return sum(group["stage_id_count"] for group in groups)

    def column(self, client, column, page):
        return self.cards(client, [["stage_id", "=", self.first["stages"][column]]], PAGE, page * PAGE)

    def of_lead(self, client, number):
        return self.cards(client, [["partner_id", "=", self.first["partner"] + number]], 80)

    def report(self, client):
        domain = OPPORTUNITY + [["create_date", ">=", f"{data.REPORT_FROM}"]]
        return len(self.call(client, "web_read_group", domain, groupby=["stage_id"],
                             fields=["expected_revenue:sum"])["groups"])

    def new_lead(self, client, lead):
        name = f"{lead['first']} {lead['last']}"
        return self.call(client, "web_save", [], {
            "type": "lead", "name": name, "contact_name": name, "email_from": lead["email"], "phone": lead["phone"],
            "city": lead["city"], "user_id": self.first["user"] + lead["user"]}, specification=FORM)

    def new_opportunity(self, client, like):
        return self.call(client, "web_save", [], {
            "type": "opportunity", "name": like["title"], "expected_revenue": like["value"],
            "stage_id": self.first["stages"][like["column"]], "partner_id": self.first["partner"] + like["lead"],
            "user_id": self.first["user"] + like["user"]}, specification=CARD)

    def move(self, client, number, column):
        return self.call(client, "web_save", [self.first["opportunity"] + number],
                         {"stage_id": self.first["stages"][column]}, specification=CARD)
