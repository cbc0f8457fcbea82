"""The recorded events of tests/events, for tests/sam-local.sh.

  first FUNCTION     the name of the function's first event
  event NAME         the event, with the credentials KEY and TOKEN of the environment
  check NAME         compares a response on standard input with tests/events/README.md

The event `health` is that of no file: DocumentsFunction has no table, and so no recorded event.
"""

import json
import os
import pathlib
import sys

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "events"


def rows():
    """Name, function and expected response of each event."""
    for line in (FOLDER / "README.md").read_text().splitlines():
        if line.startswith("| `"):
            name, function, answer = (cell.strip().replace("`", "") for cell in line.strip("|").split(" | ")[:3])
            yield name, function, answer


def recorded(name):
    function = next(function for found, function, _ in rows() if found == name)
    return json.loads((FOLDER / f"{function}.json").read_text())[name]


def first(function):
    print("health" if function == "DocumentsFunction" else next(name for name, found, _ in rows() if found == function))


def event(name):
    found = recorded("caller" if name == "health" else name)
    if name == "health":
        found.update(rawPath="/health", rawQueryString="", routeKey="GET /health")
        found["requestContext"]["http"]["path"] = "/health"
        found["requestContext"]["routeKey"] = "GET /health"
    print(json.dumps(found).replace("API_KEY", os.environ["KEY"]).replace("ACCESS_TOKEN", os.environ["TOKEN"]))


def check(name):
    answer = json.load(sys.stdin)
    wanted = '200 {"status":"ok",…' if name == "health" else next(answer for found, _, answer in rows() if found == name)
    is_http = isinstance(answer, dict) and "statusCode" in answer
    told = f"{answer['statusCode']} {answer['body']}" if is_http else json.dumps(answer, separators=(",", ":"))
    if not (told.startswith(wanted[:-1]) if wanted.endswith("…") else told == wanted):
        sys.exit(f"{name}: {told[:300]} in place of {wanted}")


if __name__ == "__main__":
    {"first": first, "event": event, "check": check}[sys.argv[1]](sys.argv[2])
