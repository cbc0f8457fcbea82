//! `GET /crm`: endpoint 9.

use axum::Json;
use axum::response::{IntoResponse as _, Response};
use shared::scope::{Access, KeyInQuery};
use shared::store::Reader;

use crate::error::FunnelsError;
use crate::view::FunnelView;

/// The funnels that the key may see, by id, each with its columns in order and its custom fields (C-34). One round trip:
/// the funnels are read beside the credential.
pub async fn list(access: Access<KeyInQuery>) -> Result<Response, FunnelsError> {
    let everything = Ok::<(), FunnelsError>(());
    let (scope, (), funnels) = access
        .without_colleagues()
        .open_for(everything, async |reader: &Reader, (): &()| {
            reader.funnels().await
        })
        .await?;
    let mut funnels = funnels?;
    funnels.retain(|funnel| scope.viewer.sees_funnel(&funnel.access));
    let shown: Vec<_> = funnels.iter().map(FunnelView::of).collect();
    Ok(Json(shown).into_response())
}
