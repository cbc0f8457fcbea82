//! The built function, started as nobody should start it.

#[path = "../../../tests/start.rs"]
mod start;

#[test]
fn without_its_environment_it_says_what_is_missing() {
    start::says_what_is_missing(env!("CARGO_BIN_EXE_funil-calendars"));
}
