//! `GET /leads`: endpoint 1.

use axum::response::Response;
use serde::Serialize;
use shared::scope::{Access, KeyAndToken};
use shared::store::Reader;

use crate::error::LeadError;
use crate::view::Shown;
use crate::wire::NewList;

#[derive(Serialize)]
struct Many<'a> {
    total: u64,
    leads: Vec<Shown<'a>>,
}

/// The leads that the key may see, by id, with their total under the same filters. One round trip for pages near the
/// front where the key sees every lead; whole records behind the first page take one more, and so do owners' names that
/// this process did not expect.
pub async fn list(access: Access<KeyAndToken>) -> Result<Response, LeadError> {
    let wanted = NewList::read(access.params(), access.walker(), access.client().to_owned());
    let (scope, NewList { request, view }, begun) = access
        .open_for(wanted, async |reader: &Reader, wanted: &NewList| {
            tokio::try_join!(
                reader.begin_leads(&wanted.request),
                wanted.view.expected_names(reader, "leads")
            )
        })
        .await?;
    let (start, names) = begun?;
    let page = scope.store.finish_leads(&scope.viewer, &request, start).await?;
    let total = page.total;
    if !view.needs_record("leads") {
        let leads = page.entries.iter().map(Shown::entry).collect();
        return Ok(view.answer(Many { total, leads }));
    }
    let mut leads = scope.store.leads_of(page).await?;
    let names = view.names(&scope.store, (names, "leads"), &leads).await?;
    let leads = leads
        .iter_mut()
        .map(|lead| view.lead(lead, &scope, &names))
        .collect();
    Ok(view.answer(Many { total, leads }))
}
