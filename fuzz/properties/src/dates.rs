//! Times and days (C-8).

use serde_json::json;
use shared::opportunity::{DateRange, TimeRange};
use shared::report::Range;
use shared::time::{Day, Timestamp, Zone};

/// A number of two or four digits, and the rest.
fn number(text: &[u8], digits: usize) -> Option<(i64, &[u8])> {
    let (number, rest) = text.split_at_checked(digits)?;
    let digit = |sum: Option<i64>, byte: &u8| {
        byte.is_ascii_digit()
            .then(|| Some(sum? * 10 + i64::from(byte - b'0')))?
    };
    Some((number.iter().fold(Some(0), digit)?, rest))
}

fn sign<'a>(text: &'a [u8], allowed: &[u8]) -> Option<(u8, &'a [u8])> {
    let (first, rest) = text.split_first()?;
    allowed.contains(first).then_some((*first, rest))
}

/// Days of a month in the Gregorian calendar.
fn month_length(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// `full-date` of RFC 3339 as days since 1970, and the rest.
fn full_date(text: &[u8]) -> Option<(i64, &[u8])> {
    let (year, rest) = number(text, 4)?;
    let (month, rest) = number(sign(rest, b"-")?.1, 2)?;
    let (day, rest) = number(sign(rest, b"-")?.1, 2)?;
    if !(1..=12).contains(&month) || !(1..=month_length(year, month)).contains(&day) {
        return None;
    }
    let before = (1..month).map(|month| month_length(year, month)).sum::<i64>();
    // Years before this one, from year 0, which is a leap year.
    let leaps = (year + 3) / 4 - (year + 99) / 100 + (year + 399) / 400;
    Some((year * 365 + leaps + before + day - 1 - 719_528, rest))
}

/// `date-time` of RFC 3339 in milliseconds since 1970. Section 5.6 allows a space between day and time.
fn date_time(text: &str) -> Option<i64> {
    let (days, rest) = full_date(text.as_bytes())?;
    let (hour, rest) = number(sign(rest, b"Tt ")?.1, 2)?;
    let (minute, rest) = number(sign(rest, b":")?.1, 2)?;
    let (second, mut rest) = number(sign(rest, b":")?.1, 2)?;
    let mut millis = 0;
    if let Some((_, fraction)) = sign(rest, b".") {
        let digits = fraction.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let padded: Vec<_> = fraction[..digits].iter().copied().chain(*b"000").collect();
        millis = (digits > 0).then(|| number(&padded, 3))??.0;
        rest = &fraction[digits..];
    }
    let offset = match sign(rest, b"Zz+-")? {
        (b'Z' | b'z', rest) => rest.is_empty().then_some(0)?,
        (direction, rest) => {
            let (hours, rest) = number(rest, 2)?;
            let (minutes, rest) = number(sign(rest, b":")?.1, 2)?;
            let fits = hours < 24 && minutes < 60 && rest.is_empty();
            let minutes = fits.then_some(hours * 60 + minutes)?;
            if direction == b'-' { -minutes } else { minutes }
        }
    };
    let fits = hour < 24 && minute < 60 && second <= 60;
    let minutes = fits.then_some(days * 1440 + hour * 60 + minute - offset)?;
    Some((minutes * 60 + second) * 1000 + millis)
}

/// A time parses if it is RFC 3339 in the years 1900 to 9999, and to the right instant. A day parses exactly if it is
/// `YYYY-MM-DD`. Both round-trip. The days of a zone are contiguous. Two lines are the ends of a range.
///
/// # Panics
/// If any of this is violated.
pub fn dates(data: &[u8]) {
    let Some(text) = crate::text(data) else { return };
    let (start, end) = text.split_once('\n').unwrap_or((text, text));
    for text in [start, end] {
        time(text);
        day(text);
    }
    range(start, end);
    if let (Some(from), Some(to)) = (Day::parse(start), Day::parse(end)) {
        days(from, to);
    }
}

fn time(text: &str) {
    let read = Timestamp::parse(text);
    // 1900 begins at this instant in the easternmost zone.
    let bounds = -2_209_039_200_000..=Timestamp::LAST_MILLIS;
    let expected = date_time(text).filter(|millis| bounds.contains(millis));
    if date_time(text).is_some() {
        assert_eq!(read.map(Timestamp::unix_millis), expected, "{text:?}");
    }
    if let Some(time) = read {
        let written = time.to_string();
        assert_eq!(Timestamp::parse(&written), read, "{text:?}");
        assert_eq!(date_time(&written), Some(time.unix_millis()), "{written}");
        assert_eq!(json!(time), written);
    }
}

fn day(text: &str) {
    let read = Day::parse(text);
    let expected = full_date(text.as_bytes()).filter(|(_, rest)| rest.is_empty());
    let expected = expected.is_some() && !text.starts_with("0000");
    assert_eq!(read.is_some(), expected, "{text:?}");
    let Some(day) = read else { return };
    assert_eq!(day.to_string(), text);
    assert_eq!(day.month(), text[..7]);
    for zone in ["UTC", "America/Sao_Paulo", "Pacific/Apia", "Europe/Lisbon"] {
        let Some(zone) = Zone::parse(zone) else { continue };
        let start = zone.start_of(day);
        // A day that the zone skipped begins with the next.
        assert!(
            zone.day_of(start) >= day || start.unix_millis() == Timestamp::LAST_MILLIS,
            "{text} {zone}"
        );
        if let Some(next) = day.next() {
            assert!(zone.start_of(next) >= start, "{text} {zone}");
            assert_eq!(next.previous(), Some(day));
        }
    }
}

fn range(start: &str, end: &str) {
    let is_end = |text: &str| Day::parse(text).is_some() || Timestamp::parse(text).is_some();
    let read = DateRange::read(&json!({"start": start, "end": end}));
    assert_eq!(read.is_ok(), is_end(start) && is_end(end), "{start:?} {end:?}");
    let Ok(range) = read else { return };
    for zone in ["UTC", "America/Sao_Paulo", "Pacific/Apia"] {
        let Some(zone) = Zone::parse(zone) else { continue };
        // An end given as a time includes its whole day; a start on a later day is rejected.
        let Ok(within) = range.within(zone) else {
            assert!(start > end || Day::parse(start).is_none() || Day::parse(end).is_none());
            continue;
        };
        let TimeRange { from, until } = within;
        if let (Some(from), Some(until)) = (from, until) {
            // A skipped day covers nothing.
            assert!(
                from <= until || from.unix_millis() == until.unix_millis() + 1,
                "{start} {end} {zone}"
            );
        }
        let covered = from <= until;
        assert!(!within.is_open());
        assert_eq!(within.covers(from), covered, "{start} {end} {zone}");
        assert_eq!(within.covers(until), covered, "{start} {end} {zone}");
    }
}

fn days(from: Day, to: Day) {
    let Ok(range) = Range::new(from, to) else {
        assert!(
            to < from || from.plus_days(Range::MAX_DAYS - 1) < to,
            "{from} {to}"
        );
        return;
    };
    let (mut count, mut last) = (0, None);
    for day in range.days() {
        assert!(last < Some(day));
        (count, last) = (count + 1, Some(day));
    }
    assert_eq!(last, Some(to));
    assert!(
        count <= Range::MAX_DAYS && from.plus_days(count - 1) == to,
        "{from} {to}"
    );
}
