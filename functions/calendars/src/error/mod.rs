//! What can be wrong with a request for calendars, and the answer to each: an enum for what needs a credential, one for
//! what the public does.

mod booking;
mod reading;

pub use booking::BookingError;
pub use reading::CalendarError;

use shared::http::Refusal;
use shared::store::StoreError;

/// What happened is for the log alone.
fn internal(cause: &StoreError, what: &str) -> Refusal {
    tracing::error!(%cause, "{what}");
    Refusal::Internal
}

#[cfg(test)]
mod tests;
