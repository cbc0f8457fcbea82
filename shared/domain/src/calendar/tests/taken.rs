//! Starts that other meetings leave free.

use super::*;

const DAY: (&str, &str) = ("2026-11-21T00:00:00Z", "2026-11-22T00:00:00Z");

/// The free starts among 09:00, 09:45, 10:30 and 11:15, for meetings of 30 minutes and a buffer of 15.
fn free(meetings: &[(&str, &str)]) -> Vec<String> {
    let calendar = calendar(&json!({ "durationMinutes": 30, "bufferMinutes": 15 }));
    let day = |time: &&str| format!("2026-11-21T{time}:00Z");
    let meetings: Vec<_> = meetings
        .iter()
        .map(|(start, end)| (day(start), day(end)))
        .collect();
    let meetings: Vec<_> = meetings
        .iter()
        .map(|(start, end)| (start.as_str(), end.as_str()))
        .collect();
    let starts = listed(&calendar, DAY.0, DAY.1, BEFORE, &busy(&meetings));
    starts.iter().map(|start| start[11..].to_owned()).collect()
}

#[test]
fn a_start_is_taken_when_it_and_its_buffer_overlap_a_meeting_and_its_buffer() {
    for (meetings, starts) in [
        (vec![], vec!["09:00", "09:45", "10:30", "11:15"]),
        (vec![("09:45", "10:15")], vec!["09:00", "10:30", "11:15"]),
        // With another duration: 10:30 begins exactly when the meeting's buffer ends, and the buffer of 09:00
        // ends exactly at its start.
        (vec![("09:45", "10:14")], vec!["09:00", "10:30", "11:15"]),
        (vec![("09:45", "10:16")], vec!["09:00", "11:15"]),
        (vec![("09:44", "10:15")], vec!["10:30", "11:15"]),
        (vec![("09:00", "12:00")], vec![]),
        (vec![("09:50", "09:55")], vec!["09:00", "10:30", "11:15"]),
        // Between two starts, possible after an import.
        (vec![("09:25", "09:30")], vec!["09:45", "10:30", "11:15"]),
        (vec![("09:25", "09:31")], vec!["10:30", "11:15"]),
        // Outside the hours.
        (vec![("08:00", "08:45")], vec!["09:00", "09:45", "10:30", "11:15"]),
        (vec![("08:00", "08:46")], vec!["09:45", "10:30", "11:15"]),
        (vec![("12:00", "12:30")], vec!["09:00", "09:45", "10:30", "11:15"]),
        (vec![("11:59", "12:30")], vec!["09:00", "09:45", "10:30"]),
        // Several, unordered, one within another.
        (
            vec![("11:15", "11:45"), ("09:00", "09:30")],
            vec!["09:45", "10:30"],
        ),
        (
            vec![("08:00", "10:15"), ("08:30", "08:40")],
            vec!["10:30", "11:15"],
        ),
        // A meeting without a length occupies one moment.
        (vec![("09:45", "09:45")], vec!["09:00", "10:30", "11:15"]),
        (vec![("10:00", "09:00")], vec!["09:00", "10:30", "11:15"]),
    ] {
        assert_eq!(free(&meetings), starts, "{meetings:?}");
    }
}

#[test]
fn without_a_buffer_meetings_may_touch() {
    let calendar = calendar(&json!({}));
    let taken = busy(&[("2026-11-21T10:00:00Z", "2026-11-21T11:00:00Z")]);
    assert_eq!(
        listed(&calendar, DAY.0, DAY.1, BEFORE, &taken),
        ["2026-11-21T09:00", "2026-11-21T11:00"]
    );
    assert_eq!(
        calendar.check_start(
            at("2026-11-21T10:00:00Z"),
            at(BEFORE),
            &buffered(&calendar, &taken)
        ),
        Err(Unavailable::Taken)
    );
    let moment = busy(&[("2026-11-21T10:00:00Z", "2026-11-21T10:00:00Z")]);
    assert_eq!(
        listed(&calendar, DAY.0, DAY.1, BEFORE, &moment),
        ["2026-11-21T09:00", "2026-11-21T11:00"]
    );
}

#[test]
fn starts_of_touching_openings_exclude_each_other() {
    let calendar = calendar(&json!({
        "bufferMinutes": 60, "hours": { "sat": [["09:00", "12:00"], ["12:00", "14:00"]] },
    }));
    let free = |taken: &[Busy]| listed(&calendar, DAY.0, DAY.1, BEFORE, taken);
    assert_eq!(
        free(&[]),
        ["2026-11-21T09:00", "2026-11-21T11:00", "2026-11-21T12:00"]
    );
    let eleven = busy(&[("2026-11-21T11:00:00Z", "2026-11-21T12:00:00Z")]);
    assert_eq!(free(&eleven), ["2026-11-21T09:00"]);
    let twelve = busy(&[("2026-11-21T12:00:00Z", "2026-11-21T13:00:00Z")]);
    assert_eq!(free(&twelve), ["2026-11-21T09:00"]);
}
