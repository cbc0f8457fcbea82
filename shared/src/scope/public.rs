//! The scope of public booking: no credential, one instance (spec.md, endpoint 13).
//!
//! An instance that does not exist is refused like a link that does not, by the group's own error (C-1).

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use http::request::Parts;

use super::{AccessError, beside, instance, limit};
use crate::ambient::Ambient;
use crate::http::{App, Params, trace};
use crate::store::{InstanceStore, Reader};
use crate::time::Timestamp;

/// A public request, of which nothing has been looked up.
#[derive(Debug)]
pub struct PublicAccess {
    app: App,
    params: Params,
}

/// A public request to an instance that exists.
#[derive(Debug)]
pub struct PublicScope {
    /// The instance's part of the table.
    pub store: InstanceStore,
    ambient: Ambient,
}

impl PublicScope {
    /// The time now.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.ambient.now()
    }
}

impl FromRequestParts<App> for PublicAccess {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Infallible> {
        Ok(Self {
            app: app.clone(),
            params: Params::parse(parts.uri.query().unwrap_or_default()),
        })
    }
}

impl PublicAccess {
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

    /// Looks for the instance while `read` reads what `wanted` asks for; both take one round trip together. Judged in this
    /// order: that `i` names one instance, what is wrong with `wanted`, that the instance exists (C-1, C-53), its limit.
    /// What is wrong with `wanted` is told without a read, so it counts against no limit.
    ///
    /// # Errors
    /// [`AccessError::Instance`], what is wrong with `wanted`, [`AccessError::Unauthorized`] where there is no such
    /// instance, or [`AccessError::Limited`].
    pub async fn open_for<W, T, E: From<AccessError>>(
        self,
        wanted: Result<W, E>,
        read: impl AsyncFnOnce(&Reader, &W) -> T,
    ) -> Result<(PublicScope, W, T), E> {
        let instance = instance(&self.params);
        if let Err(missing @ AccessError::Instance) = instance {
            return Err(missing.into());
        }
        let wanted = wanted?;
        let reader = self.app.store().reader(instance?);
        let (keeper, unchecked) = reader.unchecked(self.app.store().knows(&[caller(&reader)]));
        let ((), found) = beside(keeper, self.admit(&reader), read(&unchecked, &wanted)).await?;
        let scope = PublicScope {
            store: InstanceStore::new(reader),
            ambient: self.app.ambient().clone(),
        };
        Ok((scope, wanted, found))
    }

    /// Lets the request into an instance that exists, within its limit (C-9).
    async fn admit(&self, reader: &Reader) -> Result<(), AccessError> {
        let callers = [caller(reader)];
        let Some(directory) = reader.directory().await? else {
            self.app.store().refuse(&callers);
            return Err(AccessError::Unauthorized);
        };
        trace::note(reader.instance().as_str(), "");
        let limit = limit::of_public(&directory.settings);
        self.app.store().accept(&callers, reader.instance(), limit);
        limit::count(&self.app, reader.instance(), limit).await
    }
}

/// What an instance that was found is remembered by.
fn caller(reader: &Reader) -> String {
    format!("{} public", reader.instance())
}
