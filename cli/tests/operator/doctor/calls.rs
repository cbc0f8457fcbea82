//! What the doctor finds of calls, events, credentials and records that cannot be read.

use std::collections::BTreeSet;

use serde_json::json;

use super::{LEAD, assert_clean, assert_cured, bench, found};
use crate::support::{Bench, call, event};

#[test]
fn calls_and_events() {
    let (bench, _) = bench();
    bench.import(&call(20, Some(1002))).done();
    let first = ("acme#timeline#1001", "event#000000000000001");
    let stored = bench.item(first.0, first.1).unwrap();
    let mut elsewhere = stored.clone();
    elsewhere["lead"] = json!({ "N": "1002" });
    let mut of_none = stored.clone();
    of_none["call"] = json!({ "N": "99" });
    assert_cured(
        &bench,
        |bench| {
            bench.delete(first.0, first.1);
            bench.put("acme#timeline#1002", first.1, &elsewhere);
            bench.put("acme#timeline#1003", "event#000000000000040", &of_none);
        },
        &[
            (
                "acme#timeline#1001 event#000000000000001",
                "is missing: call 1 has it",
            ),
            (
                "acme#timeline#1002 event#000000000000001",
                "call 1 does not have it",
            ),
            (
                "acme#timeline#1003 event#000000000000040",
                "call 99 does not exist",
            ),
        ],
    );
}

/// A call that forgot its event finds it again, with all that the event's own line said.
#[test]
fn a_call_without_its_event() {
    let (bench, _) = bench();
    let lines = call(30, Some(1001)) + &event(9, 1001, 30);
    bench.import(&lines).done();
    let forget = |bench: &Bench, id: &str| {
        let mut call = bench.item("acme#call", id).unwrap();
        call.as_object_mut().unwrap().remove("event");
        bench.put("acme#call", id, &call);
    };
    let id = "000000000000030";
    let expected = [
        ("acme#call 000000000000030", "has a lead and no event"),
        (
            "acme#timeline#1001 event#000000000000009",
            "call 30 does not have it",
        ),
    ];
    forget(&bench, id);
    let seen = bench.funil("doctor --instance acme --json");
    assert_eq!(seen.code, 1);
    let expected = expected.map(|(item, reason)| (item.to_owned(), reason.to_owned()));
    assert_eq!(found(&seen, false), BTreeSet::from(expected));
    let before = bench.item("acme#timeline#1001", "event#000000000000009");
    bench.funil("doctor --instance acme --repair").done();
    assert_clean(&bench);
    assert_eq!(bench.item("acme#timeline#1001", "event#000000000000009"), before);
    assert_eq!(bench.item("acme#call", id).unwrap()["event"]["N"], "9");

    forget(&bench, id);
    bench.delete("acme#timeline#1001", "event#000000000000009");
    bench.funil("doctor --instance acme --repair").done();
    assert_clean(&bench);
    assert_eq!(
        bench.item("acme#call", id).unwrap()["event"]["N"],
        "10",
        "a new number"
    );
}

/// A repair never widens what a credential opens: where entry and item disagree it is revoked, and one that works and is
/// in no list comes into it, so that it can be revoked.
#[test]
fn credentials() {
    let (bench, [lost, revoked]) = bench();
    let issue = || {
        let issued = bench.funil("key issue --instance acme --user 7 --json").done();
        issued.document()["id"].as_str().unwrap().to_owned()
    };
    let [other, unlisted] = [issue(), issue()];
    let entry = |id: &str| bench.item("acme#credential", &format!("key#{id}"));
    let opening = |id: &str| {
        format!(
            "#credential#{}",
            entry(id).unwrap()["hash"]["S"].as_str().unwrap()
        )
    };
    let item = |pk: &str| bench.item(pk, "credential");
    let [lost_pk, revoked_pk, other_pk] = [&lost, &revoked, &other].map(|id| opening(id));
    bench.put(&revoked_pk, "credential", &item(&lost_pk).unwrap());
    bench.set(&revoked_pk, "credential", "id", &json!({ "S": revoked }));
    bench.delete(&lost_pk, "credential");
    bench.set(&other_pk, "credential", "user", &json!({ "N": "8" }));
    bench.delete("acme#credential", &format!("key#{unlisted}"));
    let expected = [
        (&lost, "is not revoked and opens nothing"),
        (&revoked, "is revoked and opens the instance all the same"),
        (&other, "opens something else than its entry says"),
        (&unlisted, "opens the instance and is not in the list"),
    ];
    let expected = expected.map(|(id, reason)| (format!("acme#credential key#{id}"), reason.to_owned()));
    let expected = BTreeSet::from(expected);
    let seen = bench.funil("doctor --instance acme --json");
    assert_eq!((seen.code, found(&seen, false)), (1, expected.clone()));
    let cured = bench.funil("doctor --instance acme --repair --json").done();
    assert_eq!(found(&cured, true), expected);
    assert_clean(&bench);
    for (id, pk) in [(&lost, &lost_pk), (&revoked, &revoked_pk), (&other, &other_pk)] {
        assert!(
            item(pk).is_none() && entry(id).unwrap().get("revoked").is_some(),
            "{id}"
        );
    }
    let listed = bench.funil("key list --instance acme --json").done().document();
    let listed = listed
        .as_array()
        .unwrap()
        .iter()
        .find(|entry| entry["id"] == unlisted.as_str());
    assert_eq!(listed.unwrap()["user"], 7);
    bench
        .funil(&format!("key revoke --instance acme {unlisted}"))
        .done();
    assert_clean(&bench);
}

/// A record that cannot be read is told, and so are the opportunities that copy it; nothing that might be its own is
/// touched.
#[test]
fn a_record_that_cannot_be_read() {
    let (bench, _) = bench();
    bench.set("acme#lead", LEAD, "createDate", &json!({ "S": "yesterday" }));
    let before = bench.items();
    let seen = bench.funil("doctor --instance acme --repair --json");
    assert_eq!(seen.code, 1);
    let items: BTreeSet<_> = found(&seen, false).into_iter().map(|(item, _)| item).collect();
    let copies = ["000000000000012", "000000000000024"].map(|copy| format!("acme#opportunity {copy}"));
    let [first, second] = copies;
    let expected = [
        format!("acme#lead {LEAD}"),
        "totals of leads".to_owned(),
        first,
        second,
    ];
    assert_eq!(items, BTreeSet::from(expected));
    assert_eq!(bench.items(), before);
}

/// What derives nothing is read too; an export leaves out what cannot be read, names it, and has everything else.
#[test]
fn what_cannot_be_read_stops_nothing() {
    let (bench, _) = bench();
    let whole = bench.export();
    let emptied: Vec<_> = ["profile", "report", "event", "company"]
        .into_iter()
        .map(|kind| {
            let record = crate::import::records(&whole, kind).remove(0);
            let items = bench.items();
            let item = items.into_iter().find(|item| {
                let pk = item["pk"]["S"].as_str().unwrap();
                let own = if kind == "event" {
                    "acme#timeline#"
                } else {
                    &format!("acme#{kind}")
                };
                let of_kind = if kind == "event" {
                    pk.starts_with(own)
                } else {
                    pk == own
                };
                of_kind
                    && (record.get("id").is_none()
                        || item["sk"]["S"]
                            .as_str()
                            .unwrap()
                            .ends_with(&record["id"].to_string()))
            });
            let item = item.unwrap();
            let text = |name: &str| item[name]["S"].as_str().unwrap().to_owned();
            let mut links = json!({});
            for name in ["id", "lead", "call"].into_iter().filter(|_| kind == "event") {
                links[name] = item[name].clone();
            }
            bench.put(&text("pk"), &text("sk"), &links);
            format!("{} {}", text("pk"), text("sk"))
        })
        .collect();
    let seen = bench.funil("doctor --instance acme --json");
    assert_eq!(seen.code, 1);
    let found: BTreeSet<_> = found(&seen, false).into_iter().map(|(item, _)| item).collect();
    assert!(
        emptied.iter().all(|item| found.contains(item)),
        "{found:?} {emptied:?}"
    );
    let exported = bench.funil("export --instance acme");
    assert_eq!(exported.code, 1);
    assert_eq!(
        exported.out.lines().count() + emptied.len(),
        whole.lines().count()
    );
    for item in &emptied {
        assert!(
            exported.err.contains(&format!("left out: {item} cannot be read")),
            "{}",
            exported.err
        );
    }
}

/// A record under another's id is told and counts nothing, and a month under a key that is none goes.
#[test]
fn items_under_foreign_keys() {
    let (bench, _) = bench();
    let meeting = bench.partition("acme#meeting").remove(0);
    let foreign = id_text(999_999);
    bench.put("acme#meeting", &foreign, &meeting);
    let month = bench.items().into_iter().find(|item| {
        item["pk"]["S"]
            .as_str()
            .unwrap()
            .starts_with("acme#meeting-month#")
    });
    let month = month.unwrap();
    let pk = month["pk"]["S"].as_str().unwrap();
    bench.put(pk, "2026-13-01", &month);
    let cured = bench.funil("doctor --instance acme --repair --json");
    let document = cured.document();
    let of = |item: &str| {
        let differences = document["differences"].as_array().unwrap().iter();
        let found: Vec<_> = differences
            .filter(|found| found["item"] == item)
            .cloned()
            .collect();
        found
    };
    let told = of(&format!("acme#meeting {foreign}"));
    assert_eq!(
        told[0]["reason"],
        "holds another meeting, which nobody finds there"
    );
    assert_eq!(of(&format!("{pk} 2026-13-01"))[0]["repaired"], true);
    assert_eq!(document["differences"].as_array().unwrap().len(), 2, "{document}");
    assert!(bench.item(pk, "2026-13-01").is_none());
    bench.delete("acme#meeting", &foreign);
    assert_clean(&bench);
}

fn id_text(id: u64) -> String {
    format!("{id:015}")
}
