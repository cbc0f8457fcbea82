//! Import and export of meetings (C-81), and their derived items.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::calendars::calendar;
use crate::import::{assert_absent_times_are_kept, assert_sound, bench, lead, listed, records, refused};
use crate::support::Bench;

const ID: &str = "000000000000005";

/// A meeting on calendar 1 from 12:00 to 12:30 of 1 March 2027.
fn meeting(id: u64, rest: &str) -> String {
    format!(
        r#"{{"kind":"meeting","id":{id},"calendarId":1,"date":"2027-03-01T12:00:00.000Z","endDate":"2027-03-01T12:30:00.000Z","createDate":"2026-02-01T00:00:00.000Z"{rest}}}"#
    ) + "\n"
}

/// As [`meeting`], at another time.
fn meeting_at(id: u64, from: &str, to: &str, rest: &str) -> String {
    meeting(id, rest)
        .replace("2027-03-01T12:00:00.000Z", from)
        .replace("2027-03-01T12:30:00.000Z", to)
}

/// An instance with users 7 and 8, leads 1 and 2, opportunity 9, and calendars 1 and 2 of user 7.
pub fn bench_of_meetings() -> Bench {
    let bench = bench();
    let lines = [
        lead(1, ""),
        lead(2, ""),
        r#"{"kind":"funnel","id":3,"name":"Vendas","columns":[{"id":31,"name":"Entrada"}]}"#.to_owned()
            + "\n",
        r#"{"kind":"opportunity","id":9,"title":"P","crm_id":3,"crm_column":31,"user":7,"lead_id":1}"#
            .to_owned()
            + "\n",
        calendar(1, "a", "pub_a"),
        calendar(2, "b", "pub_b"),
    ];
    bench.import(&lines.concat()).done();
    bench
}

/// The non-zero numbers of a total.
type Counts = BTreeMap<String, String>;

/// The sort keys of a partition with their non-zero numbers.
fn counted(bench: &Bench, pk: &str) -> Vec<(String, Counts)> {
    let mut counted: Vec<_> = bench
        .partition(pk)
        .iter()
        .map(|item| {
            let numbers = item.as_object().unwrap().iter().filter_map(|(name, number)| {
                let part = name.strip_prefix("n.")?;
                let number = number["N"].as_str().unwrap();
                (number != "0").then(|| (part.to_owned(), number.to_owned()))
            });
            (item["sk"]["S"].as_str().unwrap().to_owned(), numbers.collect())
        })
        .filter(|(_, numbers): &(_, Counts)| !numbers.is_empty())
        .collect();
    counted.sort();
    counted
}

/// The expected value of [`counted`].
fn counts(expected: &[(&str, &[(&str, u64)])]) -> Vec<(String, Counts)> {
    let numbers = |numbers: &[(&str, u64)]| {
        let numbers = numbers.iter();
        numbers
            .map(|(part, n)| ((*part).to_owned(), n.to_string()))
            .collect()
    };
    expected
        .iter()
        .map(|(sk, parts)| ((*sk).to_owned(), numbers(parts)))
        .collect()
}

#[test]
fn lines_with_unknown_references_are_rejected() {
    let bench = bench_of_meetings();
    let lines = [
        meeting(1, "").replace(r#""calendarId":1"#, r#""calendarId":3"#),
        meeting(2, r#","leadId":99"#),
        meeting(3, r#","opportunityId":99"#),
        meeting(4, r#","userId":99"#),
        meeting(5, r#","nextMeeting":1"#),
        meeting(6, r#","formData":[]"#),
        meeting_at(7, "2027-03-01T12:00:00Z", "2027-03-01T11:59:00Z", ""),
        meeting_at(8, "2027-03-01T12:00:00Z", "2027-03-22T12:00:01Z", ""),
        meeting(
            10,
            r#","leadId":2,"opportunityId":9,"userId":8,"status":"canceled""#,
        ),
    ];
    let answer = bench.import(&lines.concat());
    assert_eq!(answer.code, 1);
    let document = answer.document();
    assert_eq!(
        refused(&document),
        [
            "line 1: calendarId: calendar 3 does not exist",
            "line 2: leadId: lead 99 does not exist",
            "line 3: opportunityId: opportunity 99 does not exist",
            "line 4: userId: user 99 does not exist",
            "line 5: nextMeeting: unknown field",
            "line 6: formData: must be an object",
            "line 7: endDate: must not be before date",
            "line 8: endDate: must be at most 21 days after date, because a meeting is written to each of its days",
        ]
    );
    assert_eq!(document["imported"], 1);
    assert_eq!(
        records(&bench.export(), "meeting"),
        [json!({
            "kind": "meeting", "id": 10, "calendarId": 1, "date": "2027-03-01T12:00:00.000Z",
            "endDate": "2027-03-01T12:30:00.000Z", "leadId": 2, "opportunityId": 9, "userId": 8, "status": "canceled",
            "createDate": "2026-02-01T00:00:00.000Z", "updateDate": "2026-02-01T00:00:00.000Z",
        })]
    );
    let numbers = bench.item("acme#counter", "meeting").unwrap();
    assert_eq!(numbers["meeting"]["N"], "10", "later ones are numbered above");
}

/// The default user is the calendar's. An import does not change `lastActive` of the lead.
#[test]
fn absent_fields_have_defaults() {
    let bench = bench_of_meetings();
    let lines = [
        meeting(5, r#","leadId":1,"userId":null"#),
        calendar(1, "a", "pub_a").replace(r#""userId":7"#, r#""userId":8"#),
    ];
    bench.import(&lines.concat()).done();
    assert_eq!(bench.import(&lines.concat()).done().document()["unchanged"], 2);
    let export = bench.export();
    assert_eq!(records(&export, "meeting")[0]["userId"], 8);
    assert_eq!(
        records(&export, "lead")[0]["lastActive"],
        "2026-01-01T00:00:00.000Z"
    );
    assert!(
        !bench
            .item("acme#meeting", ID)
            .unwrap()
            .as_object()
            .unwrap()
            .contains_key("edited")
    );
}

#[test]
fn absent_times_are_kept() {
    let timeless = |times: &str| meeting(5, "").replace(r#","createDate":"2026-02-01T00:00:00.000Z""#, times);
    assert_absent_times_are_kept(
        &bench_of_meetings(),
        "meeting",
        timeless,
        &timeless(r#","status":"canceled""#),
    );
}

#[test]
fn a_line_replaces_the_meeting_in_every_list() {
    let bench = bench_of_meetings();
    bench.import(&meeting(5, r#","leadId":1"#)).done();
    let month = counts(&[("2027-03-01", &[("01", 1)])]);
    assert_eq!(counted(&bench, "acme#meeting-month#1"), month);
    // The meeting moves to another lead and calendar, and over midnight into another month.
    let moved = meeting_at(
        5,
        "2027-04-30T23:30:00.000Z",
        "2027-05-01T00:30:00.000Z",
        r#","leadId":2"#,
    )
    .replace(r#""calendarId":1"#, r#""calendarId":2"#);
    assert_eq!(bench.import(&moved).done().document()["imported"], 1);
    for pk in ["acme#meetings#1", "acme#lead-meeting#1"] {
        assert_eq!(listed(&bench, pk), [""; 0], "{pk}");
    }
    for pk in ["acme#agenda#1", "acme#meeting-month#1"] {
        assert_eq!(counted(&bench, pk), [], "{pk}");
    }
    assert_eq!(
        listed(&bench, "acme#meetings#2"),
        [format!("2027-04-30T23:30:00.000Z#{ID}")]
    );
    assert_eq!(listed(&bench, "acme#lead-meeting#2"), [ID]);
    let stretch: &[_] = &[("1809127800000_1809131400000_2", 1)];
    assert_eq!(
        counted(&bench, "acme#agenda#2"),
        counts(&[("2027-04-30", stretch), ("2027-05-01", stretch)])
    );
    assert_eq!(
        counted(&bench, "acme#meeting-month#2"),
        counts(&[("2027-04-01", &[("30", 1)])])
    );
    assert_sound(&bench);
    // A cancelled meeting without its lead remains in list and count, and occupies no time.
    let freed = moved.replace(r#","leadId":2"#, r#","status":"canceled","formData":null"#);
    bench.import(&freed).done();
    assert_eq!(counted(&bench, "acme#agenda#2"), []);
    assert_eq!(listed(&bench, "acme#lead-meeting#2"), [""; 0]);
    assert_eq!(listed(&bench, "acme#meetings#2").len(), 1);
    assert_eq!(
        counted(&bench, "acme#meeting-month#2"),
        counts(&[("2027-04-01", &[("30", 1)])])
    );
    assert_sound(&bench);
}

#[test]
fn a_meeting_occupies_each_of_its_days() {
    let bench = bench_of_meetings();
    let longest = meeting_at(
        5,
        "2027-01-31T12:00:00.000Z",
        "2027-02-21T12:00:00.000Z",
        r#","leadId":1,"userId":7"#,
    );
    bench.import(&longest).done();
    for pk in ["acme#agenda#1", "acme#user-agenda#7"] {
        assert_eq!(listed(&bench, pk).len(), 22, "{pk}");
    }
    assert_sound(&bench);
    // One transaction replaces a meeting of maximum length by another one.
    let elsewhere = longest
        .replace(r#""calendarId":1"#, r#""calendarId":2"#)
        .replace(
            r#""leadId":1,"userId":7"#,
            r#""leadId":2,"userId":8,"opportunityId":9"#,
        )
        .replace("2027-01-31", "2027-03-31")
        .replace("2027-02-21", "2027-04-21");
    bench.import(&elsewhere).done();
    for pk in ["acme#agenda#1", "acme#user-agenda#7"] {
        assert_eq!(counted(&bench, pk), [], "{pk}");
    }
    for pk in ["acme#agenda#2", "acme#user-agenda#8"] {
        assert_eq!(counted(&bench, pk).len(), 22, "{pk}");
    }
    assert_sound(&bench);
}

/// An import does not check for overlaps, because the former system's data may have some.
#[test]
fn imported_meetings_may_overlap() {
    let bench = bench_of_meetings();
    let lines: String = (1..=250)
        .map(|id| meeting(id, &format!(r#","leadId":{}"#, 1 + id % 2)))
        .collect();
    assert_eq!(bench.import(&lines).done().document()["imported"], 250);
    assert_eq!(
        counted(&bench, "acme#agenda#1"),
        counts(&[("2027-03-01", &[("1803902400000_1803904200000_1", 250)])])
    );
    assert_eq!(
        counted(&bench, "acme#meeting-month#1"),
        counts(&[("2027-03-01", &[("01", 250)])])
    );
    assert_eq!(listed(&bench, "acme#lead-meeting#1").len(), 125);
    assert_eq!(bench.import(&lines).done().document()["unchanged"], 250);
    assert_sound(&bench);
}

#[test]
fn meetings_changed_through_the_api_are_kept_without_overwrite() {
    let bench = bench_of_meetings();
    bench.import(&meeting(5, r#","leadId":1"#)).done();
    bench.set("acme#meeting", ID, "edited", &json!({ "N": "1" }));
    let same = bench.import(&meeting(5, r#","leadId":1"#)).done().document();
    assert_eq!(same["unchanged"], 1);
    let changed = meeting(5, r#","leadId":2"#);
    let other = bench.import(&changed);
    assert_eq!(other.code, 1);
    assert_eq!(
        refused(&other.document()),
        [
            "line 1: meeting 5 was changed through the API since it was imported; use --overwrite to replace it"
        ]
    );
    assert_eq!(records(&bench.export(), "meeting")[0]["leadId"], 1);
    assert_eq!(
        bench.import_overwriting(&changed).done().document()["imported"],
        1
    );
    assert_eq!(records(&bench.export(), "meeting")[0]["leadId"], 2);
    assert_eq!(bench.import(&meeting(5, "")).done().document()["imported"], 1);
}

/// The order of lines does not matter (C-81).
#[test]
fn lines_may_precede_the_records_they_refer_to() {
    let bench = bench();
    let lines = [
        meeting(5, r#","leadId":1"#),
        calendar(1, "a", "pub_a").replace(r#""userId":7"#, r#""userId":9"#),
        lead(1, ""),
        r#"{"kind":"user","id":9,"name":"Carla"}"#.to_owned(),
    ];
    let answer = bench.import(&lines.concat()).document();
    assert_eq!(
        answer,
        json!({ "imported": 4, "unchanged": 0, "refused": [], "warnings": ["line 2: isPublished: is false, so nobody can book the calendar"] })
    );
}

/// Bookings during an export are omitted, because the export may lack their leads.
#[test]
fn exports_omit_meetings_created_during_the_export() {
    let bench = bench_of_meetings();
    bench.import(&[meeting(5, ""), meeting(6, "")].concat()).done();
    bench.set("acme#counter", "meeting", "meeting", &json!({ "N": "5" }));
    let export = bench.export();
    let ids: Vec<Value> = records(&export, "meeting")
        .iter()
        .map(|meeting| meeting["id"].clone())
        .collect();
    assert_eq!(ids, [5]);
}
