//! Import and export of meetings (C-81), and their derived items.

use std::collections::BTreeMap;

use crate::calendars::calendar;
use crate::import::{assert_sound, bench, lead, listed, records};
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
