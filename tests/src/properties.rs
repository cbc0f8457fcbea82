//! Invalid properties of opportunities, for endpoints 7 and 8 (C-7, C-30).

#![expect(clippy::too_many_lines, reason = "it is a table")]

use serde_json::{Value, json};

/// The rule for ids.
pub const ID: &str = "must be a whole number from 1 to 999999999999999";

/// Properties, each with an invalid value and the rule that it violates.
#[must_use]
pub fn bad_properties() -> Vec<(&'static str, Value, &'static str)> {
    let ids = [
        json!(0),
        json!(-1),
        json!(1.5),
        json!(1e15),
        json!(1e300),
        json!(18_446_744_073_709_551_615_u64),
        json!("0"),
        json!("-1"),
        json!("+1"),
        json!("1.5"),
        json!("1e3"),
        json!(" 31"),
        json!("31 "),
        json!("x"),
        json!("0x1f"),
        json!("٣"),
        json!("31."),
        json!("1000000000000000"),
        json!("9".repeat(400)),
        json!(true),
        json!([31]),
        json!({ "id": 31 }),
    ];
    let amounts = [
        json!(-1),
        json!(-0.01),
        json!(0.001),
        json!(213.205),
        json!(1e-3),
        json!(1e13),
        json!(1e300),
        json!("-1"),
        json!("+1"),
        json!("213.205"),
        json!("213.2001"),
        json!("1,5"),
        json!("1."),
        json!(".5"),
        json!(" 1"),
        json!("1 "),
        json!("1e3"),
        json!("NaN"),
        json!("R$ 5"),
        json!("1_000"),
        json!("10000000000000"),
        json!("10000000000000.00"),
        json!("9".repeat(400)),
        json!(true),
        json!([1]),
        json!({}),
    ];
    let sequences = [
        json!(-1),
        json!(0.5),
        json!(1e15),
        json!("1000000000000000"),
        json!("-1"),
        json!([]),
    ];
    let titles = [
        json!(""),
        json!(" "),
        json!("x".repeat(256)),
        json!("ã".repeat(256)),
        json!(5),
        json!(true),
        json!(["x"]),
    ];
    let statuses = [
        json!("won"),
        json!("Open"),
        json!("open "),
        json!(0),
        json!(true),
        json!(["open"]),
    ];
    let dates = [
        json!("1899-12-31"),
        json!("2026-02-30"),
        json!("2026-2-3"),
        json!("24/12/2026"),
        json!("2026-12-24T09:00:00"),
        json!("2026-12-24 "),
        json!("2026-13-01T00:00:00Z"),
        json!("amanhã"),
        json!("+12026-01-01T00:00:00Z"),
        json!(1_780_000_000),
        json!(false),
        json!({}),
    ];
    let objects = [
        json!([1]),
        json!("{}"),
        json!(1),
        json!(false),
        json!([{ "Origem do Lead": 1 }]),
    ];
    let table: [(&[&str], &[Value], &str); 7] = [
        (&["crm_column", "lead_id", "user"], &ids, ID),
        (
            &["value"],
            &amounts,
            "must be an amount from 0 to 9999999999999.99 with at most two decimals",
        ),
        (
            &["sequence"],
            &sequences,
            "must be a whole number from 0 to 999999999999999",
        ),
        (&["title"], &titles, "must have 1 to 255 characters"),
        (&["status"], &statuses, "must be open, gain or lost"),
        (
            &["expectedCloseDate"],
            &dates,
            "must be RFC 3339, a date such as 2026-11-21, or null",
        ),
        (
            &["fields"],
            &objects,
            "must be an object of values by their fields' names",
        ),
    ];
    let rows = table.into_iter().flat_map(|(names, bad, must)| {
        names
            .iter()
            .flat_map(move |name| bad.iter().map(move |bad| (*name, bad.clone(), must)))
    });
    rows.collect()
}
