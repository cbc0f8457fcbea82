//! The check of the call webhook: no user, but a secret if the instance has one (spec.md, Authentication).

use std::fmt;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use super::{Guard, Unchecked, instance, rate_limit};
use crate::http::{App, Params, RawRequest, RequestError};
use crate::store::{Reader, Writer};
use crate::telemetry::request::{self, Refusal};
use crate::text::hex;

const ADVICE: &str = "secret: belongs in the header x-voip-signature or the query parameter secret, once";

/// A request to the webhook, signed with the instance's secret if it has one.
pub type Signed = Unchecked<WebhookGuard>;

/// An unchecked call of the webhook.
pub struct WebhookGuard {
    app: App,
    params: Params,
    secret: Option<String>,
}

// Keeps the secret out of logs.
impl fmt::Debug for WebhookGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WebhookGuard")
    }
}

/// An accepted call of the webhook.
#[derive(Debug)]
pub struct WebhookScope {
    /// The store, limited to the instance.
    pub store: Writer,
}

impl Guard for WebhookGuard {
    type Scope = WebhookScope;

    fn of(request: RawRequest, app: &App) -> Self {
        // The header takes precedence over the query (C-75). A repeated or non-text header is a wrong secret, even if
        // the query has the right one.
        let mut headers = request
            .headers
            .get_all("x-voip-signature")
            .iter()
            .map(|value| value.to_str().unwrap_or_default());
        let in_query = || request.params.one("secret").unwrap_or_default();
        let secret = match (headers.next(), headers.next()) {
            (None, _) => in_query().map(str::to_owned),
            (Some(secret), None) => Some(secret.to_owned()),
            _ => None,
        };
        Self {
            app: app.clone(),
            secret,
            params: request.params,
        }
    }

    async fn reader(&self) -> Result<Reader, RequestError> {
        let instance = instance(&self.params).map_err(|refused| self.explained(refused))?;
        Ok(self.app.store().reader(instance))
    }

    fn is_known(&self, reader: &Reader) -> bool {
        let callers = self.callers(reader);
        callers
            .into_iter()
            .any(|caller| self.app.store().recently_accepted(&[caller]))
    }

    /// Accepts the call if the instance has no secret or this one, within its rate limit (C-9). A wrong secret is not
    /// counted; it costs one read of the directory.
    async fn check(&self, reader: &Reader) -> Result<WebhookScope, RequestError> {
        let [signed, open] = self.callers(reader);
        let secret = self.secret.as_deref();
        let directory = super::open_directory(reader).await?;
        let directory = directory.filter(|directory| directory.settings.admits_webhook(secret));
        let Some(directory) = directory else {
            self.app.store().refuse(&[signed, open]);
            return Err(self.explained(RequestError::Unauthorized));
        };
        request::set_caller(reader.instance().as_str(), "");
        let limit = rate_limit::of_webhook(&directory.settings);
        let caller = if directory.settings.is_webhook_open() {
            open
        } else {
            signed
        };
        self.app.store().accept(&[caller], reader.instance(), limit);
        rate_limit::count(&self.app, reader.instance(), limit).await?;
        Ok(WebhookScope {
            store: Writer::of_request(self.app.store(), reader.clone(), Arc::new(directory)),
        })
    }
}

impl WebhookGuard {
    /// Adds the place of the secret to the 401 of a call without one, and sets the reason of a 401 for the log. It
    /// does so for every instance, so that the response reveals nothing (C-103).
    fn explained(&self, refused: RequestError) -> RequestError {
        if !matches!(refused, RequestError::Unauthorized) {
            return refused;
        }
        let has_secret = self.secret.as_deref().is_some_and(|secret| !secret.is_empty());
        if has_secret {
            request::refuse_for(Refusal::Unknown);
            return refused;
        }
        request::refuse_for(Refusal::Missing);
        RequestError::Misplaced(ADVICE.to_owned())
    }

    /// Cache keys of an accepted call: first that with a digest of the secret, then that for instances without a
    /// secret.
    fn callers(&self, reader: &Reader) -> [String; 2] {
        let digest = hex(&Sha256::digest(self.secret.as_deref().unwrap_or_default()));
        let open = format!("{} webhook", reader.instance());
        [format!("{open} {digest}"), open]
    }
}
