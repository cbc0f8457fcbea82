//! The call webhook: endpoint 19 of spec.md.
//!
//! | Route | Endpoint |
//! | --- | --- |
//! | `POST /voip/webhook` | 19: records a completed call, its event and, for an unknown number, its lead ([`record`]) |

mod error;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod record;
mod wire;

use axum::routing;
use shared::http::{ErrorFormat, RouteGroup};

/// The routes of this function.
#[must_use]
pub fn group() -> RouteGroup {
    RouteGroup::new(ErrorFormat::CallWebhook).route("/voip/webhook", routing::post(record::record))
}
