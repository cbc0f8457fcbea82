//! The last step of every check: a request that was let in is counted against its limit (C-9). Whoever was not let in has
//! taken nothing.

use super::AccessError;
use crate::http::{App, trace};
use crate::instance::InstanceName;
use crate::settings::{Rate, Settings};
use crate::store::{Budget, Credential};

/// A key's own limit, or else what all keys without one share.
pub fn of_key<'c>(credential: &'c Credential, settings: &Settings) -> (Budget<'c>, Option<Rate>) {
    match credential.requests_per_minute {
        own @ Some(_) => (Budget::Key(&credential.id), own),
        None => (Budget::Keys, settings.requests_per_minute()),
    }
}

/// What all requests without credentials share; it never uses up the keys' (C-9).
pub fn of_public(settings: &Settings) -> (Budget<'static>, Option<Rate>) {
    (Budget::Public, settings.public_requests_per_minute())
}

/// Counts a request, and notes for its answer what is left. Where there is no limit nothing is counted.
///
/// # Errors
/// [`AccessError::Limited`] where nothing was left.
pub async fn count(
    app: &App,
    instance: &InstanceName,
    (budget, limit): (Budget<'_>, Option<Rate>),
) -> Result<(), AccessError> {
    let Some(limit) = limit else {
        return Ok(());
    };
    let spent = app.store().spend(instance, budget, limit).await;
    trace::limited(spent.allowance);
    if spent.admitted {
        Ok(())
    } else {
        Err(AccessError::Limited)
    }
}
