//! Reports of `acme`.

#![expect(
    clippy::expect_used,
    clippy::missing_panics_doc,
    clippy::must_use_candidate,
    reason = "a test that cannot be set up must fail, and say where"
)]

use operator::kinds::Reports;
use operator::{Operator, Outcome};
use serde_json::{Value, json};
use shared::report::Definition;

use crate::world::{Answer, Wallet, World};

/// A report with this id, calls by day, with changes.
pub fn report(id: u64, changes: &Value) -> Definition {
    let mut line = json!({
        "id": id, "name": format!("Relatório {id}"), "entity": "calls", "measure": "count", "groupBy": "day",
        "createDate": "2026-01-01T00:00:00.000Z", "updateDate": "2026-02-01T00:00:00.000Z",
    });
    for (name, value) in changes.as_object().into_iter().flatten() {
        line[name] = value.clone();
    }
    serde_json::from_value(line).expect("a report")
}

/// Writes reports.
pub async fn add_reports(operator: &Operator, reports: impl IntoIterator<Item = Definition>) {
    let lines: Vec<_> = reports.into_iter().map(Into::into).collect();
    let outcomes = operator
        .import::<Reports>(&lines, false)
        .await
        .expect("the reports can be written");
    let good = |outcome: &Outcome| !matches!(outcome, Outcome::Refused(_));
    assert!(outcomes.iter().all(good), "{outcomes:?}");
}

/// Requests a report of `acme` with `from=…&to=…` or without days.
pub async fn chart(world: &World, wallet: &Wallet, id: u64, days: &str) -> Answer {
    let uri = format!("/reportchart/{id}?i=acme&apitoken={}&{days}", wallet.key);
    world.get(&uri).send().await
}

/// Labels, numbers and total of a response.
#[track_caller]
pub fn plotted(answer: &Answer) -> Value {
    assert_eq!(answer.status, 200, "{}", answer.body);
    let report = &answer.body["data"]["report"];
    json!([report["labels"], report["series"][0]["data"], report["total"]])
}
