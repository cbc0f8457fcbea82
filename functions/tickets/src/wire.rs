//! Lists of a lead, and visibility of tickets and files.

use shared::http::RawRequest;
use shared::ids::LeadId;
use shared::lead::Lead;
use shared::store::ListRequest;
use shared::viewer::Viewer;
use shared::visibility::AccessLists;

use crate::error::TicketsError;

/// A page of a list of a lead.
#[derive(Debug)]
pub struct ListOfLead {
    /// The lead.
    pub lead: LeadId,
    /// The page.
    pub page: ListRequest,
}

impl ListOfLead {
    /// Parses the id in the path and the page in the query.
    pub fn parse(request: &RawRequest) -> Result<Self, TicketsError> {
        Ok(Self {
            lead: request.id("lead_id", LeadId::parse)?,
            page: request.params.records()?,
        })
    }

    /// Requires that the lead exists and is visible.
    pub fn require(&self, viewer: &Viewer, lead: Option<&Lead>) -> Result<(), TicketsError> {
        require_lead(viewer, self.lead, lead)
    }
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
