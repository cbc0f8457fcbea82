//! Endpoint 8: every invalid request is `{ "error": "Invalid request" }` and nothing more (spec.md, Errors); a header
//! tells what is wrong.

use axum::response::{IntoResponse, Response};
use shared::http::{Refusal, Shape};
use shared::id::{FunnelId, OpportunityId};
use shared::scope::AccessError;
use shared::store::StoreError;

use super::{Breach, internal};

/// Why an opportunity is not changed.
#[derive(Debug, thiserror::Error)]
pub enum UpdateError {
    /// Not let in: 400 for `i`, 401 for the credentials.
    #[error(transparent)]
    Access(#[from] AccessError),
    /// 400: the key's group may not edit opportunities (C-82).
    #[error("editOpportunities: the user does not have this permission")]
    Permission,
    /// 400: the id in the path is no id.
    #[error("opportunity_id: must be a whole number from 1 to 999999999999999")]
    Id,
    /// 400: there is no such opportunity in the funnel, or the key may not see it (C-31, C-32).
    #[error("opportunity_id: opportunity {0} does not exist in funnel {1}")]
    Opportunity(OpportunityId, FunnelId),
    /// 400: the opportunity, or the lead that it was to have, was deleted meanwhile (C-24).
    #[error("lead_id: the lead or the opportunity does not exist any more")]
    Gone,
    /// 400: the body, or the funnel that it is for.
    #[error(transparent)]
    Breach(#[from] Breach),
    /// 500.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl IntoResponse for UpdateError {
    fn into_response(self) -> Response {
        Shape::Fixed.answer(&match &self {
            Self::Access(error) => Refusal::from(error),
            Self::Permission | Self::Id | Self::Opportunity(..) | Self::Gone | Self::Breach(_) => {
                Refusal::Invalid(self.to_string())
            }
            Self::Store(cause) => internal(cause, "an opportunity could not be changed"),
        })
    }
}
