//! The caller, and lists that clients offer for choice: users, departments, tags and loss reasons.
//!
//! | Route | Answer |
//! | --- | --- |
//! | `GET /me` | The caller ([`me`], C-113) |
//! | `GET /user` | The users ([`users`], C-97) |
//! | `GET /departament` | The departments with their users, nested ([`departments`], C-97) |
//! | `GET /tags` | The tags of leads ([`tags`], C-98) |
//! | `GET /crmlossreason` | The loss reasons ([`loss_reasons`], C-96) |

mod departments;
mod loss_reasons;
mod me;
mod tags;
mod users;
mod view;

use axum::routing;
use shared::http::{ErrorFormat, RouteGroup};

/// The routes of this function.
#[must_use]
pub fn group() -> RouteGroup {
    RouteGroup::new(ErrorFormat::Error)
        .route("/me", routing::get(me::show))
        .route("/user", routing::get(users::list))
        .route("/departament", routing::get(departments::list))
        .route("/tags", routing::get(tags::list))
        .route("/crmlossreason", routing::get(loss_reasons::list))
}
