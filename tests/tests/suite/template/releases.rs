//! Versions, aliases and gradual releases. `tests/deploy/emulator.py canary` compares SAM's transform with and without
//! `Canary`.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tests::template::{function_names, resources, template};

use super::alarms::{CANARY, alarms};
use super::reference;

const FUNCTION: &str = "AWS::Serverless::Function";

/// The functions with routes and those without.
pub fn by_routes() -> (Vec<String>, Vec<String>) {
    let functions = resources(FUNCTION);
    let (with, without): (Vec<_>, Vec<_>) = functions.into_iter().partition(|(_, properties)| {
        let events = properties["Events"].as_object().expect("events");
        events.values().any(|event| event["Type"] == "HttpApi")
    });
    let names = |functions: Vec<(String, Value)>| functions.into_iter().map(|(name, _)| name).collect();
    (names(with), names(without))
}

/// The parameters to which a value refers, also through conditions.
fn parameters(template: &Value, value: &Value) -> BTreeSet<String> {
    let of = |value: &Value| parameters(template, value);
    match value {
        Value::Array(items) => items.iter().flat_map(of).collect(),
        Value::Object(members) => {
            let mut found: BTreeSet<_> = members.values().flat_map(of).collect();
            let name = members.get("Ref").and_then(Value::as_str);
            let is_parameter = |name: &&str| template["Parameters"].get(name).is_some();
            found.extend(name.filter(is_parameter).map(str::to_owned));
            let condition = members.get("Fn::If").and_then(|chosen| chosen[0].as_str());
            found.extend(
                condition
                    .into_iter()
                    .flat_map(|name| of(&template["Conditions"][name])),
            );
            found
        }
        _ => BTreeSet::new(),
    }
}

/// SAM publishes no version when only a parameter changes, so an alias would keep the former table or origins.
/// CloudFormation does, because the version's description changes.
#[test]
fn every_parameter_of_a_function_is_in_the_description_of_its_version() {
    let template = template();
    let globals = template["Globals"]["Function"].as_object().expect("properties");
    let of_releases = ["AutoPublishAlias", "DeploymentPreference"];
    let common = globals
        .iter()
        .filter(|(name, _)| !of_releases.contains(&name.as_str()));
    let common: BTreeSet<_> = common
        .flat_map(|(_, value)| parameters(&template, value))
        .collect();
    assert!(common.len() > 5, "{common:?}");
    for (name, properties) in resources(FUNCTION) {
        let description = properties["VersionDescription"]["Fn::Sub"]
            .as_str()
            .expect("text");
        let parts = description.split(' ').map(|part| {
            let part = part.strip_prefix("${").and_then(|part| part.strip_suffix('}'));
            part.expect("${Parameter}").to_owned()
        });
        assert_eq!(parts.collect::<BTreeSet<_>>(), common, "{name}");
        let own = properties.as_object().expect("properties").iter();
        let own = own.filter(|(property, _)| *property != "Events");
        let own: BTreeSet<_> = own.flat_map(|(_, value)| parameters(&template, value)).collect();
        assert!(own.is_subset(&common), "{name}: {own:?}");
        assert_eq!(properties["AutoPublishAliasAllProperties"], true, "{name}");
        let shown = properties["Description"]["Fn::Sub"].as_str();
        assert!(
            shown.is_some_and(|text| text.ends_with(" [${Release}]")),
            "{name}"
        );
    }
}

/// The alias does not depend on `Canary`. SAM resolves `FindInMap`, but no condition, for `Enabled`.
#[test]
fn canary_decides_how_the_aliases_move() {
    let template = template();
    let globals = &template["Globals"]["Function"];
    assert_eq!(globals["AutoPublishAlias"], "live");
    let when = |value: Value| json!({ "Fn::If": ["IsGradual", value, reference("AWS::NoValue")] });
    assert_eq!(
        globals["DeploymentPreference"],
        json!({
            "Enabled": { "Fn::FindInMap": ["Gradual", reference("Canary"), "Enabled"] },
            "Type": reference("Canary"),
            "Role": when(json!({ "Fn::GetAtt": "CanaryRole.Arn" })),
            "Alarms": [
                when(reference(CANARY)),
                { "Fn::If": ["HasAlarms", { "Fn::Sub": "${AWS::StackName}-api-faults" }, reference("AWS::NoValue")] },
                { "Fn::If": ["HasAlarms", { "Fn::Sub": "${AWS::StackName}-api-slow" }, reference("AWS::NoValue")] },
            ],
        })
    );
    for (alarm, name) in [("ApiFaultsAlarm", "api-faults"), ("ApiSlowAlarm", "api-slow")] {
        let name = format!("${{AWS::StackName}}-{name}");
        assert_eq!(alarms()[alarm]["AlarmName"], json!({ "Fn::Sub": name }));
    }
    assert_eq!(
        template["Conditions"]["IsGradual"],
        json!({ "Fn::Not": [{ "Fn::Equals": [reference("Canary"), "off"] }] })
    );
    for name in ["CanaryRole", CANARY] {
        assert_eq!(template["Resources"][name]["Condition"], "IsGradual", "{name}");
    }
    let modes = template["Mappings"]["Gradual"].as_object().expect("modes");
    for (mode, values) in modes {
        assert_eq!(*values, json!({ "Enabled": mode != "off" }));
    }
    let allowed = template["Parameters"]["Canary"]["AllowedValues"]
        .as_array()
        .expect("values");
    let allowed: BTreeSet<_> = allowed.iter().filter_map(Value::as_str).collect();
    assert_eq!(allowed, modes.keys().map(String::as_str).collect());
}

/// A batch or run is no sample of the requests. Its function changes after the others, so a failed gradual release never
/// reaches it.
#[test]
fn functions_without_routes_change_last_and_at_once() {
    let ((with, without), template) = (by_routes(), template());
    let aliases: BTreeSet<_> = with.iter().map(|name| format!("{name}Aliaslive")).collect();
    for name in function_names() {
        let function = &template["Resources"][&name];
        let (preference, after) = if without.contains(&name) {
            (json!({ "Enabled": false }), aliases.clone())
        } else {
            (Value::Null, BTreeSet::new())
        };
        assert_eq!(
            function["Properties"]["DeploymentPreference"], preference,
            "{name}"
        );
        let found = function["DependsOn"].as_array().into_iter().flatten();
        let found = found.filter_map(Value::as_str).map(str::to_owned);
        assert_eq!(found.collect::<BTreeSet<_>>(), after, "{name}");
    }
}

/// `CodeDeploy` may move the aliases of these functions only, and the alarm counts failures of the new release only. IAM
/// authorises `GetAlias` and `UpdateAlias` on the function, `GetProvisionedConcurrencyConfig` on the alias.
#[test]
fn gradual_releases_concern_functions_with_routes() {
    let (names, _) = by_routes();
    let role = template()["Resources"]["CanaryRole"]["Properties"].clone();
    let authorised = names.iter().flat_map(|name| {
        let function = json!({ "Fn::GetAtt": format!("{name}.Arn") });
        let alias = json!({ "Fn::Sub": format!("${{{name}.Arn}}:live") });
        [function.to_string(), alias.to_string()]
    });
    let statements = role["Policies"][0]["PolicyDocument"]["Statement"].clone();
    let moved = statements[0]["Resource"].as_array().expect("ARNs").iter();
    assert_eq!(
        moved.map(Value::to_string).collect::<BTreeSet<_>>(),
        authorised.collect()
    );
    assert_eq!(
        (&statements[0]["Action"], &statements[1]["Action"], &statements[2]),
        (
            &json!([
                "lambda:GetAlias",
                "lambda:GetProvisionedConcurrencyConfig",
                "lambda:UpdateAlias"
            ]),
            &json!(["cloudwatch:DescribeAlarms"]),
            &Value::Null
        )
    );
    let label = json!({ "Fn::If": ["HasRelease", reference("Release"), shared::release::label()] });
    assert_eq!(
        alarms()[CANARY]["Dimensions"],
        json!([{ "Name": "release", "Value": label }])
    );
}
