//! Custom reports: endpoints 14 and 15 of spec.md.
//!
//! | Route | Endpoint |
//! | --- | --- |
//! | `GET /advancedreports` | 14: the reports ([`list`]) |
//! | `GET /reportchart/{id}` | 15: a report, ready to plot ([`chart`]) |

mod chart;
mod list;

use axum::routing;
use shared::http::{ErrorFormat, RouteGroup};

/// The routes of this function.
#[must_use]
pub fn group() -> RouteGroup {
    RouteGroup::new(ErrorFormat::Error)
        .route("/advancedreports", routing::get(list::list))
        .route("/reportchart/{id}", routing::get(chart::chart))
}
