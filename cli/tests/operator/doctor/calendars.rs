//! What the doctor finds of calendars and meetings: what leads to them, their lists, and what is counted by day.

use serde_json::{Value, json};

use super::{assert_clean, assert_cured};
use crate::support::Bench;

/// Meeting 1 in the list of its calendar.
const FIRST: &str = "2027-03-01T12:00:00.000Z#000000000000001";
/// The stretches of time that meetings 1 and 2 take.
const NOON: &str = "1803902400000_1803904200000";
const MIDNIGHT: &str = "1803943800000_1803947400000";

/// With calendars 1 and 2, and of calendar 1: meeting 1 at noon of 1 March 2027, 2 over the midnight behind it, and 3
/// cancelled; leads 1 and 2.
fn bench() -> Bench {
    let bench = Bench::with_instance();
    let calendar = |id: u64| {
        json!({
            "kind": "calendar", "id": id, "name": "Agenda", "keyName": format!("key-{id}"),
            "publicId": format!("pub_{id}"), "userId": 7, "timezone": "UTC", "durationMinutes": 30, "hours": {},
        })
    };
    let meeting = |id: u64, lead: u64, from: &str, to: &str, status: &str| {
        json!({
            "kind": "meeting", "id": id, "calendarId": 1, "leadId": lead, "status": status,
            "date": format!("2027-03-{from}:00Z"), "endDate": format!("2027-03-{to}:00Z"),
        })
    };
    let lines = [
        json!({ "kind": "user", "id": 7, "name": "Ana" }),
        json!({ "kind": "lead", "id": 1, "owner": 7 }),
        json!({ "kind": "lead", "id": 2, "owner": 7 }),
        calendar(1),
        calendar(2),
        meeting(1, 1, "01T12:00", "01T12:30", "scheduled"),
        meeting(2, 2, "01T23:30", "02T00:30", "rescheduled"),
        meeting(3, 1, "01T12:00", "01T12:30", "canceled"),
    ];
    let lines = lines.map(|line| line.to_string()).join("\n");
    bench.import(&lines).done();
    bench
}

fn id(id: u64) -> String {
    format!("{id:015}")
}

#[test]
fn sound_calendars() {
    let bench = bench();
    let before = bench.items();
    let seen = bench.funil("doctor --instance acme --repair --json").done();
    let document = seen.document();
    assert_eq!(document["differences"], json!([]));
    // Totals: of leads one, of days two, of months one.
    for (kind, count) in [("calendars", 2), ("meetings", 3), ("totals", 4)] {
        assert_eq!(document["checked"][kind], count, "{kind}: {document}");
    }
    assert_eq!(bench.items(), before);
    let text = bench.funil("doctor --instance acme").done().out;
    assert!(
        text.contains("2 calendars") && text.contains("3 meetings"),
        "{text}"
    );
}

#[test]
fn what_leads_to_calendars() {
    let bench = bench();
    assert_cured(
        &bench,
        |bench| {
            bench.delete("acme#calendar-link#key-1", "calendar");
            bench.delete("acme#calendar-public#pub_2", "calendar");
            bench.set(
                "acme#calendar-public#pub_1",
                "calendar",
                "id",
                &json!({ "S": "2" }),
            );
            bench.set(
                "acme#calendar-link#key-2",
                "calendar",
                "calendar",
                &json!({ "S": "{}" }),
            );
        },
        &[
            (
                "acme#calendar-link#key-1 calendar",
                "is missing: calendar 1 has it",
            ),
            (
                "acme#calendar-public#pub_2 calendar",
                "is missing: calendar 2 has it",
            ),
            (
                "acme#calendar-public#pub_1 calendar",
                "is not what is derived: calendar 1 has it",
            ),
            (
                "acme#calendar-link#key-2 calendar",
                "is not what is derived: calendar 2 has it",
            ),
        ],
    );
}

/// Each is told once, though it is wrong for one calendar and not of the other.
#[test]
fn what_leads_to_another_calendar() {
    let bench = bench();
    let other = bench.item("acme#calendar-link#key-2", "calendar").unwrap();
    assert_cured(
        &bench,
        |bench| {
            bench.put("acme#calendar-link#key-1", "calendar", &other);
            bench.put("acme#calendar-public#pub_1", "calendar", &json!({}));
        },
        &[
            (
                "acme#calendar-link#key-1 calendar",
                "is not what is derived: calendar 1 has it",
            ),
            (
                "acme#calendar-public#pub_1 calendar",
                "is not what is derived: calendar 1 has it",
            ),
        ],
    );
}

/// What leads nowhere keeps its name from every calendar, and what leads to one by a name that it gave up is public.
#[test]
fn what_leads_to_no_calendar() {
    let bench = bench();
    let link = bench.item("acme#calendar-link#key-1", "calendar").unwrap();
    let to = |id: &str| json!({ "id": { "S": id } });
    assert_cured(
        &bench,
        |bench| {
            bench.put("acme#calendar-link#former", "calendar", &link);
            bench.put("acme#calendar-link#gone", "calendar", &to("9"));
            bench.put("acme#calendar-public#former", "calendar", &to("2"));
            bench.put("acme#calendar-public#gone", "calendar", &to("9"));
            bench.put("acme#calendar-public#odd", "calendar", &to("x"));
        },
        &[
            (
                "acme#calendar-link#former calendar",
                "calendar 1 does not have it",
            ),
            ("acme#calendar-link#gone calendar", "calendar 9 does not exist"),
            (
                "acme#calendar-public#former calendar",
                "calendar 2 does not have it",
            ),
            ("acme#calendar-public#gone calendar", "calendar 9 does not exist"),
            (
                "acme#calendar-public#odd calendar",
                "no calendar can have such an item",
            ),
        ],
    );
}

#[test]
fn entries_and_links_of_meetings() {
    let bench = bench();
    let second = format!("2027-03-01T23:30:00.000Z#{}", id(2));
    let entry = bench.item("acme#meetings#1", FIRST).unwrap();
    let nowhere = format!("2027-03-01T12:00:00.000Z#{}", id(9));
    let moved = format!("2027-03-01T12:00:00.001Z#{}", id(1));
    assert_cured(
        &bench,
        |bench| {
            bench.delete("acme#meetings#1", FIRST);
            bench.set("acme#meetings#1", &second, "meeting", &json!({ "S": "{}" }));
            bench.delete("acme#lead-meeting#2", &id(2));
            bench.put("acme#lead-meeting#2", &id(1), &json!({}));
            bench.put("acme#lead-meeting#7", "odd", &json!({}));
            bench.put("acme#meetings#2", FIRST, &entry);
            bench.put("acme#meetings#1", &moved, &entry);
            bench.put("acme#meetings#1", &nowhere, &entry);
            bench.put("acme#meetings#1", "odd", &entry);
        },
        &[
            (
                &format!("acme#meetings#1 {FIRST}"),
                "is missing: meeting 1 has it",
            ),
            (
                &format!("acme#meetings#1 {second}"),
                "is not what is derived: meeting 2 has it",
            ),
            (
                &format!("acme#lead-meeting#2 {}", id(2)),
                "is missing: meeting 2 has it",
            ),
            (
                &format!("acme#lead-meeting#2 {}", id(1)),
                "meeting 1 does not have it",
            ),
            ("acme#lead-meeting#7 odd", "no meeting can have such an item"),
            (&format!("acme#meetings#2 {FIRST}"), "meeting 1 does not have it"),
            (&format!("acme#meetings#1 {moved}"), "meeting 1 does not have it"),
            (&format!("acme#meetings#1 {nowhere}"), "meeting 9 does not exist"),
            ("acme#meetings#1 odd", "no meeting can have such an item"),
        ],
    );
}

#[test]
fn what_is_counted_by_day() {
    let bench = bench();
    let number = |n: i64| json!({ "N": n.to_string() });
    let (noon, midnight) = (format!("n.{NOON}"), format!("n.{MIDNIGHT}"));
    assert_cured(
        &bench,
        |bench| {
            bench.set("acme#agenda#1", "2027-03-01", &noon, &number(2));
            bench.set("acme#agenda#1", "2027-03-01", &midnight, &json!({ "S": "one" }));
            bench.delete("acme#agenda#1", "2027-03-02");
            bench.set("acme#meeting-month#1", "2027-03-01", "n.01", &number(2));
        },
        &[
            (
                "acme#agenda#1 2027-03-01",
                "counts 2 of 2027-03-01T12:00:00.000Z to 2027-03-01T12:30:00.000Z, but there are 1; \
                 counts nothing of 2027-03-01T23:30:00.000Z to 2027-03-02T00:30:00.000Z, but there are 1",
            ),
            ("acme#agenda#1 2027-03-02", "is missing: there are 1"),
            (
                "acme#meeting-month#1 2027-03-01",
                "counts 2 of day 01, but there are 3",
            ),
        ],
    );
    assert_cured(
        &bench,
        |bench| bench.delete("acme#meeting-month#1", "2027-03-01"),
        &[("acme#meeting-month#1 2027-03-01", "is missing: there are 3")],
    );
}

/// What is counted of days and calendars without meetings takes times that are free. It keeps its versions, on which
/// bookings depend.
#[test]
fn what_is_counted_of_no_meeting() {
    let bench = bench();
    let noon = format!("n.{NOON}");
    let places = [
        ("acme#agenda#1", "2027-03-03", noon.as_str()),
        ("acme#agenda#9", "2027-03-01", noon.as_str()),
        ("acme#meeting-month#1", "2027-04-01", "n.30"),
        ("acme#meeting-month#9", "2027-03-01", "n.30"),
    ];
    for (pk, sk, name) in places {
        bench.put(pk, sk, &json!({ name: { "N": "0" }, "v": { "N": "6" } }));
    }
    assert_clean(&bench);
    let reason = |name: &str| match name {
        "n.30" => "counts 1 of day 30, but there are 0",
        _ => "counts 1 of 2027-03-01T12:00:00.000Z to 2027-03-01T12:30:00.000Z, but there are 0",
    };
    let expected = places.map(|(pk, sk, name)| (format!("{pk} {sk}"), reason(name)));
    let expected: Vec<_> = expected
        .iter()
        .map(|(item, reason)| (item.as_str(), *reason))
        .collect();
    let damage = |bench: &Bench| {
        for (pk, sk, name) in places {
            bench.set(pk, sk, name, &json!({ "N": "1" }));
        }
    };
    assert_cured(&bench, damage, &expected);
    for (pk, sk, _) in places {
        assert_eq!(bench.item(pk, sk).unwrap()["v"]["N"], "7", "{pk}");
    }
}

#[test]
fn the_last_numbers() {
    let bench = bench();
    let zero = json!({ "N": "0" });
    assert_cured(
        &bench,
        |bench| {
            bench.set("acme#counter", "calendar", "calendar", &zero);
            bench.set("acme#counter", "meeting", "meeting", &json!({ "N": "2" }));
        },
        &[
            (
                "acme#counter calendar",
                "the last calendar is number 0, but there is number 2",
            ),
            (
                "acme#counter meeting",
                "the last meeting is number 2, but there is number 3",
            ),
        ],
    );
}

/// One that cannot be read is told, and nothing that might be its own is touched.
#[test]
fn records_that_cannot_be_read() {
    let bench = bench();
    bench.set("acme#calendar", &id(1), "calendar", &json!({ "S": "{}" }));
    bench.set("acme#meeting", &id(1), "meeting", &json!({ "S": "{}" }));
    let before = bench.items();
    let seen = bench.funil("doctor --instance acme --repair --json");
    let document = seen.document();
    let mut items: Vec<_> = document["differences"]
        .as_array()
        .unwrap()
        .iter()
        .map(|difference: &Value| difference["item"].as_str().unwrap().to_owned())
        .collect();
    items.sort();
    let expected = [
        format!("acme#calendar {}", id(1)),
        format!("acme#meeting {}", id(1)),
        "totals of meetings".to_owned(),
    ];
    assert_eq!((seen.code, items.as_slice()), (1, expected.as_slice()));
    assert_eq!(bench.items(), before);
}
