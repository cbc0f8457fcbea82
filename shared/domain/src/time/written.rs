//! Formats and parses `YYYY-MM-DDTHH:MM:SS.sssZ` (C-8) by hand: a board has thousands of timestamps, and
//! chrono's general formatter and parser dominated its cost.

use std::ops::Range;

use chrono::{Datelike as _, NaiveDate, Timelike as _};

use super::Timestamp;

/// Length in bytes.
const LENGTH: usize = 24;
/// The form, with 0 for each digit.
const FORM: &[u8; LENGTH] = b"0000-00-00T00:00:00.000Z";
/// Positions of the separators.
const SEPARATORS: [usize; 7] = [4, 7, 10, 13, 16, 19, 23];

impl Timestamp {
    /// Formats the time.
    pub(super) fn written(self) -> [u8; LENGTH] {
        let mut text = *FORM;
        let numbers = [
            (0..4, self.0.year().unsigned_abs()),
            (5..7, self.0.month()),
            (8..10, self.0.day()),
            (11..13, self.0.hour()),
            (14..16, self.0.minute()),
            (17..19, self.0.second()),
            // A leap second has 1000 or more milliseconds.
            (20..23, self.0.timestamp_subsec_millis() % 1000),
        ];
        for (digits, mut number) in numbers {
            for digit in text[digits].iter_mut().rev() {
                *digit += u8::try_from(number % 10).unwrap_or_default();
                number /= 10;
            }
        }
        text
    }

    /// Parses exactly this form; `None` for other text and for dates that do not exist.
    pub(super) fn from_written(text: &str) -> Option<Self> {
        let text: &[u8; LENGTH] = text.as_bytes().try_into().ok()?;
        if SEPARATORS.into_iter().any(|at| text[at] != FORM[at]) {
            return None;
        }
        let number = |digits: Range<usize>| {
            text[digits].iter().try_fold(0, |number, byte| {
                let digit = byte.is_ascii_digit().then(|| u32::from(byte - b'0'))?;
                Some(number * 10 + digit)
            })
        };
        let year = i32::try_from(number(0..4)?).ok().filter(|year| *year >= 1)?;
        let day = NaiveDate::from_ymd_opt(year, number(5..7)?, number(8..10)?)?;
        let (hour, minute, second) = (number(11..13)?, number(14..16)?, number(17..19)?);
        let time = day.and_hms_milli_opt(hour, minute, second, number(20..23)?)?;
        Some(Self(time.and_utc()))
    }
}

/// A variant of RFC 3339 in its form; `None` for a text that is none.
pub(super) fn as_rfc3339(text: &str) -> Option<String> {
    let text = text.trim();
    let text = text.split_once('[').map_or(text, |(text, _)| text.trim_end());
    if !text.is_ascii() {
        return None;
    }
    let (date, rest) = text.split_at_checked(11)?;
    let end = rest.find(|c: char| !matches!(c, '0'..='9' | ':' | '.'))?;
    let (time, offset) = rest.split_at(end);
    let seconds = if time.len() == 5 { ":00" } else { "" };
    let offset = match offset.trim_start().as_bytes() {
        b"Z" | b"z" => "Z".to_owned(),
        [sign @ (b'+' | b'-'), digits @ ..] => {
            let digits: String = digits.iter().copied().map(char::from).collect();
            let (hours, minutes) = digits.split_at_checked(2)?;
            let minutes = match minutes.strip_prefix(':').unwrap_or(minutes) {
                "" if digits.len() == 2 => "00",
                minutes => minutes,
            };
            format!("{}{hours}:{minutes}", char::from(*sign))
        }
        _ => return None,
    };
    Some(format!("{date}{time}{seconds}{offset}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// C-8.
    #[test]
    fn variants_of_rfc_3339_are_read() {
        for (text, read) in [
            ("2027-03-06T12:00Z", "2027-03-06T12:00:00.000Z"),
            ("2027-03-06T12:00:00+0000", "2027-03-06T12:00:00.000Z"),
            ("2027-03-06T10:00-0300", "2027-03-06T13:00:00.000Z"),
            ("2027-03-06T10:00:00-03", "2027-03-06T13:00:00.000Z"),
            ("2026-12-31 10:00:00 -0300", "2026-12-31T13:00:00.000Z"),
            ("2026-12-31 10:00:00.25 +05:30", "2026-12-31T04:30:00.250Z"),
            (
                "2026-12-31T10:00:00-03:00[America/Sao_Paulo]",
                "2026-12-31T13:00:00.000Z",
            ),
            ("2026-12-31T10:00Z[UTC]", "2026-12-31T10:00:00.000Z"),
            (" 2026-12-31T10:00:00Z ", "2026-12-31T10:00:00.000Z"),
        ] {
            assert_eq!(
                Timestamp::parse(text).map(|time| time.to_string()).as_deref(),
                Some(read),
                "{text}"
            );
        }
        for bad in [
            "2026-12-31T10:00",
            "2026-12-31T10:00:00",
            "2026-12-31T10:00[America/Sao_Paulo]",
            "2026-12-31",
            "2026-12-31T10Z",
            "2026-12-31T10:00 BRT",
            "2026-12-31T10:00:00-3",
            "2026-12-31T10:00:00-030",
            "2026-12-31T10:00:00-03:",
            "2026-12-31T10:00:00\u{2212}03:00",
            "31/12/2026 10:00",
            "",
        ] {
            assert_eq!(Timestamp::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn the_canonical_form_is_parsed_like_rfc_3339() {
        for text in [
            "1900-01-01T00:00:00.000Z",
            "1969-12-31T23:59:59.999Z",
            "2028-02-29T12:34:56.789Z",
            "9999-12-31T23:59:59.999Z",
        ] {
            let read = Timestamp::from_written(text);
            assert_eq!(read, Timestamp::from_rfc3339(text), "{text}");
            assert_eq!(read.map(|time| time.to_string()).as_deref(), Some(text));
        }
    }

    /// Some of these are valid RFC 3339.
    #[test]
    fn other_forms_are_left_to_the_general_parser() {
        for other in [
            "0000-01-01T00:00:00.000Z",
            "2026-02-29T00:00:00.000Z",
            "2026-13-01T00:00:00.000Z",
            "2026-01-01T24:00:00.000Z",
            "2016-12-31T23:59:60.000Z",
            "2026-01-01T00:00:00.00+Z",
            "2026-01-01T00:00:00,000Z",
            "2026-01-01 00:00:00.000Z",
            "2026-01-01t00:00:00.000z",
            "2026-01-01T00:00:00.0000Z",
            "2026-01-01T00:00:00-03:00",
            "2026-01-01T00:00:00.0éZ",
        ] {
            assert_eq!(Timestamp::from_written(other), None, "{other}");
        }
    }

    /// Text that differs from a timestamp in a few places.
    fn nearly() -> impl Strategy<Value = String> {
        "[0-9]{4}-[01][0-9]-[0-3][0-9][Tt][0-2][0-9]:[0-6][0-9]:[0-6][0-9][.,][0-9]{3}[Zz]"
    }

    proptest! {
        #[test]
        fn both_parsers_agree(text in nearly()) {
            let read = Timestamp::from_written(&text);
            prop_assert!(read.is_none() || read == Timestamp::from_rfc3339(&text), "{}", text);
        }

        #[test]
        fn every_millisecond_round_trips(
            millis in Timestamp::FIRST_MILLIS..=Timestamp::LAST_MILLIS,
        ) {
            let time = Timestamp::from_unix_millis(millis);
            prop_assert_eq!(time.and_then(|time| Timestamp::from_written(&time.to_string())), time);
        }
    }
}
