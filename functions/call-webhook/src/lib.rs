//! Requests of other systems: the call webhook, endpoint 19 of spec.md, and forms of web pages.
//!
//! | Route | Endpoint |
//! | --- | --- |
//! | `POST /voip/webhook` | 19: records a completed call, its event and, for an unknown number, its lead ([`record`]) |
//! | `POST /api/hook/{name}` | creates a lead from a form's submission, or completes the existing lead ([`submit`], C-101) |

mod error;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod record;
mod submission;
mod submit;
mod wire;

use axum::routing;
use shared::http::{ErrorFormat, RouteGroup};

/// The routes of this function: a group for each shape of errors (C-4).
#[must_use]
pub fn groups() -> [RouteGroup; 2] {
    [
        RouteGroup::new(ErrorFormat::CallWebhook).route("/voip/webhook", routing::post(record::record)),
        RouteGroup::new(ErrorFormat::Error).route("/api/hook/{name}", routing::post(submit::submit)),
    ]
}
