//! The last step of every check: an accepted request is counted against its limit (C-9). A refused one is not counted.

use crate::http::{App, RequestError};
use crate::instance::InstanceName;
use crate::settings::{Rate, Settings};
use crate::store::{Allowance, Budget, Credential, PublicRoute};
use crate::telemetry::request;

/// A key's own limit, or else what all keys without one share.
pub fn of_key<'c>(credential: &'c Credential, settings: &Settings) -> (Budget<'c>, Option<Rate>) {
    match credential.requests_per_minute {
        own @ Some(_) => (Budget::Key(&credential.id), own),
        None => (Budget::Keys, settings.requests_per_minute()),
    }
}

/// What all requests without credentials to one route share; it never uses up the keys' (C-9).
pub fn of_public(route: PublicRoute, settings: &Settings) -> (Budget<'static>, Option<Rate>) {
    (Budget::Public(route), settings.public_requests_per_minute())
}

/// What the calls of a webhook share: those that proved the secret have a budget that no stranger can use up (C-9).
pub fn of_webhook(settings: &Settings) -> (Budget<'static>, Option<Rate>) {
    if settings.is_webhook_open() {
        return of_public(PublicRoute::Webhook, settings);
    }
    (Budget::Webhook, settings.webhook_requests_per_minute())
}

/// Counts a request, and notes for its answer what is left. Where there is no limit nothing is counted.
///
/// # Errors
/// [`RequestError::Limited`] where nothing was left.
pub async fn count(
    app: &App,
    instance: &InstanceName,
    limit: (Budget<'_>, Option<Rate>),
) -> Result<(), RequestError> {
    if let Some(left) = count_unseen(app, instance, limit).await? {
        request::limited(left);
    }
    Ok(())
}

/// Counts a request; what is left, which its answer says only once it may tell that the instance exists (C-1). `None`
/// where there is no limit.
///
/// # Errors
/// [`RequestError::Limited`] where nothing was left.
pub async fn count_unseen(
    app: &App,
    instance: &InstanceName,
    (budget, limit): (Budget<'_>, Option<Rate>),
) -> Result<Option<Allowance>, RequestError> {
    let Some(limit) = limit else {
        return Ok(None);
    };
    let spent = app.store().spend(instance, budget, limit).await;
    if spent.admitted {
        return Ok(Some(spent.allowance));
    }
    request::limited(spent.allowance);
    Err(RequestError::Limited)
}
