//! Requests without credentials: public booking (spec.md, endpoint 13) and its free times.
//!
//! An unknown instance is answered like an unknown link, with the group's own error. Rate-limit headers are sent only
//! with responses that reveal the instance anyway (C-1).

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use super::{CheckedRequest, Guard, instance, rate_limit};
use crate::environment::Environment;
use crate::http::{App, Params, RawRequest, RequestError};
use crate::store::{Allowance, PublicRoute, Reader, Writer};
use crate::telemetry::request;
use crate::time::Timestamp;

/// A request without credentials to endpoint `E`.
pub type Public<E, Q> = CheckedRequest<Anonymous<E>, Q>;

/// An endpoint without credentials.
pub trait PublicEndpoint: Send + Sync {
    /// Its route, which has a rate limit of its own (C-9).
    const ROUTE: PublicRoute;
}

/// `POST /calendarmeeting`.
#[derive(Debug)]
pub struct BookingEndpoint;

impl PublicEndpoint for BookingEndpoint {
    const ROUTE: PublicRoute = PublicRoute::Booking;
}

/// `GET /calendarmeeting/slots`.
#[derive(Debug)]
pub struct SlotsEndpoint;

impl PublicEndpoint for SlotsEndpoint {
    const ROUTE: PublicRoute = PublicRoute::Slots;
}

/// A public request before any look-up.
pub struct Anonymous<E> {
    app: App,
    params: Params,
    endpoint: PhantomData<fn() -> E>,
}

impl<E> fmt::Debug for Anonymous<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Anonymous")
    }
}

/// A public request to an instance that exists.
#[derive(Debug)]
pub struct PublicScope {
    /// The store, limited to the instance.
    pub store: Writer,
    environment: Environment,
    allowance: Option<Allowance>,
}

impl PublicScope {
    /// Adds the rate-limit headers to the response. Call it only for an existing link.
    pub fn show_limit(&self) {
        if let Some(allowance) = self.allowance {
            request::set_allowance(allowance);
        }
    }

    /// Current time.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.environment.now()
    }
}

impl<E: PublicEndpoint> Guard for Anonymous<E> {
    type Scope = PublicScope;

    fn of(request: RawRequest, app: &App) -> Self {
        Self {
            app: app.clone(),
            params: request.params,
            endpoint: PhantomData,
        }
    }

    async fn reader(&self) -> Result<Reader, RequestError> {
        Ok(self.app.store().reader(instance(&self.params)?))
    }

    fn is_known(&self, reader: &Reader) -> bool {
        self.app.store().recently_accepted(&[caller::<E>(reader)])
    }

    /// Accepts a request to an existing instance within its rate limit (C-9).
    async fn check(&self, reader: &Reader, _: bool) -> Result<PublicScope, RequestError> {
        let callers = [caller::<E>(reader)];
        let Some(directory) = super::open_directory(reader).await? else {
            self.app.store().refuse(&callers);
            return Err(RequestError::Unauthorized);
        };
        request::set_caller(reader.instance().as_str(), "");
        let limit = rate_limit::of_public(E::ROUTE, &directory.settings);
        self.app.store().accept(&callers, reader.instance(), limit);
        let allowance = rate_limit::count_without_headers(&self.app, reader.instance(), limit).await?;
        Ok(PublicScope {
            store: Writer::of_request(self.app.store(), reader.clone(), Arc::new(directory)),
            environment: self.app.environment().clone(),
            allowance,
        })
    }

    /// An unknown instance is reported after an invalid query (C-1, C-53).
    fn precedes_query(refused: &RequestError) -> bool {
        matches!(refused, RequestError::Instance | RequestError::Limited)
    }
}

/// Cache key of an accepted instance, per route because each route has its own limit.
fn caller<E: PublicEndpoint>(reader: &Reader) -> String {
    format!("{} {:?}", reader.instance(), E::ROUTE)
}
