//! The built function, started as nobody should start it.

#[path = "../../../tests/start.rs"]
mod start;

#[test]
fn missing_variables_are_named_at_start() {
    start::says_what_is_missing(env!("CARGO_BIN_EXE_funil-directory"));
}
