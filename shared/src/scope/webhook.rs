//! The scope of the call webhook: no user, a secret where the instance has one (spec.md, Authentication).

use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use http::request::Parts;
use sha2::{Digest as _, Sha256};

use super::{AccessError, beside, instance, limit};
use crate::ambient::Ambient;
use crate::directory::Directory;
use crate::http::{App, Params, trace};
use crate::store::{InstanceStore, Reader};
use crate::text::hex;
use crate::time::Timestamp;

/// A call to the webhook, not yet let in.
#[derive(Debug)]
pub struct WebhookAccess {
    app: App,
    params: Params,
    secret: Option<Given>,
}

/// The secret that was sent, out of reach of any log line.
struct Given(String);

impl std::fmt::Debug for Given {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("…")
    }
}

/// A call to the webhook that was let in.
#[derive(Debug)]
pub struct WebhookScope {
    /// The instance's settings and users.
    pub directory: Arc<Directory>,
    /// The instance's part of the table.
    pub store: InstanceStore,
    /// The clock and randomness.
    pub ambient: Ambient,
}

impl WebhookScope {
    /// The time now.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.ambient.now()
    }
}

impl FromRequestParts<App> for WebhookAccess {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Infallible> {
        let params = Params::parse(parts.uri.query().unwrap_or_default());
        // The header decides where both are sent (C-75). One that is repeated or not text is a wrong secret.
        let mut headers = parts
            .headers
            .get_all("x-voip-signature")
            .iter()
            .map(|value| value.to_str().unwrap_or_default());
        let secret = match (headers.next(), headers.next()) {
            (None, _) => params.one("secret").unwrap_or_default().map(str::to_owned),
            (Some(secret), None) => Some(secret.to_owned()),
            _ => None,
        };
        Ok(Self {
            app: app.clone(),
            params,
            secret: secret.map(Given),
        })
    }
}

impl WebhookAccess {
    /// Judges instance and secret while `read` reads what `wanted` asks for; both take one round trip together. What is
    /// wrong with `wanted` is told only to who knows the secret (C-75).
    ///
    /// # Errors
    /// [`AccessError`] where the call is not let in, else what is wrong with `wanted`.
    pub async fn open_for<W, T, E: From<AccessError>>(
        self,
        wanted: Result<W, E>,
        read: impl AsyncFnOnce(&Reader, &W) -> T,
    ) -> Result<(WebhookScope, W, T), E> {
        let reader = self.app.store().reader(instance(&self.params)?);
        match wanted {
            Ok(wanted) => {
                let store = self.app.store();
                let known = self
                    .callers(&reader)
                    .into_iter()
                    .any(|caller| store.knows(&[caller]));
                let (keeper, unchecked) = reader.unchecked(known);
                let (scope, found) = beside(keeper, self.admit(&reader), read(&unchecked, &wanted)).await?;
                Ok((scope, wanted, found))
            }
            Err(wrong) => {
                self.admit(&reader).await?;
                Err(wrong)
            }
        }
    }

    /// What a call that was let in is remembered by: without regard to its secret, where the instance has none, or by a
    /// digest of it.
    fn callers(&self, reader: &Reader) -> [String; 2] {
        let digest = hex(&Sha256::digest(self.secret().unwrap_or_default()));
        let open = format!("{} webhook", reader.instance());
        [format!("{open} {digest}"), open]
    }

    fn secret(&self) -> Option<&str> {
        self.secret.as_ref().map(|Given(secret)| secret.as_str())
    }

    /// Lets the call in where the instance has no secret or this one, within its limit (C-9). A wrong secret takes no place
    /// of any limit: it costs the read of the directory, whatever came before.
    async fn admit(&self, reader: &Reader) -> Result<WebhookScope, AccessError> {
        let [signed, open] = self.callers(reader);
        let directory = reader.directory().await?;
        let settings = directory.as_ref().map(|directory| &directory.settings);
        let admits = settings.is_some_and(|settings| settings.admits_webhook(self.secret()));
        let Some(directory) = directory.filter(|_| admits) else {
            self.app.store().refuse(&[signed, open]);
            return Err(AccessError::Unauthorized);
        };
        trace::note(reader.instance().as_str(), "");
        let limit = limit::of_webhook(&directory.settings);
        let caller = if directory.settings.is_webhook_open() {
            open
        } else {
            signed
        };
        self.app.store().accept(&[caller], reader.instance(), limit);
        limit::count(&self.app, reader.instance(), limit).await?;
        Ok(WebhookScope {
            directory: Arc::new(directory),
            store: InstanceStore::new(reader.clone()),
            ambient: self.app.ambient().clone(),
        })
    }
}
