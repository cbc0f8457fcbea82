//! What requests for calendars hold.

mod booking;
mod form;

pub use booking::{NewBooking, Proof, Sent};

use shared::http::{BadParameter, Params};
use shared::time::Timestamp;

/// Said of whatever must be a time.
const MUST_BE_TIME: &str = "must be a date-time such as 2026-11-21T12:00:00.000Z";

/// A parameter that is a time; `None` where it is absent or blank.
pub fn time(params: &Params, name: &'static str) -> Result<Option<Timestamp>, BadParameter> {
    let Some(text) = params.filled(name)? else {
        return Ok(None);
    };
    // A `+` that was sent as it is has become a space (C-6).
    let time = Timestamp::parse(&text.replace(' ', "+"));
    time.map(Some).ok_or(BadParameter(name, MUST_BE_TIME))
}

#[cfg(test)]
mod tests;
