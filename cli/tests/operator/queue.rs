//! `funil queue`, and `funil automation deliveries` (C-87, C-102).

use serde_json::{Value, json};

use crate::import::bench;

/// The sort key of a notification of a lead.
fn sort(lead: u64, version: u64) -> String {
    format!("send#lead#{lead:015}#{version:015}#000000000000004#00")
}

/// The same after it was set aside.
fn aside(lead: u64, version: u64) -> String {
    format!("trigger#{}", sort(lead, version))
}

/// A notification that failed, with further numbers.
fn item(tries: u64, more: &[(&str, u64)]) -> Value {
    let mut item = json!({ "tries": { "N": tries.to_string() }, "since": { "S": "2026-11-22T12:00:00.000Z" },
        "at": { "S": "2026-11-21T12:00:00.000Z" }, "reason": { "S": "the receiver answered 500" } });
    for (name, number) in more {
        item[*name] = json!({ "N": number.to_string() });
    }
    item
}

/// A notification of lead 7 as it is listed.
fn pending(version: u64, tries: u64, next: &Value) -> Value {
    json!({ "kind": "notification", "delivery": format!("acme-lead-7-{version}-4-0"), "automation": 4, "action": 0, "tries": tries,
        "since": "2026-11-22T12:00:00.000Z", "next": next, "reason": "the receiver answered 500" })
}

/// C-102: notifications that wait or were set aside are listed, and with `--retry` due at once. One that is being sent is
/// not sent twice, and one of a record that is gone is dropped.
#[test]
fn undelivered_notifications_are_listed_and_sent_again() {
    let bench = bench();
    bench.import(r#"{"kind":"lead","id":7,"firstname":"Ana"}"#).done();
    let deliveries = |more: &str| {
        bench
            .funil(&format!("automation deliveries --instance acme{more}"))
            .done()
    };
    assert_eq!(deliveries(" --json").document(), json!([]));
    // In the year 2100.
    let due = 4_102_444_800;
    bench.put(
        "acme#trigger",
        &sort(7, 3),
        &item(2, &[("v", 5), ("due", due), ("claimed", 0)]),
    );
    bench.put(
        "acme#trigger",
        &sort(7, 4),
        &item(3, &[("v", 6), ("due", due), ("claimed", 1)]),
    );
    bench.put(
        "acme#trigger",
        &sort(8, 1),
        &item(1, &[("v", 3), ("due", due), ("claimed", 0)]),
    );
    bench.put("acme#aside", &aside(7, 2), &item(10, &[]));
    bench.put("acme#aside", &aside(8, 2), &item(10, &[]));
    let later = json!("2100-01-01T00:00:00.000Z");
    let [waiting, sending, aside] = [
        pending(3, 2, &later),
        pending(4, 3, &later),
        pending(2, 10, &Value::Null),
    ];
    assert_eq!(deliveries(" --json").document(), json!([waiting, sending, aside]));
    assert_eq!(
        (
            bench.partition("acme#trigger").len(),
            bench.partition("acme#aside").len()
        ),
        (2, 1)
    );
    let shown = deliveries("");
    assert_eq!(
        shown.out.trim_end().lines().collect::<Vec<_>>(),
        [
            "notification  acme-lead-7-3-4-0  2   2026-11-22T12:00:00.000Z  2100-01-01T00:00:00.000Z  the receiver answered 500",
            "notification  acme-lead-7-4-4-0  3   2026-11-22T12:00:00.000Z  2100-01-01T00:00:00.000Z  the receiver answered 500",
            "notification  acme-lead-7-2-4-0  10  2026-11-22T12:00:00.000Z  set aside                 the receiver answered 500",
        ]
    );
    let note = "2 waiting, 1 set aside; do it now with --run";
    assert!(shown.err.contains(note), "{}", shown.err);
    assert_eq!(deliveries(" --retry --json").document(), json!([waiting, aside]));
    for (version, stored) in [(3, "6"), (2, "1")] {
        let back = bench
            .item("acme#trigger", &sort(7, version))
            .expect("it is in the outbox");
        assert_eq!(
            (&back["at"]["S"], &back["v"]["N"]),
            (&json!("2026-11-21T12:00:00.000Z"), &json!(stored))
        );
        assert_eq!(
            (back.get("tries"), back.get("due"), back.get("reason")),
            (None, None, None)
        );
    }
    assert_eq!(
        bench.item("acme#trigger", &sort(7, 4)).expect("it is sent")["v"]["N"],
        "6"
    );
    assert_eq!(bench.partition("acme#aside"), Vec::<Value>::new());
    bench.funil("instance suspend acme").done();
    let told = deliveries(" --retry").err;
    assert!(
        told.contains("within a minute after: funil instance resume acme"),
        "{told}"
    );
    let missing = bench.funil("automation deliveries --instance nobody");
    assert_eq!(missing.code, 1);
}

/// Work of every kind is listed with its reason, and `--run` does it, also what was set aside.
#[test]
fn work_of_every_kind_is_listed_and_done() {
    let bench = bench();
    bench
        .import(
            "{\"kind\":\"lead\",\"id\":7,\"firstname\":\"Ana\"}\n\
             {\"kind\":\"report\",\"id\":2,\"name\":\"Leads\",\"type\":\"bar\",\"entity\":\"leads\",\"groupBy\":\"user\",\"measure\":\"count\"}",
        )
        .done();
    let marker = |more: &[(&str, &str)]| {
        let mut item = json!({ "v": { "N": "3" }, "at": { "N": "1795262400" } });
        for (name, value) in more {
            item[*name] = match value.parse::<u64>() {
                Ok(_) => json!({ "N": value }),
                Err(_) => json!({ "S": value }),
            };
        }
        item
    };
    let stuck = [("stuck", "3"), ("unreadable", "opportunity")];
    let lead = |id: u64| format!("lead#{id:015}");
    bench.put("acme#notice", &lead(7), &marker(&[]));
    bench.put("acme#notice", &lead(8), &marker(&stuck));
    bench.put("acme#notice", &lead(9), &marker(&[("deleted", "1")]));
    bench.put(
        "acme#notice",
        &lead(10),
        &marker(&[("written", "3"), ("since", "1")]),
    );
    let poisoned = json!({ "v": { "N": "1" }, "unreadable": { "S": "automation" } });
    bench.put("acme#aside", "trigger#call#000000000000005", &poisoned);
    let queue = |more: &str| bench.funil(&format!("queue --instance acme{more}")).done();
    let shown = queue("");
    let lines: Vec<_> = shown
        .out
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    let raised = "2026-11-21T12:00:00.000Z";
    let expected = [
        format!("copies lead 7 0 {raised} NOW"),
        format!("copies lead 8 0 {raised} set aside the opportunity could not be read"),
        format!("erasure lead 9 0 {raised} NOW"),
        "trigger 5 0 - set aside the automation could not be read".to_owned(),
        "report report 2 0 - NOW it has no result".to_owned(),
    ];
    assert_eq!(lines.len(), expected.len(), "{lines:?}");
    for (line, expected) in lines.iter().zip(&expected) {
        let (before, after) = expected.split_once("NOW").unwrap_or((expected, ""));
        assert!(
            line.starts_with(before.trim_end()) && line.ends_with(after),
            "{line}: {expected}"
        );
    }
    assert!(
        shown.err.contains("3 waiting, 2 set aside; do it now with --run"),
        "{}",
        shown.err
    );
    let one = queue(" --kind erasure --json").document();
    assert_eq!(
        (&one[0]["kind"], &one[0]["lead"], one.as_array().map(Vec::len)),
        (&json!("erasure"), &json!(9), Some(1))
    );
    let done = queue(" --run");
    assert!(
        done.err
            .contains("5 tried, 0 left, 0 will be sent within a minute"),
        "{}",
        done.err
    );
    assert_eq!(queue(" --json").document(), json!([]));
    assert_eq!(bench.funil("queue --instance acme --kind lead").code, 2);
    assert_eq!(bench.funil("queue --instance nobody").code, 1);
}

/// A notification that cannot be read hides no other work.
#[test]
fn unreadable_notifications_are_listed() {
    let bench = bench();
    bench.import(r#"{"kind":"lead","id":7,"firstname":"Ana"}"#).done();
    bench.put("acme#trigger", &sort(7, 3), &item(2, &[("v", 5), ("claimed", 0)]));
    let poisoned = json!({ "v": { "N": "1" }, "due": { "S": "poison" } });
    bench.put("acme#trigger", &sort(7, 4), &poisoned);
    let queue = |more: &str| bench.funil(&format!("queue --instance acme --json{more}")).done();
    let listed = queue("").document();
    let reasons: Vec<_> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|waiting| &waiting["reason"])
        .collect();
    assert_eq!(
        reasons,
        ["the receiver answered 500", "the notification could not be read"]
    );
    assert_eq!(queue(" --run").document().as_array().map(Vec::len), Some(1));
}
