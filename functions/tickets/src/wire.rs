//! What requests for tickets hold, and whom they may be answered.

use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use shared::directory::{AccessLists, Viewer};
use shared::id::{LeadId, TicketId};
use shared::lead::Lead;

use crate::error::TicketsError;

/// A path's id as the extractor has it: one that is not UTF-8 is no id either.
pub type PathId = Result<Path<String>, PathRejection>;

/// The lead that a path names.
pub fn lead_id(id: PathId) -> Result<LeadId, TicketsError> {
    let id = id.ok().and_then(|Path(id)| LeadId::parse(&id));
    id.ok_or(TicketsError::Id("lead_id"))
}

/// The ticket that a path names.
pub fn ticket_id(id: PathId) -> Result<TicketId, TicketsError> {
    let id = id.ok().and_then(|Path(id)| TicketId::parse(&id));
    id.ok_or(TicketsError::Id("ticket_id"))
}

/// Requires the permission to see tickets (C-82).
pub fn permitted(viewer: &Viewer) -> Result<(), TicketsError> {
    let may = viewer.permissions().tickets;
    may.then_some(()).ok_or(TicketsError::Permission)
}

/// Whether the viewer sees a lead, or what has none (C-82).
pub fn sees(viewer: &Viewer, lead: Option<&Lead>) -> bool {
    let owner = lead.and_then(|lead| lead.owner);
    let lists = lead.map_or_else(AccessLists::default, Lead::lists);
    viewer.sees_lead(owner, &lists)
}
