//! From credentials and `i` to an authorized scope: the only way from a request to the store.
//!
//! A handler takes an [`Access`] (or a [`WebhookAccess`]) and opens it. Its first reads run concurrently with the check, by
//! a [`Reader`] that cannot write; what they found is handed over only together with the [`Scope`], so nothing of the
//! target is used before the check. Before the check has passed they read a page at most, and only for a caller that this
//! process let in lately; for any other they wait (C-86).

mod limit;
mod presented;
mod public;
mod webhook;

use std::convert::Infallible;
use std::marker::PhantomData;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use http::request::Parts;

use crate::ambient::Ambient;
use crate::credential::Secret;
use crate::directory::Viewer;
use crate::http::{App, Params, Refusal, source_address, trace};
use crate::instance::InstanceName;
use crate::settings::CredentialPlacement;
use crate::store::{Credential, Found, GateKeeper, InstanceStore, Members, Reader, StoreError};
use crate::time::Timestamp;

pub use presented::{KeyAndToken, KeyAnywhere, KeyInHeader, KeyInQuery, KeyPlace, Placement, Rule};
pub use public::{PublicAccess, PublicScope};
pub use webhook::{WebhookAccess, WebhookScope};

use presented::Presented;

/// Why a request gets no scope.
#[derive(Debug, thiserror::Error)]
pub enum AccessError {
    /// `i` is missing, blank or repeated (C-1).
    #[error("i: must name the instance, once")]
    Instance,
    /// No credential that opens the instance `i` was presented where it belongs; also for an instance that does not
    /// exist.
    #[error("unauthorized")]
    Unauthorized,
    /// The request would have been let in, but its limit is reached (C-9).
    #[error("too many requests")]
    Limited,
    /// The table did not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<&AccessError> for Refusal {
    fn from(error: &AccessError) -> Self {
        match error {
            AccessError::Instance => Self::Invalid(error.to_string()),
            AccessError::Unauthorized => Self::Unauthorized,
            AccessError::Limited => Self::TooMany,
            AccessError::Store(cause) => {
                tracing::error!(%cause, "the credential could not be checked");
                Self::Internal
            }
        }
    }
}

/// The credentials of a request, not yet checked, placed as `P` says.
#[derive(Debug)]
pub struct Access<P> {
    app: App,
    params: Params,
    presented: Presented,
    client: String,
    /// Whether what the request asks for rests on whose records the viewer reaches.
    reaching: bool,
    placement: PhantomData<P>,
}

/// A request that was let in: who asks, and the store of its instance.
#[derive(Debug)]
pub struct Scope {
    /// The user that asks, with its permissions of now.
    pub viewer: Viewer,
    /// The instance's part of the table.
    pub store: InstanceStore,
    ambient: Ambient,
}

impl Scope {
    /// The instance.
    #[must_use]
    pub fn instance(&self) -> &InstanceName {
        self.store.instance()
    }

    /// The time now.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.ambient.now()
    }
}

impl<P: Placement> FromRequestParts<App> for Access<P> {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Infallible> {
        let params = Params::parse(parts.uri.query().unwrap_or_default());
        let presented = Presented::of(&parts.headers, &params);
        Ok(Self {
            app: app.clone(),
            params,
            presented,
            client: client(parts),
            reaching: true,
            placement: PhantomData,
        })
    }
}

impl<P: Placement> Access<P> {
    /// The request's query parameters.
    #[must_use]
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// The time now.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.app.ambient().now()
    }

    /// Stands for the credential wherever callers must be told apart, before it is checked.
    #[must_use]
    pub fn walker(&self) -> String {
        self.presented.fingerprint()
    }

    /// Stands for the API key alone: what a caller did with it is known again when its access token has changed.
    #[must_use]
    pub fn key(&self) -> String {
        self.presented.key_fingerprint()
    }

    /// What is known of the caller's program and machine: it tells apart those that share a credential, and decides nothing.
    #[must_use]
    pub fn client(&self) -> &str {
        &self.client
    }

    /// The request rests on nobody's leads and opportunities, so that the members of the viewer's department are not read:
    /// the viewer takes itself for the only one.
    #[must_use]
    pub fn without_colleagues(mut self) -> Self {
        self.reaching = false;
        self
    }

    /// Checks the credentials while `read` reads what `wanted` asks for; both take one round trip together where this
    /// process knows the credentials. A request that is `wanted` wrongly is refused for it only after its credentials
    /// were found good.
    ///
    /// # Errors
    /// [`AccessError`] where the credentials are not good, else what is wrong with `wanted`.
    pub async fn open_for<W, T, E: From<AccessError>>(
        self,
        wanted: Result<W, E>,
        read: impl AsyncFnOnce(&Reader, &W) -> T,
    ) -> Result<(Scope, W, T), E> {
        let reader = self.app.store().reader(self.instance().await?);
        if self.presented.claims(P::RULE).secrets().is_empty() {
            // Nothing is read for a credential that cannot be one (C-3).
            return Err(AccessError::Unauthorized.into());
        }
        // On the heap, for it is large and part of every handler's future.
        let check = Box::pin(self.check(&reader));
        match wanted {
            Ok(wanted) => {
                let (keeper, unchecked) = reader.unchecked(self.is_known(reader.instance()));
                let (scope, found) = beside(keeper, check, read(&unchecked, &wanted)).await?;
                Ok((scope, wanted, found))
            }
            Err(wrong) => {
                check.await?;
                Err(wrong)
            }
        }
    }

    /// Whether this process let these credentials in lately.
    fn is_known(&self, instance: &InstanceName) -> bool {
        let known = |placement| self.app.store().knows(&self.callers(instance, placement));
        CredentialPlacement::ALL.into_iter().any(known)
    }

    /// What the credentials that a request rests on under a placement are remembered by.
    fn callers(&self, instance: &InstanceName, placement: CredentialPlacement) -> Vec<String> {
        let claims = self.presented.claims(P::RULE);
        let secrets = claims.under(placement).unwrap_or_default();
        let caller = |secret: &&Secret| format!("{instance} {placement:?} {}", secret.hash().as_str());
        secrets.iter().map(caller).collect()
    }

    /// The instance that `i` names, or the credential's own where the endpoint allows `i` to be absent or blank. That is
    /// one more round trip, where this process does not know the credential yet.
    async fn instance(&self) -> Result<InstanceName, AccessError> {
        let absent = |name: Option<&str>| name.is_none_or(|name| name.trim().is_empty());
        if !P::RULE.own_instance || !self.params.one("i").is_ok_and(absent) {
            return instance(&self.params);
        }
        let claims = self.presented.claims(P::RULE);
        let hashes: Vec<_> = claims.secrets().iter().map(|secret| secret.hash()).collect();
        let own = self.app.store().own_instance(&hashes).await?;
        own.ok_or(AccessError::Unauthorized)
    }

    /// Checks the credentials, and remembers that they were good, or that they are not any more.
    async fn check(&self, reader: &Reader) -> Result<Scope, AccessError> {
        let checked = self.judge(reader).await;
        if let Err(AccessError::Unauthorized) = checked {
            for placement in CredentialPlacement::ALL {
                self.app
                    .store()
                    .refuse(&self.callers(reader.instance(), placement));
            }
        }
        checked
    }

    async fn judge(&self, reader: &Reader) -> Result<Scope, AccessError> {
        let claims = self.presented.claims(P::RULE);
        let hashes: Vec<_> = claims.secrets().iter().map(|secret| secret.hash()).collect();
        let caller = self.presented.fingerprint();
        let expected = async {
            if self.reaching && self.is_known(reader.instance()) {
                return reader.expected_members(&caller).await;
            }
            Ok(Members::default())
        };
        let presented = self.app.store().presented(reader.instance(), &hashes);
        let (presented, expected) = tokio::join!(presented, expected);
        let (found, stored) = presented?;
        let stored = stored.ok_or(AccessError::Unauthorized)?;
        let placement = stored.directory.settings.credential_placement();
        let claimed = claims.under(placement).unwrap_or_default();
        let first = self.opened_by(reader.instance(), claimed, &found);
        let first = first.ok_or(AccessError::Unauthorized)?;
        let standing = reader.standing(&stored, first).await?;
        let directory = Arc::new(stored.directory);
        let viewer = standing.and_then(|standing| Viewer::new(directory, first.user, standing));
        let viewer = viewer.ok_or(AccessError::Unauthorized)?;
        trace::note(reader.instance().as_str(), &first.id);
        // Of several credentials the first is an API key: the one that has the limit.
        let limit = limit::of_key(first, &viewer.directory().settings);
        let callers = self.callers(reader.instance(), placement);
        self.app.store().accept(&callers, reader.instance(), limit);
        limit::count(&self.app, reader.instance(), limit).await?;
        let viewer = if self.reaching {
            let standings = stored.standings.as_ref();
            let viewer = reader.among_colleagues(viewer, &caller, standings, expected?);
            viewer.await?
        } else {
            viewer
        };
        Ok(Scope {
            viewer,
            store: InstanceStore::new(reader.clone()),
            ambient: self.app.ambient().clone(),
        })
    }

    /// What was found for the first of these credentials, if all of them open the instance now, for one user.
    fn opened_by<'f>(
        &self,
        instance: &InstanceName,
        claimed: &[&Secret],
        found: &'f Found,
    ) -> Option<&'f Credential> {
        let opened = claimed.iter().map(|secret| self.opens(instance, secret, found));
        let opened = opened.collect::<Option<Vec<_>>>()?;
        let first = *opened.first()?;
        let same_user = opened.iter().all(|credential| credential.user == first.user);
        same_user.then_some(first)
    }

    /// What was found for a credential, if it opens the instance now.
    fn opens<'f>(
        &self,
        instance: &InstanceName,
        secret: &Secret,
        found: &'f Found,
    ) -> Option<&'f Credential> {
        found.get(&secret.hash()).filter(|credential| {
            credential.kind == secret.kind()
                && credential.instance == *instance
                && credential
                    .expires
                    .is_none_or(|expires| self.app.ambient().now() < expires)
        })
    }
}

/// Runs a check and the reads of a handler concurrently; `keeper` lets as much of them as waits go on once the check has
/// passed (C-86).
async fn beside<S, T>(
    keeper: GateKeeper,
    check: impl Future<Output = Result<S, AccessError>>,
    read: impl Future<Output = T>,
) -> Result<(S, T), AccessError> {
    let check = async {
        let checked = check.await;
        keeper.judge(checked.is_ok());
        checked
    };
    let (checked, found) = tokio::join!(check, read);
    Ok((checked?, found))
}

/// The address that the request came from, and the program's own name.
fn client(parts: &Parts) -> String {
    let agent = parts.headers.get(http::header::USER_AGENT);
    let agent = agent.map(http::HeaderValue::as_bytes).unwrap_or_default();
    let address = source_address(&parts.extensions).unwrap_or_default();
    format!("{address} {}", String::from_utf8_lossy(agent))
}

/// The instance that `i` names. A name that no instance can have is one that does not exist.
fn instance(params: &Params) -> Result<InstanceName, AccessError> {
    let name = params
        .one("i")
        .ok()
        .flatten()
        .filter(|name| !name.trim().is_empty());
    InstanceName::parse(name.ok_or(AccessError::Instance)?).ok_or(AccessError::Unauthorized)
}
