//! The HTTP edge: what every request passes before a handler and every answer after it.
//!
//! A function's crate gives a [`Group`] of routes; [`service`] puts the edge around one or more of them. The same
//! service runs under `lambda_http` in the cloud, under `funil serve` on any machine, and in tests.

mod answer;
mod body;
mod cors;
mod edge;
mod idempotency;
mod limit;
mod params;
mod source;
pub(crate) mod trace;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::Router;
use axum::handler::Handler;

pub use answer::{Refusal, Shape, bytes_of, json, json_that_fits};
pub use body::{NotJson, parse_json, parse_json_doubles};
pub use cors::Origins;
pub use edge::{BODY_LIMIT, RequestId, unreadable};
pub use idempotency::{BadIdempotencyKey, idempotency_key};
pub use params::{BadParameter, Params};
pub use source::SourceAddress;
pub(crate) use source::source_address;

use crate::ambient::Ambient;
use crate::start::StartError;
use crate::store::Store;

/// What all requests share. A handler gets at the store through its scope only.
#[derive(Debug, Clone)]
pub struct App(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    store: Store,
    ambient: Ambient,
    origins: Origins,
    /// Whether a request came in.
    warm: AtomicBool,
}

impl App {
    /// An application over a store.
    #[must_use]
    pub fn new(store: Store, ambient: Ambient, origins: Origins) -> Self {
        Self(Arc::new(Shared {
            store,
            ambient,
            origins,
            warm: AtomicBool::new(false),
        }))
    }

    /// The application of a deployed function: the store of [`Store::from_env`], and the origins in `ALLOWED_ORIGINS`.
    ///
    /// # Errors
    /// [`StartError`] where the environment lacks something or the table cannot be reached.
    pub async fn from_env() -> Result<Self, StartError> {
        let ambient = Ambient::system();
        let store = Store::from_env(ambient.clone()).await?;
        let origins = Origins::parse(&std::env::var("ALLOWED_ORIGINS").unwrap_or_default());
        Ok(Self::new(store, ambient, origins))
    }

    pub(crate) fn store(&self) -> &Store {
        &self.0.store
    }

    pub(crate) fn ambient(&self) -> &Ambient {
        &self.0.ambient
    }

    fn origins(&self) -> &Origins {
        &self.0.origins
    }

    /// Whether the request that begins is the first, for which a function's process was started.
    fn begins(&self) -> bool {
        !self.0.warm.swap(true, Ordering::Relaxed)
    }
}

/// The routes of one function, and how their errors look where spec.md and C-4 leave it to the edge.
#[derive(Debug)]
pub struct Group {
    /// The routes.
    pub routes: Router<App>,
    /// The shape of the errors.
    pub shape: Shape,
}

/// The routes of one or more groups behind the edge; every other path is answered 404.
pub fn service(app: &App, groups: impl IntoIterator<Item = Group>) -> Router {
    let within = |shape| axum::middleware::from_fn_with_state((app.clone(), shape), edge::edge);
    let routes = groups.into_iter().map(|Group { routes, shape }| {
        let refuse = async move || shape.answer(&Refusal::MethodNotAllowed);
        routes.method_not_allowed_fallback(refuse).layer(within(shape))
    });
    let unknown = async || Shape::Error.answer(&Refusal::NotFound);
    routes
        .fold(Router::new(), Router::merge)
        .fallback_service(unknown.layer(within(Shape::Error)).with_state(()))
        .with_state(app.clone())
}
