//! The crash tests detect losses: a missing or changed record is a fault.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::time::Duration;

use serde_json::{Value, json};

use super::clients::cut_off;
use super::deed::Deed;
use super::facts::{facts_of, made_up};
use super::found::Found;
use super::house::{Home, House};
use super::ledger::Ledger;
use super::plan::{Moment, seed};
use super::stage;

/// Number of responses in the single round, enough for records of all kinds.
const ANSWERS: u64 = 120;
/// Maximum tested records of each kind.
const SOME: usize = 5;

#[test]
fn losses_are_detected() {
    let home = Home::new();
    let house = House::with_demo(&home);
    let ledger = Mutex::new(stage::set(&house, &home));
    let access = house.access.clone();
    let before = house.export("demo");
    cut_off(house, &ledger, seed(), Moment::Answers(ANSWERS, Duration::ZERO));
    let house = House::open(&home, Some(&access));
    let mut ledger = ledger.into_inner().unwrap();
    let export = house.export("demo");
    assert_eq!(ledger.judge(&Found::read(&export)).count(), 0);
    // Without the records of the round, every acknowledged record is missed.
    let makes = |deed: &Deed| matches!(deed, Deed::Sell { .. } | Deed::Book { .. } | Deed::Call { .. });
    let made = ledger
        .requests
        .iter()
        .filter(|request| makes(&request.deed) && request.acknowledged().is_some());
    let missed = ledger.judge(&Found::read(&before)).count();
    assert!(missed >= made.count(), "{missed} are missed");
    let records: Vec<Value> = export
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    each_is_missed(&ledger, &records);
    each_change_is_seen(&ledger, &records);
    ledger.resolve(&house, &Found::read(&export));
    each_fact_is_counted(&ledger, &house.items());
}

/// A missing notification and an additional one are faults.
fn each_fact_is_counted(ledger: &Ledger, items: &[String]) {
    let faults = |items: &[String]| ledger.judge_facts(items, None).count();
    assert_eq!(faults(items), 0);
    let facts: BTreeSet<_> = items.iter().flat_map(|item| facts_of(item)).collect();
    let mut tried = BTreeMap::<u64, usize>::new();
    for fact in facts.iter().filter(|fact| ledger.is_judged(fact, None)) {
        let tried = tried.entry(fact.0.0).or_default();
        *tried += 1;
        if *tried > SOME {
            continue;
        }
        let without = items.iter().filter(|item| !facts_of(item).contains(fact));
        assert!(
            faults(&without.cloned().collect::<Vec<_>>()) > 0,
            "nobody misses {fact:?}"
        );
        let with = [items, &[made_up(fact)]].concat();
        assert!(faults(&with) > 0, "nobody sees that {fact:?} is told twice");
    }
    assert!(tried.len() > 4, "{tried:?}");
}

/// A missing record is a fault if its creation was acknowledged.
fn each_is_missed(ledger: &Ledger, records: &[Value]) {
    for kind in ["lead", "opportunity", "meeting", "call", "event"] {
        for at in told(ledger, records, kind) {
            let without = [&records[..at], &records[at + 1..]].concat();
            assert!(faults(ledger, &without) > 0, "nobody misses {}", records[at]);
        }
    }
}

/// A changed record is a fault.
fn each_change_is_seen(ledger: &Ledger, records: &[Value]) {
    let changes = [
        ("lead", "archived", None),
        ("lead", "email", Some(json!("other@example.com"))),
        ("opportunity", "value", Some(json!("0.01"))),
        ("opportunity", "lead_id", Some(json!(1001))),
        ("opportunity", "status", Some(json!("neither"))),
        ("meeting", "date", Some(json!("2020-01-01T00:00:00.000Z"))),
        ("meeting", "leadId", Some(json!(1001))),
        ("call", "lead", Some(json!(1001))),
        ("event", "lead", Some(json!(1001))),
    ];
    for (kind, name, value) in changes {
        for at in told(ledger, records, kind) {
            let mut records = records.to_vec();
            let value = value.clone().unwrap_or_else(|| json!(records[at][name] != true));
            records[at][name] = value;
            assert!(
                faults(ledger, &records) > 0,
                "{name} of {} may be so",
                records[at]
            );
        }
    }
}

fn faults(ledger: &Ledger, records: &[Value]) -> usize {
    let lines: Vec<_> = records.iter().map(Value::to_string).collect();
    ledger.judge(&Found::read(&lines.join("\n"))).count()
}

/// Indices of acknowledged records of a kind.
fn told(ledger: &Ledger, records: &[Value], kind: &str) -> Vec<usize> {
    let at = (0..records.len()).filter(|at| records[*at]["kind"] == kind && is_told(ledger, &records[*at]));
    let at: Vec<_> = at.take(SOME).collect();
    assert!(!at.is_empty(), "nobody was told of any {kind}");
    at
}

/// Whether a record was acknowledged.
fn is_told(ledger: &Ledger, record: &Value) -> bool {
    let id = record["id"].as_u64().unwrap();
    let called = |id: u64| {
        let mut answers = ledger
            .requests
            .iter()
            .filter_map(|request| request.acknowledged());
        answers.any(|answer| answer.status == 201 && answer.body["id"] == id)
    };
    match record["kind"].as_str().unwrap() {
        "lead" => ledger.people.get(&id).is_some_and(|person| !person.busy),
        "opportunity" => ledger.opportunities.contains_key(&id),
        "meeting" => ledger.meetings.contains_key(&id),
        "call" => called(id),
        _ => called(record["call"].as_u64().unwrap()),
    }
}
