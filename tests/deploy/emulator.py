"""Makes up for what MiniStack lacks, for tests/deploy.sh. Runs under the Python of aws-sam-cli.

  adapt TEMPLATE OUTPUT FUNCTION…    the template for the emulator; FUNCTION are the ones that `sam build` builds
  artefacts TEMPLATE DIRECTORY       the same functions' artefacts, taken from DIRECTORY
  routes TEMPLATE STACK              the routes of a deployed stack
  canary TEMPLATE                    compares what SAM makes of the template with the parameter Canary and without
"""

import pathlib
import re
import shutil
import subprocess
import sys

import boto3
from samcli.yamlhelper import yaml_dump, yaml_parse
from samtranslator.parser.parser import Parser
from samtranslator.translator.translator import Translator

FUNCTION = "AWS::Serverless::Function"


def functions(template):
    resources = template["Resources"].items()
    return {name: it for name, it in resources if it["Type"] == FUNCTION}


def adapt(source, output, *built):
    """Alarms over metric math and CodeDeploy are refused. Unnamed functions are deployed as a source folder, without a program."""
    root = pathlib.Path(source).resolve().parent
    template = yaml_parse(pathlib.Path(source).read_text())
    unknown = set(built) - set(functions(template))
    if unknown:
        sys.exit(f"no such function: {', '.join(sorted(unknown))}")
    alarms = [name for name, it in template["Resources"].items() if it.get("Properties", {}).get("Metrics")]
    for name in alarms:
        del template["Resources"][name]
    del template["Globals"]["Function"]["DeploymentPreference"]
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
        arn = boto3.client("lambda").get_alias(FunctionName=ids[name], Name="live")["AliasArn"]
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


def expanded(path, **parameters):
    """The resources that SAM makes of the template."""
    template = yaml_parse(pathlib.Path(path).read_text())
    for name, function in functions(template).items():
        function["Properties"]["CodeUri"] = f"s3://packages/{name}"
    session = boto3.Session(region_name="us-east-1")
    return Translator({}, Parser(), boto_session=session).translate(template, parameters)["Resources"]


def references(node):
    """The names in Ref, Fn::GetAtt, Fn::Sub and DependsOn."""
    if isinstance(node, list):
        return set().union(*map(references, node))
    if not isinstance(node, dict):
        return set()
    found = set().union(*map(references, node.values()))
    for key in ("Ref", "Fn::GetAtt", "DependsOn"):
        value = node.get(key, [])
        names = [value] if isinstance(value, str) else value[:1] if key == "Fn::GetAtt" else value
        found.update(name.split(".")[0] for name in names)
    text = node.get("Fn::Sub", "")
    found.update(re.findall(r"\$\{(\w+)", text if isinstance(text, str) else text[0]))
    return found


def order(resources):
    """Fails if CloudFormation finds no order, because resources refer to each other in a circle. cfn-lint ignores UpdatePolicy."""
    waiting = {name: references(resource) & set(resources) - {name} for name, resource in resources.items()}
    while ready := [name for name, before in waiting.items() if not before & set(waiting)]:
        for name in ready:
            del waiting[name]
    if waiting:
        sys.exit(f"these refer to each other in a circle: {', '.join(sorted(waiting))}")


def canary(path):
    """With and without: every function has an alias. With: one deployment group for each function with routes, and the same versions."""
    plain, gradual = expanded(path), expanded(path, Canary="Canary10Percent5Minutes")
    names = functions(yaml_parse(pathlib.Path(path).read_text()))
    public = {name for name, it in names.items() if any(event["Type"] == "HttpApi" for event in it["Properties"]["Events"].values())}
    for resources, deployed in ((plain, set()), (gradual, public)):
        order(resources)
        for name in names:
            alias = resources[f"{name}Aliaslive"]
            if (f"{name}DeploymentGroup" in resources, "UpdatePolicy" in alias) != (name in deployed,) * 2:
                sys.exit(f"{name}: wrong deployment group or update policy")
    if {name for name in plain if "Version" in name} != {name for name in gradual if "Version" in name}:
        sys.exit("Canary changes the versions")


if __name__ == "__main__":
    {"adapt": adapt, "artefacts": artefacts, "routes": routes, "canary": canary}[sys.argv[1]](*sys.argv[2:])
