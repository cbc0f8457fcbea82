"""Prints the columns of a funnel with their totals, and the open opportunities of each as CSV.

    FUNIL_URL=http://127.0.0.1:3000 INSTANCE=demo FUNIL_KEY=fk_… python3 examples/board.py 3

Needs Python 3.9 or later, without packages.
"""

import csv
import json
import os
import sys
from urllib.parse import urlencode
from urllib.request import Request, urlopen

NAMES = ("FUNIL_URL", "INSTANCE", "FUNIL_KEY")
if len(sys.argv) != 2 or not sys.argv[1].isdecimal() or not all(map(os.environ.get, NAMES)):
    sys.exit(f"usage: {' '.join(name + '=…' for name in NAMES)} python3 examples/board.py FUNNEL\n"
             "FUNNEL is the id of a funnel; GET /crm lists them. The demo has 3 and 4.")
URL, INSTANCE, KEY = (os.environ[name] for name in NAMES)
LIMIT = 50


def opportunities(funnel, **body):
    """The board, or with `columnId` a page of a column."""
    query = urlencode({"i": INSTANCE, "apitoken": KEY})
    data = json.dumps({"page": 1, "limit": LIMIT, "filterByStatus": ["open"], **body}).encode()
    headers = {"Content-Type": "application/json"}
    with urlopen(Request(f"{URL}/crm/opportunities/{funnel}?{query}", data, headers), timeout=30) as response:
        return json.load(response)


def column(funnel, number):
    """The opportunities of a column. A page with fewer than the limit is the last."""
    page, items = 1, [None] * LIMIT
    while len(items) == LIMIT:
        items = opportunities(funnel, columnId=number, page=page)
        yield from items
        page += 1


wanted = int(sys.argv[1])
rows = csv.writer(sys.stdout)
for stage in opportunities(wanted):
    print(f"{stage['name']}: {stage['total']} opportunities, {stage['totalValue']}", file=sys.stderr)
    for item in column(wanted, stage["id"]):
        rows.writerow([stage["name"], item["id"], item["title"], item["value"], (item["dataLead"] or {}).get("fullname")])
