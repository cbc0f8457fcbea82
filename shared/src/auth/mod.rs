//! Request extractors that check the caller and create its scope, the only way to the store.
//!
//! A handler takes an [`Authorized`], [`Public`], [`Signed`] or [`FormRequest`] request, which axum extracts before the
//! handler runs. Its type names the placement of credentials, the required permission and the query. The checks have
//! one order (C-41): `i`, credentials, rate limit, query, permission.
//!
//! The query's first reads run concurrently with the check, through a [`Reader`] that cannot write. Their result
//! reaches the handler together with the scope. Before the check has passed, they read at most one page, and only for a
//! caller that this process accepted recently. For any other caller they wait (C-86). So a revoked credential reads at
//! most one page in each process.

mod credentials;
mod form;
mod key;
mod permission;
mod public;
mod rate_limit;
mod webhook;

use axum::extract::{FromRequest, Request};
use axum::response::IntoResponse;

use crate::directory::DirectoryHead;
use crate::http::{App, Params, RawRequest, RequestError};
use crate::instance::InstanceName;
use crate::store::{Reader, StoreError};
use crate::telemetry::request::{self, Refusal};

pub use credentials::{KeyAndToken, KeyAnywhere, KeyInHeader, KeyInQuery, KeyPlace, Placement, Rule};
pub use form::{FormRequest, FormScope, claimed_form};
pub use key::{Credentials, Scope};
pub use permission::{
    AnyUser, ArchiveLeads, DeleteLeads, EditLeads, EditOpportunities, Permission, SeeCalendars, SeeReports,
    SeeTickets,
};
pub use public::{BookingEndpoint, Public, PublicEndpoint, PublicLink, PublicScope, SlotsEndpoint};
pub use webhook::{Signed, WebhookScope};

/// An endpoint's query and its first reads, which start before the caller is known.
pub trait Prefetch: Sized + Send + Sync {
    /// Result of the reads.
    type Found: Send;
    /// Error of an invalid request.
    type Error: From<RequestError> + IntoResponse + Send;

    /// Whether the response depends on the leads and opportunities that the user sees. If not, the members of the
    /// user's department are not read.
    const NEEDS_COLLEAGUES: bool = true;

    /// The public link that the query names.
    fn link(&self) -> Option<PublicLink> {
        None
    }

    /// The error of a request that the check refused.
    fn refused(&self, error: RequestError) -> Self::Error {
        error.into()
    }

    /// Parses the query. An error is returned only to a caller with valid credentials.
    ///
    /// # Errors
    /// [`Prefetch::Error`] if the request is invalid.
    fn parse(request: &RawRequest) -> Result<Self, Self::Error>;

    /// Reads the query's data, concurrently with the check of the credentials.
    ///
    /// # Errors
    /// [`StoreError`] if the data cannot be read.
    fn prefetch(&self, reader: &Reader) -> impl Future<Output = Result<Self::Found, StoreError>> + Send;
}

/// The check of a group of endpoints.
pub trait Guard: Sized + Send + Sync {
    /// Scope of an accepted caller.
    type Scope: Send;

    /// The caller of a request.
    fn of(request: RawRequest, app: &App) -> Self;

    /// The caller with the link that its query names; `None` if the query is invalid.
    #[must_use]
    fn with_link(self, _: Option<PublicLink>) -> Self {
        self
    }

    /// The reader of the instance that the request names.
    fn reader(&self) -> impl Future<Output = Result<Reader, RequestError>> + Send;

    /// Whether this process accepted the caller recently and has a place left in the caller's rate-limit block
    /// (C-86).
    fn is_known(&self, reader: &Reader) -> bool;

    /// Checks the caller, counts the request and caches the outcome. `colleagues` is [`Prefetch::NEEDS_COLLEAGUES`].
    fn check(
        &self,
        reader: &Reader,
        colleagues: bool,
    ) -> impl Future<Output = Result<Self::Scope, RequestError>> + Send;

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

/// A request with checked caller, query and permission. Handlers use the aliases [`Authorized`], [`Public`], [`Signed`]
/// and [`FormRequest`].
#[derive(Debug)]
pub struct CheckedRequest<G: Guard, Q: Prefetch> {
    scope: G::Scope,
    query: Q,
    found: Q::Found,
}

impl<G: Guard, Q: Prefetch> CheckedRequest<G, Q> {
    /// The caller with the store of its instance, the query, and the result of [`Prefetch::prefetch`].
    #[must_use]
    pub fn into_parts(self) -> (G::Scope, Q, Q::Found) {
        (self.scope, self.query, self.found)
    }
}

/// A request with credentials placed by `P`, of a user with permission `A`.
pub type Authorized<P, A, Q> = CheckedRequest<Credentials<P, A>, Q>;

impl<G: Guard, Q: Prefetch> FromRequest<App> for CheckedRequest<G, Q> {
    type Rejection = Q::Error;

    async fn from_request(request: Request, app: &App) -> Result<Self, Q::Error> {
        let request = RawRequest::of(request, app).await;
        let query = Q::parse(&request);
        let link = query.as_ref().ok().and_then(Q::link);
        check(G::of(request, app).with_link(link), query).await
    }
}

/// Checks the caller and runs the query's first reads concurrently.
///
/// # Errors
/// The first of: `i`, credentials, rate limit, query, permission, and a failed read. [`Guard::precedes_query`] may
/// move an error of the caller after that of the query.
async fn check<G: Guard, Q: Prefetch>(
    guard: G,
    query: Result<Q, Q::Error>,
) -> Result<CheckedRequest<G, Q>, Q::Error> {
    let reader = guard.reader().await;
    let (reader, query) = match (reader, query) {
        (Ok(reader), Ok(query)) => (reader, query),
        (Ok(reader), Err(invalid)) => {
            // Only a caller with valid credentials gets the error in the query.
            let refused = guard.check(&reader, Q::NEEDS_COLLEAGUES).await.err();
            return Err(preceding_error::<G, _>(refused, invalid));
        }
        (Err(refused), Err(invalid)) => return Err(preceding_error::<G, _>(Some(refused), invalid)),
        (Err(refused), Ok(query)) => return Err(query.refused(refused)),
    };
    // The query's reads pass a gate, which limits them until the check has ended.
    let (keeper, unchecked) = reader.unchecked(guard.is_known(&reader));
    // Boxed, because the future is large and part of every handler's future.
    let checked = Box::pin(async {
        let checked = guard.check(&reader, Q::NEEDS_COLLEAGUES).await;
        keeper.judge(checked.is_ok());
        checked
    });
    let (scope, found) = tokio::join!(checked, query.prefetch(&unchecked));
    // An error of the check precedes one of the reads, which the closed gate may have caused.
    let scope = scope.map_err(|refused| query.refused(refused))?;
    G::permit(&scope)?;
    let found = found.map_err(RequestError::from)?;
    Ok(CheckedRequest { scope, query, found })
}

/// The error of the caller if there is one that precedes the query, else that of the query.
fn preceding_error<G: Guard, E: From<RequestError>>(refused: Option<RequestError>, invalid: E) -> E {
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
