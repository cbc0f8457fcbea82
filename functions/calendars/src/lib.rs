//! Calendars, meetings and public booking: endpoints 11 to 13 of spec.md, and the booking page.
//!
//! | Route | Endpoint |
//! | --- | --- |
//! | `GET /pcalendar` | 11: the calendars, each with its next meeting ([`list`]) |
//! | `GET /calendarmeeting/{id}` | 12: the meetings of a calendar, page by page ([`meetings`]) |
//! | `POST /calendarmeeting` | 13: books, moves or cancels a meeting; public ([`book`]) |
//! | `GET /calendarmeeting/slots` | the free times; public ([`slots`]) |
//! | `GET /book/{instance}/{keyName}` | the page; public ([`page`]) |

mod book;
mod error;
mod list;
mod meetings;
mod page;
mod slots;
mod wire;

use axum::routing;
use shared::http::{ErrorFormat, RouteGroup};

/// The routes of this function.
#[must_use]
pub fn group() -> RouteGroup {
    RouteGroup::new(ErrorFormat::Error)
        .route("/pcalendar", routing::get(list::list))
        .route("/calendarmeeting", routing::post(book::book))
        .route("/calendarmeeting/slots", routing::get(slots::slots))
        .route("/calendarmeeting/{id}", routing::get(meetings::meetings))
        .route("/book/{instance}/{keyName}", routing::get(page::page))
}
