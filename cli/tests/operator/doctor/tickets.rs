//! What the doctor finds of tickets and files: their lists, and the lead that a file has of its ticket.

use serde_json::{Value, json};

use super::{assert_clean, assert_cured, found};
use crate::support::Bench;

/// Ticket 1 in the list of its lead, and files in lists.
const PLACE: &str = "251624671199999#999999999999998";
const BY_ID: &str = "id#000000000000007";
const BY_PATH: &str = "path#a#b";

/// With leads 1 and 2; ticket 1 of lead 1 with a file that has an id and one that has a path; ticket 2 of no lead.
fn bench() -> Bench {
    let bench = Bench::with_instance();
    let date = "2026-05-01T10:00:00.000Z";
    let lines = [
        json!({ "kind": "user", "id": 7, "name": "Ana" }),
        json!({ "kind": "lead", "id": 1, "owner": 7 }),
        json!({ "kind": "lead", "id": 2, "owner": 7 }),
        json!({ "kind": "ticket", "id": 1, "lead_relation": 1, "createDate": date }),
        json!({ "kind": "ticket", "id": 2, "createDate": date }),
        json!({ "kind": "file", "ticket": 1, "id": 7 }),
        json!({ "kind": "file", "ticket": 1, "store_path": "a#b" }),
    ];
    let lines = lines.map(|line| line.to_string()).join("\n");
    bench.import(&lines).done();
    bench
}

fn id(id: u64) -> String {
    format!("{id:015}")
}

#[test]
fn sound_tickets() {
    let bench = bench();
    let document = bench.funil("doctor --instance acme --json").done().document();
    assert_eq!(document["differences"], json!([]));
    for (kind, count) in [("tickets", 2), ("files", 2), ("copies", 2)] {
        assert_eq!(document["checked"][kind], count, "{kind}: {document}");
    }
    assert_clean(&bench);
}

#[test]
fn entries_that_are_missing_or_wrong() {
    let bench = bench();
    let in_lead = |place: &str| format!("{}#{place}", id(1));
    assert_cured(
        &bench,
        |bench| {
            bench.delete("acme#lead-ticket#1", PLACE);
            bench.delete("acme#ticket-file#1", BY_ID);
            bench.set("acme#ticket-file#1", BY_PATH, "file", &json!({ "S": "{}" }));
            bench.delete("acme#lead-file#1", &in_lead(BY_PATH));
        },
        &[
            (
                &format!("acme#lead-ticket#1 {PLACE}"),
                "is missing: ticket 1 has it",
            ),
            (
                &format!("acme#ticket-file#1 {BY_ID}"),
                "is missing: file id#000000000000007 has it",
            ),
            (
                &format!("acme#ticket-file#1 {BY_PATH}"),
                "is not what is derived: file path#000000000000001#a#b has it",
            ),
            (
                &format!("acme#lead-file#1 {}", in_lead(BY_PATH)),
                "is missing: file path#000000000000001#a#b has it",
            ),
        ],
    );
}

#[test]
fn entries_of_no_ticket() {
    let bench = bench();
    let ticket = bench.item("acme#lead-ticket#1", PLACE).unwrap();
    let gone = "251624671199999#999999999999990";
    assert_cured(
        &bench,
        |bench| {
            bench.put("acme#lead-ticket#2", PLACE, &ticket);
            bench.put("acme#lead-ticket#1", gone, &ticket);
            bench.put("acme#lead-ticket#1", "odd", &ticket);
        },
        &[
            (
                &format!("acme#lead-ticket#2 {PLACE}"),
                "ticket 1 does not have it",
            ),
            (&format!("acme#lead-ticket#1 {gone}"), "ticket 9 does not exist"),
            ("acme#lead-ticket#1 odd", "no ticket can have such an item"),
        ],
    );
}

#[test]
fn entries_of_no_file() {
    let bench = bench();
    let file = bench.item("acme#ticket-file#1", BY_ID).unwrap();
    let in_lead = format!("{}#{BY_ID}", id(1));
    let nowhere = format!("{}#path#x", id(9));
    let places = [
        (
            "acme#ticket-file#2",
            BY_ID,
            "file id#000000000000007 does not have it",
        ),
        (
            "acme#ticket-file#2",
            BY_PATH,
            "file path#000000000000002#a#b does not exist",
        ),
        ("acme#ticket-file#1", "odd", "no file can have such an item"),
        (
            "acme#lead-file#2",
            &in_lead,
            "file id#000000000000007 does not have it",
        ),
        (
            "acme#lead-file#2",
            &nowhere,
            "file path#000000000000009#x does not exist",
        ),
        ("acme#lead-file#2", "odd", "no file can have such an item"),
    ];
    let expected = places.map(|(pk, sk, reason)| (format!("{pk} {sk}"), reason));
    let expected: Vec<_> = expected
        .iter()
        .map(|(item, reason)| (item.as_str(), *reason))
        .collect();
    let damage = |bench: &Bench| {
        for (pk, sk, _) in places {
            bench.put(pk, sk, &file);
        }
    };
    assert_cured(&bench, damage, &expected);
}

/// A file that has another lead than its ticket is on that lead's list. That leads changed, of which notices tell, excuses
/// nothing.
#[test]
fn a_file_of_another_lead() {
    for changed in [[].as_slice(), &[1], &[2], &[1, 2]] {
        let bench = bench();
        let (exported, shown) = (bench.export(), bench.partition("acme#lead-file#1"));
        bench.set("acme#file", BY_ID, "lead", &json!({ "N": "2" }));
        for lead in changed {
            let notice = format!("lead#{}", id(*lead));
            bench.put("acme#notice", &notice, &json!({ "v": { "N": "3" } }));
        }
        let seen = bench.funil("doctor --instance acme --repair --json").done();
        let expected = [
            (
                format!("acme#file {BY_ID}"),
                "the copy of ticket 1 is not what its record says",
            ),
            (
                format!("acme#lead-file#2 {}#{BY_ID}", id(1)),
                "is missing: file id#000000000000007 has it",
            ),
        ];
        let expected = expected.map(|(item, reason)| (item, reason.to_owned()));
        assert_eq!(found(&seen, true), expected.into_iter().collect());
        assert_clean(&bench);
        assert_eq!(
            (bench.export(), bench.partition("acme#lead-file#1")),
            (exported, shown)
        );
        assert_eq!(bench.partition("acme#lead-file#2"), Vec::<Value>::new());
    }
}

#[test]
fn the_last_number() {
    let bench = bench();
    assert_cured(
        &bench,
        |bench| bench.set("acme#counter", "ticket", "ticket", &json!({ "N": "1" })),
        &[(
            "acme#counter ticket",
            "the last ticket is number 1, but there is number 2",
        )],
    );
}
