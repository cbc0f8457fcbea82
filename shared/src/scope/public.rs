//! The scope of public booking: no credential, one instance (spec.md, endpoint 13).
//!
//! An instance that does not exist is refused like a link that does not, by the group's own error. What is left of the
//! instance's limit is said only in answers that tell of the instance anyway: otherwise its headers would reveal which
//! instances exist (C-1).

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use http::request::Parts;

use super::{AccessError, beside, instance, limit};
use crate::ambient::Ambient;
use crate::http::{App, Params, trace};
use crate::store::{Allowance, InstanceStore, PublicRoute, Reader};
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
    left: Option<Allowance>,
}

impl PublicScope {
    /// Has the answer say what is left of the limit: where the request leads to something that exists.
    pub fn show_limit(&self) {
        if let Some(left) = self.left {
            trace::limited(left);
        }
    }

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

    /// Looks for the instance while `read` reads what `wanted` asks for; both take one round trip together where this
    /// process saw the instance lately. Judged in this order: that `i` names one instance, its limit, what is wrong with
    /// `wanted`, that the instance exists (C-1, C-53). A request that is `wanted` wrongly counts, too.
    ///
    /// # Errors
    /// [`AccessError::Instance`], [`AccessError::Limited`], what is wrong with `wanted`, or
    /// [`AccessError::Unauthorized`] where there is no such instance.
    pub async fn open_for<W, T, E: From<AccessError>>(
        self,
        route: PublicRoute,
        wanted: Result<W, E>,
        read: impl AsyncFnOnce(&Reader, &W) -> T,
    ) -> Result<(PublicScope, W, T), E> {
        let instance = instance(&self.params);
        if let Err(missing @ AccessError::Instance) = instance {
            return Err(missing.into());
        }
        let wanted = match (wanted, instance.as_ref()) {
            (Ok(wanted), _) => wanted,
            (Err(wrong), Ok(instance)) => {
                let reader = self.app.store().reader(instance.clone());
                return match self.admit(&reader, route).await {
                    Err(limited @ AccessError::Limited) => Err(limited.into()),
                    _ => Err(wrong),
                };
            }
            (Err(wrong), Err(_)) => return Err(wrong),
        };
        let reader = self.app.store().reader(instance?);
        let known = self.app.store().knows(&[caller(&reader, route)]);
        let (keeper, unchecked) = reader.unchecked(known);
        let check = self.admit(&reader, route);
        let (left, found) = beside(keeper, check, read(&unchecked, &wanted)).await?;
        let scope = PublicScope {
            store: InstanceStore::new(reader),
            ambient: self.app.ambient().clone(),
            left,
        };
        Ok((scope, wanted, found))
    }

    /// Lets the request into an instance that exists, within its limit (C-9); what is left of it.
    async fn admit(&self, reader: &Reader, route: PublicRoute) -> Result<Option<Allowance>, AccessError> {
        let callers = [caller(reader, route)];
        let Some(directory) = reader.directory().await? else {
            self.app.store().refuse(&callers);
            return Err(AccessError::Unauthorized);
        };
        trace::note(reader.instance().as_str(), "");
        let limit = limit::of_public(route, &directory.settings);
        self.app.store().accept(&callers, reader.instance(), limit);
        limit::count_unseen(&self.app, reader.instance(), limit).await
    }
}

/// What an instance that was found is remembered by, for one route because each has its own limit.
fn caller(reader: &Reader, route: PublicRoute) -> String {
    format!("{} {route:?}", reader.instance())
}
