//! HTTP: the checks before every handler and the formatting of every response.
//!
//! A function's crate defines [`RouteGroup`]s. [`service`] wraps one or more groups in the middleware. The same service
//! runs under `lambda_http`, under `funil serve`, and in tests.

mod body;
mod compression;
mod cors;
mod error;
mod idempotency;
mod json;
mod limit;
mod middleware;
mod multipart;
pub mod page;
mod params;
mod problem;
pub mod query;
mod request;
mod routes;
mod source;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::Router;
use axum::handler::Handler;
use axum::routing::MethodRouter;

pub use body::{JsonObject, parse_json, parse_json_doubles, parse_object, required};
pub use compression::{accepts_gzip, gunzip, gzipped};
pub use cors::Origins;
pub use error::{BadIdempotencyKey, InvalidField, NotJson, RequestError};
pub use idempotency::{Idempotent, replayed};
pub use json::{TOO_LARGE, bytes_of, json, json_that_fits, show_lower_bound};
pub use middleware::{BODY_LIMIT, RequestId, documents, one_host};
pub use multipart::FilesIgnored;
pub use params::{Params, decoded};
pub use problem::{ErrorFormat, Problem};
pub use request::RawRequest;
pub use source::SourceAddress;

use crate::config::Config;
use crate::environment::Environment;
use crate::startup::{self, StartError};
use crate::store::Store;
use idempotency::idempotency_key;

/// The state shared by all requests. A handler accesses the store only through its scope.
#[derive(Debug, Clone)]
pub struct App(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    store: Store,
    environment: Environment,
    origins: Origins,
    /// Whether the process has received a request.
    warm: AtomicBool,
}

impl App {
    /// An application over a store.
    #[must_use]
    pub fn new(store: Store, environment: Environment, origins: Origins) -> Self {
        Self(Arc::new(Shared {
            store,
            environment,
            origins,
            warm: AtomicBool::new(false),
        }))
    }

    /// The application of a deployed function.
    ///
    /// # Errors
    /// [`StartError`] if the environment is incomplete or the table cannot be reached.
    pub async fn of_function(config: &Config) -> Result<Self, StartError> {
        let environment = Environment::system();
        let store = startup::store(config, environment.clone()).await?;
        let origins = Origins::parse(&config.allowed_origins);
        Ok(Self::new(store, environment, origins))
    }

    pub(crate) fn store(&self) -> &Store {
        &self.0.store
    }

    pub(crate) fn environment(&self) -> &Environment {
        &self.0.environment
    }

    fn origins(&self) -> &Origins {
        &self.0.origins
    }

    /// Whether this call is the first one, for the first request of the process (a cold start).
    fn takes_first_request(&self) -> bool {
        !self.0.warm.swap(true, Ordering::Relaxed)
    }
}

/// The routes of one function and the format of their errors (C-4).
#[derive(Debug)]
pub struct RouteGroup {
    /// The routes.
    pub routes: Router<App>,
    /// Format of the errors.
    pub shape: ErrorFormat,
}

impl RouteGroup {
    /// A group without routes.
    #[must_use]
    pub fn new(shape: ErrorFormat) -> Self {
        let routes = Router::new();
        Self { routes, shape }
    }

    /// Adds the handlers of a path.
    #[must_use]
    pub fn route(self, path: &str, handlers: MethodRouter<App>) -> Self {
        let routes = self.routes.route(path, handlers);
        Self { routes, ..self }
    }
}

/// The routes of one or more groups inside the middleware. Other requests are 404, or 405 on a path of any group.
pub fn service(app: &App, groups: impl IntoIterator<Item = RouteGroup>) -> Router {
    let routes = groups.into_iter().map(|RouteGroup { routes, shape }| {
        let within = axum::middleware::from_fn_with_state((app.clone(), shape), middleware::handle);
        routes
            .method_not_allowed_fallback(routes::refuse_method)
            .layer(within)
    });
    let without = axum::middleware::from_fn_with_state(app.clone(), middleware::handle_unmatched);
    routes
        .fold(Router::new(), Router::merge)
        .fallback_service(routes::refuse.layer(without).with_state(()))
        .with_state(app.clone())
}
