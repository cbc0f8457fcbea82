//! `GET /sac360/list_file_lead/{id}`: endpoint 18.

use axum::Json;
use shared::id::LeadId;
use shared::scope::{Access, KeyInHeader};
use shared::store::Reader;

use crate::error::TicketsError;
use crate::view::FileView;
use crate::wire::{PathId, lead_id, permitted, sees};

/// The files of all tickets of a lead, by ticket, then by file (C-62). One round trip: the lead and the files are read beside
/// the credential.
pub async fn list(access: Access<KeyInHeader>, id: PathId) -> Result<Json<Vec<FileView>>, TicketsError> {
    let (scope, id, found) = access
        .open_for(lead_id(id), async |reader: &Reader, id: &LeadId| {
            tokio::try_join!(reader.lead(*id), reader.lead_files(*id))
        })
        .await?;
    permitted(&scope.viewer)?;
    let (lead, files) = found?;
    lead.filter(|lead| sees(&scope.viewer, Some(lead)))
        .ok_or(TicketsError::Lead(id))?;
    Ok(Json(files.into_iter().map(FileView::from).collect()))
}
