//! The built function, started as nobody should start it.

use std::process::Command;

/// It ends at once, says in words what is missing, and does not panic.
#[test]
fn without_its_environment_it_says_what_is_missing() {
    let function = env!("CARGO_BIN_EXE_funil-automations");
    let ended = Command::new(function).env_clear().output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(1), "{said}");
    assert!(
        said.starts_with("Error: not set: TABLE_NAME, AWS_LAMBDA_RUNTIME_API, "),
        "{said}"
    );
    assert!(!said.contains("panicked"), "{said}");
}
