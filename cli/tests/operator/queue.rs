//! `funil automation deliveries` (C-102).

use serde_json::{Value, json};

use crate::import::bench;

/// The sort key of a notification of a lead.
fn sort(lead: u64, version: u64) -> String {
    format!("send#lead#{lead:015}#{version:015}#000000000000004#00")
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
    json!({ "delivery": format!("acme-lead-7-{version}-4-0"), "automation": 4, "action": 0, "tries": tries,
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
    bench.put("acme#undelivered", &sort(7, 2), &item(10, &[]));
    bench.put("acme#undelivered", &sort(8, 2), &item(10, &[]));
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
            bench.partition("acme#undelivered").len()
        ),
        (2, 1)
    );
    let shown = deliveries("");
    assert_eq!(
        shown.out.trim_end().lines().collect::<Vec<_>>(),
        [
            "acme-lead-7-3-4-0  2   2026-11-22T12:00:00.000Z  2100-01-01T00:00:00.000Z  the receiver answered 500",
            "acme-lead-7-4-4-0  3   2026-11-22T12:00:00.000Z  2100-01-01T00:00:00.000Z  the receiver answered 500",
            "acme-lead-7-2-4-0  10  2026-11-22T12:00:00.000Z  set aside                 the receiver answered 500",
        ]
    );
    let note = "3 notifications not delivered: 2 waiting, 1 set aside; send them now with --retry";
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
    assert_eq!(bench.partition("acme#undelivered"), Vec::<Value>::new());
    let missing = bench.funil("automation deliveries --instance nobody");
    assert_eq!(missing.code, 1);
}
