//! Definitions of calendars and their free times (C-52).

use serde_json::json;
use shared::calendar::{Busy, Calendar, Unavailable};
use shared::time::Timestamp;

/// Times of the query: an ordinary day, a clock change, and both ends of time.
const NOWS: [&str; 4] = [
    "2026-11-21T12:00:00Z",
    "2018-11-03T22:00:00Z",
    "0001-01-01T00:00:00Z",
    "9999-12-30T00:00:00Z",
];
/// Number of listed days.
const DAYS: u32 = 3;
/// Number of listed starts to book.
const TRIED: usize = 4;

/// A definition round-trips. Listed times are ordered and in range. Each can be booked, but not again after it is taken.
///
/// # Panics
/// If any of this is violated.
pub fn calendar(data: &[u8]) {
    let Some(input) = crate::json(data) else { return };
    let Ok(calendar) = serde_json::from_value::<Calendar>(input) else {
        return;
    };
    let written = json!(calendar);
    let read = serde_json::from_value::<Calendar>(written.clone());
    assert_eq!(read.ok().as_ref(), Some(&calendar), "{written}");
    for now in NOWS.iter().filter_map(|now| Timestamp::parse(now)) {
        times(&calendar, now);
    }
}

fn times(calendar: &Calendar, now: Timestamp) {
    let end = now.plus_days(DAYS);
    let starts = calendar.starts(now..end, now, &[]);
    let notice = u64::from(calendar.minimum_notice_minutes) * 60_000;
    let earliest = now.unix_millis() + i64::try_from(notice).unwrap_or(i64::MAX);
    assert!(starts.is_sorted() && starts.windows(2).all(|pair| pair[0] < pair[1]));
    assert!(
        starts
            .iter()
            .all(|start| *start < end && start.unix_millis() >= earliest),
        "{starts:?}"
    );
    let tried = starts.iter().step_by(starts.len().div_ceil(TRIED).max(1));
    for start in tried {
        assert_eq!(calendar.check_start(*start, now, &[]), Ok(()), "{start} at {now}");
        let taken = [calendar.with_buffer(Busy::new(*start, calendar.meeting_end(*start)))];
        assert_eq!(
            calendar.check_start(*start, now, &taken),
            Err(Unavailable::Taken),
            "{start} at {now}"
        );
        let left = calendar.starts(now..end, now, &taken);
        assert!(
            !left.contains(start) && left.iter().all(|start| starts.contains(start)),
            "{start} at {now}"
        );
        // The remaining starts and the meeting are separated by the buffer.
        let (begins, ends) = (*start, calendar.buffer_end(*start));
        assert!(
            left.iter()
                .all(|other| *other >= ends || calendar.buffer_end(*other) <= begins),
            "{start} at {now}"
        );
    }
}
