//! `funil doctor` (C-84): every sort of damage is found and repaired, and nothing that is right is touched.

mod boards;
mod calendars;
mod calls;
mod copies;
mod storm;
mod storm_of_opportunities;
mod tickets;

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::{Bench, Ended};

const LEAD: &str = "000000000001001";
/// With what the partitions of totals begin.
const TOTALS: [&str; 7] = [
    "acme#lead-total#",
    "acme#board-total#",
    "acme#board-rank#",
    "acme#board-total-restricted#",
    "acme#board-rank-restricted#",
    "acme#agenda#",
    "acme#meeting-month#",
];

/// With the sample and two keys, one of them revoked.
fn bench() -> (Bench, [String; 2]) {
    let bench = Bench::with_sample();
    let issue = || {
        let issued = bench.funil("key issue --instance acme --user 7 --json").done();
        issued.document()["id"].as_str().unwrap().to_owned()
    };
    let ids = [issue(), issue()];
    bench
        .funil(&format!("key revoke --instance acme {}", ids[1]))
        .done();
    (bench, ids)
}

/// The items and reasons of what a doctor found.
fn found(ended: &Ended, repaired: bool) -> BTreeSet<(String, String)> {
    let document = ended.document();
    let differences = document["differences"].as_array().unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    differences
        .iter()
        .map(|difference| {
            assert_eq!(difference["repaired"], repaired, "{difference}");
            (text(&difference["item"]), text(&difference["reason"]))
        })
        .collect()
}

/// The table without the versions that a repair raises.
fn content(bench: &Bench) -> Vec<Value> {
    let mut items = bench.items();
    for item in &mut items {
        let pk = item["pk"]["S"].as_str().unwrap();
        if pk == "acme#directory" || TOTALS.iter().any(|totals| pk.starts_with(totals)) {
            item.as_object_mut().unwrap().remove("v");
        }
    }
    items
}

/// Damages the table, and expects the doctor to find just that, to repair it, and to leave everything as it was.
#[track_caller]
fn assert_cured(bench: &Bench, damage: impl FnOnce(&Bench), expected: &[(&str, &str)]) {
    let (before, exported) = (content(bench), bench.export());
    damage(bench);
    let expected = expected
        .iter()
        .map(|(item, reason)| ((*item).to_owned(), (*reason).to_owned()));
    let expected: BTreeSet<_> = expected.collect();
    let damaged = bench.items();
    let seen = bench.funil("doctor --instance acme --json");
    assert_eq!((seen.code, found(&seen, false)), (1, expected.clone()));
    assert_eq!(bench.items(), damaged, "without --repair nothing is written");
    let cured = bench.funil("doctor --instance acme --repair --json");
    assert_eq!((cured.code, found(&cured, true)), (0, expected));
    assert_clean(bench);
    assert_eq!(content(bench), before);
    assert_eq!(bench.export(), exported);
}

#[track_caller]
fn assert_clean(bench: &Bench) {
    let seen = bench.funil("doctor --instance acme --json").done();
    assert!(found(&seen, false).is_empty(), "{seen:?}");
}

#[test]
fn a_sound_instance() {
    let (bench, _) = bench();
    let before = bench.items();
    let seen = bench.funil("doctor --instance acme --repair --json").done();
    let document = seen.document();
    assert_eq!(document["differences"], json!([]));
    let within = |item: &&Value, partitions: &[&str]| {
        let pk = item["pk"]["S"].as_str().unwrap();
        partitions.iter().any(|partition| pk.starts_with(partition))
    };
    let totals = before.iter().filter(|item| within(item, &TOTALS)).count();
    let checked = [
        ("leads", 12),
        ("calls", 1),
        ("calendars", 4),
        ("meetings", 1),
        ("users", 5),
        ("credentials", 2),
        ("totals", totals),
    ];
    for (kind, count) in checked {
        assert_eq!(document["checked"][kind], count, "{kind}: {document}");
    }
    let text = bench.funil("doctor --instance acme").done().out;
    assert!(
        text.starts_with("0 differences, 0 remain; looked at 4 calendars, 1 calls, "),
        "{text}"
    );
    assert_eq!(bench.items(), before);
}

#[test]
fn what_is_not_there_or_wrongly_asked() {
    let bench = Bench::with_instance();
    assert_clean(&bench);
    let absent = bench.funil("doctor --instance absent");
    assert_eq!(absent.code, 1);
    assert!(absent.err.contains("there is no instance absent"), "{absent:?}");
    assert_eq!(bench.funil("doctor").code, 2);
    let help = bench.funil("doctor --help").done().out;
    assert!(help.contains("funil doctor --instance acme --repair"), "{help}");
}

#[test]
fn a_line_for_each_difference() {
    let (bench, _) = bench();
    bench.delete("acme#leads#0", LEAD);
    let line = format!("acme#leads#0 {LEAD}: is missing: lead 1001 has it");
    let seen = bench.funil("doctor --instance acme");
    assert_eq!((seen.code, seen.out.lines().next()), (1, Some(line.as_str())));
    assert!(seen.out.contains("\n1 differences, 1 remain; "), "{seen:?}");
    let cured = bench.funil("doctor --instance acme --repair").done();
    assert_eq!(
        cured.out.lines().next(),
        Some(format!("{line} (repaired)").as_str())
    );
}

#[test]
fn entries_and_look_ups() {
    let (bench, _) = bench();
    let (pk, sk) = ("acme#phone#5511973263471", format!("0#{LEAD}"));
    assert_cured(
        &bench,
        |bench| {
            bench.delete("acme#leads#0#8", LEAD);
            bench.delete(pk, &sk);
            bench.set("acme#leads#0", LEAD, "n", &json!({ "S": "Somebody else" }));
            bench.set("acme#leads#1", "000000000001012", "o", &json!({ "N": "7" }));
        },
        &[
            (&format!("acme#leads#0#8 {LEAD}"), "is missing: lead 1001 has it"),
            (&format!("{pk} {sk}"), "is missing: lead 1001 has it"),
            (
                &format!("acme#leads#0 {LEAD}"),
                "is not what is derived: lead 1001 has it",
            ),
            (
                "acme#leads#1 000000000001012",
                "is not what is derived: lead 1012 has it",
            ),
        ],
    );
}

#[test]
fn orphans() {
    let (bench, _) = bench();
    let entry = bench.item("acme#leads#0", LEAD).unwrap();
    let gone = "000000000009999";
    assert_cured(
        &bench,
        |bench| {
            bench.put("acme#leads#0", gone, &entry);
            bench.put("acme#leads#1", LEAD, &entry);
            bench.put("acme#leads#0#77", LEAD, &entry);
            bench.put("acme#phone#5511900000000", &format!("0#{gone}"), &json!({}));
            bench.put("acme#phone#5511900000001", &format!("1#{LEAD}"), &json!({}));
            bench.put("acme#phone#5511900000002", "odd", &json!({}));
        },
        &[
            (&format!("acme#leads#0 {gone}"), "lead 9999 does not exist"),
            (&format!("acme#leads#1 {LEAD}"), "lead 1001 does not have it"),
            (&format!("acme#leads#0#77 {LEAD}"), "lead 1001 does not have it"),
            (
                &format!("acme#phone#5511900000000 0#{gone}"),
                "lead 9999 does not exist",
            ),
            (
                &format!("acme#phone#5511900000001 1#{LEAD}"),
                "lead 1001 does not have it",
            ),
            ("acme#phone#5511900000002 odd", "no lead can have such an item"),
        ],
    );
}

/// Another instance's items are none of this one's business.
#[test]
fn other_instances_are_left_alone() {
    let (bench, _) = bench();
    bench.funil("instance create acme2").done();
    bench.put("acme2#leads#0", LEAD, &json!({}));
    bench.put("acme2#lead-total#0", "7", &json!({ "n": { "N": "5" } }));
    let before = bench.items();
    bench.funil("doctor --instance acme --repair").done();
    assert_eq!(bench.items(), before);
    let theirs = bench.funil("doctor --instance acme2 --json");
    assert_eq!((theirs.code, found(&theirs, false).len()), (1, 2));
}

#[test]
fn totals() {
    let (bench, _) = bench();
    let total = bench.item("acme#lead-total#0", "8").unwrap();
    let n = total["n"]["N"].as_str().unwrap();
    let restricted = bench.partition("acme#lead-total#0");
    let restricted = restricted
        .iter()
        .find(|item| item["userAccess"].is_object())
        .unwrap();
    let restricted = restricted["sk"]["S"].as_str().unwrap();
    let of_10 = bench.item("acme#lead-total#0", "10").unwrap()["n"]["N"].clone();
    assert_cured(
        &bench,
        |bench| {
            bench.set("acme#lead-total#0", "8", "n", &json!({ "N": "-3" }));
            bench.delete("acme#lead-total#0", "10");
            bench.set(
                "acme#lead-total#0",
                restricted,
                "userAccess",
                &json!({ "L": [{ "N": "9" }] }),
            );
            bench.set("acme#lead-total#1", "9", "n", &json!({ "S": "many" }));
        },
        &[
            ("acme#lead-total#0 8", &format!("counts -3, but there are {n}")),
            (
                "acme#lead-total#0 10",
                &format!("is missing: there are {}", of_10.as_str().unwrap()),
            ),
            (
                &format!("acme#lead-total#0 {restricted}"),
                "describes another class",
            ),
            ("acme#lead-total#1 9", "counts nothing, but there are 1"),
        ],
    );
}

/// A total without leads counts none, and stays as it is otherwise.
#[test]
fn a_total_without_leads() {
    let (bench, _) = bench();
    let total = |n: u32| json!({ "n": { "N": n.to_string() }, "o": { "N": "77" } });
    bench.put("acme#lead-total#0", "77", &total(0));
    assert_cured(
        &bench,
        |bench| bench.put("acme#lead-total#0", "77", &total(4)),
        &[("acme#lead-total#0 77", "counts 4, but there are 0")],
    );
}

#[test]
fn counters() {
    let (bench, _) = bench();
    assert_cured(
        &bench,
        |bench| {
            bench.set("acme#counter", "lead", "lead", &json!({ "N": "1003" }));
            bench.set("acme#counter", "call", "event", &json!({ "N": "0" }));
        },
        &[
            (
                "acme#counter lead",
                "the last lead is number 1003, but there is number 1012",
            ),
            (
                "acme#counter call",
                "the last event is number 0, but there is number 1",
            ),
        ],
    );
}

#[test]
fn standings_names_and_members() {
    let (bench, _) = bench();
    let key = bench
        .funil("key issue --instance acme --user 9 --json")
        .done()
        .document();
    let entry = format!("acme#credential key#{}", key["id"].as_str().unwrap());
    let stored = bench.items().into_iter();
    let mut stored = stored.filter(|item| item.get("standing").is_some() && item["id"]["S"] == key["id"]);
    let stored = stored.next_back().unwrap()["pk"]["S"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_cured(
        &bench,
        |bench| {
            let (department, group) = (json!({ "N": "7" }), json!({ "N": "7" }));
            let elsewhere = json!({ "L": [department, group, { "N": "0" }] });
            bench.set(&stored, "credential", "standing", &elsewhere);
            bench.edit_json("acme#names", "000000000000000", "names", |names| {
                names["7"] = json!("Nobody");
                names["77"] = json!("Nobody");
            });
            bench.edit_json(
                "acme#members",
                "000000000000002#000000000000000",
                "users",
                |users| users.as_array_mut().unwrap().retain(|user| *user != 8),
            );
            bench.put(
                "acme#members",
                "000000000000009#000000000000000",
                &json!({ "users": { "S": "[8]" } }),
            );
        },
        &[
            (&entry, "stands elsewhere than the record of user 9 says"),
            (
                "acme#names 000000000000000",
                "the name of user 7 is not what the user's record says",
            ),
            (
                "acme#names 000000000000000",
                "has the name of user 77, whose record says otherwise",
            ),
            (
                "acme#members 000000000000002#000000000000000",
                "the place of user 8 is missing",
            ),
            (
                "acme#members 000000000000009#000000000000000",
                "has the place of user 8, whose record says otherwise",
            ),
        ],
    );
}

/// A repair lets nobody do more: importing the user again does.
#[test]
fn a_credential_that_its_users_record_makes_an_admins_is_only_told() {
    let (bench, _) = bench();
    bench.funil("key issue --instance acme --user 9").done();
    let items = bench.items();
    let carries = |item: &&Value| item.get("standing").is_some() && item["user"]["N"] == "9";
    let stored = items.iter().find(carries).unwrap()["pk"]["S"].as_str().unwrap();
    bench.set("acme#user", "000000000000009", "admin", &json!({ "BOOL": true }));
    for _ in 0..2 {
        let seen = bench.funil("doctor --instance acme --repair --json");
        assert_eq!(seen.code, 1, "{seen:?}");
        let difference = &seen.document()["differences"][0];
        let reason = difference["reason"].as_str().unwrap();
        assert!(reason.ends_with("import the user again"), "{reason}");
        assert_eq!(difference["repaired"], false);
        let flags = bench.item(stored, "credential").unwrap()["standing"]["L"][2].clone();
        assert_eq!(flags, json!({ "N": "0" }));
    }
}
