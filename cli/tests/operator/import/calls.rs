//! Calls and their events.

use serde_json::json;

use super::{bench, lead, records, refused};
use crate::support::{call, event};

#[test]
fn a_call_without_an_event_creates_exactly_one() {
    let bench = bench();
    let lines = [lead(1, ""), call(5, Some(1)), call(6, None)].concat();
    bench.import(&lines).done();
    bench.import(&lines).done();
    let events = bench.partition("acme#timeline#1");
    assert_eq!(events.len(), 1);
    assert_eq!(events[0]["call"]["N"], "5");
    let export = bench.export();
    assert_eq!(records(&export, "event").len(), 1);
    assert!(
        records(&export, "lead")[0]["lastActive"] == "2026-01-01T00:00:00.000Z",
        "a past call is no activity"
    );
}

#[test]
fn imported_events_are_not_created_again() {
    let bench = bench();
    let lines = [event(1, 1, 5), call(6, Some(1)), call(5, Some(1)), lead(1, "")].concat();
    bench.import(&lines).done();
    let mut events: Vec<_> = bench
        .partition("acme#timeline#1")
        .iter()
        .map(|event| (event["id"]["N"].clone(), event["call"]["N"].clone()))
        .collect();
    events.sort_by_key(|(id, _)| id.to_string());
    assert_eq!(events, [(json!("1"), json!("5")), (json!("2"), json!("6"))]);
    assert_eq!(bench.import(&lines).done().document()["unchanged"], 4);

    // The event gets another id, and the former event is deleted.
    bench.import(&event(9, 1, 5)).done();
    assert_eq!(bench.partition("acme#timeline#1").len(), 2);
    // The call moves to another lead with its event.
    bench.import(&[lead(2, ""), call(5, Some(2))].concat()).done();
    assert_eq!(bench.partition("acme#timeline#1").len(), 1);
    let moved = bench.partition("acme#timeline#2");
    assert_eq!((moved.len(), &moved[0]["id"]["N"]), (1, &json!("9")));
    bench.import(&call(5, None)).done();
    assert_eq!(bench.partition("acme#timeline#2").len(), 0);
}

#[test]
fn events_belong_to_the_lead_of_their_call() {
    let bench = bench();
    let lines = [
        lead(1, ""),
        lead(2, ""),
        call(5, Some(1)),
        call(6, None),
        event(1, 2, 5),
        event(2, 1, 6),
        event(3, 1, 7),
        event(4, 3, 5).replace("\"call\":5", "\"call\":8"),
        event(5, 1, 5)
            .replace("\"operator\":8", "\"operator\":99")
            .replace("\"call\":5", "\"call\":9"),
        call(10, Some(3)),
        call(11, None).replace("\"user\":8", "\"user\":99"),
    ];
    let answer = bench.import(&lines.concat());
    assert_eq!(
        refused(&answer.document()),
        [
            "line 5: lead: call 5 belongs to lead 1",
            "line 6: lead: call 6 has no lead",
            "line 7: call: call 7 does not exist",
            "line 8: lead: lead 3 does not exist; call: call 8 does not exist",
            "line 9: operator: user 99 does not exist; call: call 9 does not exist",
            "line 10: lead: lead 3 does not exist",
            "line 11: user: user 99 does not exist",
        ]
    );
    // The event's line is invalid, so the call gets the same event as without the line.
    assert_eq!(bench.partition("acme#timeline#1").len(), 1);
}

#[test]
fn event_ids_are_unique() {
    let bench = bench();
    bench
        .import(&[lead(1, ""), call(5, Some(1)), call(6, Some(1)), event(7, 1, 5)].concat())
        .done();
    let answer = bench.import(&event(7, 1, 6));
    assert_eq!(
        refused(&answer.document()),
        ["line 1: id: event 7 belongs to call 5"]
    );
    assert_eq!(bench.partition("acme#timeline#1").len(), 2);
}

#[test]
fn calls_of_the_webhook_are_kept_without_overwrite() {
    let bench = bench();
    bench.import(&[lead(1, ""), call(5, Some(1))].concat()).done();
    bench.set("acme#call#1", "000000000000005", "nonce", &json!({ "S": "n" }));
    assert_eq!(bench.import(&call(5, Some(1))).done().document()["unchanged"], 1);
    let changed = call(5, Some(1)).replace("65", "66");
    assert_eq!(
        refused(&bench.import(&changed).document()),
        ["line 1: call 5 was recorded by the webhook since; use --overwrite to replace it"]
    );
    assert_eq!(
        refused(&bench.import(&event(8, 1, 5)).document()),
        ["line 1: call 5 was recorded by the webhook since; use --overwrite to replace its event"]
    );
    bench.import_overwriting(&changed).done();
    let export = bench.export();
    assert_eq!(records(&export, "call")[0]["duration"], 66);
    assert_eq!(records(&export, "event")[0]["duration"], 66);
}
