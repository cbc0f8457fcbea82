//! Requests of the calendar endpoints.

mod booking;
mod form;

pub use booking::{BookMeeting, Guest};

use shared::http::{InvalidField, Params};
use shared::time::Timestamp;

/// The rule of `keyName`.
pub const MUST_BE_LINK: &str = "must be the last segment of the calendar's link";
/// The rule of times.
const MUST_BE_TIME: &str = "must be a date-time such as 2026-11-21T12:00:00.000Z";

/// A time parameter; `None` if absent or blank.
pub fn time(params: &Params, name: &'static str) -> Result<Option<Timestamp>, InvalidField> {
    params.parsed(name, MUST_BE_TIME, |text| {
        // An unencoded `+` before an offset has become a space (C-6).
        let with_plus = || {
            let (time, offset) = text.rsplit_once(' ')?;
            Timestamp::parse(&format!("{time}+{offset}"))
        };
        Timestamp::parse(text).or_else(with_plus)
    })
}

#[cfg(test)]
mod tests;
