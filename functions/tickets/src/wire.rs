//! What requests for tickets hold, and whom they may be answered.

use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use shared::directory::{AccessLists, Viewer};
use shared::http::BadParameter;
use shared::id::{LeadId, TicketId};
use shared::lead::Lead;
use shared::scope::{Access, KeyInHeader};
use shared::store::ListRequest;

use crate::error::TicketsError;

/// A path's id as the extractor has it: one that is not UTF-8 is no id either.
pub type PathId = Result<Path<String>, PathRejection>;

/// What a request for the tickets or files of a lead asks for.
#[derive(Debug)]
pub struct LeadWanted {
    /// Whose.
    pub lead: LeadId,
    /// Which of them.
    pub list: ListRequest,
}

impl LeadWanted {
    /// Reads the path's id, `page` and `limit`.
    pub fn read(id: PathId, access: &Access<KeyInHeader>) -> Result<Self, TicketsError> {
        let lead = id.ok().and_then(|Path(id)| LeadId::parse(&id));
        let lead = lead.ok_or(TicketsError::Id("lead_id"))?;
        let list = list(access)?;
        Ok(Self { lead, list })
    }
}

/// What a request for the files of a ticket asks for.
#[derive(Debug)]
pub struct TicketWanted {
    /// Whose.
    pub ticket: TicketId,
    /// Which of them.
    pub list: ListRequest,
}

impl TicketWanted {
    /// Reads the path's id, `page` and `limit`.
    pub fn read(id: PathId, access: &Access<KeyInHeader>) -> Result<Self, TicketsError> {
        let ticket = id.ok().and_then(|Path(id)| TicketId::parse(&id));
        let ticket = ticket.ok_or(TicketsError::Id("ticket_id"))?;
        let list = list(access)?;
        Ok(Self { ticket, list })
    }
}

/// All records, or a page of them (C-62).
fn list(access: &Access<KeyInHeader>) -> Result<ListRequest, BadParameter> {
    let params = access.params();
    let limit = params.whole("limit")?.map(|limit| {
        let limit = u16::try_from(limit)
            .ok()
            .filter(|limit| (1..=1000).contains(limit));
        limit.ok_or(BadParameter("limit", "must be a whole number from 1 to 1000"))
    });
    Ok(ListRequest {
        page: params.whole("page")?,
        limit: limit.transpose()?,
        walker: access.walker(),
        client: access.client().to_owned(),
    })
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
