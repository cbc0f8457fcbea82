//! The records that endpoints 7 and 8 validate an opportunity against.

use shared::auth::Scope;
use shared::funnel::Funnel;
use shared::http::{InvalidField, Params};
use shared::ids::{FunnelId, UserId};
use shared::opportunity_edit::ValidationContext;
use shared::store::LeadRecord;
use shared::viewer::Viewer;

use crate::error::OpportunityError;

/// The funnel named by the parameter `id`.
pub fn funnel_id(params: &Params) -> Result<FunnelId, InvalidField> {
    params
        .id("id")?
        .ok_or(InvalidField::new("id", InvalidField::MUST_BE_ID))
}

/// The funnel, if it exists and is visible.
pub fn visible_funnel(
    funnel: Option<Funnel>,
    id: FunnelId,
    viewer: &Viewer,
) -> Result<Funnel, OpportunityError> {
    let visible = funnel.filter(|funnel| viewer.sees_funnel(&funnel.access));
    visible.ok_or(OpportunityError::Funnel(id))
}

/// The context of a request with a funnel, and optionally an existing lead and user.
pub fn context<'a>(
    scope: &'a Scope,
    funnel: &'a Funnel,
    (lead, user): (Option<&LeadRecord>, Option<UserId>),
) -> ValidationContext<'a> {
    let (viewer, lead) = (&scope.viewer, lead.map(|record| &record.lead));
    let visible = lead.filter(|lead| viewer.sees_lead(lead.owner, &lead.lists()));
    ValidationContext {
        viewer,
        funnel,
        lead: visible.map(|lead| lead.id),
        user,
        now: scope.now(),
    }
}
