//! What `template.yaml` deploys: its routes, what each function may do to the table, and everything else as JSON.
//!
//! The template is the list of routes, so tests take theirs from here. What this reader does not understand it
//! refuses with a panic: a route or a permission that it passed over would be one that no test looks at.

#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot read the template has to stop and say where"
)]

use std::fs;

use saphyr::{LoadableYamlNode, ScalarOwned, YamlOwned};
use serde_json::{Map, Value, json};

/// A method and path of the HTTP API, and the function that answers them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Route {
    /// In capitals: `GET`.
    pub method: String,
    /// With parameters in braces: `/leads/{id}`.
    pub path: String,
    /// The function's name in the template: `LeadsFunction`.
    pub function: String,
}

/// The routes of all functions, sorted by path, then method.
///
/// The route `$default`, an event without a path, is left out: it is where requests go that match none of these.
/// [`default_function`] tells whose it is.
///
/// # Panics
///
/// If the template cannot be read, or an event has only one of path and method.
#[must_use]
pub fn routes() -> Vec<Route> {
    routes_of(&template())
}

/// The function that answers what no route matches: preflight, unknown paths, wrong methods.
///
/// # Panics
///
/// If the template cannot be read, or has no such function, or several.
#[must_use]
pub fn default_function() -> String {
    default_function_of(&template())
}

/// The IAM actions that the function of this name is allowed, sorted, each once.
///
/// # Panics
///
/// If the template cannot be read, has no function of this name, or gives it a policy that is not written out
/// as statements.
#[must_use]
pub fn actions(function: &str) -> Vec<String> {
    actions_of(&template(), function)
}

/// The whole template, with intrinsic functions in their long form: `!Ref Table` is `{"Ref": "Table"}`, and
/// `!GetAtt Table.Arn` is `{"Fn::GetAtt": "Table.Arn"}`.
///
/// # Panics
///
/// If the template cannot be read.
#[must_use]
pub fn template() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../template.yaml");
    parse(&fs::read_to_string(path).expect("template.yaml stands beside the tests' directory"))
}

/// The resources of a type, such as `AWS::Serverless::Function`, by name, with their properties; without any, null.
///
/// # Panics
///
/// If the template cannot be read.
#[must_use]
pub fn resources(kind: &str) -> Vec<(String, Value)> {
    resources_of(&template(), kind)
        .map(|(name, properties)| (name.to_owned(), properties.clone()))
        .collect()
}

/// The names of all functions: `LeadsFunction`.
///
/// # Panics
///
/// If the template cannot be read.
#[must_use]
pub fn function_names() -> Vec<String> {
    resources(FUNCTION).into_iter().map(|(name, _)| name).collect()
}

/// The program that the function of this name is built from: `funil-leads`.
///
/// # Panics
///
/// If the template cannot be read, or has no function of this name, or does not say how it is built.
#[must_use]
pub fn binary(function: &str) -> String {
    text(&template()["Resources"][function]["Metadata"]["BuildProperties"]["Binary"]).to_owned()
}

/// The names of the environment variables that every function has.
///
/// # Panics
///
/// If the template cannot be read.
#[must_use]
pub fn variables() -> Vec<String> {
    let variables = &template()["Globals"]["Function"]["Environment"]["Variables"];
    mapping(variables).keys().cloned().collect()
}

const FUNCTION: &str = "AWS::Serverless::Function";

fn parse(text: &str) -> Value {
    let documents = YamlOwned::load_from_str(text).expect("the template is YAML");
    to_json(&documents.into_iter().next().expect("the template is not empty"))
}

fn to_json(yaml: &YamlOwned) -> Value {
    match yaml {
        YamlOwned::Value(ScalarOwned::Null) => Value::Null,
        YamlOwned::Value(ScalarOwned::Boolean(value)) => json!(value),
        YamlOwned::Value(ScalarOwned::Integer(value)) => json!(value),
        YamlOwned::Value(ScalarOwned::FloatingPoint(value)) => json!(value.into_inner()),
        YamlOwned::Value(ScalarOwned::String(value)) => json!(value),
        YamlOwned::Sequence(items) => items.iter().map(to_json).collect(),
        YamlOwned::Mapping(fields) => {
            let fields = fields.iter().map(|(name, value)| {
                let name = name.as_str().expect("a name is plain text");
                (name.to_owned(), to_json(value))
            });
            Value::Object(fields.collect())
        }
        YamlOwned::Tagged(tag, value) => match tag.suffix.as_str() {
            name @ ("Ref" | "Condition") => json!({ name: to_json(value) }),
            name => json!({ format!("Fn::{name}"): to_json(value) }),
        },
        other => panic!("neither text nor list nor mapping: {other:?}"),
    }
}

fn routes_of(template: &Value) -> Vec<Route> {
    let mut routes: Vec<_> = http_events(template)
        .filter_map(|(function, event)| {
            let Some(path) = event.get("Path") else {
                assert_eq!(event.get("Method"), None, "an event with a method has a path");
                return None;
            };
            let method = event.get("Method").expect("an event with a path has a method");
            Some(Route {
                method: text(method).to_uppercase(),
                path: text(path).to_owned(),
                function: function.to_owned(),
            })
        })
        .collect();
    routes.sort_by(|a, b| (&a.path, &a.method).cmp(&(&b.path, &b.method)));
    routes
}

fn default_function_of(template: &Value) -> String {
    let mut functions = http_events(template)
        .filter(|(_, event)| event.get("Path").is_none())
        .map(|(function, _)| function.to_owned());
    let function = functions
        .next()
        .expect("one function has an event without a path");
    assert_eq!(
        functions.next(),
        None,
        "besides {function} another one has an event without a path"
    );
    function
}

/// The statements of a function's policies: of those beside it, or of its role's where it has one of its own, and of the
/// policies of the template that either names.
///
/// # Panics
///
/// If the template cannot be read, has no function of this name, or gives it a policy that is not written out
/// as statements.
#[must_use]
pub fn statements(function: &str) -> Vec<Value> {
    statements_of(&template(), function)
}

fn statements_of(template: &Value, function: &str) -> Vec<Value> {
    let (_, properties) = resources_of(template, FUNCTION)
        .find(|(name, _)| *name == function)
        .expect("the template has a function of this name");
    let attribute = properties["Role"]["Fn::GetAtt"].as_str();
    let role = attribute.and_then(|attribute| attribute.strip_suffix(".Arn"));
    let holder = role.map_or(properties, |role| &template["Resources"][role]["Properties"]);
    let policies = [&holder["Policies"], &holder["ManagedPolicyArns"]];
    let policies = policies
        .into_iter()
        .filter(|policies| !policies.is_null())
        .flat_map(list);
    policies
        // What every function may: to write its log.
        .filter(|policy| policy.get("Fn::Sub").is_none_or(|arn| !text(arn).ends_with("/AWSLambdaBasicExecutionRole")))
        .flat_map(|policy| {
            let named = policy["Ref"].as_str();
            let policy = named.map_or(policy, |name| &template["Resources"][name]["Properties"]);
            let document = policy.get("PolicyDocument").unwrap_or(policy);
            let statements = document.get("Statement");
            list(statements.expect("a policy is written out as statements"))
        })
        .cloned()
        .collect()
}

fn actions_of(template: &Value, function: &str) -> Vec<String> {
    let statements = statements_of(template, function);
    let mut actions: Vec<_> = statements
        .iter()
        .filter(|statement| statement["Effect"] != "Deny")
        .flat_map(|statement| list(statement.get("Action").expect("a statement names its actions")))
        .map(|action| text(action).to_owned())
        .collect();
    actions.sort();
    actions.dedup();
    actions
}

/// The events of an HTTP API with the name of their function.
fn http_events(template: &Value) -> impl Iterator<Item = (&str, &Value)> {
    resources_of(template, FUNCTION).flat_map(|(function, properties)| {
        properties
            .get("Events")
            .into_iter()
            .flat_map(|events| mapping(events).values())
            .filter(|event| event["Type"] == "HttpApi")
            .map(move |event| {
                let properties = event.get("Properties").expect("an event has properties");
                (function, properties)
            })
    })
}

fn resources_of<'a>(template: &'a Value, kind: &str) -> impl Iterator<Item = (&'a str, &'a Value)> {
    mapping(&template["Resources"])
        .iter()
        .filter(move |(_, resource)| resource["Type"] == kind)
        .map(|(name, resource)| (name.as_str(), &resource["Properties"]))
}

fn mapping(value: &Value) -> &Map<String, Value> {
    value.as_object().expect("a mapping")
}

/// The items of a list; where a single value stands in place of a list, as IAM and SAM allow, that value.
fn list(value: &Value) -> &[Value] {
    value
        .as_array()
        .map_or(std::slice::from_ref(value), Vec::as_slice)
}

fn text(value: &Value) -> &str {
    value.as_str().expect("plain text, not an intrinsic function")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = r#"
Globals:
  Function: { Environment: { Variables: { TABLE_NAME: !Ref Table } } }
Resources:
  B:
    Type: AWS::Serverless::Function
    Properties:
      Role: !GetAtt Role.Arn
      Events:
        Put: { Type: HttpApi, Properties: { ApiId: !Ref Api, Method: put, Path: "/b/{id}" } }
        Get: { Type: HttpApi, Properties: { ApiId: !Ref Api, Method: GET, Path: "/b/{id}" } }
        Rest: { Type: HttpApi, Properties: { ApiId: !Ref Api } }
        Nightly: { Type: ScheduleV2, Properties: { ScheduleExpression: rate(1 day) } }
  C:
    Type: AWS::Serverless::Function
    Properties:
      Policies:
        - !Ref Shared
        - Statement:
            - { Effect: Allow, Action: ["dynamodb:Query", "dynamodb:GetItem"], Resource: !GetAtt Table.Arn }
            - { Effect: Allow, Action: "dynamodb:GetItem", Resource: !Sub "${Table.Arn}/index/*" }
            - { Effect: Deny, Action: "dynamodb:Scan", Resource: "*" }
  Shared:
    Type: AWS::IAM::ManagedPolicy
    Properties:
      PolicyDocument: { Statement: [{ Effect: Allow, Action: "dynamodb:PutItem", Resource: "*" }] }
  Role:
    Type: AWS::IAM::Role
    Properties:
      ManagedPolicyArns: [!Ref Shared, !Sub "arn:${AWS::Partition}:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole"]
      Policies: [{ PolicyDocument: { Statement: { Effect: Allow, Action: "dynamodb:GetRecords", Resource: "*" } } }]
  A:
    Type: AWS::Serverless::Function
    Properties:
      Policies: DYNAMODB_ALL
      Events:
        Post: { Type: HttpApi, Properties: { ApiId: !Ref Api, Method: POST, Path: /a } }
  Table: { Type: AWS::DynamoDB::Table }
"#;

    fn route(method: &str, path: &str, function: &str) -> Route {
        Route {
            method: method.into(),
            path: path.into(),
            function: function.into(),
        }
    }

    #[test]
    fn intrinsic_functions_are_written_out() {
        let short = "{ a: !Ref T, b: [!GetAtt T.Arn, 1.5], c: !If [C, !Sub '${T}', ~], d: !Condition C, e: yes, f: 2 }";
        let long = json!({
            "a": { "Ref": "T" }, "b": [{ "Fn::GetAtt": "T.Arn" }, 1.5],
            "c": { "Fn::If": ["C", { "Fn::Sub": "${T}" }, null] }, "d": { "Condition": "C" }, "e": "yes", "f": 2,
        });
        assert_eq!(parse(short), long);
    }

    #[test]
    fn routes_are_those_of_all_functions_in_order() {
        let expected = [
            route("POST", "/a", "A"),
            route("GET", "/b/{id}", "B"),
            route("PUT", "/b/{id}", "B"),
        ];
        assert_eq!(routes_of(&parse(SMALL)), expected);
        assert_eq!(default_function_of(&parse(SMALL)), "B");
    }

    #[test]
    fn actions_are_those_allowed() {
        for (function, actions) in [
            ("B", &["dynamodb:GetRecords", "dynamodb:PutItem"][..]),
            ("C", &["dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query"]),
        ] {
            assert_eq!(actions_of(&parse(SMALL), function), actions, "{function}");
        }
    }

    #[test]
    #[should_panic(expected = "a policy is written out as statements")]
    fn a_policy_that_hides_its_actions_is_refused() {
        let _ = actions_of(&parse(SMALL), "A");
    }

    #[test]
    fn nobody_may_scan_or_do_everything() {
        for function in function_names() {
            let actions = actions(&function);
            assert!(!actions.is_empty(), "{function} has no permission at all");
            for action in actions {
                assert!(
                    !action.contains('*') && action != "dynamodb:Scan",
                    "{function} may {action}"
                );
            }
        }
    }
}
