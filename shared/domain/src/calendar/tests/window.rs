//! The bookable part of the grid: requested range, minimum notice and horizon.

use super::*;

#[test]
fn ranges_include_their_start_and_exclude_their_end() {
    let calendar = calendar(&json!({}));
    for (from, until, starts) in [
        (
            "2026-11-21T09:00:00Z",
            "2026-11-21T11:00:00Z",
            vec!["21T09:00", "21T10:00"],
        ),
        (
            "2026-11-21T09:00:00.001Z",
            "2026-11-21T11:00:00.001Z",
            vec!["21T10:00", "21T11:00"],
        ),
        (
            "2026-11-21T11:00:00Z",
            "2026-11-22T09:00:00.001Z",
            vec!["21T11:00", "22T09:00"],
        ),
        ("2026-11-21T09:00:00Z", "2026-11-21T09:00:00Z", vec![]),
        ("2026-11-22T09:00:00Z", "2026-11-21T09:00:00Z", vec![]),
        (
            "9999-12-31T10:00:00Z",
            "9999-12-31T23:59:59.999Z",
            vec!["31T10:00", "31T11:00"],
        ),
        ("1900-01-01T00:00:00Z", "1900-01-01T23:00:00Z", vec![]),
    ] {
        let found = listed(&calendar, from, until, BEFORE, &[]);
        let found: Vec<_> = found.iter().map(|start| &start[8..]).collect();
        assert_eq!(found, starts, "{from} {until}");
    }
}

#[test]
fn past_starts_and_starts_within_the_notice_are_excluded() {
    for (notice, now, starts) in [
        (0, "2026-11-21T08:59:59.999Z", vec!["09:00", "10:00", "11:00"]),
        (0, "2026-11-21T09:00:00.000Z", vec!["09:00", "10:00", "11:00"]),
        (0, "2026-11-21T09:00:00.001Z", vec!["10:00", "11:00"]),
        (60, "2026-11-21T09:00:00.000Z", vec!["10:00", "11:00"]),
        (60, "2026-11-21T09:00:00.001Z", vec!["11:00"]),
        (1440, "2026-11-20T10:00:00.000Z", vec!["10:00", "11:00"]),
        (u32::MAX, "2026-11-20T10:00:00.000Z", vec![]),
        (0, "2026-11-21T11:00:00.001Z", vec![]),
    ] {
        let calendar = calendar(&json!({ "minimumNoticeMinutes": notice }));
        let found = listed(
            &calendar,
            "2026-11-21T00:00:00Z",
            "2026-11-22T00:00:00Z",
            now,
            &[],
        );
        let found: Vec<_> = found.iter().map(|start| &start[11..]).collect();
        assert_eq!(found, starts, "{notice} {now}");
        for time in ["09:00", "10:00", "11:00"] {
            let expected = if starts.contains(&time) {
                Ok(())
            } else {
                Err(Unavailable::TooSoon)
            };
            let start = at(&format!("2026-11-21T{time}:00Z"));
            assert_eq!(
                calendar.check_start(start, at(now), &[]),
                expected,
                "{notice} {now} {time}"
            );
        }
    }
}

#[test]
fn the_horizon_counts_days_of_the_zone() {
    // In São Paulo the day begins at 03:00Z. 2026-11-20 is a Friday.
    let two = json!({ "type": "days", "days": 2 });
    let business = json!({ "type": "businessDays", "days": 1 });
    let between = json!({ "type": "between", "start": "2026-11-22", "end": "2026-11-23" });
    for (horizon, now, first, last) in [
        (&two, "2026-11-21T02:59:59.999Z", "21T12:00", "22T12:00"),
        (&two, "2026-11-21T03:00:00.000Z", "21T12:00", "23T12:00"),
        (&business, "2026-11-20T02:59:59.999Z", "20T12:00", "20T12:00"),
        (&business, "2026-11-20T15:00:00.000Z", "21T12:00", "23T12:00"),
        (&business, "2026-11-22T15:00:00.000Z", "23T12:00", "23T12:00"),
        (&business, "2026-11-23T15:00:00.000Z", "24T12:00", "24T12:00"),
        (&between, "2026-11-20T15:00:00.000Z", "22T12:00", "23T12:00"),
        (&between, "2026-11-23T00:00:00.000Z", "23T12:00", "23T12:00"),
        (
            &json!({ "type": "unlimited" }),
            "2026-11-21T15:00:00.000Z",
            "22T12:00",
            "30T12:00",
        ),
    ] {
        let calendar = calendar(&json!({
            "timezone": "America/Sao_Paulo", "durationMinutes": 180, "horizon": horizon,
        }));
        let found = listed(
            &calendar,
            "2026-11-01T00:00:00Z",
            "2026-12-01T00:00:00Z",
            now,
            &[],
        );
        let ends = (&found[0][8..], &found[found.len() - 1][8..]);
        assert_eq!(ends, (first, last), "{horizon} {now}");
    }
}

#[test]
fn a_horizon_includes_its_whole_days() {
    let hours = json!([["00:00", "24:00"]]);
    let calendar = calendar(&json!({
        "timezone": "Asia/Kolkata", "hours": {},
        "dates": { "2026-11-21": hours, "2026-11-22": hours, "2026-11-23": hours },
        "horizon": { "type": "between", "start": "2026-11-22", "end": "2026-11-22" },
    }));
    let found = listed(
        &calendar,
        "2026-11-20T00:00:00Z",
        "2026-11-25T00:00:00Z",
        BEFORE,
        &[],
    );
    assert_eq!(
        (found.len(), found[0].as_str(), found[23].as_str()),
        (24, "2026-11-21T18:30", "2026-11-22T17:30")
    );
    for (start, admitted) in [
        ("2026-11-21T17:30:00Z", Err(Unavailable::OutsideHorizon)),
        ("2026-11-21T18:30:00Z", Ok(())),
        ("2026-11-22T18:30:00Z", Err(Unavailable::OutsideHorizon)),
        ("2026-11-22T18:00:00Z", Err(Unavailable::OffGrid)),
    ] {
        assert_eq!(
            calendar.check_start(at(start), at(BEFORE), &[]),
            admitted,
            "{start}"
        );
    }
}
