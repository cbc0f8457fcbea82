//! What the doctor finds of copies: an opportunity's of its lead, a lead's of its company.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::boards::{bench, id};
use super::{assert_clean, found};
use crate::support::Bench;

type Told = BTreeSet<(String, String)>;

/// What is said of records.
fn told<const N: usize>(records: [(&str, u64, &str); N]) -> Told {
    let all = records.into_iter();
    all.map(|(kind, at, reason)| (format!("acme#{kind} {}", id(at)), reason.to_owned()))
        .collect()
}

/// Expects the doctor to find just this, to write nothing before it is told to, and to repair it.
#[track_caller]
fn assert_cured(bench: &Bench, seen: &Told, cured: &Told) {
    let damaged = bench.items();
    let looked = bench.funil("doctor --instance acme --json");
    assert_eq!((looked.code, found(&looked, false)), (1, seen.clone()));
    assert_eq!(bench.items(), damaged, "without --repair nothing is written");
    let repaired = bench.funil("doctor --instance acme --repair --json");
    assert_eq!((repaired.code, found(&repaired, true)), (0, cured.clone()));
    assert_clean(bench);
    assert_eq!(bench.partition("acme#notice"), Vec::<Value>::new());
    let sound = bench.items();
    bench.funil("doctor --instance acme --repair").done();
    assert_eq!(bench.items(), sound, "what is repaired is left alone");
}

/// What an opportunity's record and its entries hold, all the same.
fn card(bench: &Bench, at: u64) -> Value {
    let record = bench.item("acme#opportunity", &id(at)).unwrap();
    let card = record["card"].clone();
    let place = format!("{:015}", 999_999_999_999_999 - at);
    let mut entries = bench.items();
    entries.retain(|item| {
        let (pk, sk) = (
            item["pk"]["S"].as_str().unwrap(),
            item["sk"]["S"].as_str().unwrap(),
        );
        pk.starts_with("acme#board#") && sk.ends_with(&place)
    });
    assert_eq!(entries.len(), 4);
    assert!(entries.iter().all(|entry| entry["card"] == card));
    serde_json::from_str(card["S"].as_str().unwrap()).unwrap()
}

/// A lead that changed and told nobody, as if its notice had been lost.
fn move_lead(bench: &Bench, city: &str) {
    bench.set("acme#lead", &id(1), "city", &json!({ "S": city }));
}

#[test]
fn copies_of_a_lead() {
    let bench = bench();
    move_lead(&bench, "Recife");
    let reason = "the copy of lead 1 is not what its record says";
    let expected = told([("opportunity", 1, reason), ("opportunity", 3, reason)]);
    let other = bench.item("acme#opportunity", &id(2)).unwrap();
    assert_cured(&bench, &expected, &expected);
    for at in [1, 3] {
        let card = card(&bench, at);
        assert_eq!(
            (&card["l"]["city"], &card["c"]["companyname"]),
            (&json!("Recife"), &json!("Boa Vista"))
        );
        assert_eq!(bench.item("acme#opportunity", &id(at)).unwrap()["v"]["N"], "2");
    }
    assert_eq!(bench.item("acme#opportunity", &id(2)).unwrap(), other);
}

/// A record whose copy alone is old: its entries follow it, and are right in the end.
#[test]
fn a_record_that_is_older_than_its_entries() {
    let bench = bench();
    let before = card(&bench, 1);
    let mut old = before.clone();
    old["l"]["firstname"] = json!("Somebody else");
    bench.set(
        "acme#opportunity",
        &id(1),
        "card",
        &json!({ "S": old.to_string() }),
    );
    bench.funil("doctor --instance acme --repair").done();
    assert_clean(&bench);
    assert_eq!(card(&bench, 1), before);
}

/// While a notice stands the copies may be behind (C-12), and a repair brings them up to date.
#[test]
fn copies_with_a_notice() {
    let bench = bench();
    let notice = format!("lead#{}", id(1));
    move_lead(&bench, "Recife");
    bench.put("acme#notice", &notice, &json!({ "v": { "N": "3" } }));
    let before = bench.items();
    assert_clean(&bench);
    assert_eq!(bench.items(), before);
    let cured = bench.funil("doctor --instance acme --repair --json").done();
    assert!(found(&cured, true).is_empty(), "{cured:?}");
    assert_eq!(bench.partition("acme#notice"), Vec::<Value>::new());
    assert_eq!(card(&bench, 1)["l"]["city"], "Recife");
    assert_eq!(card(&bench, 3)["l"]["city"], "Recife");
    assert_clean(&bench);
}

/// A notice covers the copies of its lead and no others.
#[test]
fn a_notice_of_another_lead() {
    let bench = bench();
    move_lead(&bench, "Recife");
    bench.put(
        "acme#notice",
        &format!("lead#{}", id(2)),
        &json!({ "v": { "N": "1" } }),
    );
    let reason = "the copy of lead 1 is not what its record says";
    let expected = told([("opportunity", 1, reason), ("opportunity", 3, reason)]);
    assert_cured(&bench, &expected, &expected);
}

/// A lead's copy is repaired, and with it what opportunities copy of the lead.
#[test]
fn copies_of_a_company() {
    let bench = bench();
    bench.set(
        "acme#company",
        &id(2),
        "companyname",
        &json!({ "S": "Bela Vista" }),
    );
    let reason = "the copy of company 2 is not what its record says";
    let expected = told([("lead", 1, reason), ("lead", 2, reason)]);
    assert_cured(&bench, &expected, &expected);
    for at in [1, 2, 3] {
        assert_eq!(
            card(&bench, at)["c"],
            json!({ "id": 2, "companyname": "Bela Vista", "points": 7.5 })
        );
    }
}

#[test]
fn copies_of_a_company_that_is_not_there() {
    let bench = bench();
    let line = r#"{"kind":"lead","id":3,"createDate":"2026-01-01T00:00:00.000Z"}"#;
    bench.import(line).done();
    let copy = bench.item("acme#lead", &id(1)).unwrap()["companyCopy"].clone();
    bench.set("acme#lead", &id(3), "companyCopy", &copy);
    bench.delete("acme#company", &id(2));
    let reason = "has a copy of company 2, which does not exist";
    let expected = told([
        ("lead", 1, reason),
        ("lead", 2, reason),
        ("lead", 3, "has the copy of a company and names none"),
    ]);
    assert_cured(&bench, &expected, &expected);
    assert_eq!(card(&bench, 1).get("c"), None);
    let lead = bench.item("acme#lead", &id(1)).unwrap();
    assert_eq!(
        (&lead["company"]["N"], lead.get("companyCopy")),
        (&json!("2"), None)
    );
}

/// The copy is all that is left of a lead that is gone, so it stays until a person decides.
#[test]
fn opportunities_of_a_lead_that_is_not_there() {
    let bench = bench();
    let before = card(&bench, 1);
    bench.delete("acme#lead", &id(1));
    bench.funil("doctor --instance acme --repair");
    let reason = "belongs to lead 1, which does not exist";
    let expected = told([("opportunity", 1, reason), ("opportunity", 3, reason)]);
    for command in [
        "doctor --instance acme --json",
        "doctor --instance acme --repair --json",
    ] {
        let seen = bench.funil(command);
        assert_eq!((seen.code, found(&seen, false)), (1, expected.clone()));
    }
    assert_eq!(card(&bench, 1), before);
}

#[test]
fn what_cannot_be_compared() {
    let bench = bench();
    bench.set("acme#company", &id(2), "points", &json!({ "S": "many" }));
    let before = bench.items();
    let seen = bench.funil("doctor --instance acme --repair --json");
    let mut items = found(&seen, false);
    items.retain(|(item, _)| *item != format!("acme#company {}", id(2)));
    assert_eq!((seen.code, items.len()), (1, 2));
    for ((item, reason), at) in items.iter().zip([1, 2]) {
        assert_eq!(*item, format!("acme#lead {}", id(at)));
        assert!(
            reason.starts_with("cannot be compared with company 2: "),
            "{reason}"
        );
    }
    assert_eq!(bench.items(), before);
}
