"""Compares the policies in docs/iam with the template, for .ci/run. Runs under the Python of aws-sam-cli and cfn-lint.

  deployer.json   has every action that CloudFormation's handlers of the template's resources need, by the schemas that cfn-lint ships,
                  on ARNs of stacks named funil…, and no way to a role without the boundary
  boundary.json   has exactly the actions of the stack's roles, and their Deny
  operator.json   has, together with deployer.json, the action of every `aws` command of docs/operations.md, and alone those that show
                  the dashboard
"""

import fnmatch
import json
import pathlib
import re
import sys

import cfnlint
import emulator

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCHEMAS = pathlib.Path(cfnlint.__file__).parent / "data" / "schemas"
# IAM's limit of a managed policy, without white space.
MAX_POLICY = 6144

# Actions of handlers for properties that the template does not have.
UNUSED = {
    "another account or group": ["iam:AttachGroupPolicy", "iam:AttachUserPolicy", "iam:DetachGroupPolicy", "iam:DetachUserPolicy"],
    "a role's boundary stays": ["iam:DeleteRolePermissionsBoundary"],
    "the table is retained": ["dynamodb:DeleteTable"],
    "replicas, imports, Kinesis, insights and policies of tables": [
        "dynamodb:*Item", "dynamodb:*Replica", "dynamodb:*KinesisStreamingDestination", "dynamodb:ImportTable", "dynamodb:Query",
        "dynamodb:Scan", "dynamodb:UpdateContributorInsights", "dynamodb:DeleteResourcePolicy", "dynamodb:PutResourcePolicy",
        "kinesis:*", "logs:*LogStream*", "logs:PutLogEvents", "s3:GetObjectMetadata", "s3:ListBucket",
    ],
    "the key is the account's own": ["kms:Decrypt", "kms:Encrypt", "kms:GenerateDataKey", "kms:ListAliases", "kms:RevokeGrant"],
    "functions without network, files, layers and signatures": [
        "ec2:*", "elasticfilesystem:*", "s3files:*", "lambda:GetLayerVersion", "lambda:GetCodeSigningConfig", "lambda:PassCapacityProvider",
    ],
    "CodeDeploy for servers": ["codedeploy:RegisterOnPremisesInstance"],
    "log groups without other destinations": ["firehose:*", "s3:REST.PUT.OBJECT", "logs:DeleteResourcePolicy"],
    "bodies of APIs and trust stores in other buckets": ["s3:GetObject", "s3:getObject", "s3:GetObjectVersion"],
    "the zone is named by its id": ["route53:ListHostedZones"],
    "topics without delivery logs": ["iam:GetRole@AWS::SNS::*", "iam:PassRole@AWS::SNS::*"],
    "tables without scaling": ["iam:CreateServiceLinkedRole@AWS::DynamoDB::*"],
}
# Actions that IAM evaluates without a resource.
WITHOUT_RESOURCE = [
    "cloudwatch:DescribeAlarms", "logs:CreateLogDelivery", "logs:DescribeLogGroups", "logs:DescribeResourcePolicies",
    "logs:PutResourcePolicy", "sns:GetSubscriptionAttributes", "sns:SetSubscriptionAttributes", "sns:Unsubscribe",
    "lambda:CreateEventSourceMapping",
]
# Not in a handler: the role that API Gateway needs for a domain, the logs of an API, and the commands of the document.
FURTHER = ["iam:CreateServiceLinkedRole", "logs:UpdateLogDelivery", "cloudformation:CreateChangeSet", "s3:PutObject"]
# Actions on IAM that change a role's permissions; each needs the boundary.
BOUNDED = ["AttachRolePolicy", "CreateRole", "DeleteRolePolicy", "DetachRolePolicy", "PutRolePermissionsBoundary", "PutRolePolicy"]
# The other actions on IAM: none gives permissions outside the boundary.
HARMLESS = [
    "CreatePolicy", "CreatePolicyVersion", "CreateServiceLinkedRole", "DeletePolicy", "DeletePolicyVersion", "DeleteRole", "Get*", "List*",
    "PassRole", "Tag*", "Untag*", "UpdateAssumeRolePolicy", "UpdateRole", "UpdateRoleDescription",
]
# Run by an administrator of the account, at the beginning and at the end, or permitted to everyone.
OF_OTHERS = ["iam:CreatePolicy", "dynamodb:DeleteTable", "sts:GetCallerIdentity"]
# CloudWatch's console shows a dashboard with these.
DASHBOARD = [
    "cloudwatch:DescribeAlarms", "cloudwatch:GetDashboard", "cloudwatch:GetMetricData", "cloudwatch:ListDashboards",
    "cloudwatch:ListMetrics",
]


def as_list(value):
    return value if isinstance(value, list) else [value]


def fits(name, patterns):
    return any(fnmatch.fnmatchcase(name.lower(), pattern.lower()) for pattern in patterns)


def policy(name):
    document = json.loads((ROOT / "docs" / "iam" / f"{name}.json").read_text())
    size = len(json.dumps(document, separators=(",", ":")))
    if size > MAX_POLICY:
        sys.exit(f"{name}.json has {size} characters; a managed policy has at most {MAX_POLICY}")
    return document["Statement"]


def resources_of(statements, action):
    """The resources on which an action is allowed."""
    allowed = [it for it in statements if it["Effect"] == "Allow" and fits(action, as_list(it["Action"]))]
    return [resource for it in allowed for resource in as_list(it["Resource"])]


def needed():
    """Pairs of action and resource type, of every handler but that of lists."""
    index = json.loads((SCHEMAS / "providers" / "us-east-1.json").read_text())
    resources = emulator.expanded(ROOT / "template.yaml", Canary="Canary10Percent5Minutes")
    for kind in sorted({it["Type"] for it in resources.values()}):
        schema = json.loads((SCHEMAS / "resources" / f"{index[kind]}.json").read_text())
        for handler in ("create", "read", "update", "delete"):
            for action in schema.get("handlers", {}).get(handler, {}).get("permissions", []):
                yield action, kind


def check_deployer(faults):
    statements = policy("deployer")
    unused = [pattern for patterns in UNUSED.values() for pattern in patterns]
    found = set(needed())
    for action, kind in sorted(found):
        if not (resources_of(statements, action) or fits(action, unused) or fits(f"{action}@{kind}", unused)):
            faults.append(f"deployer.json lacks {action} of {kind}")
    for pattern in unused:
        if not any(fits(action, [pattern]) or fits(f"{action}@{kind}", [pattern]) for action, kind in found):
            faults.append(f"no handler needs {pattern}")
    for action in FURTHER:
        if not resources_of(statements, action):
            faults.append(f"deployer.json lacks {action}")
    for action in WITHOUT_RESOURCE:
        if "*" not in resources_of(statements, action):
            faults.append(f"deployer.json needs {action} on *")
    for statement in statements:
        check_statement(statement, faults)


def check_statement(statement, faults):
    """No action on `*` but reads and those without a resource; none that gives a role permissions outside the boundary."""
    for action in as_list(statement["Action"]):
        service, name = action.split(":")
        is_read = re.match(r"(Describe|Get|List|Validate)", name)
        further = ["acm:RequestCertificate", "logs:*LogDelivery", "lambda:*EventSourceMapping"]
        if statement["Resource"] == "*" and not is_read and not fits(action, WITHOUT_RESOURCE + further):
            faults.append(f"deployer.json allows {action} on *")
        if service != "iam":
            continue
        condition = statement.get("Condition", {}).get("StringLike", {}).get("iam:PermissionsBoundary")
        if name in BOUNDED and condition != "arn:aws:iam::*:policy/funil-boundary":
            faults.append(f"deployer.json allows {action} without the boundary")
        if name not in BOUNDED and not fits(name, HARMLESS):
            faults.append(f"deployer.json allows {action}")
        for kept in ("boundary", "deployer", "operator"):
            if fits(f"arn:aws:iam::1:policy/funil-{kept}", as_list(statement["Resource"])):
                faults.append(f"deployer.json allows {action} on funil-{kept}")


def check_boundary(faults):
    """The boundary has the actions of the roles and their Deny, and no more."""
    resources = emulator.expanded(ROOT / "template.yaml", Canary="Canary10Percent5Minutes")
    documents = [it["Properties"]["PolicyDocument"] for it in resources.values() if it["Type"] == "AWS::IAM::ManagedPolicy"]
    for role in (it["Properties"] for it in resources.values() if it["Type"] == "AWS::IAM::Role"):
        documents += [it["PolicyDocument"] for it in role.get("Policies", [])]
    of_roles = [statement for document in documents for statement in as_list(document["Statement"])]
    boundary = policy("boundary")

    def actions(statements, effect):
        return {action for it in statements if it["Effect"] == effect for action in as_list(it["Action"])}

    for effect in ("Allow", "Deny"):
        wanted, found = actions(of_roles, effect), actions(boundary, effect)
        if wanted != found:
            faults.append(f"boundary.json, {effect}: lacks {sorted(wanted - found)}, has {sorted(found - wanted)} too many")
    keys = [it["Condition"] for statements in (of_roles, boundary) for it in statements if it["Effect"] == "Deny"]
    if len(keys) != 2 or keys[0] != keys[1]:
        faults.append("boundary.json denies other keys than the template")


def check_commands(faults):
    """Every `aws` command of the document is allowed to the deployer or the operator."""
    text = (ROOT / "docs" / "operations.md").read_text()
    statements = policy("deployer") + policy("operator")
    commands = set(re.findall(r"\baws\s+([a-z0-9]+)\s+([a-z-]+)", text)) - {("dynamodb", "wait"), ("acm", "wait")}
    if len(commands) < 20:
        faults.append(f"docs/operations.md has only these commands: {sorted(commands)}")
    for service, verb in sorted(commands):
        prefix = {"apigatewayv2": "apigateway"}.get(service, service)
        name = "DELETE" if service == "apigatewayv2" and verb.startswith("delete-") else "".join(part.title() for part in verb.split("-"))
        action = f"{prefix}:{name}"
        if not resources_of(statements, action) and action not in OF_OTHERS:
            faults.append(f"neither policy allows `aws {service} {verb}`")


def check_dashboard(faults):
    statements = policy("operator")
    faults.extend(f"operator.json lacks {action}" for action in DASHBOARD if not resources_of(statements, action))


if __name__ == "__main__":
    faults = []
    check_deployer(faults)
    check_boundary(faults)
    check_commands(faults)
    check_dashboard(faults)
    sys.exit("\n".join(faults)) if faults else print("the policies permit what the template and docs/operations.md need")
