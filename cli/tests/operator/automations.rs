//! Import and export of automations (C-76, C-81).

use serde_json::{Value, json};

use crate::import::{bench, records, refused};
use crate::support::Bench;

fn automation(id: u64, actions: &Value, active: bool) -> String {
    let line = json!({ "kind": "automation", "id": id, "name": "Ligou", "trigger": "leadPhoneCall",
        "event": "received", "actions": actions, "active": active });
    line.to_string() + "\n"
}

fn points(id: u64, active: bool) -> String {
    automation(id, &json!([{ "type": "addPoints", "points": 5 }]), active)
}

/// With users 7 and 8, department 1 and funnel 3.
fn bench_of_funnels() -> Bench {
    let bench = bench();
    let lines = [
        r#"{"kind":"department","id":1,"name":"Comercial"}"#,
        r#"{"kind":"funnel","id":3,"name":"Vendas","columns":[{"id":31,"name":"Entrada"}]}"#,
    ];
    bench.import(&lines.join("\n")).done();
    bench
}

/// Whether calls write triggers.
fn triggers(bench: &Bench) -> bool {
    bench.json("acme#directory", "directory", "head")["triggers"] == true
}

#[test]
fn lines_with_unknown_references_are_rejected() {
    let bench = bench_of_funnels();
    let points = json!({ "type": "addPoints", "points": 1 });
    let opportunity = |funnel: u64, column: u64| json!({ "type": "createOpportunity", "funnel": funnel, "column": column, "title": "x" });
    let lines: Vec<_> = [
        json!([points, { "type": "setOwner", "user": 99 }]),
        json!([{ "type": "addAccess", "users": [7, 99] }]),
        json!([{ "type": "addAccess", "departments": [99] }]),
        json!([opportunity(99, 31)]),
        json!([opportunity(3, 99)]),
        json!([{ "type": "notify", "url": "https://192.168.0.1/", "secret": "s" }]),
    ]
    .iter()
    .zip(1..)
    .map(|(actions, id)| automation(id, actions, true))
    .collect();
    let answer = bench.import(&lines.concat());
    assert_eq!(answer.code, 1);
    assert_eq!(
        refused(&answer.document()),
        [
            "line 1: actions[1].user: user 99 does not exist",
            "line 2: actions[0].users: user 99 does not exist",
            "line 3: actions[0].departments: department 99 does not exist",
            "line 4: actions[0].funnel: funnel 99 does not exist",
            "line 5: actions[0].column: column 99 is not one of funnel 3",
            "line 6: actions[0]: must not lead to a private address",
        ]
    );
    assert!(!triggers(&bench));
}

#[test]
fn exports_equal_imports() {
    let bench = bench_of_funnels();
    let actions = json!([
        { "type": "addPoints", "points": -5 },
        { "type": "setOwner", "user": 8 },
        { "type": "addAccess", "users": [8], "departments": [1] },
        { "type": "createOpportunity", "funnel": 3, "column": 31, "title": "Ligou", "value": "12.50" },
        { "type": "notify", "url": "https://erp.example/hooks", "secret": "whsec_example" },
    ]);
    bench.import(&automation(2, &actions, false)).done();
    let exported = records(&bench.export(), "automation");
    let expected: Value = serde_json::from_str(&automation(2, &actions, false)).unwrap();
    assert_eq!(exported, [expected]);
    let again = bench.import(&automation(2, &actions, false)).done().document();
    assert_eq!(again, json!({ "imported": 0, "unchanged": 1, "refused": [] }));
}

/// The directory records whether any is active, independently of the import that wrote it.
#[test]
fn calls_write_triggers_while_an_automation_is_active() {
    let bench = bench_of_funnels();
    for (lines, active) in [
        (points(1, false), false),
        (points(1, true), true),
        (points(2, true), true),
        (points(1, false), true),
        (points(2, false), false),
        (points(1, true) + &points(2, false), true),
    ] {
        bench.import(&lines).done();
        assert_eq!(triggers(&bench), active, "{lines}");
    }
    let seen = bench.funil("doctor --instance acme --json").done().document();
    assert_eq!(seen["differences"], json!([]));
    // Changes of other settings keep it.
    bench.funil("instance set acme timezone America/Sao_Paulo").done();
    assert!(triggers(&bench));
}

#[test]
fn more_automations_than_one_transaction_are_imported() {
    let bench = bench_of_funnels();
    let lines: String = (1..=60).map(|id| points(id, id == 60)).collect();
    let answer = bench.import(&lines).done().document();
    assert_eq!(answer, json!({ "imported": 60, "unchanged": 0, "refused": [] }));
    assert!(triggers(&bench));
    assert_eq!(records(&bench.export(), "automation").len(), 60);
}

/// C-84: the directory's flag is derived from the automations; wrongly unset, calls would trigger none.
#[test]
fn the_doctor_checks_the_directorys_flag() {
    let bench = bench_of_funnels();
    let item = "acme#directory directory";
    for (active, reason) in [
        (
            true,
            "says that no automation is active, but one is: calls set none off",
        ),
        (false, "says that an automation is active, but none is"),
    ] {
        bench.import(&points(1, active)).done();
        bench.edit_json("acme#directory", "directory", "head", |directory| {
            directory["triggers"] = json!(!active);
        });
        let told = |repaired| json!([{ "item": item, "reason": reason, "repaired": repaired }]);
        let seen = bench.funil("doctor --instance acme --json");
        assert_eq!((seen.code, &seen.document()["differences"]), (1, &told(false)));
        assert_eq!(triggers(&bench), !active);
        let cured = bench.funil("doctor --instance acme --repair --json");
        assert_eq!((cured.code, &cured.document()["differences"]), (0, &told(true)));
        assert_eq!(triggers(&bench), active);
        let sound = bench.funil("doctor --instance acme --json").done().document();
        assert_eq!(sound["differences"], json!([]));
    }
}
