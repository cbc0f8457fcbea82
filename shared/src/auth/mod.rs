//! The check of a request's caller, which creates its scope, the only way to the store.
//!
//! A handler takes a [`Keyed`], [`Public`], [`Signed`] or [`FormRequest`] request, whose type names the placement of credentials and
//! the required permission. [`Unchecked::parse`] reads the query, and [`Check::join`] checks the caller. The checks have one order
//! (C-41): `i`, credentials, rate limit, query, permission.
//!
//! The handler's first reads run concurrently with the check, through a [`Reader`] that cannot write. Before the check has passed, they read at
//! most one page, and only for a caller that this process accepted recently. For any other caller they wait (C-86). So a revoked
//! credential reads at most one page in each process.

mod credentials;
mod form;
mod key;
mod permission;
mod public;
mod rate_limit;
mod webhook;

use std::convert::Infallible;
use std::fmt;
use std::marker::PhantomData;

use axum::extract::{FromRequest, Request};

use crate::directory::DirectoryHead;
use crate::http::{App, Params, RawRequest, RequestError};
use crate::instance::InstanceName;
use crate::store::{Reader, StoreError};
use crate::telemetry::request::{self, Refusal};
use table::GateKeeper;

pub use credentials::{KeyAndToken, KeyAnywhere, KeyInHeader, KeyInQuery, KeyPlace, Placement, Rule};
pub use form::{FormRequest, FormScope, claimed_form};
pub use key::{Credentials, Scope};
pub use permission::{
    AnyUser, ArchiveLeads, DeleteLeads, DirectoryOnly, EditLeads, EditOpportunities, Permission,
    SeeCalendars, SeeLeadMeetings, SeeReports, SeeTickets,
};
pub use public::{
    BookingEndpoint, LinkQuery, Public, PublicEndpoint, PublicLink, PublicScope, SlotsEndpoint,
};
pub use webhook::{Signed, WebhookScope};

/// The check of a group of endpoints.
pub trait Guard: Sized + Send + Sync {
    /// Scope of an accepted caller.
    type Scope: Send;

    /// The caller of a request.
    fn of(request: RawRequest, app: &App) -> Self;

    /// The reader of the instance that the request names.
    fn reader(&self) -> impl Future<Output = Result<Reader, RequestError>> + Send;

    /// Whether this process accepted the caller recently and has a place left in the caller's rate-limit block
    /// (C-86).
    fn is_known(&self, reader: &Reader) -> bool;

    /// Checks the caller, counts the request and caches the outcome.
    fn check(&self, reader: &Reader) -> impl Future<Output = Result<Self::Scope, RequestError>> + Send;

    /// Whether this error of the check takes precedence over an error in the query.
    #[must_use]
    fn precedes_query(_: &RequestError) -> bool {
        true
    }

    /// Checks the permission after the query was parsed.
    ///
    /// # Errors
    /// [`RequestError::Permission`] if the caller lacks it.
    fn permit(_: &Self::Scope) -> Result<(), RequestError> {
        Ok(())
    }
}

/// A request before the check of its caller.
pub struct Unchecked<G> {
    request: RawRequest,
    app: App,
    guard: PhantomData<fn() -> G>,
}

// Keeps the request's secrets out of logs.
impl<G> fmt::Debug for Unchecked<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Unchecked")
    }
}

/// A request with credentials placed by `P`, of a user with permission `A`.
pub type Keyed<P, A> = Unchecked<Credentials<P, A>>;

impl<G> FromRequest<App> for Unchecked<G> {
    type Rejection = Infallible;

    async fn from_request(request: Request, app: &App) -> Result<Self, Infallible> {
        Ok(Self {
            request: RawRequest::of(request, app).await,
            app: app.clone(),
            guard: PhantomData,
        })
    }
}

impl<G: Guard> Unchecked<G> {
    /// Parses the query. Returns it with the reader for the first reads and the check, which runs concurrently with them.
    ///
    /// # Errors
    /// The first of: `i`, credentials, rate limit and query, so only a caller with valid credentials gets the error in the query.
    /// [`Guard::precedes_query`] may move an error of the caller after that of the query.
    pub async fn parse<Q, E: From<RequestError>>(
        self,
        parse: impl FnOnce(&RawRequest) -> Result<Q, E>,
    ) -> Result<(Q, Reader, Check<G>), E> {
        let query = parse(&self.request);
        let guard = G::of(self.request, &self.app);
        match query {
            Ok(query) => {
                let (reader, check) = Check::of(guard).await?;
                Ok((query, reader, check))
            }
            Err(invalid) => Err(first_error(&guard, invalid).await),
        }
    }

    /// The reader for the first reads and the check, for a request without a query.
    ///
    /// # Errors
    /// The error of `i`.
    pub async fn without_query(self) -> Result<(Reader, Check<G>), RequestError> {
        Check::of(G::of(self.request, &self.app)).await
    }
}

/// The check of a caller, before it runs.
#[derive(Debug)]
#[must_use = "the caller is not checked yet"]
pub struct Check<G> {
    guard: G,
    reader: Reader,
    keeper: GateKeeper,
}

impl<G: Guard> Check<G> {
    /// A check, and the reader for reads concurrently with it. They pass a gate, which limits them until the check has ended.
    async fn of(guard: G) -> Result<(Reader, Self), RequestError> {
        let reader = guard.reader().await?;
        let (keeper, unchecked) = reader.unchecked(guard.is_known(&reader));
        let check = Self {
            guard,
            reader,
            keeper,
        };
        Ok((unchecked, check))
    }

    /// Checks the caller while `reads` run. Returns its scope and their result.
    ///
    /// # Errors
    /// The first of: credentials, rate limit, permission, and a failed read, which the closed gate may have caused.
    pub async fn join<T>(
        self,
        reads: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<(G::Scope, T), RequestError> {
        // Boxed, because the future is large and part of every handler's future.
        let checked = Box::pin(async {
            let checked = self.guard.check(&self.reader).await;
            self.keeper.judge(checked.is_ok());
            checked
        });
        let (scope, found) = tokio::join!(checked, reads);
        let scope = scope?;
        G::permit(&scope)?;
        Ok((scope, found?))
    }
}

/// The error of the caller if there is one that precedes the query, else that of the query.
async fn first_error<G: Guard, E: From<RequestError>>(guard: &G, invalid: E) -> E {
    let refused = match guard.reader().await {
        Ok(reader) => guard.check(&reader).await.err(),
        Err(refused) => Some(refused),
    };
    match refused {
        Some(refused) if G::precedes_query(&refused) => refused.into(),
        _ => invalid,
    }
}

/// The head of the directory of an instance that answers public requests. `None` for an instance that is suspended or
/// does not exist. Records the reason for the log. One get.
async fn open_directory(reader: &Reader) -> Result<Option<DirectoryHead>, StoreError> {
    let directory = reader.directory().await?;
    match &directory {
        None => request::refuse_for(Refusal::Unknown),
        Some(directory) if !directory.is_open() => request::refuse_for(Refusal::Suspended),
        Some(_) => {}
    }
    Ok(directory.filter(DirectoryHead::is_open))
}

/// The instance named by `i`. An invalid name is treated like an instance that does not exist.
fn instance(params: &Params) -> Result<InstanceName, RequestError> {
    // A repeated `i` is an error like an absent one.
    let name = params.one("i").ok().flatten();
    let name = name.filter(|name| !name.trim().is_empty());
    let name = name.ok_or(RequestError::Instance)?;
    InstanceName::parse(name).ok_or(RequestError::Unauthorized)
}
