//! Starts of meetings, by opening hours and zone.

use super::*;

/// The starts of a day, for a duration and a buffer in minutes.
fn on(zone: &str, date: &str, hours: &Value, minutes: (u32, u32)) -> Vec<String> {
    let calendar = calendar(&json!({
        "timezone": zone, "durationMinutes": minutes.0, "bufferMinutes": minutes.1, "hours": {},
        "dates": { date: hours },
    }));
    let day = at(&format!("{date}T00:00:00Z"));
    let (from, until) = (day.unix_millis() - 2 * 86_400_000, day.plus_days(3));
    let from = Timestamp::from_unix_millis(from).unwrap().to_string();
    listed(&calendar, &from, &until.to_string(), "1900-01-01T00:00:00Z", &[])
}

#[test]
fn each_opening_has_a_grid_of_duration_and_buffer() {
    for (hours, minutes, starts) in [
        (
            json!([["09:00", "12:00"]]),
            (60, 0),
            vec!["09:00", "10:00", "11:00"],
        ),
        (json!([["09:00", "11:59"]]), (60, 0), vec!["09:00", "10:00"]),
        (json!([["09:00", "10:00"]]), (60, 0), vec!["09:00"]),
        (json!([["09:00", "09:59"]]), (60, 0), vec![]),
        (json!([]), (60, 0), vec![]),
        // The last meeting's buffer extends past the closing.
        (json!([["09:00", "11:15"]]), (60, 15), vec!["09:00", "10:15"]),
        (json!([["09:00", "11:14"]]), (60, 15), vec!["09:00"]),
        // The second grid begins at its own opening.
        (
            json!([["09:00", "10:45"], ["13:30", "15:00"]]),
            (45, 15),
            vec!["09:00", "10:00", "13:30"],
        ),
        (
            json!([["09:00", "10:30"], ["10:30", "12:00"]]),
            (60, 0),
            vec!["09:00", "10:30"],
        ),
        (
            json!([["09:00", "11:00"], ["11:00", "12:00"]]),
            (60, 60),
            vec!["09:00", "11:00"],
        ),
        (json!([["23:00", "24:00"]]), (30, 0), vec!["23:00", "23:30"]),
        (json!([["00:00", "24:00"]]), (1440, 0), vec!["00:00"]),
    ] {
        let starts: Vec<_> = starts.iter().map(|time| format!("2026-11-21T{time}")).collect();
        assert_eq!(
            on("UTC", "2026-11-21", &hours, minutes),
            starts,
            "{hours} {minutes:?}"
        );
    }
}

#[test]
fn hours_are_local_times() {
    for (zone, date, start) in [
        ("America/Sao_Paulo", "2026-11-21", "2026-11-21T12:00"),
        ("Asia/Kolkata", "2026-11-21", "2026-11-21T03:30"),
        ("America/New_York", "2026-03-07", "2026-03-07T14:00"),
        ("America/New_York", "2026-03-08", "2026-03-08T13:00"),
        ("America/New_York", "2026-10-31", "2026-10-31T13:00"),
        ("America/New_York", "2026-11-01", "2026-11-01T14:00"),
        ("Pacific/Apia", "2011-12-29", "2011-12-29T19:00"),
        ("Pacific/Apia", "2011-12-31", "2011-12-30T19:00"),
    ] {
        assert_eq!(
            on(zone, date, &json!([["09:00", "10:00"]]), (60, 0)),
            [start],
            "{zone} {date}"
        );
    }
}

/// Zone, date, opening and closing, and the starts of meetings of one hour.
///
/// New York skips 02:00 to 03:00 (07:00Z) on 2026-03-08 and repeats 01:00 to 02:00 (05:00Z, 06:00Z) on
/// 2026-11-01. São Paulo skipped 00:00 to 01:00 (03:00Z) on 2018-11-04 and repeated 23:00 to 24:00 on
/// 2018-02-17. Havana repeats 00:00 to 01:00 (04:00Z, 05:00Z) on 2024-11-03, and the day before ends with the
/// second. Apia skipped 2011-12-30.
const CHANGED: &str = "
    America/New_York  2026-03-08 02:30 04:00 08T07:00
    America/New_York  2026-03-08 01:00 02:30 08T06:00
    America/New_York  2026-03-08 02:00 03:00
    America/New_York  2026-03-08 02:15 02:45
    America/New_York  2026-03-08 00:30 04:00 08T05:30 08T06:30
    America/New_York  2026-11-01 01:30 03:00 01T05:30 01T06:30
    America/New_York  2026-11-01 00:00 01:30 01T04:00 01T05:00
    America/New_York  2026-11-01 00:00 01:00 01T04:00 01T05:00
    America/New_York  2026-11-01 01:15 01:30 01T05:15
    America/Sao_Paulo 2018-11-04 00:30 02:00 04T03:00
    America/Sao_Paulo 2018-11-03 22:30 24:00 04T01:30
    America/Sao_Paulo 2018-02-17 22:00 24:00 18T00:00 18T01:00 18T02:00
    America/Havana    2024-11-02 23:00 24:00 03T03:00 03T04:00
    America/Havana    2024-11-03 00:00 01:00 03T04:00 03T05:00
    Pacific/Apia      2011-12-29 23:00 24:00 30T09:00
    Pacific/Apia      2011-12-30 00:00 24:00
    Pacific/Apia      2011-12-31 00:00 01:00 30T10:00
";

#[test]
fn a_changed_clock_moves_openings_and_closings() {
    for row in CHANGED.trim().lines() {
        let row: Vec<_> = row.split_whitespace().collect();
        let [zone, date, from, to, starts @ ..] = row.as_slice() else {
            panic!("{row:?}");
        };
        let found = on(zone, date, &json!([[from, to]]), (60, 0));
        let found: Vec<_> = found.iter().map(|start| &start[8..]).collect();
        assert_eq!(found, starts, "{row:?}");
    }
}

#[test]
fn a_clock_set_back_over_midnight_leaves_starts_with_their_hours() {
    // In St. John's the clock went from 00:01 on 2010-11-07 (02:31Z) back to 23:01 on the day before.
    for (date, from, to, starts) in [
        ("2010-11-06", "23:00", "23:30", ["01:30", "02:00", "02:30"]),
        ("2010-11-07", "00:00", "00:30", ["02:30", "03:00", "03:30"]),
    ] {
        let starts = starts.map(|time| format!("2010-11-07T{time}"));
        let found = on("America/St_Johns", date, &json!([[from, to]]), (30, 0));
        assert_eq!(found, starts, "{date}");
    }
}

#[test]
fn openings_that_overlap_after_a_clock_change_exclude_each_other() {
    // The first is open from 04:00Z until the second 01:30, 06:30Z; the second from the first 01:30, 05:30Z.
    let calendar = calendar(&json!({
        "timezone": "America/New_York", "hours": {},
        "dates": { "2026-11-01": [["00:00", "01:30"], ["01:30", "03:00"]] },
    }));
    let (from, until) = ("2026-11-01T00:00:00Z", "2026-11-02T00:00:00Z");
    let free = |taken: &[Busy]| listed(&calendar, from, until, BEFORE, taken);
    assert_eq!(
        free(&[]),
        [
            "2026-11-01T04:00",
            "2026-11-01T05:00",
            "2026-11-01T05:30",
            "2026-11-01T06:30"
        ]
    );
    let taken = busy(&[("2026-11-01T05:00:00Z", "2026-11-01T06:00:00Z")]);
    assert_eq!(free(&taken), ["2026-11-01T04:00", "2026-11-01T06:30"]);
    assert_eq!(
        calendar.check_start(
            at("2026-11-01T05:30:00Z"),
            at(BEFORE),
            &buffered(&calendar, &taken)
        ),
        Err(Unavailable::Taken)
    );
}

#[test]
fn a_start_of_two_openings_is_listed_once() {
    let hours = json!([["00:00", "01:30"], ["01:30", "03:00"]]);
    let starts = on("America/New_York", "2026-11-01", &hours, (30, 0));
    let halves = [
        "04:00", "04:30", "05:00", "05:30", "06:00", "06:30", "07:00", "07:30",
    ];
    assert_eq!(starts, halves.map(|time| format!("2026-11-01T{time}")));
}

#[test]
fn a_date_replaces_its_weekday() {
    // 2026-11-21 is a Saturday.
    let calendar = calendar(&json!({
        "hours": { "sat": [["09:00", "10:00"]], "sun": [["10:00", "11:00"]], "mon": [["11:00", "12:00"]] },
        "dates": { "2026-11-22": [["15:00", "16:00"]], "2026-11-23": [], "2026-11-24": [["08:00", "09:00"]] },
    }));
    assert_eq!(
        listed(
            &calendar,
            "2026-11-20T00:00:00Z",
            "2026-12-01T00:00:00Z",
            BEFORE,
            &[]
        ),
        [
            "2026-11-21T09:00",
            "2026-11-22T15:00",
            "2026-11-24T08:00",
            "2026-11-28T09:00",
            "2026-11-29T10:00",
            "2026-11-30T11:00",
        ]
    );
}

#[test]
fn only_the_grid_is_admitted() {
    let calendar = calendar(&json!({}));
    for (start, admitted) in [
        ("2026-11-21T09:00:00.000Z", Ok(())),
        ("2026-11-21T06:00:00.000-03:00", Ok(())),
        ("2026-11-21T11:00:00.000Z", Ok(())),
        ("2026-11-21T09:00:00.001Z", Err(Unavailable::OffGrid)),
        ("2026-11-21T09:30:00.000Z", Err(Unavailable::OffGrid)),
        ("2026-11-21T08:00:00.000Z", Err(Unavailable::OffGrid)),
        ("2026-11-21T12:00:00.000Z", Err(Unavailable::OffGrid)),
        ("9999-12-31T23:59:59.999Z", Err(Unavailable::OffGrid)),
        ("9999-12-31T11:00:00.000Z", Ok(())),
    ] {
        assert_eq!(
            calendar.check_start(at(start), at(BEFORE), &[]),
            admitted,
            "{start}"
        );
    }
}
