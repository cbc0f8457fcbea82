//! From a request to its caller's scope: the only way to the store.
//!
//! A handler takes an [`Authorized`], [`Public`] or [`Signed`] request, which axum makes before the handler runs. Its type
//! names where credentials stand, which permission is needed and what is asked. In this order (C-41) are judged: `i`, the
//! credentials, the limit, the query, the permission; then the handler runs.
//!
//! The query's first reads run concurrently with the check, through a [`Reader`] that cannot write. Their result reaches
//! the handler together with the scope. Before the check has passed they read at most a page, and only for a caller that
//! this process accepted lately; for any other caller they wait (C-86).

mod credentials;
mod key;
mod permission;
mod public;
mod rate_limit;
mod webhook;

use axum::extract::{FromRequest, Request};
use axum::response::IntoResponse;

use crate::http::{App, Params, RawRequest, RequestError};
use crate::instance::InstanceName;
use crate::store::{Reader, StoreError};

pub use credentials::{KeyAndToken, KeyAnywhere, KeyInHeader, KeyInQuery, KeyPlace, Placement, Rule};
pub use key::{Credentials, Scope};
pub use permission::{
    AnyUser, ArchiveLeads, DeleteLeads, EditOpportunities, Permission, SeeCalendars, SeeReports, SeeTickets,
};
pub use public::{BookingEndpoint, Public, PublicEndpoint, PublicScope, SlotsEndpoint};
pub use webhook::{Signed, WebhookScope};

/// What an endpoint is asked, and what it reads before it is known who asks.
pub trait Prefetch: Sized + Send + Sync {
    /// What the reads find.
    type Found: Send;
    /// Why a request is refused.
    type Error: From<RequestError> + IntoResponse + Send;

    /// Whether the answer depends on whose leads and opportunities the user reaches. Otherwise the members of its
    /// department are not read.
    const NEEDS_COLLEAGUES: bool = true;

    /// Reads the query from a request. An error is answered once the credentials were found good.
    ///
    /// # Errors
    /// [`Prefetch::Error`] where the request is invalid.
    fn parse(request: &RawRequest) -> Result<Self, Self::Error>;

    /// Reads what the query names, in the round trip in which the credentials are checked.
    ///
    /// # Errors
    /// [`StoreError`] where it cannot be read.
    fn prefetch(&self, reader: &Reader) -> impl Future<Output = Result<Self::Found, StoreError>> + Send;
}

/// How a group of endpoints checks its callers.
pub trait Guard: Sized + Send + Sync {
    /// What a caller gets that was let in.
    type Scope: Send;

    /// The caller of a request.
    fn of(request: RawRequest, app: &App) -> Self;

    /// The reader of the instance that the request names.
    fn reader(&self) -> impl Future<Output = Result<Reader, RequestError>> + Send;

    /// Whether this process accepted the caller lately and holds a place of its budget (C-86).
    fn is_known(&self, reader: &Reader) -> bool;

    /// Checks the caller, counts the request, and remembers the outcome. `colleagues`:
    /// [`Prefetch::NEEDS_COLLEAGUES`].
    fn check(
        &self,
        reader: &Reader,
        colleagues: bool,
    ) -> impl Future<Output = Result<Self::Scope, RequestError>> + Send;

    /// Whether this refusal of the caller is answered before an error in the query.
    #[must_use]
    fn precedes_query(_: &RequestError) -> bool {
        true
    }

    /// Whether the caller may use the endpoint, which is judged after the query.
    ///
    /// # Errors
    /// [`RequestError::Permission`] where it may not.
    fn permit(_: &Self::Scope) -> Result<(), RequestError> {
        Ok(())
    }
}

/// A request whose caller, query and permission were checked. Handlers name it by an alias: [`Authorized`], [`Public`] or
/// [`Signed`].
#[derive(Debug)]
pub struct CheckedRequest<G: Guard, Q: Prefetch> {
    scope: G::Scope,
    query: Q,
    found: Q::Found,
}

impl<G: Guard, Q: Prefetch> CheckedRequest<G, Q> {
    /// The caller with the store of its instance, the query, and what [`Prefetch::prefetch`] found.
    #[must_use]
    pub fn into_parts(self) -> (G::Scope, Q, Q::Found) {
        (self.scope, self.query, self.found)
    }
}

/// A request with credentials in the places of `P`, of a user with permission `A`.
pub type Authorized<P, A, Q> = CheckedRequest<Credentials<P, A>, Q>;

impl<G: Guard, Q: Prefetch> FromRequest<App> for CheckedRequest<G, Q> {
    type Rejection = Q::Error;

    async fn from_request(request: Request, app: &App) -> Result<Self, Q::Error> {
        let request = RawRequest::of(request, app).await;
        let query = Q::parse(&request);
        check(G::of(request, app), query).await
    }
}

async fn check<G: Guard, Q: Prefetch>(
    guard: G,
    query: Result<Q, Q::Error>,
) -> Result<CheckedRequest<G, Q>, Q::Error> {
    let reader = guard.reader().await;
    let (reader, query) = match (reader, query) {
        (Ok(reader), Ok(query)) => (reader, query),
        (Ok(reader), Err(invalid)) => {
            let refused = guard.check(&reader, Q::NEEDS_COLLEAGUES).await.err();
            return Err(first(refused.filter(G::precedes_query), invalid));
        }
        (Err(refused), Err(invalid)) => {
            return Err(first(Some(refused).filter(G::precedes_query), invalid));
        }
        (Err(refused), Ok(_)) => return Err(refused.into()),
    };
    let (keeper, unchecked) = reader.unchecked(guard.is_known(&reader));
    // On the heap: it is large and part of every handler's future.
    let checked = Box::pin(async {
        let checked = guard.check(&reader, Q::NEEDS_COLLEAGUES).await;
        keeper.judge(checked.is_ok());
        checked
    });
    let (scope, found) = tokio::join!(checked, query.prefetch(&unchecked));
    let scope = scope?;
    G::permit(&scope)?;
    let found = found.map_err(RequestError::from)?;
    Ok(CheckedRequest { scope, query, found })
}

fn first<E: From<RequestError>>(refused: Option<RequestError>, invalid: E) -> E {
    refused.map_or(invalid, E::from)
}

/// The instance that `i` names. A name that no instance can have is one that does not exist.
fn instance(params: &Params) -> Result<InstanceName, RequestError> {
    let name = params
        .one("i")
        .ok()
        .flatten()
        .filter(|name| !name.trim().is_empty());
    InstanceName::parse(name.ok_or(RequestError::Instance)?).ok_or(RequestError::Unauthorized)
}
