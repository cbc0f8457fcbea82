//! How the single fields of an opportunity are read. A reader answers what the field must be where it is not.

use serde_json::Value;
use shared::json::{MUST_BE_TEXT, inexact};
use shared::money::Cents;
use shared::number::whole_or_text;
use shared::opportunity::Status;
use shared::time::{Day, Timestamp, Zone};

/// What a field that is not right must be.
pub type Must = &'static str;

/// The most characters of a title (C-30).
const TITLE: usize = 255;
/// The most characters of text in a custom field or a reason (C-30).
const TEXT: usize = 10_000;
/// The largest number of a sequence: 15 digits, like an id.
const SEQUENCE: u64 = shared::id::MAX_ID;

/// Said of whatever must be an id.
pub const MUST_BE_ID: Must = "must be a whole number from 1 to 999999999999999";

/// A time, or a day that begins when the instance's zone says (C-31).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CloseDate {
    At(Timestamp),
    On(Day),
}

impl CloseDate {
    /// The time it is in a zone.
    pub fn within(self, zone: Zone) -> Timestamp {
        match self {
            Self::At(time) => time,
            Self::On(day) => zone.start_of(day),
        }
    }
}

pub fn title(value: &Value) -> Result<String, Must> {
    let title = value
        .as_str()
        .filter(|title| !title.is_empty() && fits(title, TITLE));
    title.map(str::to_owned).ok_or("must have 1 to 255 characters")
}

pub fn amount(value: &Value) -> Result<Cents, Must> {
    Cents::from_json(value).ok_or("must be an amount from 0 to 9999999999999.99 with at most two decimals")
}

/// An id of the kind that `new` makes.
pub fn id<I>(new: fn(u64) -> Option<I>) -> impl Fn(&Value) -> Result<I, Must> {
    move |value| whole_or_text(value).and_then(new).ok_or(MUST_BE_ID)
}

pub fn sequence(value: &Value) -> Result<u64, Must> {
    let number = whole_or_text(value).filter(|number| *number <= SEQUENCE);
    number.ok_or("must be a whole number from 0 to 999999999999999")
}

pub fn status(value: &Value) -> Result<Status, Must> {
    let status = value.as_str().and_then(Status::parse);
    status.ok_or("must be open, gain or lost")
}

pub fn close_date(value: &Value) -> Result<CloseDate, Must> {
    let text = value.as_str().unwrap_or_default();
    let time = Timestamp::parse(text).map(CloseDate::At);
    let date = time.or_else(|| Day::parse(text).map(CloseDate::On));
    date.ok_or("must be RFC 3339, a date such as 2026-11-21, or null")
}

pub fn reason(value: &Value) -> Result<String, Must> {
    let text = value.as_str().filter(|text| fits(text, TEXT));
    text.map(str::to_owned)
        .ok_or("must be text of at most 10000 characters, or null")
}

/// A boolean alone, although a record shows 0 or 1 (C-33).
pub fn flag(value: &Value) -> Result<bool, Must> {
    value.as_bool().ok_or("must be true or false")
}

/// Whether a custom field may hold a value.
pub fn custom(value: &Value) -> Result<(), Must> {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
        Value::String(text) if fits(text, TEXT) => Ok(()),
        Value::Object(_) if inexact(value).is_some() => Err(MUST_BE_TEXT),
        _ => Err("must be text of at most 10000 characters, a number, a boolean or null"),
    }
}

fn fits(text: &str, limit: usize) -> bool {
    text.chars().nth(limit).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use shared::id::LeadId;

    #[test]
    fn lengths_are_counted_in_characters() {
        assert!(title(&json!("ã".repeat(255))).is_ok() && title(&json!(" ")).is_ok());
        for bad in [
            json!(""),
            json!("ã".repeat(256)),
            json!(5),
            json!(null),
            json!(["x"]),
        ] {
            assert_eq!(title(&bad), Err("must have 1 to 255 characters"));
        }
        let (long, longer) = (json!("ã".repeat(10_000)), json!("ã".repeat(10_001)));
        assert!(reason(&long).is_ok() && custom(&long).is_ok() && reason(&json!("")).is_ok());
        for bad in [longer.clone(), json!(5), json!({})] {
            assert_eq!(
                reason(&bad),
                Err("must be text of at most 10000 characters, or null")
            );
        }
        let must = "must be text of at most 10000 characters, a number, a boolean or null";
        for bad in [longer, json!([]), json!({ "a": 1 })] {
            assert_eq!(custom(&bad), Err(must));
        }
        let key = shared::json::parse(b"35261112345678901234567890123456789012345678").unwrap();
        assert_eq!(custom(&key), Err(MUST_BE_TEXT));
        for good in [json!(null), json!(true), json!(1e300), json!("")] {
            assert_eq!(custom(&good), Ok(()));
        }
    }

    /// C-7.
    #[test]
    fn numbers_may_be_text() {
        for good in [json!(31), json!(31.0), json!(3.1e1), json!("31"), json!("31.0")] {
            assert_eq!(id(LeadId::new)(&good), Ok(LeadId::new(31).unwrap()), "{good}");
            assert_eq!(sequence(&good), Ok(31));
            assert_eq!(amount(&good).map(Cents::get), Ok(3100));
        }
        for bad in [
            json!("1.5"),
            json!(1.5),
            json!("-1"),
            json!("1e3"),
            json!(" 1"),
            json!(""),
            json!(true),
        ] {
            assert_eq!(id(LeadId::new)(&bad), Err(MUST_BE_ID), "{bad}");
            assert_eq!(
                sequence(&bad),
                Err("must be a whole number from 0 to 999999999999999")
            );
        }
        for bad in [
            json!(0),
            json!("0"),
            json!(1_000_000_000_000_000_u64),
            json!(1e30),
        ] {
            assert_eq!(id(LeadId::new)(&bad), Err(MUST_BE_ID), "{bad}");
        }
        assert_eq!(sequence(&json!("0")), Ok(0));
        assert_eq!(sequence(&json!(999_999_999_999_999_u64)), Ok(SEQUENCE));
        assert!(sequence(&json!(1e15)).is_err() && sequence(&json!("1000000000000000")).is_err());
        assert_eq!(amount(&json!("213.20")).map(Cents::get), Ok(21320));
        for bad in [
            json!("213.205"),
            json!("1,5"),
            json!(-1),
            json!(true),
            json!("10000000000000"),
        ] {
            let must = "must be an amount from 0 to 9999999999999.99 with at most two decimals";
            assert_eq!(amount(&bad), Err(must), "{bad}");
        }
    }

    #[test]
    fn statuses_flags_and_dates_have_their_spellings() {
        for (text, expected) in [
            ("open", Status::Open),
            ("gain", Status::Gain),
            ("lost", Status::Lost),
        ] {
            assert_eq!(status(&json!(text)), Ok(expected));
        }
        for bad in [json!("won"), json!("Open"), json!(""), json!(1), json!(null)] {
            assert_eq!(status(&bad), Err("must be open, gain or lost"));
        }
        for flagged in [true, false] {
            assert_eq!(flag(&json!(flagged)), Ok(flagged));
        }
        for bad in [json!(1), json!(0), json!("true"), json!(null)] {
            assert_eq!(flag(&bad), Err("must be true or false"));
        }
        let zone = Zone::parse("America/Sao_Paulo").unwrap();
        let read = |text: &str| close_date(&json!(text)).map(|date| date.within(zone).to_string());
        assert_eq!(read("2026-06-01").unwrap(), "2026-06-01T03:00:00.000Z");
        assert_eq!(
            read("2026-06-01T00:00:00+02:00").unwrap(),
            "2026-05-31T22:00:00.000Z"
        );
        for bad in [
            "",
            "2026-02-30",
            "2026-06-01T00:00:00",
            "01/06/2026",
            "2026-06-01 ",
        ] {
            assert_eq!(
                read(bad),
                Err("must be RFC 3339, a date such as 2026-11-21, or null"),
                "{bad}"
            );
        }
        assert!(close_date(&json!(1_780_000_000)).is_err());
    }
}
