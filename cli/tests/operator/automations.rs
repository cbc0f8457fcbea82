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

/// An instance with users 7 and 8, department 1 and funnel 3.
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
    bench.json("acme#directory", "directory", "access")["triggers"] == true
}

/// The directory states whether any automation is active, whichever import changed one.
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
    // A change of a setting keeps the flag.
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

/// C-84: the directory's flag is derived from the automations. With a wrong flag, calls trigger none.
#[test]
fn the_doctor_checks_the_directorys_flag() {
    let bench = bench_of_funnels();
    let item = "acme#directory directory";
    for (active, reason) in [
        (
            true,
            "states that no automation is active, but at least one is: calls trigger none",
        ),
        (false, "states that an automation is active, but none is"),
    ] {
        bench.import(&points(1, active)).done();
        bench.edit_json("acme#directory", "directory", "access", |directory| {
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

/// An automation of any event.
fn on(id: u64, trigger: &str, event: &str, more: &Value) -> String {
    let mut line = json!({ "kind": "automation", "id": id, "name": "Avisar", "trigger": trigger, "event": event,
        "actions": [{ "type": "addPoints", "points": 5 }] });
    for (name, value) in more.as_object().into_iter().flatten() {
        line[name] = value.clone();
    }
    line.to_string() + "\n"
}

/// C-102: the directory lists the events for which active automations wait, and the doctor checks the list.
#[test]
fn the_directory_lists_awaited_events() {
    let bench = bench_of_funnels();
    let directory = |bench: &Bench| bench.json("acme#directory", "directory", "access");
    let inactive = json!({ "active": false });
    for (line, events) in [
        (on(1, "lead", "created", &json!({})), json!(["lead.created"])),
        (
            on(2, "meeting", "moved", &json!({})),
            json!(["lead.created", "meeting.moved"]),
        ),
        (on(1, "lead", "created", &inactive), json!(["meeting.moved"])),
        (points(3, true), json!(["meeting.moved"])),
    ] {
        bench.import(&line).done();
        assert_eq!(directory(&bench)["events"], events, "{line}");
    }
    assert!(triggers(&bench));
    bench.edit_json("acme#directory", "directory", "access", |directory| {
        directory["events"] = json!(["lead.created"]);
    });
    let seen = bench.funil("doctor --instance acme --json");
    assert_eq!(seen.code, 1);
    bench.funil("doctor --instance acme --repair").done();
    assert_eq!(directory(&bench)["events"], json!(["meeting.moved"]));
    bench.import(&on(2, "meeting", "moved", &inactive)).done();
    assert_eq!(directory(&bench)["events"], Value::Null);
    bench.funil("doctor --instance acme").done();
}

/// C-102: placeholders may name fixed fields, custom fields of funnels, and custom fields of an existing lead.
#[test]
fn placeholders_name_fields_of_the_instance() {
    let bench = bench_of_funnels();
    let sending = |id, text: &str| {
        let action =
            json!({ "type": "notify", "url": "https://erp.example/", "secret": "s", "body": { "a": text } });
        let changes = json!({ "actions": [action] });
        on(id, "opportunity", "created", &changes)
    };
    let named = sending(1, "{op=title} {op=Cor} {contactfield=phone} {contactfield=cpf}");
    let told = |bench: &Bench, line: &str| refused(&bench.import(line).document());
    assert_eq!(
        told(&bench, &named),
        ["line 1: actions[0].body: {op=Cor} is no field of opportunities"]
    );
    let funnel = r#"{"kind":"funnel","id":3,"name":"Vendas","columns":[{"id":31,"name":"Entrada"}],"fields":[{"name":"Cor"}]}"#;
    bench.import(funnel).done();
    assert_eq!(
        told(&bench, &named),
        ["line 1: actions[0].body: {contactfield=cpf} is no field of leads"]
    );
    let lead = r#"{"kind":"lead","id":1,"firstname":"Ana","cpf":"390.533.447-05"}"#;
    bench.import(&format!("{named}{lead}\n")).done();
    assert_eq!(
        told(&bench, &sending(2, "{contactfield=initial_password}")),
        ["line 1: actions[0].body: {contactfield=initial_password} is no field of leads"]
    );
    assert_eq!(
        told(&bench, &sending(2, "{contactfield=fistname} {op=etapas}")),
        [
            "line 1: actions[0].body: {contactfield=fistname} is no field of leads, did you mean {contactfield=firstname}?"
        ]
    );
}

/// C-102: placeholders may name custom fields that only a form sets, in any order of the lines.
#[test]
fn placeholders_name_fields_of_forms() {
    let bench = bench_of_funnels();
    let action = json!({ "type": "notify", "url": "https://erp.example/", "secret": "s",
        "body": { "cargo": "{contactfield=cargo}", "name": "{contactfield=fullname}" } });
    let automation = automation(1, &json!([action]), true);
    let form = r#"{"kind":"hook","id":1,"name":"contact","token":"t","fields":[{"name":"nome","to":"firstname"},{"name":"Seu cargo","to":"cargo"}]}"#;
    let unknown = "line 1: actions[0].body: {contactfield=cargo} is no field of leads";
    assert_eq!(refused(&bench.import(&automation).document()), [unknown]);
    let by_name = form.replace(r#","to":"cargo""#, "");
    assert_eq!(
        refused(&bench.import(&format!("{automation}{by_name}\n")).document()),
        [unknown]
    );
    bench.import(&format!("{automation}{form}\n")).done();
    let on_form = |url: &str| {
        let notify = json!({ "type": "notify", "url": url, "secret": "s" });
        on(2, "form", "received", &json!({ "actions": [notify] }))
    };
    let unknown = "line 1: actions[0].url: {form=cargo} is no field of a form";
    let told = bench
        .import(&on_form("https://erp.example/{form=cargo}"))
        .document();
    assert_eq!(refused(&told), [unknown]);
    bench
        .import(&on_form(
            "https://erp.example/{form=Seu cargo}?a={form=utm_source}",
        ))
        .done();
    let exported = bench.export();
    let other = bench_of_funnels();
    other.import(&exported).done();
    assert_eq!(
        records(&other.export(), "automation"),
        records(&exported, "automation")
    );
}

/// C-102: the import takes plain and private receivers, and states which option they need.
#[test]
fn plain_and_private_receivers_need_an_option() {
    let bench = bench_of_funnels();
    let sending = |url: &str| json!({ "type": "notify", "url": url, "secret": "s" });
    let actions = json!([
        sending("http://erp.local:8080/hook"),
        sending("https://erp.example/hook"),
        sending("https://[fd00::1]/?id={contactfield=id}"),
    ]);
    let report = bench.import(&automation(1, &actions, true)).done().document();
    let needs = |at: u8, host: &str| {
        format!("line 1: actions[{at}].url: delivered by `funil serve --notify-host {host}` alone")
    };
    let warnings = json!([needs(0, "erp.local:8080"), needs(2, "[fd00::1]")]);
    assert_eq!(
        report,
        json!({ "imported": 1, "unchanged": 0, "refused": [], "warnings": warnings })
    );
    assert_eq!(records(&bench.export(), "automation")[0]["actions"], actions);
    bench.funil("doctor --instance acme").done();
}
