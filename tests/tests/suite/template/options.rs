//! `samconfig.toml`: `sam build && sam deploy` is the whole deployment, and never deploys an outdated
//! program.

use std::collections::BTreeMap;
use std::fs;

/// The options by command: `deploy.resolve_s3`.
fn options() -> BTreeMap<String, String> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../samconfig.toml");
    let text = fs::read_to_string(path).expect("samconfig.toml stands beside the tests' directory");
    let lines = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    let (mut command, mut options) = (String::new(), BTreeMap::new());
    for line in lines {
        if let Some(section) = line.strip_prefix('[') {
            let section = section
                .strip_prefix("default.")
                .and_then(|rest| rest.strip_suffix(".parameters]"));
            section
                .expect("[default.<command>.parameters]")
                .clone_into(&mut command);
        } else {
            let (name, value) = line.split_once(" = ").expect("<name> = <value>");
            options.insert(format!("{command}.{name}"), value.to_owned());
        }
    }
    options
}

#[test]
fn deployment_options_are_complete() {
    let expected = [
        (".version", "0.1"),
        ("global.stack_name", "\"funil\""),
        ("validate.lint", "true"),
        // SAM's cache does not detect changes in shared/ and would deploy an outdated program.
        ("build.cached", "false"),
        ("build.parallel", "false"),
        ("package.resolve_s3", "true"),
        ("deploy.capabilities", "\"CAPABILITY_IAM\""),
        ("deploy.resolve_s3", "true"),
        ("deploy.s3_prefix", "\"funil\""),
        ("deploy.confirm_changeset", "true"),
        ("deploy.fail_on_empty_changeset", "false"),
    ];
    assert_eq!(
        options(),
        expected
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into()
    );
}
