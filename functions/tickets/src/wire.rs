//! Parameters and visibility of lists.

use shared::http::{InvalidField, Params};
use shared::ids::LeadId;
use shared::lead::Lead;
use shared::store::ListRequest;
use shared::viewer::Viewer;
use shared::visibility::AccessLists;

use crate::error::TicketsError;

/// All records, or a page (C-62).
pub fn page(params: &Params) -> Result<ListRequest, InvalidField> {
    let limit = params.limit(1000, "must be a whole number from 1 to 1000")?;
    let page = params.whole("page")?;
    Ok(ListRequest { page, limit })
}

/// Whether the viewer sees a lead, or a record without one (C-82).
pub fn sees(viewer: &Viewer, lead: Option<&Lead>) -> bool {
    let owner = lead.and_then(|lead| lead.owner);
    let lists = lead.map_or_else(AccessLists::default, Lead::lists);
    viewer.sees_lead(owner, &lists)
}

/// Requires an existing, visible lead.
pub fn require_lead(viewer: &Viewer, id: LeadId, lead: Option<&Lead>) -> Result<(), TicketsError> {
    if lead.is_none() || !sees(viewer, lead) {
        return Err(TicketsError::Lead(id));
    }
    Ok(())
}
