//! `funil doctor` checks copies: of a lead in its opportunities, of a company in its leads, of a lead's id in files.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{assert_clean, assert_repairs, bench, damage, doctor, found, id, repair};
use crate::support::Bench;

const LEAD_1: &str = "the copy of lead 1 differs from its record";
const COMPANY_2: &str = "the copy of company 2 differs from its record";

/// Changes a lead without a marker.
fn move_lead(bench: &Bench) {
    bench.set("acme#lead", &id(1), "city", &json!({ "S": "Recife" }));
}

fn mark(bench: &Bench, lead: u64) {
    bench.put(
        "acme#notice",
        &format!("lead#{}", id(lead)),
        &json!({ "v": { "N": "3" } }),
    );
}

/// Lines of findings without damages, for records of one kind.
fn expected(kind: &str, reasons: &[(u64, &str)]) -> String {
    let mut lines = String::new();
    for (at, reason) in reasons {
        writeln!(lines, " | acme#{kind} {} | {reason}", id(*at)).unwrap();
    }
    lines
}

/// The card in an opportunity's record. All its entries must have the same copies.
fn card(bench: &Bench, at: u64) -> Value {
    let card = bench.item("acme#opportunity", &id(at)).unwrap()["card"].clone();
    let place = id(999_999_999_999_999 - at);
    let ends = |item: &Value, name: &str, text: &str| item[name]["S"].as_str().unwrap().ends_with(text);
    let mut entries = bench.items();
    entries.retain(|item| {
        item["pk"]["S"].as_str().unwrap().starts_with("acme#board#") && ends(item, "sk", &place)
    });
    assert_eq!(entries.len(), 4);
    let json = |text: &Value| serde_json::from_str::<Value>(text["S"].as_str().unwrap()).unwrap();
    let card = json(&card);
    for entry in &entries {
        let entry = json(&entry["e"]);
        for (short, name) in [("f", "firstname"), ("y", "city")] {
            assert_eq!(entry["l"][short], card["l"][name]);
        }
        assert_eq!(entry["c"]["n"], card["c"]["companyname"]);
    }
    card
}

/// Requires a repair of exactly these findings. After the repair there is no marker, and another repair writes nothing.
#[track_caller]
fn assert_copied(bench: &Bench, lines: &str) {
    assert_repairs(bench, &damage(bench, lines));
    assert_eq!(bench.partition("acme#notice"), Vec::<Value>::new());
    let sound = bench.items();
    repair(bench).done();
    assert_eq!(bench.items(), sound, "what is repaired is left alone");
}

/// A marker excuses the copies of its lead and no others.
#[test]
fn copies_of_a_lead() {
    for marked in [None, Some(2)] {
        let bench = bench();
        let other = bench.item("acme#opportunity", &id(2));
        move_lead(&bench);
        if let Some(lead) = marked {
            mark(&bench, lead);
        }
        assert_copied(&bench, &expected("opportunity", &[(1, LEAD_1), (3, LEAD_1)]));
        for at in [1, 3] {
            let card = card(&bench, at);
            assert_eq!(
                (&card["l"]["city"], &card["c"]["companyname"]),
                (&json!("Recife"), &json!("Boa Vista"))
            );
            assert_eq!(bench.item("acme#opportunity", &id(at)).unwrap()["v"]["N"], "2");
        }
        assert_eq!(bench.item("acme#opportunity", &id(2)), other);
    }
}

/// A marker excuses outdated copies (C-12), and a repair refreshes them.
#[test]
fn copies_with_a_marker() {
    let bench = bench();
    move_lead(&bench);
    mark(&bench, 1);
    let before = bench.items();
    assert_clean(&bench);
    assert_eq!(bench.items(), before);
    assert!(found(&repair(&bench).done(), true).is_empty());
    assert_eq!(bench.partition("acme#notice"), Vec::<Value>::new());
    assert_eq!(
        [1, 3].map(|at| card(&bench, at)["l"]["city"].clone()),
        ["Recife", "Recife"]
    );
    assert_clean(&bench);
}

/// Only the copy in the record is outdated. The repair updates its entries too.
#[test]
fn a_record_that_is_older_than_its_entries() {
    let bench = bench();
    let before = card(&bench, 1);
    bench.edit_json("acme#opportunity", &id(1), "card", |card| {
        card["l"]["firstname"] = json!("Somebody else");
    });
    repair(&bench).done();
    assert_clean(&bench);
    assert_eq!(card(&bench, 1), before);
}

/// A repair of leads' copies of a company also updates the opportunities of the leads.
#[test]
fn copies_of_a_company() {
    let bench = bench();
    bench.set(
        "acme#company",
        &id(2),
        "companyname",
        &json!({ "S": "Bela Vista" }),
    );
    assert_copied(&bench, &expected("lead", &[(1, COMPANY_2), (2, COMPANY_2)]));
    let company = json!({ "id": 2, "companyname": "Bela Vista", "points": 7.5 });
    assert_eq!(
        [1, 2, 3].map(|at| card(&bench, at)["c"].clone()),
        [&company, &company, &company].map(Clone::clone)
    );

    let copy = bench.item("acme#lead", &id(1)).unwrap()["companyCopy"].clone();
    bench.set("acme#lead", &id(3), "companyCopy", &copy);
    bench.delete("acme#company", &id(2));
    let gone = "has a copy of company 2, which does not exist";
    let none = "has the copy of a company without its id";
    assert_copied(&bench, &expected("lead", &[(1, gone), (2, gone), (3, none)]));
    let lead = bench.item("acme#lead", &id(1)).unwrap();
    assert_eq!(
        (&lead["company"]["N"], lead.get("companyCopy")),
        (&json!("2"), None)
    );
    assert_eq!(card(&bench, 1).get("c"), None);
}

/// A file with another lead than its ticket's is in that other lead's list. Markers of changed leads excuse nothing.
#[test]
fn a_file_of_another_lead() {
    for marked in [[].as_slice(), &[1], &[2], &[1, 2]] {
        let bench = bench();
        let (exported, shown) = (bench.export(), bench.partition("acme#lead-file#1"));
        for lead in marked {
            mark(&bench, *lead);
        }
        let mut expected = damage(
            &bench,
            r#"
set lead {"N":"2"} | acme#file id#000000000000007 | the copy of ticket 1 differs from its record
 | acme#lead-file#2 000000000000001#id#000000000000007 | is missing: file id#000000000000007 has it
"#,
        );
        // The repaired file does not derive the other item.
        expected.retain(|(item, _)| item.starts_with("acme#file "));
        assert_eq!(found(&repair(&bench).done(), true), expected);
        assert_clean(&bench);
        assert_eq!(
            (bench.export(), bench.partition("acme#lead-file#1")),
            (exported, shown)
        );
        assert_eq!(bench.partition("acme#lead-file#2"), Vec::<Value>::new());
    }
}

/// Changes of a lead with this attribute would set no marker.
#[test]
fn a_linked_lead_that_says_that_it_is_not() {
    let bench = bench();
    let lead = ("acme#lead", id(2));
    let before = bench.item(lead.0, &lead.1).unwrap();
    assert_eq!(before.get("u"), None);
    bench.set(lead.0, &lead.1, "u", &json!({ "N": "1" }));
    let linked = "is linked to lead 2, which is marked as never linked";
    let expected = damage(&bench, &expected("opportunity", &[(2, linked)]));
    assert_repairs(&bench, &expected);
    let repaired = bench.item(lead.0, &lead.1).unwrap();
    assert_eq!(repaired["u"]["N"], "0");
    assert_ne!(repaired["v"], before["v"]);
}

/// The copy is the only data of a deleted lead, so it stays until a person decides.
#[test]
fn opportunities_of_a_lead_that_is_not_there() {
    let bench = bench();
    let before = card(&bench, 1);
    bench.delete("acme#lead", &id(1));
    repair(&bench);
    let gone = "belongs to lead 1, which does not exist";
    let mut expected = damage(&bench, &expected("opportunity", &[(1, gone), (3, gone)]));
    expected.insert((format!("acme#call#1 {}", id(1)), gone.to_owned()));
    for seen in [doctor(&bench), repair(&bench)] {
        assert_eq!((seen.code, found(&seen, false)), (1, expected.clone()));
    }
    assert_eq!(card(&bench, 1), before);
}
