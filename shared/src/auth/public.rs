//! Requests without credentials: public booking (spec.md, endpoint 13) and its free times.
//!
//! An unknown instance is answered like an unknown link, with the group's own error. Only a request to the link of an
//! active calendar is counted, and rate-limit headers are sent only with responses that reveal the instance anyway (C-1,
//! C-9).

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use super::{Check, Guard, Unchecked, first_error, instance, rate_limit};
use crate::calendar::{Calendar, LinkName};
use crate::directory::DirectoryHead;
use crate::environment::Environment;
use crate::http::{App, Params, RawRequest, RequestError};
use crate::settings::Rate;
use crate::store::{Allowance, Budget, PublicRoute, Reader, StoreError, Writer};
use crate::telemetry::request;
use crate::time::Timestamp;

/// A request without credentials to endpoint `E`.
pub type Public<E> = Unchecked<Anonymous<E>>;

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

/// The public link that a request names.
#[derive(Debug, Clone)]
pub struct PublicLink {
    /// The name of the link.
    pub name: LinkName,
    /// Whether the request has a proof or an idempotency key, so that it is answered for an inactive calendar too.
    pub may_be_inactive: bool,
}

/// A query with a public link.
pub trait LinkQuery: Sized {
    /// Error of an invalid request.
    type Error: From<RequestError>;

    /// Parses the query.
    ///
    /// # Errors
    /// [`LinkQuery::Error`] if the request is invalid.
    fn parse(request: &RawRequest) -> Result<Self, Self::Error>;

    /// The link.
    fn link(&self) -> PublicLink;

    /// The error of a request that the check refused.
    fn refused(&self, error: RequestError) -> Self::Error;
}

impl<E: PublicEndpoint> Public<E> {
    /// As [`Unchecked::parse`], for a query with a link, which the check looks up.
    ///
    /// # Errors
    /// As [`Unchecked::parse`].
    pub async fn parse_link<Q: LinkQuery>(self) -> Result<(Q, Reader, Check<Anonymous<E>>), Q::Error> {
        let query = Q::parse(&self.request);
        let mut guard = Anonymous::of(self.request, &self.app);
        match query {
            Ok(query) => {
                guard.link = Some(query.link());
                let check = Check::of(guard).await;
                let (reader, check) = check.map_err(|refused| query.refused(refused))?;
                Ok((query, reader, check))
            }
            Err(invalid) => Err(first_error(&guard, invalid).await),
        }
    }
}

/// A public request before any look-up.
pub struct Anonymous<E> {
    app: App,
    params: Params,
    /// `None` if the query is invalid.
    link: Option<PublicLink>,
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
    /// The calendar of the link, which may be inactive.
    pub calendar: Option<Calendar>,
    environment: Environment,
    /// The remainder of the limit, if the request was counted.
    allowance: Option<Allowance>,
}

impl PublicScope {
    /// Adds the rate-limit headers to the response, unless the request was not counted. Call it only for a response that
    /// reveals the link.
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
            link: None,
            endpoint: PhantomData,
        }
    }

    async fn reader(&self) -> Result<Reader, RequestError> {
        Ok(self.app.store().reader(instance(&self.params)?))
    }

    /// An unknown link reads nothing ahead, unless the request can be answered without an active calendar.
    fn is_known(&self, reader: &Reader) -> bool {
        let link = self.link.as_ref();
        link.is_some_and(|link| link.may_be_inactive || reader.knows_link(&link.name))
            && self.knows_instance(reader)
    }

    /// Accepts a request to an existing instance and, unless it may be inactive, to the link of a published calendar,
    /// within the rate limit (C-9).
    async fn check(&self, reader: &Reader) -> Result<PublicScope, RequestError> {
        // An invalid query is reported for an unknown instance too, so nothing is read.
        let link = self.link.as_ref().ok_or(RequestError::Unauthorized)?;
        let (directory, calendar) = self.target(reader, &link.name).await?;
        let callers = [caller::<E>(reader)];
        let Some(directory) = directory else {
            self.app.store().refuse(&callers);
            return Err(RequestError::Unauthorized);
        };
        request::set_caller(reader.instance().as_str(), "");
        let limit = rate_limit::of_public(E::ROUTE, &directory.settings);
        self.app.store().accept(&callers, reader.instance(), limit);
        let published = calendar.as_ref().filter(|calendar| calendar.is_published);
        reader.cache_link(&link.name, published);
        let counted = match published {
            Some(calendar) => self.count(reader, calendar, limit).await?,
            None => Counted::Inactive,
        };
        if counted == Counted::Inactive && !link.may_be_inactive {
            return Err(RequestError::Unauthorized);
        }
        Ok(PublicScope {
            store: Writer::of_request(self.app.store(), reader.clone(), Arc::new(directory)),
            calendar,
            environment: self.app.environment().clone(),
            allowance: counted.allowance(),
        })
    }

    /// An unknown instance is reported after an invalid query (C-1, C-53).
    fn precedes_query(refused: &RequestError) -> bool {
        matches!(refused, RequestError::Instance)
    }
}

/// Whether a request was counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Counted {
    /// The calendar is not active, so it was not.
    Inactive,
    /// There is no limit.
    Unlimited,
    /// It is within the limit.
    Within(Allowance),
}

impl Counted {
    fn allowance(self) -> Option<Allowance> {
        match self {
            Self::Within(allowance) => Some(allowance),
            Self::Inactive | Self::Unlimited => None,
        }
    }
}

impl<E: PublicEndpoint> Anonymous<E> {
    /// Whether this process accepted a request to the instance recently, and has a place in the limit's block.
    fn knows_instance(&self, reader: &Reader) -> bool {
        self.app.store().recently_accepted(&[caller::<E>(reader)])
    }

    /// The directory of the instance and the calendar of the link. Two gets, in parallel for a known instance; otherwise an
    /// unknown instance costs one.
    async fn target(
        &self,
        reader: &Reader,
        link: &LinkName,
    ) -> Result<(Option<DirectoryHead>, Option<Calendar>), StoreError> {
        let (directory, calendar) = (super::open_directory(reader), reader.calendar_by_link(link));
        if self.knows_instance(reader) {
            return tokio::try_join!(directory, calendar);
        }
        match directory.await? {
            None => Ok((None, None)),
            directory => Ok((directory, calendar.await?)),
        }
    }

    /// Counts a request to a published calendar. Beyond the limit reads the calendar's user: if the user is inactive, the
    /// calendar is answered like an unknown one.
    async fn count(
        &self,
        reader: &Reader,
        calendar: &Calendar,
        limit: (Budget<'_>, Option<Rate>),
    ) -> Result<Counted, RequestError> {
        let Some(spent) = rate_limit::spend(&self.app, reader.instance(), limit).await else {
            return Ok(Counted::Unlimited);
        };
        if spent.admitted {
            return Ok(Counted::Within(spent.allowance));
        }
        let user = reader.user(calendar.user_id).await?;
        if user.is_some_and(|user| user.active) {
            return Err(rate_limit::refuse(spent));
        }
        Ok(Counted::Inactive)
    }
}

/// Cache key of an accepted instance, per route because each route has its own limit.
fn caller<E: PublicEndpoint>(reader: &Reader) -> String {
    format!("{} {:?}", reader.instance(), E::ROUTE)
}
