//! `samconfig.toml`: `sam build && sam deploy` is the whole deployment, and never deploys an outdated
//! program.

use std::collections::BTreeMap;
use std::fs;

/// The options by environment: `default.resolve_s3`.
fn options() -> BTreeMap<String, String> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../samconfig.toml");
    let text = fs::read_to_string(path).expect("samconfig.toml stands beside the tests' directory");
    let lines = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    let (mut environment, mut options) = (String::new(), BTreeMap::new());
    for line in lines {
        if let Some(section) = line.strip_prefix('[') {
            let section = section.strip_suffix(".global.parameters]");
            section
                .expect("[<environment>.global.parameters]")
                .clone_into(&mut environment);
        } else {
            let (name, value) = line.split_once(" = ").expect("<name> = <value>");
            options.insert(format!("{environment}.{name}"), value.to_owned());
        }
    }
    options
}

/// Every environment has the same options, for all commands of `sam`: only so do its build, its deployment and `sam local`
/// have one architecture.
#[test]
fn deployment_options_are_complete() {
    let mut options = options();
    assert_eq!(options.remove(".version").as_deref(), Some("0.1"));
    for (environment, stack, parameters) in [
        ("default", "\"funil\"", "\"Architecture=arm64\""),
        (
            "staging",
            "\"funil-staging\"",
            "\"Architecture=arm64 Alarms=off\"",
        ),
    ] {
        for (name, value) in [
            ("stack_name", stack),
            ("s3_prefix", stack),
            ("parameter_overrides", parameters),
            ("lint", "true"),
            // SAM's cache does not detect changes in shared/ and would deploy an outdated program.
            ("cached", "false"),
            ("parallel", "false"),
            ("capabilities", "\"CAPABILITY_IAM\""),
            ("resolve_s3", "true"),
            ("confirm_changeset", "true"),
            ("fail_on_empty_changeset", "false"),
            ("on_failure", "\"DELETE\""),
        ] {
            let found = options.remove(&format!("{environment}.{name}"));
            assert_eq!(found.as_deref(), Some(value), "{environment} {name}");
        }
    }
    assert_eq!(options, BTreeMap::new());
}
