"""Makes up for what MiniStack lacks, for tests/deploy.sh. Runs under the Python of aws-sam-cli.

  adapt TEMPLATE OUTPUT FUNCTION…    the template for the emulator; FUNCTION are the ones that `sam build` builds
  artefacts TEMPLATE DIRECTORY       the same functions' artefacts, taken from DIRECTORY
  routes TEMPLATE STACK              the routes of a deployed stack
"""

import pathlib
import shutil
import subprocess
import sys

import boto3
from samcli.yamlhelper import yaml_dump, yaml_parse

FUNCTION = "AWS::Serverless::Function"


def functions(template):
    resources = template["Resources"].items()
    return {name: it for name, it in resources if it["Type"] == FUNCTION}


def adapt(source, output, *built):
    """Alarms over metric math are refused. Unnamed functions are deployed as a source folder, without a program."""
    root = pathlib.Path(source).resolve().parent
    template = yaml_parse(pathlib.Path(source).read_text())
    unknown = set(built) - set(functions(template))
    if unknown:
        sys.exit(f"no such function: {', '.join(sorted(unknown))}")
    alarms = [name for name, it in template["Resources"].items() if it.get("Properties", {}).get("Metrics")]
    for name in alarms:
        del template["Resources"][name]
    for name, function in functions(template).items():
        function["Properties"]["CodeUri"] = str(root / function["Properties"]["CodeUri"])
        if name not in built:
            function["Metadata"]["SkipBuild"] = True
    pathlib.Path(output).write_text(yaml_dump(template))


def artefacts(path, directory):
    """A template as `sam build` leaves it: each function in a folder, with its program as `bootstrap`."""
    template, folder = yaml_parse(pathlib.Path(path).read_text()), pathlib.Path(path).parent
    for name, function in functions(template).items():
        program = pathlib.Path(directory) / function["Metadata"]["BuildProperties"]["Binary"]
        (folder / name).mkdir(parents=True, exist_ok=True)
        shutil.copy(program, folder / name / "bootstrap")
        if shutil.which("strip"):
            subprocess.run(["strip", folder / name / "bootstrap"], check=True)
        function["Properties"]["CodeUri"] = name
    pathlib.Path(path).write_text(yaml_dump(template))


def routes(path, stack):
    """The `Body` of the API is not imported, so its routes are made by calls."""
    template = yaml_parse(pathlib.Path(path).read_text())
    found = boto3.client("cloudformation").describe_stack_resources(StackName=stack)["StackResources"]
    ids = {it["LogicalResourceId"]: it["PhysicalResourceId"] for it in found}
    gateway, api = boto3.client("apigatewayv2"), ids["HttpApi"]
    known = {it["RouteKey"]: it["RouteId"] for it in gateway.get_routes(ApiId=api, MaxResults="500")["Items"]}
    for name, function in functions(template).items():
        arn = boto3.client("lambda").get_function(FunctionName=ids[name])["Configuration"]["FunctionArn"]
        target = gateway.create_integration(
            ApiId=api, IntegrationType="AWS_PROXY", IntegrationUri=arn, PayloadFormatVersion="2.0"
        )["IntegrationId"]
        for event in function["Properties"]["Events"].values():
            properties = event["Properties"]
            if event["Type"] != "HttpApi":
                continue
            key = f"{properties['Method']} {properties['Path']}" if "Path" in properties else "$default"
            if key in known:
                gateway.update_route(ApiId=api, RouteId=known[key], Target=f"integrations/{target}")
            else:
                gateway.create_route(ApiId=api, RouteKey=key, Target=f"integrations/{target}")


if __name__ == "__main__":
    {"adapt": adapt, "artefacts": artefacts, "routes": routes}[sys.argv[1]](*sys.argv[2:])
