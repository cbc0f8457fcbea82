"""Calls every operation with the client of openapi-python-client, generated as the package `funil_client`.

Arguments: openapi.yaml. Compares the statuses, the sent query keys, and the parsed responses with the received ones.
"""

import datetime
import enum
import importlib
import json
import os
import sys
import typing

from openapi_python_client.strings import PythonIdentifier
from ruamel.yaml import YAML

from funil_client import AuthenticatedClient

KEY = os.environ["FUNIL_KEY"]
METHODS = ("get", "post", "put", "delete")
sent = []

# Every credential: operations ignore those that they do not take.
client = AuthenticatedClient(
    base_url=os.environ["FUNIL_URL"],
    token=os.environ["FUNIL_TOKEN"],
    headers={"apitoken": KEY},
    httpx_args={"params": {"apitoken": KEY}, "event_hooks": {"request": [lambda request: sent.append(request.url)]}},
)
document = YAML(typ="safe", pure=True).load(open(sys.argv[1], encoding="utf-8"))


def resolve(value):
    if "$ref" in value:
        found = document
        for name in value["$ref"][2:].split("/"):
            found = found[name]
        return found
    return value


def free_time():
    """A time that the demo's calendar has free. The one in the document is over some day."""
    from funil_client.api.calendars import list_free_slots

    return list_free_slots.sync(client=client, i="demo", key_name="demo").data.slots[0].isoformat()


# Members of bodies that the document cannot fix.
OVERRIDES = {"bookMeeting": lambda: {"date": free_time()}}


def typed(value, hint):
    """The value as the type of an argument: a model, an enumeration, a time or a plain value."""
    for kind in typing.get_args(hint) or (hint,):
        if hasattr(kind, "from_dict"):
            return kind.from_dict(value)
        if isinstance(kind, type) and issubclass(kind, enum.Enum):
            return kind(value)
        if kind is datetime.datetime:
            return datetime.datetime.fromisoformat(str(value))
        if kind is datetime.date:
            return datetime.date.fromisoformat(str(value))
    return value


def arguments(item, operation, call):
    """The arguments of a call: the first example of every parameter and of the body."""
    hints, values = typing.get_type_hints(call), {}
    for parameter in map(resolve, [*item.get("parameters", []), *operation.get("parameters", [])]):
        if "example" in parameter:
            plain = PythonIdentifier(parameter["name"], prefix="field_")
            # A name in both path and query has its place appended.
            name = plain if plain in hints else f"{plain}_{parameter['in']}"
            values[name] = typed(parameter["example"], hints[name])
    content = resolve(operation.get("requestBody", {})).get("content", {}).get("application/json")
    if content:
        example = content.get("example") or next(iter(content["examples"].values()))["value"]
        override = OVERRIDES.get(operation["operationId"], dict)()
        values["body"] = typed({**example, **override}, hints["body"])
    return values


def comparable(value):
    """JSON in which equal times are equal, however written."""
    if hasattr(value, "to_dict"):
        value = value.to_dict()
    if isinstance(value, dict):
        return {name: comparable(member) for name, member in value.items()}
    if isinstance(value, list):
        return [comparable(item) for item in value]
    if isinstance(value, str) and "T" in value:
        try:
            return datetime.datetime.fromisoformat(value)
        except ValueError:
            return value
    return value


def faults(item, operation):
    """Calls an operation; yields everything that is wrong."""
    name = operation["operationId"]
    tag = PythonIdentifier(operation["tags"][0], prefix="tag")
    module = importlib.import_module(f"funil_client.api.{tag}.{PythonIdentifier(name, prefix='field_')}")
    values = arguments(item, operation, module.sync_detailed)
    try:
        response = module.sync_detailed(client=client, **values)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        yield f"the response cannot be parsed: {error!r}"
        return
    expected = next(status for status in operation["responses"] if status < "300")
    if str(int(response.status_code)) != expected:
        yield f"{int(response.status_code)}, not {expected}: {response.content.decode()[:300]}"
        return
    for parameter in map(resolve, [*item.get("parameters", []), *operation.get("parameters", [])]):
        if parameter["in"] == "query" and "example" in parameter and parameter["name"] not in sent[-1].params:
            yield f"the query key {parameter['name']} is not sent"
    if "apitoken" not in sent[-1].params:
        yield "the query key apitoken is not sent"
    if response.headers["content-type"].startswith("application/json"):
        if comparable(response.parsed) != comparable(json.loads(response.content)):
            yield f"parsed as {response.parsed}, received {response.content.decode()[:300]}"


found = called = 0
for path_item in document["paths"].values():
    for method in METHODS:
        if method in path_item:
            called += 1
            for fault in faults(path_item, path_item[method]):
                print(f"{path_item[method]['operationId']}: {fault}", file=sys.stderr)
                found += 1
print(f"{called} operations called")
sys.exit(found > 0)
