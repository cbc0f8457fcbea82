//! `GET /sac360/list_file_lead/{id}`: endpoint 18.

use axum::Json;
use shared::scope::{Access, KeyInHeader};
use shared::store::Reader;

use crate::error::TicketsError;
use crate::view::FileView;
use crate::wire::{LeadWanted, PathId, permitted, sees};

/// The files of all tickets of a lead, by ticket, then by file, all or a page of them (C-62). One round trip where the page is
/// short: the lead and the page's beginning are read beside the credential.
pub async fn list(access: Access<KeyInHeader>, id: PathId) -> Result<Json<Vec<FileView>>, TicketsError> {
    let wanted = LeadWanted::read(id, &access);
    let (scope, wanted, found) = access
        .open_for(wanted, async |reader: &Reader, wanted: &LeadWanted| {
            tokio::try_join!(
                reader.lead(wanted.lead),
                reader.begin_lead_files(wanted.lead, &wanted.list)
            )
        })
        .await?;
    permitted(&scope.viewer)?;
    let (lead, start) = found?;
    lead.filter(|lead| sees(&scope.viewer, Some(lead)))
        .ok_or(TicketsError::Lead(wanted.lead))?;
    let files = scope
        .store
        .finish_files(&scope.viewer, &wanted.list, start)
        .await?;
    Ok(Json(files.into_iter().map(FileView::from).collect()))
}
