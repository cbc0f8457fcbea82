//! Rate limiting, the last step of each check (C-9). Requests without valid credentials do not count. Requests with an
//! invalid query, or without permission, count.

use crate::http::{App, RequestError};
use crate::instance::InstanceName;
use crate::settings::{Rate, Settings};
use crate::store::{Budget, Credential, PublicRoute, Spent};
use crate::telemetry::request::{self, Refusal};

/// A key's own limit, or the limit shared by all keys without one.
pub fn of_key<'c>(credential: &'c Credential, settings: &Settings) -> (Budget<'c>, Option<Rate>) {
    match credential.requests_per_minute {
        own @ Some(_) => (Budget::Key(&credential.id), own),
        None => (Budget::Keys, settings.requests_per_minute()),
    }
}

/// The limit shared by all requests without credentials to one route, separate from the keys' limits (C-9).
pub fn of_public(route: PublicRoute, settings: &Settings) -> (Budget<'static>, Option<Rate>) {
    (Budget::Public(route), settings.public_requests_per_minute())
}

/// The limit of the call webhook. If calls must be signed, their limit is separate from that of requests without
/// credentials (C-9).
pub fn of_webhook(settings: &Settings) -> (Budget<'static>, Option<Rate>) {
    if settings.is_webhook_open() {
        return of_public(PublicRoute::Webhook, settings);
    }
    (Budget::Webhook, settings.webhook_requests_per_minute())
}

/// Counts a request and adds the remaining number to the response headers. Does nothing without a limit.
///
/// # Errors
/// [`RequestError::Limited`] if the limit is reached.
pub async fn count(
    app: &App,
    instance: &InstanceName,
    limit: (Budget<'_>, Option<Rate>),
) -> Result<(), RequestError> {
    let Some(spent) = spend(app, instance, limit).await else {
        return Ok(());
    };
    if !spent.admitted {
        return Err(refuse(spent));
    }
    request::set_allowance(spent.allowance);
    Ok(())
}

/// Counts a request. `None` without a limit.
pub async fn spend(
    app: &App,
    instance: &InstanceName,
    (budget, limit): (Budget<'_>, Option<Rate>),
) -> Option<Spent> {
    let limit = limit?;
    Some(app.store().spend(instance, budget, limit).await)
}

/// The error of a request beyond the limit. Its response always has the headers.
pub fn refuse(spent: Spent) -> RequestError {
    request::set_allowance(spent.allowance);
    request::refuse_for(Refusal::Limit);
    RequestError::Limited
}
