//! Customer-service tickets and their files: endpoints 16 to 18 of spec.md.
//!
//! | Route | Endpoint |
//! | --- | --- |
//! | `GET /sac360/lead/{id}` | 16: the tickets of a lead ([`list`]) |
//! | `GET /sac360/list_file_attendance/{id}` | 17: the files of a ticket ([`ticket_files`]) |
//! | `GET /sac360/list_file_lead/{id}` | 18: the files of all tickets of a lead ([`lead_files`]) |
//! | `POST /sac360/relaction` | gives a ticket another lead ([`reassign`], C-100). Clients write it so |

mod error;
mod lead_files;
mod list;
mod reassign;
mod ticket_files;
mod view;
mod wire;

use axum::routing;
use shared::http::{ErrorFormat, RouteGroup};

/// The routes of this function.
#[must_use]
pub fn group() -> RouteGroup {
    RouteGroup::new(ErrorFormat::Fixed)
        .route("/sac360/lead/{id}", routing::get(list::list))
        .route(
            "/sac360/list_file_attendance/{id}",
            routing::get(ticket_files::list),
        )
        .route("/sac360/list_file_lead/{id}", routing::get(lead_files::list))
        .route("/sac360/relaction", routing::post(reassign::reassign))
}
