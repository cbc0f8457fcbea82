"""Funil: `funil serve` with its embedded engine."""

import json
import os
import subprocess
from urllib.parse import quote

import data
from common import CARDS, PAGE, RUN, System, run, size, until

FUNIL = os.environ.get("FUNIL", "target/release/funil")
FIELDS = "id,fullname,email,phone,city,createDate,owner{name}"


class Funil(System):
    name, port = "Funil", 3100
    files = RUN / "funil"

    def version(self):
        return subprocess.check_output([FUNIL, "--version"], text=True).strip()

    def serve(self):
        self.spawn("funil", FUNIL, "serve", "--data", self.files, "--port", self.port, "--empty",
                   env={**os.environ, "FUNIL_LOG": "warn"})
        until(lambda: self.client().get("/health"))

    def command(self, *arguments):
        """A command beside the running service, on its database."""
        return subprocess.check_output([FUNIL, "--data", self.files, "--json", *arguments], text=True)

    def load(self):
        self.serve()
        self.command("instance", "create", "peer")
        path = RUN / "funil.ndjson"
        with open(path, "w") as file:
            for record in records():
                print(json.dumps(record), file=file)
        run(FUNIL, "--data", self.files, "import", "--instance", "peer", path)
        credentials = [json.loads(self.command(kind, "issue", "--instance", "peer", "--user", "1", "--label", "peer"))[kind]
                       for kind in ("key", "token")]
        (RUN / "funil.json").write_text(json.dumps(credentials))

    def size(self):
        return size(self.files)

    def start(self):
        self.serve()
        key, token = json.loads((RUN / "funil.json").read_text())
        self.headers |= {"apitoken": key, "Authorization": f"Bearer {token}"}
        self.key = f"i=peer&apitoken={key}"

    def lead(self, client, number):
        return client.get(f"/leads/{number}?i=peer&allFields=1")["data"]["lead"]

    def leads(self, client, offset=0, text=""):
        query = f"{{total,leads{{{FIELDS}}}}}&limit={PAGE}&page={offset // PAGE + 1}"
        if text:
            query += f"&search={quote(text)}"
        return client.get(f"/leads?i=peer&query={query}")["data"]["total"]

    def board(self, client, text=""):
        columns = client.post(f"/crm/opportunities/1?{self.key}", {
            "page": 1, "limit": CARDS, "search": text, "searchBy": "opportunity"})
        return sum(column["total"] for column in columns)

    def column(self, client, column, page):
        body = {"page": page + 1, "limit": PAGE, "columnId": column + 1}
        return len(client.post(f"/crm/opportunities/1?{self.key}", body))

    def of_lead(self, client, number):
        return len(client.get(f"/listopportunitysleadcomplete/{number}?i=peer"))

    def report(self, client):
        query = f"{self.key}&from={data.REPORT_FROM:%Y-%m-%d}&to={data.END:%Y-%m-%d}"
        return len(client.get(f"/reportchart/1?{query}")["data"]["report"]["labels"])

    def new_lead(self, client, lead):
        return client.post("/leads?i=peer", {
            "firstname": lead["first"], "lastname": lead["last"], "email": lead["email"], "mobile": lead["phone"],
            "city": lead["city"], "owner": lead["user"]})

    def new_opportunity(self, client, like):
        return client.post("/crmopportunity?id=1&i=peer", {
            "title": like["title"], "value": like["value"], "crm_column": like["column"] + 1, "lead_id": like["lead"],
            "user": like["user"]})

    def move(self, client, number, column):
        return client.put(f"/crmopportunity/{number}?id=1&i=peer", {"crm_column": column + 1})


def records():
    """The lines of an import."""
    for user in range(1, data.USERS + 1):
        yield {"kind": "user", "id": user, "name": f"User {user}", "admin": True}
    columns = [{"id": n + 1, "name": name, "sequence": n + 1} for n, name in enumerate(data.COLUMNS)]
    yield {"kind": "funnel", "id": 1, "name": "Sales", "columns": columns}
    yield {"kind": "report", "id": 1, "name": "Value by column", "entity": "opportunities", "measure": "sum",
           "field": "value", "groupBy": "column"}
    for lead in data.leads():
        yield {"kind": "lead", "id": lead["number"], "firstname": lead["first"], "lastname": lead["last"],
               "email": lead["email"], "mobile": lead["phone"], "city": lead["city"], "owner": lead["user"],
               "createDate": f"{lead['created']:%Y-%m-%dT%H:%M:%SZ}"}
    for one in data.opportunities():
        yield {"kind": "opportunity", "id": one["number"], "title": one["title"], "crm_id": 1,
               "crm_column": one["column"] + 1, "lead_id": one["lead"], "value": one["value"], "user": one["user"],
               "createDate": f"{one['created']:%Y-%m-%dT%H:%M:%SZ}"}
