//! What requests hold, and what an opportunity may be made of.
//!
//! [`fields`] reads single fields, alike for a new opportunity and a changed one; [`Ground`] judges them against what
//! there is.

mod body;
mod fields;
mod ground;
mod list;
mod new;
mod patch;
#[cfg(test)]
mod shop;

pub use ground::Ground;
pub use list::{Asked, NewList};
pub use new::NewOpportunity;
pub use patch::OpportunityPatch;

use shared::directory::Viewer;
use shared::funnel::Funnel;
use shared::http::Params;
use shared::id::FunnelId;

use crate::error::Breach;

/// The funnel that the parameter `id` of endpoints 7 and 8 names.
pub fn funnel_id(params: &Params) -> Result<FunnelId, Breach> {
    let text = params.one("id")?.unwrap_or_default();
    FunnelId::parse(text).ok_or(Breach::Field("id", fields::MUST_BE_ID))
}

/// The funnel if it exists and the viewer may see it.
pub fn seen_funnel(funnel: Option<Funnel>, id: FunnelId, viewer: &Viewer) -> Result<Funnel, Breach> {
    let seen = funnel.filter(|funnel| viewer.sees_funnel(&funnel.access));
    seen.ok_or(Breach::Funnel(id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_funnel_is_named_once_by_an_id() {
        let read = |query: &str| funnel_id(&Params::parse(query)).map_err(|breach| breach.to_string());
        assert_eq!(read("i=acme&id=3"), Ok(FunnelId::new(3).unwrap()));
        for query in ["", "id=", "id=0", "id=3.0", "id=abc", "id=+3"] {
            let reason = "id: must be a whole number from 1 to 999999999999999";
            assert_eq!(read(query).unwrap_err(), reason, "{query}");
        }
        assert_eq!(read("id=3&id=3").unwrap_err(), "id: must not be repeated");
    }
}
