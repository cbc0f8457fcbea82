//! The check of API keys and access tokens (spec.md, Authentication).

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use super::credentials::{Claims, Presented};
use super::{Guard, Permission, Placement, instance, rate_limit};
use crate::credential::{CredentialKind, Secret};
use crate::environment::Environment;
use crate::http::{App, Params, RawRequest, RequestError};
use crate::instance::InstanceName;
use crate::lead::Lead;
use crate::settings::CredentialPlacement;
use crate::store::{CallerId, Credential, FoundCredentials, Members, Reader, Store, StoredDirectory, Writer};
use crate::telemetry::request::{self, Refusal};
use crate::time::Timestamp;
use crate::viewer::Viewer;

/// Credentials that are read together with the directory: as many as a strict placement has.
const MAX_FIRST: usize = 2;

/// The unchecked credentials of a request, with placement `P` and required permission `A`.
pub struct Credentials<P, A> {
    app: App,
    params: Params,
    presented: Presented,
    client: String,
    rules: PhantomData<fn() -> (P, A)>,
}

impl<P, A> fmt::Debug for Credentials<P, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credentials")
    }
}

/// An authorized request: its user and the store of its instance.
#[derive(Debug)]
pub struct Scope {
    /// The user with its current permissions.
    pub viewer: Viewer,
    /// The store, limited to the instance.
    pub store: Writer,
    /// End of the API key; `None` if it has none.
    pub key_expires: Option<Timestamp>,
    /// End of the access token; `None` without a token.
    pub token_expires: Option<Timestamp>,
    environment: Environment,
}

impl Scope {
    /// The instance.
    #[must_use]
    pub fn instance(&self) -> &InstanceName {
        self.store.reader().instance()
    }

    /// Whether the user sees a lead.
    #[must_use]
    pub fn sees(&self, lead: &Lead) -> bool {
        self.viewer.sees_lead(lead.owner, &lead.lists())
    }

    /// Current time.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.environment.now()
    }
}

impl<P: Placement, A: Permission> Guard for Credentials<P, A> {
    type Scope = Scope;

    fn of(request: RawRequest, app: &App) -> Self {
        Self {
            app: app.clone(),
            presented: Presented::of(&request.headers, &request.params),
            client: client(&request),
            params: request.params,
            rules: PhantomData,
        }
    }

    async fn reader(&self) -> Result<Reader, RequestError> {
        self.reader_of_target()
            .await
            .map_err(|refused| self.explained(refused))
    }

    fn is_known(&self, reader: &Reader) -> bool {
        // The placement is a setting of the instance, which has not been read yet.
        let is_known_under = |placement| {
            let callers = self.callers(reader.instance(), placement);
            self.app.store().recently_accepted(&callers)
        };
        CredentialPlacement::ALL.into_iter().any(is_known_under)
    }

    async fn check(&self, reader: &Reader) -> Result<Scope, RequestError> {
        let checked = self.authorize(reader).await;
        if let Err(RequestError::Unauthorized) = checked {
            // Both placements, because the caller may be cached under either.
            for placement in CredentialPlacement::ALL {
                self.app
                    .store()
                    .refuse(&self.callers(reader.instance(), placement));
            }
        }
        checked.map_err(|refused| self.explained(refused))
    }

    fn permit(scope: &Scope) -> Result<(), RequestError> {
        A::require(&scope.viewer)
    }
}

impl<P: Placement, A: Permission> Credentials<P, A> {
    /// Cache keys of the credentials to check under a placement.
    fn callers(&self, instance: &InstanceName, placement: CredentialPlacement) -> Vec<String> {
        let claims = self.presented.claims(P::RULE);
        let secrets = claims.under(placement).unwrap_or_default();
        let caller = |secret: &&Secret| format!("{instance} {placement:?} {}", secret.hash().as_str());
        secrets.iter().map(caller).collect()
    }

    /// The reader of the instance that the request names.
    async fn reader_of_target(&self) -> Result<Reader, RequestError> {
        let instance = self.instance().await?;
        if self.presented.claims(P::RULE).secrets().is_empty() {
            // A malformed credential is rejected without a read (C-3).
            return Err(RequestError::Unauthorized);
        }
        let caller = CallerId {
            credentials: self.presented.fingerprint(),
            key: self.presented.key_fingerprint(),
            client: self.client.clone(),
        };
        Ok(self.app.store().reader_for(instance, caller))
    }

    /// Adds to a 401 the right places of misplaced or absent credentials, and sets its reason for the log. Other errors
    /// are unchanged.
    fn explained(&self, refused: RequestError) -> RequestError {
        if !matches!(refused, RequestError::Unauthorized) {
            return refused;
        }
        // Keeps the reason of a credential that was found.
        let misplacement = self.presented.misplacement(P::RULE);
        request::refuse_for(misplacement.unwrap_or(Refusal::Unknown));
        match self.presented.placement_advice(P::RULE) {
            Some(advice) => RequestError::Misplaced(advice),
            None => refused,
        }
    }

    /// Returns the instance named by `i`. If `i` is absent or blank, returns the credential's own instance, which takes
    /// one more round trip unless the process knows the credential. Whether the endpoint or the instance's placement
    /// allows that is known only after this read.
    async fn instance(&self) -> Result<InstanceName, RequestError> {
        if !self.lacks_instance() {
            return instance(&self.params);
        }
        let claims = self.presented.claims(P::RULE);
        let hashes: Vec<_> = claims.secrets().iter().map(|secret| secret.hash()).collect();
        let own = self.app.store().own_instance(&hashes).await?;
        own.ok_or(if P::RULE.own_instance {
            RequestError::Unauthorized
        } else {
            RequestError::Instance
        })
    }

    /// Whether `i` is absent or blank.
    fn lacks_instance(&self) -> bool {
        let is_blank = |name: Option<&str>| name.is_none_or(|name| name.trim().is_empty());
        self.params.one("i").is_ok_and(is_blank)
    }

    /// Checks the credentials, their user and the rate limit, in this order. With [`Permission::NEEDS_COLLEAGUES`], the viewer
    /// gets the members of the user's department, which are read concurrently if this process knows the caller.
    async fn authorize(&self, reader: &Reader) -> Result<Scope, RequestError> {
        let claims = self.presented.claims(P::RULE);
        let credentials = read_credentials(self.app.store(), reader.instance(), &claims);
        let expected_members = async {
            if A::NEEDS_COLLEAGUES && self.is_known(reader) {
                return reader.expected_members().await;
            }
            Ok(Members::default())
        };
        let (credentials, expected_members) = tokio::join!(credentials, expected_members);
        let (found, stored) = credentials?;
        let placement = stored.directory.settings.credential_placement();
        let needs_instance = !P::RULE.own_instance && placement == CredentialPlacement::Strict;
        if needs_instance && self.lacks_instance() {
            return Err(RequestError::Instance);
        }
        let claimed = claims.under(placement).unwrap_or_default();
        let valid = self
            .all_valid(reader.instance(), claimed, &found)
            .unwrap_or_default();
        let first = *valid.first().ok_or(RequestError::Unauthorized)?;
        if !stored.directory.is_open() {
            return Err(refused(Refusal::Suspended));
        }
        let membership = reader.membership(first).await?;
        let directory = Arc::new(stored.directory);
        let viewer = membership.and_then(|membership| Viewer::new(directory.clone(), first.user, membership));
        let mut viewer = viewer.ok_or_else(|| refused(Refusal::Inactive))?;
        request::set_caller(reader.instance().as_str(), &first.id);
        // The first of several credentials is an API key, which has the limit.
        let limit = rate_limit::of_key(first, &viewer.directory().settings);
        let callers = self.callers(reader.instance(), placement);
        self.app.store().accept(&callers, reader.instance(), limit);
        rate_limit::count(&self.app, reader.instance(), limit).await?;
        if A::NEEDS_COLLEAGUES {
            viewer = reader.with_department_members(viewer, expected_members?).await?;
        }
        Ok(Scope {
            viewer,
            store: Writer::of_request(self.app.store(), reader.clone(), directory),
            key_expires: first_end(&valid, CredentialKind::Key),
            token_expires: first_end(&valid, CredentialKind::Token),
            environment: self.app.environment().clone(),
        })
    }

    /// The records of the credentials, if all of them are valid for the instance and belong to one user.
    fn all_valid<'f>(
        &self,
        instance: &InstanceName,
        claimed: &[&Secret],
        found: &'f FoundCredentials,
    ) -> Option<Vec<&'f Credential>> {
        let records = claimed.iter().map(|secret| self.valid(instance, secret, found));
        let records = records.collect::<Option<Vec<_>>>()?;
        let first = records.first()?;
        let is_same_user = records.iter().all(|credential| credential.user == first.user);
        is_same_user.then_some(records)
    }

    /// The record of a credential, if it is valid for the instance now. Otherwise sets the reason for the log.
    fn valid<'f>(
        &self,
        instance: &InstanceName,
        secret: &Secret,
        found: &'f FoundCredentials,
    ) -> Option<&'f Credential> {
        let credential = found.get(&secret.hash())?;
        let has_expired = |expires| self.app.environment().now() >= expires;
        // A credential of another instance is refused for this reason, even if it has expired or was revoked.
        let reason = if credential.kind != secret.kind() {
            Refusal::Unknown
        } else if credential.instance != *instance {
            Refusal::OtherInstance
        } else if credential.revoked.is_some() {
            Refusal::Revoked
        } else if credential.expires.is_some_and(has_expired) {
            Refusal::Expired
        } else {
            return Some(credential);
        };
        request::refuse_for(reason);
        None
    }
}

/// The credentials that exist, and the directory. Reads the first two credentials with the directory, and a third one only if
/// these exist and the instance's placement requires it, so an unknown caller costs at most 4 units (C-86).
async fn read_credentials(
    store: &Store,
    instance: &InstanceName,
    claims: &Claims<'_>,
) -> Result<(FoundCredentials, StoredDirectory), RequestError> {
    let mut hashes: Vec<_> = claims.secrets().iter().map(|secret| secret.hash()).collect();
    let rest = hashes.split_off(hashes.len().min(MAX_FIRST));
    let (mut found, stored) = store.presented(instance, &hashes).await?;
    let stored = stored.ok_or(RequestError::Unauthorized)?;
    let placement = stored.directory.settings.credential_placement();
    let claimed = claims.under(placement).unwrap_or_default();
    if found.len() == hashes.len() && claimed.len() > hashes.len() {
        found.extend(store.credentials(&rest).await?);
    }
    Ok((found, stored))
}

/// The first end of the credentials of a kind.
fn first_end(credentials: &[&Credential], kind: CredentialKind) -> Option<Timestamp> {
    let of_kind = credentials.iter().filter(|credential| credential.kind == kind);
    of_kind.filter_map(|credential| credential.expires).min()
}

/// 401, with the reason in the log.
fn refused(reason: Refusal) -> RequestError {
    request::refuse_for(reason);
    RequestError::Unauthorized
}

/// Source address and `User-Agent` of the request.
fn client(request: &RawRequest) -> String {
    let agent = request.headers.get(http::header::USER_AGENT);
    let agent = agent.map(http::HeaderValue::as_bytes).unwrap_or_default();
    let address = request.source.as_deref().unwrap_or_default();
    format!("{address} {}", String::from_utf8_lossy(agent))
}
