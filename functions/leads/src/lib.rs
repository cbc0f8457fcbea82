//! Leads: endpoints 1 to 6 of spec.md, and requests that create and change leads (C-91, C-92).
//!
//! | Route | Endpoint |
//! | --- | --- |
//! | `GET /leads` | 1: the visible leads, in pages ([`list`]) |
//! | `GET /leads/{id}` | 2, 3, 4: one lead, in summary, in full, or the fields selected ([`get`]) |
//! | `POST /leads` | creates a lead ([`create`]) |
//! | `GET /leads/{id}/timeline` | the calls and the submissions of forms of a lead ([`timeline`], C-113) |
//! | `GET /leads/{id}/meetings` | the meetings of a lead ([`meetings`], C-113) |
//! | `PUT /leads/{id}`, `PUT /leads` | change a lead ([`update`]) |
//! | `DELETE /leads/{id}` | 5: deletes a lead permanently ([`delete::one`]) |
//! | `DELETE /leads` | 5 in bulk ([`delete::many`]) |
//! | `POST /leadsadvanced` | 1 with its parameters in the body ([`advanced`], C-93) |
//! | `POST /lead/archive` | 6: archives or restores leads ([`archive`]) |

mod advanced;
mod archive;
mod create;
mod delete;
mod error;
mod get;
mod list;
mod meetings;
mod timeline;
mod update;
mod view;
mod wire;

use axum::routing;
use shared::http::{ErrorFormat, RouteGroup};

/// The routes of this function.
#[must_use]
pub fn group() -> RouteGroup {
    RouteGroup::new(ErrorFormat::Error)
        .route(
            "/leads",
            routing::get(list::list)
                .post(create::create)
                .put(update::in_body)
                .delete(delete::many),
        )
        .route(
            "/leads/{id}",
            routing::get(get::get).put(update::in_path).delete(delete::one),
        )
        .route("/leads/{id}/meetings", routing::get(meetings::list))
        .route("/leads/{id}/timeline", routing::get(timeline::list))
        .route("/leadsadvanced", routing::post(advanced::list))
        .route("/lead/archive", routing::post(archive::archive))
}
