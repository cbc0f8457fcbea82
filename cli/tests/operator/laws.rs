//! Laws of all kinds of records, on one sample (C-81, C-84): the order of lines, missing references, defaults of times,
//! changes through the API, concurrent writers, and what follows from the records.

use std::collections::BTreeSet;

use operator::kinds::{Field, Kind, Shape};
use serde_json::{Value, json};
use shared::environment::Environment;

use crate::import::{assert_sound, records, refused};
use crate::support::{Bench, command, sample};

/// An id that no record has.
const NONE: u64 = 404_404;

/// The lines of the sample by kind.
fn lines_of(kind: Kind) -> Vec<Value> {
    records(&sample(), kind.name())
}

/// Each reference of each kind by the field's path.
fn references() -> impl Iterator<Item = (Kind, &'static Field, &'static str)> {
    let fields = Kind::STORED
        .iter()
        .flat_map(|kind| kind.fields().iter().map(|field| (*kind, field)));
    let referring = fields.filter(|(_, field)| Kind::ALL.iter().any(|kind| field.may_refer_to(*kind)));
    referring.flat_map(|(kind, field)| field.names().map(move |path| (kind, field, path)))
}

/// A line of a kind that may have the field.
fn base(kind: Kind, path: &str) -> Value {
    let mut line = lines_of(kind).remove(0);
    match (kind, path) {
        (Kind::Reports, _) => {
            line["entity"] = json!("opportunities");
            line["filters"] = json!({});
        }
        (Kind::Events, "form") => {
            line = json!({ "kind": "event", "id": 900, "lead": 1001, "name": "form.received", "form": 1,
                "createDate": "2026-06-01T10:00:00.000Z" });
        }
        (Kind::Automations, path) => {
            let [trigger, event] = if path == "filters.form" {
                ["form", "received"]
            } else {
                ["opportunity", "updated"]
            };
            let filters = if path == "filters.column" {
                json!({ "funnel": 3 })
            } else {
                json!({})
            };
            let action = match path {
                "actions[].user" => json!({ "type": "setOwner" }),
                "actions[].users" | "actions[].departments" => json!({ "type": "addAccess" }),
                _ => json!({ "type": "createOpportunity", "funnel": 3, "column": 31, "title": "x" }),
            };
            line = json!({ "kind": "automation", "id": 900, "name": "A", "trigger": trigger, "event": event,
                "filters": filters, "actions": [action] });
        }
        _ => {}
    }
    line
}

/// A line with a reference to a missing record, and the reason to refuse it.
fn astray(at: usize, kind: Kind, field: &Field, path: &'static str) -> (String, String) {
    let mut line = base(kind, path);
    if kind == Kind::Events {
        // No two events have one id.
        line["id"] = json!(9000 + at);
    }
    let place = path.replace("[]", "[0]");
    let pointer = format!("/{}", path.replace("[]", "/0").replace('.', "/"));
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    if line.pointer(parent).is_none_or(Value::is_null) {
        line[&parent[1..]] = json!({});
    }
    let is_list = field.shape == Shape::Ids || path.ends_with("users");
    let value = if is_list { json!([NONE]) } else { json!(NONE) };
    line.pointer_mut(parent).unwrap()[name] = value;
    let funnel = ["funnel", "crm_id"].map(|name| line.pointer(parent).unwrap()[name].clone());
    let funnel = funnel.iter().find(|funnel| funnel.is_u64());
    let reason = match (name, funnel) {
        ("column" | "crm_column", Some(funnel)) => format!("column {NONE} is not one of funnel {funnel}"),
        ("column", None) => format!("column {NONE} does not exist"),
        _ => {
            let referred = Kind::ALL.iter().find(|kind| field.may_refer_to(**kind)).unwrap();
            format!("{} {NONE} does not exist", referred.name())
        }
    };
    (line.to_string(), format!("{place}: {reason}"))
}

#[test]
fn a_missing_reference_is_refused() {
    let bench = Bench::with_sample();
    let astray = references()
        .enumerate()
        .map(|(at, (kind, field, path))| astray(at, kind, field, path));
    let (lines, reasons): (Vec<_>, Vec<_>) = astray.unzip();
    let expected = reasons
        .iter()
        .zip(1..)
        .map(|(reason, line)| format!("line {line}: {reason}"));
    let before = bench.export();
    let document = bench.import_overwriting(&lines.join("\n")).document();
    assert_eq!(refused(&document), expected.collect::<Vec<_>>());
    assert!(lines.len() > 45, "{}", lines.len());
    assert_eq!(bench.export(), before);
}

#[test]
fn the_order_of_the_lines_does_not_matter() {
    let [forward, backward, again] = [(); 3].map(|()| Bench::with_instance());
    let lines = sample();
    forward.import(&lines).done();
    let reversed: Vec<_> = lines.lines().rev().collect();
    backward.import(&reversed.join("\n")).done();
    let times = |bench: &Bench| {
        // A meeting and a report without times have those of the import.
        let exported = bench.export();
        let lines = exported
            .lines()
            .filter(|line| !line.contains("\"meeting\"") && !line.contains("\"report\""));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(times(&forward), times(&backward));
    let exported = forward.export();
    again.import(&exported).done();
    assert_eq!(again.export(), exported);
    for bench in [forward, backward, again] {
        assert_sound(&bench);
    }
}

/// Everything but records, the directory and credentials is restored from the records.
#[test]
fn what_is_derived_follows_from_the_records() {
    let bench = Bench::with_sample();
    let kept = |item: &Value| {
        let pk = item["pk"]["S"].as_str().unwrap();
        let name = pk
            .strip_prefix("acme#")
            .map(|name| name.split('#').next().unwrap());
        name.is_none_or(|name| {
            let is_record = |kind: &Kind| {
                let names = [kind.name(), "loss-reason", "form", "form-event", "directory"];
                names.contains(&name)
            };
            // The event of a call may have had more than the call.
            Kind::ALL.iter().any(is_record) || name == "timeline"
        })
    };
    let content = |bench: &Bench| {
        let mut items = bench.items();
        for item in &mut items {
            item.as_object_mut().unwrap().remove("v");
        }
        items
    };
    let (before, exported) = (content(&bench), bench.export());
    let derived: Vec<_> = bench.items().into_iter().filter(|item| !kept(item)).collect();
    assert!(derived.len() > 200, "{}", derived.len());
    for item in &derived {
        bench.delete(
            item["pk"]["S"].as_str().unwrap(),
            item["sk"]["S"].as_str().unwrap(),
        );
    }
    bench.funil("doctor --instance acme --repair --json").done();
    assert_eq!(content(&bench), before);
    assert_eq!(bench.export(), exported);
    assert_sound(&bench);
}

/// A line with one more change for each kind whose records requests change.
const CHANGES: [(Kind, &str, &str); 4] = [
    (Kind::Leads, "city", "\"Olinda\""),
    (Kind::Opportunities, "campaign", "\"Natal\""),
    (Kind::Meetings, "properties", "{\"sala\":1}"),
    (Kind::Tickets, "obs", "\"Ligar\""),
];

fn changed(line: &Value, name: &str, value: &str) -> String {
    let mut line = line.clone();
    line[name] = serde_json::from_str(value).unwrap();
    line.to_string()
}

#[test]
fn records_changed_through_the_api_are_kept_without_overwrite() {
    let bench = Bench::with_sample();
    for (kind, name, value) in CHANGES {
        let line = &lines_of(kind)[0];
        let (pk, sk) = (
            format!("acme#{}", kind.name()),
            format!("{:0>15}", line["id"].to_string()),
        );
        bench.set(&pk, &sk, "edited", &json!({ "N": "1" }));
        assert_eq!(bench.import(&line.to_string()).done().document()["unchanged"], 1);
        let reason = format!(
            "line 1: {} {} was changed through the API since it was imported; use --overwrite to replace it",
            kind.name(),
            line["id"]
        );
        let change = changed(line, name, value);
        let before = bench.item(&pk, &sk);
        assert_eq!(refused(&bench.import(&change).document()), [reason]);
        assert_eq!(bench.item(&pk, &sk), before);
        assert_eq!(bench.import_overwriting(&change).done().document()["imported"], 1);
        // From then on it is an imported one.
        assert_eq!(bench.import(&line.to_string()).done().document()["imported"], 1);
    }
    assert_sound(&bench);
}

#[test]
fn times_that_a_line_omits_are_kept() {
    let bench = Bench::with_sample();
    let dated = CHANGES
        .into_iter()
        .skip(1)
        .chain([(Kind::Calendars, "host", "\"Ana\"")]);
    for (kind, name, value) in dated {
        let mut timeless = lines_of(kind).remove(0);
        let fields = timeless.as_object_mut().unwrap();
        fields.retain(|name, _| !["createDate", "updateDate"].contains(&name.as_str()));
        // A new record, so that nothing is stored.
        timeless["id"] = json!(NONE);
        if kind == Kind::Calendars {
            (timeless["keyName"], timeless["publicId"]) = (json!("new"), json!("new"));
        }
        let with_times = |created: &str, updated: &str| {
            let mut line = timeless.clone();
            (line["createDate"], line["updateDate"]) = (created.into(), updated.into());
            line.to_string()
        };
        let times = || {
            let record = records(&bench.export(), kind.name())
                .into_iter()
                .find(|record| record["id"] == NONE);
            let record = record.unwrap();
            ["createDate", "updateDate"].map(|name| record[name].as_str().unwrap().to_owned())
        };
        let before = Environment::system().now().to_string();
        bench.import(&timeless.to_string()).done();
        let [created, updated] = times();
        assert_eq!(created, updated, "{kind:?}");
        assert!(created >= before, "{created} is now");
        assert_eq!(
            bench.import(&timeless.to_string()).done().document()["unchanged"],
            1
        );
        let stated = ["2025-02-01T00:00:00.000Z", "2025-03-01T00:00:00.000Z"];
        bench.import(&with_times(stated[0], stated[1])).done();
        bench.import(&changed(&timeless, name, value)).done();
        assert_eq!(times(), stated, "{kind:?}");
    }
    assert_sound(&bench);
}

/// Records created during an export are omitted, because the export may lack their leads.
#[test]
fn an_export_omits_records_created_during_it() {
    let bench = Bench::with_sample();
    for (counter, kind, number) in [
        ("opportunity", Kind::Opportunities, "id"),
        ("meeting", Kind::Meetings, "id"),
        ("ticket", Kind::Tickets, "id"),
        ("ticket", Kind::Files, "ticket"),
        ("call", Kind::Calls, "id"),
    ] {
        let numbers: BTreeSet<_> = lines_of(kind)
            .iter()
            .map(|line| line[number].as_u64().unwrap())
            .collect();
        let last = numbers.last().unwrap();
        let stored = bench.item("acme#counter", counter).unwrap()[counter].clone();
        bench.set(
            "acme#counter",
            counter,
            counter,
            &json!({ "N": (last - 1).to_string() }),
        );
        let exported = records(&bench.export(), kind.name());
        let exported: BTreeSet<_> = exported
            .iter()
            .map(|line| line[number].as_u64().unwrap())
            .collect();
        let expected: BTreeSet<_> = numbers.iter().filter(|id| *id < last).copied().collect();
        assert_eq!(exported, expected, "{kind:?}");
        bench.set("acme#counter", counter, counter, &stored);
    }
}

/// Later records get higher ids than imported ones (C-11).
#[test]
fn sequences_continue_above_imported_ids() {
    let bench = Bench::with_sample();
    for (counter, attribute, kind) in [
        ("lead", "lead", Kind::Leads),
        ("opportunity", "opportunity", Kind::Opportunities),
        ("calendar", "calendar", Kind::Calendars),
        ("meeting", "meeting", Kind::Meetings),
        ("ticket", "ticket", Kind::Tickets),
        ("call", "call", Kind::Calls),
        ("call", "event", Kind::Events),
    ] {
        let highest = lines_of(kind)
            .iter()
            .map(|line| line["id"].as_u64().unwrap())
            .max()
            .unwrap();
        let last = bench.item("acme#counter", counter).unwrap()[attribute]["N"].clone();
        assert_eq!(last, highest.to_string(), "{kind:?}");
    }
}

/// Another process writes the same lines of a kind just before the first transaction of an import.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refused_transaction_is_decided_again() {
    let bench = Bench::with_instance();
    let folder = tempfile::tempdir().unwrap();
    for kind in Kind::ALL {
        let lines: Vec<_> = lines_of(*kind).iter().map(ToString::to_string).collect();
        let lines = lines.join("\n");
        let file = folder.path().join(kind.name());
        std::fs::write(&file, &lines).unwrap();
        let import = format!("import --instance acme {}", file.display());
        let operator = bench
            .operator_late(move |endpoint| {
                let told = command(endpoint, &import).output().unwrap();
                assert!(told.status.success(), "{told:?}");
            })
            .await;
        let source = operator::import::Source::open(&file).unwrap();
        let bar = indicatif::ProgressBar::hidden();
        let report = operator::import::import(&operator, &source, false, &bar)
            .await
            .unwrap();
        assert_eq!(report.refused, [], "{kind:?}");
        assert_eq!(report.imported + report.unchanged, lines.lines().count() as u64);
    }
    let whole = Bench::with_sample();
    let times = |line: &&str| !line.contains("\"meeting\"") && !line.contains("\"report\"");
    let (one, other) = (bench.export(), whole.export());
    assert_eq!(
        one.lines().filter(times).collect::<Vec<_>>(),
        other.lines().filter(times).collect::<Vec<_>>()
    );
    assert_sound(&bench);
}
