//! Custom reports: endpoints 14 and 15 of spec.md.
//!
//! | Route | Endpoint |
//! | --- | --- |
//! | `GET /advancedreports` | 14: the reports ([`list`]) |
//! | `GET /reportchart/{id}` | 15: a report, ready to plot ([`chart`]) |

mod chart;
mod error;
mod list;
mod wire;

use axum::Router;
use axum::routing;
use shared::http::{Group, Shape};

/// The routes of this function.
#[must_use]
pub fn group() -> Group {
    let routes = Router::new()
        .route("/advancedreports", routing::get(list::list))
        .route("/reportchart/{id}", routing::get(chart::chart));
    Group {
        routes,
        shape: Shape::Error,
    }
}
