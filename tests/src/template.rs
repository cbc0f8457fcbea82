//! `template.yaml`: routes, permissions of each function, and all resources as JSON.
//!
//! Tests take their list of routes from here. The parser panics on anything that it does not know, so that it
//! never skips a route or a permission.

#![expect(
    clippy::expect_used,
    reason = "a test that cannot read the template has to stop and say where"
)]

use std::fs;

use serde_json::{Map, Value};

use crate::yaml::parse;

/// Method, path and function of a route of the HTTP API.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Route {
    /// In upper case: `GET`.
    pub method: String,
    /// With parameters in braces: `/leads/{id}`.
    pub path: String,
    /// The function's name in the template, such as `LeadsFunction`.
    pub function: String,
}

/// The function of the routes that are outside the interface and use no table.
pub const DOCUMENTS: &str = "DocumentsFunction";

/// The routes of the interface, sorted by path, then method.
///
/// Excludes those for HEAD, which have the handlers of GET, and `$default`, the event without a path that receives
/// unmatched requests; see [`default_function`].
///
/// # Panics
///
/// If the template cannot be parsed, or an event has only one of path and method.
#[must_use]
pub fn routes() -> Vec<Route> {
    let mut routes = routes_of(&template());
    routes.retain(|route| route.function != DOCUMENTS && route.method != "HEAD");
    routes
}

/// The routes outside the interface.
///
/// # Panics
///
/// Like [`routes`].
#[must_use]
pub fn document_routes() -> Vec<Route> {
    let mut routes = routes_of(&template());
    routes.retain(|route| route.function == DOCUMENTS && route.method != "HEAD");
    routes
}

/// All routes, also those for HEAD.
///
/// # Panics
///
/// Like [`routes`].
#[must_use]
pub fn all_routes() -> Vec<Route> {
    routes_of(&template())
}

/// The names of the functions that use the table.
///
/// # Panics
///
/// If the template cannot be parsed.
#[must_use]
pub fn table_functions() -> Vec<String> {
    let mut names = function_names();
    names.retain(|name| name != DOCUMENTS);
    names
}

/// The function for requests that match no route: preflight, unknown paths, wrong methods.
///
/// # Panics
///
/// If the template cannot be parsed, or does not have exactly one such function.
#[must_use]
pub fn default_function() -> String {
    default_function_of(&template())
}

/// The IAM actions allowed to a function, sorted and without duplicates.
///
/// # Panics
///
/// If the template cannot be parsed, has no such function, or gives it a policy without explicit statements.
#[must_use]
pub fn actions(function: &str) -> Vec<String> {
    actions_of(&template(), function)
}

/// The whole template, with intrinsic functions in long form: `!Ref Table` is `{"Ref": "Table"}`, and
/// `!GetAtt Table.Arn` is `{"Fn::GetAtt": "Table.Arn"}`.
///
/// # Panics
///
/// If the template cannot be parsed.
#[must_use]
pub fn template() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../template.yaml");
    parse(&fs::read_to_string(path).expect("template.yaml stands beside the tests' directory"))
}

/// Names and properties of the resources of a type, such as `AWS::Serverless::Function`; absent properties
/// are null.
///
/// # Panics
///
/// If the template cannot be parsed.
#[must_use]
pub fn resources(kind: &str) -> Vec<(String, Value)> {
    resources_of(&template(), kind)
        .map(|(name, properties)| (name.to_owned(), properties.clone()))
        .collect()
}

/// The names of all functions, such as `LeadsFunction`.
///
/// # Panics
///
/// If the template cannot be parsed.
#[must_use]
pub fn function_names() -> Vec<String> {
    resources(FUNCTION).into_iter().map(|(name, _)| name).collect()
}

/// The binary of a function, such as `funil-leads`.
///
/// # Panics
///
/// If the template cannot be parsed, has no such function, or no build method for it.
#[must_use]
pub fn binary(function: &str) -> String {
    text(&template()["Resources"][function]["Metadata"]["BuildProperties"]["Binary"]).to_owned()
}

/// The names of the environment variables of every function.
///
/// # Panics
///
/// If the template cannot be parsed.
#[must_use]
pub fn variables() -> Vec<String> {
    let variables = &template()["Globals"]["Function"]["Environment"]["Variables"];
    mapping(variables).keys().cloned().collect()
}

const FUNCTION: &str = "AWS::Serverless::Function";

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

/// The policy statements of a function: its own or its role's, including the template's managed policies that
/// either names.
///
/// # Panics
///
/// If the template cannot be parsed, has no such function, or gives it a policy without explicit statements.
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
        .flat_map(|policy| {
            // A policy under a condition counts.
            let policy = policy.get("Fn::If").map_or(policy, |chosen| &chosen[1]);
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

/// The HTTP events with the names of their functions.
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

/// The items of a list; a single value counts as a list of one, as in IAM and SAM.
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
      ManagedPolicyArns: [!If [Wanted, !Ref Shared, !Ref AWS::NoValue]]
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
    fn actions_are_the_allowed_iam_actions() {
        for (function, actions) in [
            ("B", &["dynamodb:GetRecords", "dynamodb:PutItem"][..]),
            ("C", &["dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query"]),
        ] {
            assert_eq!(actions_of(&parse(SMALL), function), actions, "{function}");
        }
    }

    #[test]
    #[should_panic(expected = "a policy is written out as statements")]
    fn policies_without_explicit_actions_are_rejected() {
        let _ = actions_of(&parse(SMALL), "A");
    }

    #[test]
    fn no_function_may_scan_or_use_wildcards() {
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
