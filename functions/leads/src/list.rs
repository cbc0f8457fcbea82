//! `GET /leads`: endpoint 1.

use axum::Json;
use serde_json::{Value, json};
use shared::scope::{Access, KeyAndToken, Scope};
use shared::store::{LeadPage, Names, Reader, StoreError};

use crate::error::LeadError;
use crate::view::{View, entry};
use crate::wire::NewList;

/// The leads that the key may see, by id, with their total under the same filters. One round trip for pages near the
/// front where the key sees every lead; whole records behind the first page take one more.
pub async fn list(access: Access<KeyAndToken>) -> Result<Json<Value>, LeadError> {
    let wanted = NewList::read(access.params(), access.walker(), access.client().to_owned());
    let (scope, NewList { request, view }, begun) = access
        .open_for(wanted, async |reader: &Reader, wanted: &NewList| {
            tokio::try_join!(
                reader.begin_leads(&wanted.request),
                wanted.view.names(reader, "leads")
            )
        })
        .await?;
    let (start, names) = begun?;
    let page = scope.store.finish_leads(&scope.viewer, &request, start).await?;
    let total = page.total;
    let leads = leads(&scope, &view, page, &names).await?;
    let data = json!({ "total": total, "leads": leads });
    Ok(Json(json!({ "data": view.cut(data) })))
}

async fn leads(scope: &Scope, view: &View, page: LeadPage, names: &Names) -> Result<Vec<Value>, StoreError> {
    if !view.needs_record("leads") {
        return Ok(page.entries.iter().map(entry).collect());
    }
    let leads = scope.store.leads_of(page).await?;
    Ok(leads.iter().map(|lead| view.lead(lead, scope, names)).collect())
}
