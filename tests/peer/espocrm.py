"""EspoCRM with MariaDB, Apache and mod_php, by its REST API."""

import base64
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from urllib.parse import urlencode

import data
from common import CARDS, PAGE, RUN, System, binary, run, size, until

SOURCE = Path(os.environ.get("ESPOCRM_DIR", "/var/www/espocrm"))
ESPOCRM = RUN / "espocrm"
MODULES = Path("/usr/lib/apache2/modules")
DATABASE_PORT = 3407
LEAD = "id,name,emailAddress,phoneNumber,addressCity,createdAt,assignedUserId,assignedUserName,status"
CARD = "id,name,accountId,accountName,amount,amountCurrency,stage,closeDate,probability,createdAt,assignedUserId,"\
    "assignedUserName"
APACHE = """
ServerRoot {run}
ServerName 127.0.0.1
Listen 127.0.0.1:{port}
PidFile {run}/apache.pid
ErrorLog {run}/apache-error.log
{modules}
StartServers 4
MinSpareServers 4
MaxSpareServers 4
DocumentRoot {espocrm}/public
DirectoryIndex index.php
<FilesMatch "\\.php$">
SetHandler application/x-httpd-php
</FilesMatch>
<Directory />
AllowOverride None
</Directory>
<Directory {espocrm}/public>
AllowOverride All
</Directory>
"""


def key(kind, number):
    """The id of a record, in the 17 characters of EspoCRM's ids."""
    return f"{kind}{number:016}"


class EspoCrm(System):
    name, port = "EspoCRM", 8270

    def version(self):
        database = self.sql("SELECT version()").partition("-")[0]
        php = subprocess.check_output(["php", "-r", "echo PHP_VERSION;"], text=True)
        espocrm = re.search(r"'version' => '([^']+)'", (ESPOCRM / "data/config.php").read_text())
        return f"EspoCRM {espocrm[1]}, MariaDB {database}, PHP {php}"

    def start_database(self):
        files = RUN / "mariadb"
        if not files.exists():
            run("mariadb-install-db", "--no-defaults", f"--datadir={files}", "--auth-root-authentication-method=normal",
                "--skip-test-db", stdout=subprocess.DEVNULL)
        self.spawn("mariadb", binary("mariadbd", "usr/sbin/mariadbd"), "--no-defaults", f"--datadir={files}",
                   f"--port={DATABASE_PORT}", "--bind-address=127.0.0.1", f"--socket={RUN}/mariadb.sock",
                   "--innodb-buffer-pool-size=512M")
        until(lambda: self.sql("SELECT 1", database="mysql"))

    def sql(self, statements, database="espo"):
        return run("mariadb", "--no-defaults", "-N", "-S", RUN / "mariadb.sock", "-u", "root", database, input=statements,
                   text=True, capture_output=True).stdout

    def start(self):
        self.start_database()
        php = max(MODULES.glob("libphp*.so"))
        modules = [f"LoadModule {name}_module {MODULES}/mod_{name}.so"
                   for name in ("mpm_prefork", "authz_core", "dir", "env", "rewrite")] + [f"LoadModule php_module {php}"]
        config = RUN / "apache.conf"
        config.write_text(APACHE.format(run=RUN, port=self.port, espocrm=ESPOCRM, modules="\n".join(modules)))
        self.spawn("apache", binary("apache2", "usr/sbin/apache2"), "-f", config, "-D", "FOREGROUND")
        until(lambda: self.client().get("/api/v1/Settings"))
        # The names of the data repeat, which the other systems accept.
        self.headers["X-Skip-Duplicate-Check"] = "true"
        # With a password each request would compute its hash, so that clients use a token.
        self.authorize("admin")
        self.authorize(self.client().get("/api/v1/App/user")["token"])

    def authorize(self, secret):
        self.headers["Espo-Authorization"] = base64.b64encode(f"admin:{secret}".encode()).decode()

    def load(self):
        self.start_database()
        self.sql("CREATE DATABASE espo CHARACTER SET utf8mb4; CREATE USER espo@127.0.0.1 IDENTIFIED BY 'espo'; "
                 "GRANT ALL ON espo.* TO espo@127.0.0.1", database="mysql")
        shutil.copytree(SOURCE, ESPOCRM)
        # The board shows six columns, as in the other systems, none of which is won or lost.
        custom = ESPOCRM / "custom/Espo/Custom/Resources/metadata"
        stage = {"options": data.COLUMNS, "probabilityMap": {name: 10 + 10 * n for n, name in enumerate(data.COLUMNS)}}
        for path, content in {"entityDefs/Opportunity.json": {"fields": {"stage": stage}},
                              "scopes/Opportunity.json": {"kanbanStatusIgnoreList": []}}.items():
            (custom / path).parent.mkdir(parents=True, exist_ok=True)
            (custom / path).write_text(json.dumps(content))
        user = subprocess.check_output(["id", "-un"], text=True).strip()
        for action, values in (
            ("step1", {"user-lang": "en_US"}),
            ("setupConfirmation", {"db-platform": "Mysql", "host-name": f"127.0.0.1:{DATABASE_PORT}", "db-name": "espo",
                                   "db-user-name": "espo", "db-user-password": "espo"}),
            ("checkPermission", {}),
            ("saveSettings", {"site-url": f"http://127.0.0.1:{self.port}", "default-permissions-user": user,
                              "default-permissions-group": user}),
            ("buildDatabase", {}), ("createUser", {"user-name": "admin", "user-pass": "admin"}), ("finish", {}),
        ):
            run("php", "install/cli.php", "-a", action, "-d", urlencode(values or {"x": 1}), cwd=ESPOCRM)
        self.sql("\n".join(statements()))
        self.sql("ANALYZE TABLE lead, opportunity, account, email_address, entity_email_address, phone_number, "
                 "entity_phone_number")

    def size(self):
        return size(RUN / "mariadb" / "espo")

    def list(self, client, path, select, limit, offset=0, text="", **query):
        query = {"select": select, "maxSize": limit, "offset": offset, "orderBy": "createdAt", "order": "desc", **query}
        if text:
            query["textFilter"] = text
        return client.get(f"/api/v1/{path}?{urlencode(query)}")

    def lead(self, client, number):
        return client.get(f"/api/v1/Lead/{key('l', number)}")["id"]

    def leads(self, client, offset=0, text=""):
        return self.list(client, "Lead", LEAD, PAGE, offset, text)["total"]

    def board(self, client, text=""):
        return self.list(client, "Kanban/Opportunity", CARD, CARDS, text=text)["total"]

    def column(self, client, column, page):
        where = {"where[0][type]": "equals", "where[0][attribute]": "stage", "where[0][value]": data.COLUMNS[column]}
        return len(self.list(client, "Opportunity", CARD, PAGE, page * PAGE, **where)["list"])

    def of_lead(self, client, number):
        return self.list(client, f"Account/{key('a', number)}/opportunities", CARD, 80)["total"]

    def report(self, client):
        query = f"dateFilter=between&dateFrom={data.REPORT_FROM:%Y-%m-%d}&dateTo={data.END:%Y-%m-%d}"
        return len(client.get(f"/api/v1/Opportunity/action/reportByStage?{query}"))

    def new_lead(self, client, lead):
        return client.post("/api/v1/Lead", {
            "firstName": lead["first"], "lastName": lead["last"], "emailAddress": lead["email"],
            "phoneNumber": lead["phone"], "addressCity": lead["city"], "assignedUserId": key("u", lead["user"])})

    def new_opportunity(self, client, like):
        return client.post("/api/v1/Opportunity", {
            "name": like["title"], "amount": like["value"], "amountCurrency": "USD", "closeDate": f"{data.END:%Y-%m-%d}",
            "stage": data.COLUMNS[like["column"]], "accountId": key("a", like["lead"]),
            "assignedUserId": key("u", like["user"])})

    def move(self, client, number, column):
        return client.put(f"/api/v1/Opportunity/{key('o', number)}", {"stage": data.COLUMNS[column]})


def statements():
    """The rows that EspoCRM writes for the data, in batches: its API takes tens of milliseconds a record."""
    tables = {}

    def row(table, **values):
        tables.setdefault((table, tuple(values)), []).append(
            "(%s)" % ",".join(repr(value if isinstance(value, (int, float)) else str(value)) for value in values.values()))

    for n in range(1, data.USERS + 1):
        row("user", id=key("u", n), user_name=f"user{n}", last_name=f"User {n}", type="regular")
    for lead in data.leads():
        n, user = lead["number"], key("u", lead["user"])
        stamps = {"created_at": lead["created"], "modified_at": lead["created"], "created_by_id": user,
                  "assigned_user_id": user}
        row("lead", id=key("l", n), first_name=lead["first"], last_name=lead["last"], status="New",
            address_city=lead["city"], **stamps)
        row("account", id=key("a", n), name=f"{lead['first']} {lead['last']}", **stamps)
        row("email_address", id=key("e", n), name=lead["email"], lower=lead["email"])
        row("phone_number", id=key("p", n), name=lead["phone"], type="Mobile", numeric=lead["phone"][1:])
        for entity, kind in ((key("l", n), "Lead"), (key("a", n), "Account")):
            row("entity_email_address", entity_id=entity, email_address_id=key("e", n), entity_type=kind, primary=1)
            row("entity_phone_number", entity_id=entity, phone_number_id=key("p", n), entity_type=kind, primary=1)
    for one in data.opportunities():
        stage, user = data.COLUMNS[one["column"]], key("u", one["user"])
        row("opportunity", id=key("o", one["number"]), name=one["title"], amount=one["value"], amount_currency="USD",
            stage=stage, last_stage=stage, probability=10 + 10 * one["column"], close_date=one["created"].date(),
            account_id=key("a", one["lead"]), created_at=one["created"], modified_at=one["created"], created_by_id=user,
            assigned_user_id=user)
    for (table, columns), rows in tables.items():
        for at in range(0, len(rows), 2000):
            names = ",".join(f"`{column}`" for column in columns)
            yield f"INSERT INTO `{table}` ({names}) VALUES {','.join(rows[at:at + 2000])};"
