//! Start of a built function without configuration. Each function's own test includes this file, because only
//! a package's own tests know and build its binary.

use std::process::Command;

/// It exits at once, names the missing variables, and does not panic.
#[expect(
    clippy::unwrap_used,
    reason = "in a test a panic with its place is the report"
)]
pub fn says_what_is_missing(function: &str) {
    let ended = Command::new(function).env_clear().output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(1), "{said}");
    assert!(
        said.starts_with("Error: not set: TABLE_NAME, AWS_LAMBDA_RUNTIME_API, "),
        "{said}"
    );
    assert!(!said.contains("panicked"), "{said}");
}
