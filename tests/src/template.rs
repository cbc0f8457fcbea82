//! What `template.yaml` deploys: its routes, and what each function may do to the table.
//!
//! The template is the list of routes, so tests take theirs from here. What this reader does not understand it
//! refuses with a panic: a route or a permission that it passed over would be one that no test looks at.

#![expect(
    clippy::expect_used,
    reason = "a test that cannot read the template has to stop and say where"
)]

use std::fs;

use saphyr::{LoadableYamlNode, YamlOwned};

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

fn template() -> YamlOwned {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../template.yaml");
    parse(&fs::read_to_string(path).expect("template.yaml stands beside the tests' directory"))
}

fn parse(text: &str) -> YamlOwned {
    let documents = YamlOwned::load_from_str(text).expect("the template is YAML");
    documents.into_iter().next().expect("the template is not empty")
}

fn routes_of(template: &YamlOwned) -> Vec<Route> {
    let mut routes: Vec<_> = http_events(template)
        .filter_map(|(function, event)| {
            let Some(path) = field(event, "Path") else {
                assert_eq!(field(event, "Method"), None, "an event with a method has a path");
                return None;
            };
            let method = field(event, "Method").expect("an event with a path has a method");
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

fn default_function_of(template: &YamlOwned) -> String {
    let mut functions = http_events(template)
        .filter(|(_, event)| field(event, "Path").is_none())
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

fn actions_of(template: &YamlOwned, function: &str) -> Vec<String> {
    let (_, properties) = functions(template)
        .find(|(name, _)| *name == function)
        .expect("the template has a function of this name");
    let mut actions: Vec<_> = field(properties, "Policies")
        .into_iter()
        .flat_map(list)
        .flat_map(|policy| list(field(policy, "Statement").expect("a policy is written out as statements")))
        .filter(|statement| field(statement, "Effect").map(text) != Some("Deny"))
        .flat_map(|statement| list(field(statement, "Action").expect("a statement names its actions")))
        .map(|action| text(action).to_owned())
        .collect();
    actions.sort();
    actions.dedup();
    actions
}

/// The events of an HTTP API with the name of their function.
fn http_events(template: &YamlOwned) -> impl Iterator<Item = (&str, &YamlOwned)> {
    functions(template).flat_map(|(function, properties)| {
        field(properties, "Events")
            .into_iter()
            .flat_map(entries)
            .filter(|(_, event)| field(event, "Type").map(text) == Some("HttpApi"))
            .map(move |(_, event)| {
                (
                    function,
                    field(event, "Properties").expect("an event has properties"),
                )
            })
    })
}

/// The functions by name, with their properties.
fn functions(template: &YamlOwned) -> impl Iterator<Item = (&str, &YamlOwned)> {
    entries(field(template, "Resources").expect("a template has resources"))
        .filter(|(_, resource)| field(resource, "Type").map(text) == Some("AWS::Serverless::Function"))
        .map(|(name, function)| {
            (
                name,
                field(function, "Properties").expect("a function has properties"),
            )
        })
}

fn field<'a>(mapping: &'a YamlOwned, name: &str) -> Option<&'a YamlOwned> {
    mapping.as_mapping_get(name)
}

fn entries(mapping: &YamlOwned) -> impl Iterator<Item = (&str, &YamlOwned)> {
    mapping
        .as_mapping()
        .expect("a mapping")
        .iter()
        .map(|(name, value)| (text(name), value))
}

/// The items of a list; where a single value stands in place of a list, as IAM and SAM allow, that value.
fn list(value: &YamlOwned) -> &[YamlOwned] {
    value.as_vec().map_or(std::slice::from_ref(value), Vec::as_slice)
}

fn text(value: &YamlOwned) -> &str {
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
      Policies:
        - Statement:
            - { Effect: Allow, Action: ["dynamodb:Query", "dynamodb:GetItem"], Resource: !GetAtt Table.Arn }
            - { Effect: Allow, Action: "dynamodb:GetItem", Resource: !Sub "${Table.Arn}/index/*" }
            - { Effect: Deny, Action: "dynamodb:Scan", Resource: "*" }
      Events:
        Put: { Type: HttpApi, Properties: { ApiId: !Ref Api, Method: put, Path: "/b/{id}" } }
        Get: { Type: HttpApi, Properties: { ApiId: !Ref Api, Method: GET, Path: "/b/{id}" } }
        Rest: { Type: HttpApi, Properties: { ApiId: !Ref Api } }
        Nightly: { Type: ScheduleV2, Properties: { ScheduleExpression: rate(1 day) } }
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
    fn actions_are_those_allowed() {
        assert_eq!(
            actions_of(&parse(SMALL), "B"),
            ["dynamodb:GetItem", "dynamodb:Query"]
        );
    }

    #[test]
    #[should_panic(expected = "a policy is written out as statements")]
    fn a_policy_that_hides_its_actions_is_refused() {
        let _ = actions_of(&parse(SMALL), "A");
    }

    #[test]
    fn nobody_may_scan_or_do_everything() {
        for (function, _) in functions(&template()) {
            let actions = actions(function);
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
