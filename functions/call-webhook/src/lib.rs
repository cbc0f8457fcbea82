//! The call webhook: endpoint 19 of spec.md.
//!
//! | Route | Endpoint |
//! | --- | --- |
//! | `POST /voip/webhook` | 19: records a completed call, its event and, for an unknown number, its lead ([`record`]) |

mod error;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod history;
mod record;
mod wire;

use axum::Router;
use axum::routing;
use shared::http::{Group, Shape};

/// The routes of this function.
#[must_use]
pub fn group() -> Group {
    let routes = Router::new().route("/voip/webhook", routing::post(record::record));
    Group {
        routes,
        shape: Shape::CallWebhook,
    }
}
