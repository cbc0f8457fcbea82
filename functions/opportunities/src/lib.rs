//! Opportunities and funnels: endpoints 7 to 10 of spec.md.
//!
//! | Route | Endpoint |
//! | --- | --- |
//! | `POST /crmopportunity` | 7: creates an opportunity in a funnel ([`create`]) |
//! | `PUT /crmopportunity/{id}` | 8: changes the given fields of an opportunity ([`update`]) |
//! | `GET /crmopportunity/{id}` | One opportunity as 10 lists it ([`get`], C-94) |
//! | `GET /listopportunitysleadcomplete/{id}` | The opportunities of a lead over all funnels ([`of_lead`], C-95) |
//! | `GET /crm` | 9: the visible funnels with their columns and custom fields ([`funnels`]) |
//! | `GET /crmfastloadv2/{id}` | The columns of a funnel with the totals of 10's board ([`totals`], C-96) |
//! | `POST /crm/opportunities/{id}` | 10: the opportunities of a funnel: a column page by page, or the board ([`list`]) |

mod create;
mod error;
mod funnels;
mod get;
mod list;
mod of_lead;
mod totals;
mod update;
mod view;
mod wire;

use axum::routing;
use shared::http::{ErrorFormat, RouteGroup};

/// The routes of this function, one group per error format (C-4): endpoint 7 has `{ "msg" }`; the bodies of 8 and 10
/// are fixed.
#[must_use]
pub fn groups() -> [RouteGroup; 4] {
    [
        RouteGroup::new(ErrorFormat::Message).route("/crmopportunity", routing::post(create::create)),
        RouteGroup::new(ErrorFormat::Fixed)
            .route("/crmopportunity/{id}", routing::get(get::get).put(update::update)),
        RouteGroup::new(ErrorFormat::OpportunityList)
            .route("/crm/opportunities/{id}", routing::post(list::list)),
        RouteGroup::new(ErrorFormat::Error)
            .route("/crm", routing::get(funnels::list))
            .route("/crmfastloadv2/{id}", routing::get(totals::list))
            .route("/listopportunitysleadcomplete/{id}", routing::get(of_lead::list)),
    ]
}
