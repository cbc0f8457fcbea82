//! Requests without credentials: public booking (spec.md, endpoint 13).
//!
//! An instance that does not exist is refused like a link that does not, by the group's own error. The headers of the limit
//! are sent only with answers that reveal the instance anyway: otherwise they would show which instances exist (C-1).

use std::fmt;
use std::marker::PhantomData;

use super::{CheckedRequest, Guard, instance, rate_limit};
use crate::environment::Environment;
use crate::http::{App, Params, RawRequest, RequestError};
use crate::store::{Allowance, InstanceStore, PublicRoute, Reader};
use crate::telemetry::request;
use crate::time::Timestamp;

/// A request without credentials to endpoint `E`.
pub type Public<E, Q> = CheckedRequest<Anonymous<E>, Q>;

/// An endpoint without credentials.
pub trait PublicEndpoint: Send + Sync {
    /// Its route, which has a limit of its own (C-9).
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

/// A public request, of which nothing has been looked up.
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
    /// The instance's part of the table.
    pub store: InstanceStore,
    environment: Environment,
    left: Option<Allowance>,
}

impl PublicScope {
    /// Has the answer say what is left of the limit: where the request leads to something that exists.
    pub fn show_limit(&self) {
        if let Some(left) = self.left {
            request::limited(left);
        }
    }

    /// The time now.
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
        self.app.store().knows(&[caller::<E>(reader)])
    }

    /// Lets the request into an instance that exists, within its limit (C-9).
    async fn check(&self, reader: &Reader, _: bool) -> Result<PublicScope, RequestError> {
        let callers = [caller::<E>(reader)];
        let Some(directory) = reader.directory().await? else {
            self.app.store().refuse(&callers);
            return Err(RequestError::Unauthorized);
        };
        request::note(reader.instance().as_str(), "");
        let limit = rate_limit::of_public(E::ROUTE, &directory.settings);
        self.app.store().accept(&callers, reader.instance(), limit);
        let left = rate_limit::count_unseen(&self.app, reader.instance(), limit).await?;
        Ok(PublicScope {
            store: InstanceStore::new(reader.clone()),
            environment: self.app.environment().clone(),
            left,
        })
    }

    /// Whether the instance exists is judged after the query (C-1, C-53).
    fn precedes_query(refused: &RequestError) -> bool {
        matches!(refused, RequestError::Instance | RequestError::Limited)
    }
}

/// What an accepted instance is remembered by, for each route because each has its own limit.
fn caller<E: PublicEndpoint>(reader: &Reader) -> String {
    format!("{} {:?}", reader.instance(), E::ROUTE)
}
