//! The built function, started with an invalid environment.

#[path = "../../../tests/start.rs"]
mod start;

#[test]
fn missing_variables_are_named_at_start() {
    start::says_what_is_missing(env!("CARGO_BIN_EXE_funil-documents"));
}
