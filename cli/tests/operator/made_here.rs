//! Imports beside records that were made in the instance, and into records that exist (C-81, C-105).

use serde_json::{Value, json};

use crate::support::{Bench, USERS};

const LEAD: &str = "000000000000003";
const FUNNEL: &str = concat!(
    r#"{"kind":"funnel","id":1,"name":"A","columns":[{"id":1,"name":"B"}]}"#,
    "\n"
);
const MADE: &str = "2026-05-01T10:00:00.000Z";

fn lead(created: &str) -> String {
    format!(r#"{{"kind":"lead","id":3,"firstname":"Nova","createDate":"{created}"}}"#) + "\n"
}

fn deal(created: &str) -> String {
    let fields = r#""title":"X","value":"5.00","user":8,"lead_id":3,"crm_id":1,"crm_column":1"#;
    format!(r#"{{"kind":"opportunity","id":9,{fields},"createDate":"{created}"}}"#) + "\n"
}

/// An instance with lead 3, as if a form had made it.
fn bench() -> Bench {
    let bench = Bench::with_instance();
    let made = lead(MADE).replace("Nova", "Visita");
    bench.import(&format!("{USERS}{FUNNEL}{made}")).done();
    bench.set("acme#lead", LEAD, "edited", &json!({ "N": "2" }));
    bench
}

fn reasons(report: &Value) -> Vec<String> {
    let refused = report["refused"].as_array().unwrap();
    refused
        .iter()
        .map(|refused| refused["reason"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_line_of_another_record_is_refused_with_those_that_refer_to_it() {
    let bench = bench();
    let lines = lead("2025-01-01T00:00:00.000Z") + &deal("2025-01-01T00:00:00.000Z");
    for report in [bench.import(&lines), bench.import_overwriting(&lines)] {
        let expected = [
            "another record has this id, made here at 2026-05-01T10:00:00.000Z; convert with --instance, or give the line another id",
            "lead_id: lead 3 is the one of line 1, which was refused: another record has this id",
        ];
        assert_eq!(reasons(&report.document()), expected);
    }
    // A line with the same time of creation is of the same record.
    let changed = "lead 3 was changed through the API since it was imported; use --overwrite to replace it";
    assert_eq!(reasons(&bench.import(&lead(MADE)).document()), [changed]);
    assert_eq!(
        bench.import_overwriting(&lead(MADE)).done().document()["imported"],
        1
    );
    // From then on it is an imported one.
    assert_eq!(
        bench.import(&lead("2025-01-01T00:00:00.000Z")).done().document()["imported"],
        1
    );
}

#[test]
fn the_doctor_finds_a_deal_older_than_its_lead() {
    let bench = bench();
    bench.import(&deal("2026-06-01T10:00:00.000Z")).done();
    bench.funil("doctor --instance acme").done();
    bench.import(&deal("2026-04-01T10:00:00.000Z")).done();
    let found = bench.funil("doctor --instance acme");
    let reason = "was imported and is older than its lead 3, which was made here; is that the person?";
    assert_eq!(found.code, 1, "{found:?}");
    assert!(found.out.contains(reason), "{found:?}");
}

#[test]
fn a_dry_run_lists_what_replaced_records_lose() {
    let bench = Bench::with_instance();
    let before = concat!(
        r#"{"kind":"funnel","id":1,"name":"A","columns":[{"id":1,"name":"B"},{"id":2,"name":"C"}],"fields":[{"name":"Placa"}],"access":{"users":[8]}}"#,
        "\n",
        r#"{"kind":"lead","id":3,"firstname":"Ana","city":"Recife","placa":"ABC","tags":[1]}"#,
        "\n",
        r#"{"kind":"tag","id":1,"tag":"x"}"#,
        "\n",
    );
    bench.import(&format!("{USERS}{before}")).done();
    let after = concat!(
        r#"{"kind":"funnel","id":1,"name":"A","columns":[{"id":1,"name":"B"}]}"#,
        "\n",
        r#"{"kind":"lead","id":3,"firstname":"Bia"}"#,
        "\n",
        r#"{"kind":"user","id":7,"name":"Ana","admin":true}"#,
        "\n",
    );
    let report = bench.funil_reading("import --instance acme - --json --dry-run", after.as_bytes());
    let expected = [
        "line 2: lead 3 loses city, tags, placa",
        "line 1: funnel 1 loses columns \"C\", fields, access",
    ];
    assert_eq!(report.document()["warnings"], json!(expected));
    // Only a dry run lists them.
    assert_eq!(bench.import(after).document()["warnings"], Value::Null);
}

#[test]
fn lines_that_merge_change_no_existing_record() {
    let bench = Bench::with_instance();
    let lines = concat!(
        r#"{"kind":"setting","name":"timezone","value":"America/Recife","merge":true}"#,
        "\n",
        r#"{"kind":"user","id":7,"name":"Ana","merge":true}"#,
        "\n",
        r#"{"kind":"tag","id":1,"tag":"x","merge":true}"#,
        "\n",
        r#"{"kind":"lossReason","id":1,"name":"x","merge":true}"#,
        "\n",
        r#"{"kind":"funnel","id":1,"name":"A","columns":[{"id":1,"name":"B"}],"fields":[{"name":"f"}],"merge":true}"#,
        "\n",
    );
    let count = |lines: &str| bench.import(lines).done().document()["imported"].clone();
    assert_eq!(count(lines), 5);
    let other = lines
        .replace("Recife", "Bahia")
        .replace("Ana", "Bia")
        .replace(r#""x""#, r#""y""#);
    let other = other.replace(
        r#""A","columns":[{"id":1,"name":"B"}]"#,
        r#""Z","columns":[{"id":2,"name":"C"}]"#,
    );
    let before = bench.export();
    assert_eq!(count(&other), 1);
    let after = bench.export();
    let changed: Vec<_> = after.lines().filter(|line| !before.contains(line)).collect();
    let [funnel] = changed[..] else {
        panic!("{changed:?}")
    };
    let funnel: Value = serde_json::from_str(funnel).unwrap();
    assert_eq!(funnel["name"], "A");
    assert_eq!(
        funnel["columns"],
        json!([{ "id": 1, "name": "B", "sequence": 0 }, { "id": 2, "name": "C", "sequence": 1 }])
    );
    let bad = bench.import(r#"{"kind":"tag","id":2,"tag":"x","merge":3}"#);
    assert_eq!(reasons(&bad.document()), ["merge: must be true or false"]);
    // Other kinds have no such field.
    let bad = bench.import(r#"{"kind":"company","id":2,"companyname":"x","merge":true}"#);
    assert_eq!(reasons(&bad.document()), ["merge: unknown field"]);
}
