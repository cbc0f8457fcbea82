//! Leads: endpoints 1 to 4 of spec.md.
//!
//! | Route | Endpoint |
//! | --- | --- |
//! | `GET /leads` | 1: the leads that the key may see, page by page ([`list`]) |
//! | `GET /leads/{id}` | 2, 3, 4: one lead, in summary, in full, or the fields selected ([`get`]) |

mod error;
mod get;
mod list;
mod view;
mod wire;

use axum::Router;
use axum::routing;
use shared::http::{Group, Shape};

/// The routes of this function.
#[must_use]
pub fn group() -> Group {
    let routes = Router::new()
        .route("/leads", routing::get(list::list))
        .route("/leads/{id}", routing::get(get::get));
    Group {
        routes,
        shape: Shape::Error,
    }
}
