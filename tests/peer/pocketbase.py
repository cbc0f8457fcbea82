"""PocketBase, one program on SQLite, by its REST API."""

import hashlib
import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlencode

import data
from common import CARDS, PAGE, RUN, System, run, size, until

HERE = Path(__file__).parent
VENV = HERE.parent.parent / "target/pocketbase"
ADMIN = {"identity": "admin@example.com", "password": "peer-password"}
# API rules: whoever has signed in.
READ = dict.fromkeys(("listRule", "viewRule"), '@request.auth.id != ""')
WRITE = dict.fromkeys(("createRule", "updateRule", "deleteRule"), '@request.auth.id != ""')
# What follows a searched text. With `%` it begins a field, and an index finds it. Without, which is the usual form,
# it stands anywhere in a field, and each row is read.
AFTER = {"beginning": "%", "anywhere": ""}[os.environ.get("POCKETBASE_SEARCH", "beginning")]
# Each is one scan of the first index of opportunities. A view takes no parameters: with a row for each day, from which
# a client adds up any period, a report costs ten times as much.
VIEWS = {
    "totals": "SELECT `column` AS id, COUNT(*) AS total, SUM(value) AS value FROM opportunities GROUP BY `column`",
    "report": "SELECT `column` AS id, SUM(value) AS value FROM opportunities "
              f"WHERE created >= '{data.REPORT_FROM:%Y-%m-%d}' GROUP BY `column`",
}


def key(kind, number):
    """The id of a record. PocketBase's are 15 random characters, so these come in no order either."""
    return hashlib.md5(f"{kind}{number}".encode()).hexdigest()[:15]


def stamp(moment):
    return f"{moment:%Y-%m-%d %H:%M:%S.000Z}"


class PocketBase(System):
    name, port = "PocketBase", 8390
    files = RUN / "pocketbase"

    def __init__(self):
        super().__init__()
        self.program = os.environ.get("POCKETBASE") or VENV / "bin/pocketbase"
        if "POCKETBASE" not in os.environ and not self.program.exists():
            run(sys.executable, "-m", "venv", VENV)
            run(VENV / "bin/pip", "install", "--quiet", "-r", HERE / "requirements.txt")

    def version(self):
        return "PocketBase " + subprocess.check_output([self.program, "--version"], text=True).split()[-1]

    def serve(self):
        self.spawn("pocketbase", self.program, "serve", "--dir", self.files, "--http", f"127.0.0.1:{self.port}",
                   "--automigrate=false")
        until(lambda: self.client().get("/api/health"))

    def sign_in(self, collection, identity):
        self.headers["Authorization"] = self.client().post(
            f"/api/collections/{collection}/auth-with-password", identity)["token"]

    def start(self):
        self.serve()
        self.sign_in("users", {**ADMIN, "identity": "user1@example.com"})

    def load(self):
        self.files.mkdir(exist_ok=True)
        run(self.program, "superuser", "upsert", *ADMIN.values(), "--dir", self.files, stdout=subprocess.DEVNULL)
        self.serve()
        self.sign_in("_superusers", ADMIN)
        create_collections(self.client())
        create_first_records(self.client())
        self.stop()
        # By SQL: PocketBase has no import, and a batch of its API checks each record as a request does.
        with sqlite3.connect(self.files / "data.db") as database:
            for table, columns, rows in tables():
                database.executemany(
                    f"INSERT INTO {table} ({','.join(columns)}) VALUES ({','.join('?' * len(columns))})", rows)
            # Statistics, which PocketBase renews every night by `PRAGMA optimize`.
            database.execute("ANALYZE")
        database.close()

    def size(self):
        return size(self.files)

    def list(self, client, collection, limit, page=1, total=False, **query):
        """Counts all records only for work that needs their number. To choose fields costs more than to get all."""
        query = {"perPage": limit, "page": page, "skipTotal": int(not total), **query}
        return client.get(f"/api/collections/{collection}/records?{urlencode(query)}")

    def lead(self, client, number):
        return client.get(f"/api/collections/leads/records/{key('lead', number)}?expand=owner")["id"]

    def leads(self, client, offset=0, text=""):
        query = {"sort": "-created", "expand": "owner"}
        if text:
            searched = ("name", "lastname", "email", "phone")
            query["filter"] = " || ".join(f'{field} ~ "{text}{AFTER}"' for field in searched)
        return self.list(client, "leads", PAGE, offset // PAGE + 1, total=True, **query)["totalItems"]

    def cards(self, client, condition, limit, page=1, total=False):
        return self.list(client, "opportunities", limit, page, total, sort="-created", filter=condition, expand="lead")

    def board(self, client, text=""):
        """One request for each column, and one for the totals and sums. In a search each request counts its column,
        without sums: a view cannot search, and to read all values costs more."""
        found = 0
        for column in range(len(data.COLUMNS)):
            condition = f'column = "{key("column", column)}"'
            if text:
                condition += f' && title ~ "{text}{AFTER}"'
            found += self.cards(client, condition, CARDS, total=bool(text))["totalItems"]
        return found if text else sum(row["total"] for row in self.list(client, "totals", CARDS)["items"])

    def column(self, client, column, page):
        return len(self.cards(client, f'column = "{key("column", column)}"', PAGE, page + 1)["items"])

    def of_lead(self, client, number):
        return len(self.cards(client, f'lead = "{key("lead", number)}"', 80)["items"])

    def report(self, client):
        return len(self.list(client, "report", 80)["items"])

    def new_lead(self, client, lead):
        return client.post("/api/collections/leads/records", {
            "name": f"{lead['first']} {lead['last']}", "lastname": lead["last"], "email": lead["email"],
            "phone": lead["phone"], "city": lead["city"], "owner": key("user", lead["user"])})

    def new_opportunity(self, client, like):
        return client.post("/api/collections/opportunities/records", {
            "title": like["title"], "value": like["value"], "funnel": key("funnel", 1),
            "column": key("column", like["column"]), "lead": key("lead", like["lead"]),
            "user": key("user", like["user"])})

    def move(self, client, number, column):
        return client.patch(f"/api/collections/opportunities/records/{key('opportunity', number)}",
                            {"column": key("column", column)})


def create_collections(client):
    # Funil writes no line for a request that succeeds either.
    client.patch("/api/settings", {"logs": {"minLevel": 4}})
    ids = {"users": client.patch("/api/collections/users", {**READ, "authAlert": {"enabled": False}})["id"]}

    def text(name):
        return {"type": "text", "name": name}

    def link(name, to):
        return {"type": "relation", "name": name, "collectionId": ids[to], "maxSelect": 1, "required": True}

    def collection(name, *fields, indexes=()):
        created = [{"type": "autodate", "name": "created", "onCreate": True},
                   {"type": "autodate", "name": "updated", "onCreate": True, "onUpdate": True}]
        ids[name] = client.post("/api/collections", {
            "name": name, "type": "base", "fields": [*fields, *created], **READ, **WRITE,
            "indexes": [f"CREATE INDEX `{name}_{n}` ON `{name}` ({index})" for n, index in enumerate(indexes)]})["id"]

    collection("funnels", text("name"))
    collection("columns", link("funnel", "funnels"), text("name"), {"type": "number", "name": "sequence"})
    # LIKE uses an index only if that compares as LIKE does.
    collection("leads", text("name"), text("lastname"), {"type": "email", "name": "email"}, text("phone"), text("city"),
               link("owner", "users"),
               indexes=["created", "name COLLATE NOCASE", "lastname COLLATE NOCASE", "email COLLATE NOCASE",
                        "phone COLLATE NOCASE", "owner"])
    collection("opportunities", text("title"), {"type": "number", "name": "value"}, link("funnel", "funnels"),
               link("column", "columns"), link("lead", "leads"), link("user", "users"),
               indexes=["`column`, created, value", "`column`, title COLLATE NOCASE", "lead, created", "user, created"])
    for name, query in VIEWS.items():
        client.post("/api/collections", {"name": name, "type": "view", "viewQuery": query, **READ})


def create_first_records(client):
    """Users, whose passwords PocketBase has to hash, and the funnel."""
    for number in range(1, data.USERS + 1):
        client.post("/api/collections/users/records", {
            "id": key("user", number), "name": f"User {number}", "email": f"user{number}@example.com",
            "password": ADMIN["password"], "passwordConfirm": ADMIN["password"]})
    client.post("/api/collections/funnels/records", {"id": key("funnel", 1), "name": "Sales"})
    for n, name in enumerate(data.COLUMNS):
        client.post("/api/collections/columns/records", {
            "id": key("column", n), "funnel": key("funnel", 1), "name": name, "sequence": n + 1})


def tables():
    """The rows that PocketBase writes for the data."""
    yield "leads", ("id", "name", "lastname", "email", "phone", "city", "owner", "created", "updated"), (
        (key("lead", lead["number"]), f"{lead['first']} {lead['last']}", lead["last"], lead["email"], lead["phone"],
         lead["city"], key("user", lead["user"]), stamp(lead["created"]), stamp(lead["created"]))
        for lead in data.leads())
    yield "opportunities", ("id", "title", "value", "funnel", "`column`", "lead", "user", "created", "updated"), (
        (key("opportunity", one["number"]), one["title"], one["value"], key("funnel", 1), key("column", one["column"]),
         key("lead", one["lead"]), key("user", one["user"]), stamp(one["created"]), stamp(one["created"]))
        for one in data.opportunities())
