//! Visibility of tickets and files.

use shared::ids::LeadId;
use shared::lead::Lead;
use shared::viewer::Viewer;
use shared::visibility::AccessLists;

use crate::error::TicketsError;

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
