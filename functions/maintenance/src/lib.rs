//! Maintenance: what no client calls and the clock does.
//!
//! | Every | Duty |
//! | --- | --- |
//! | minute | copies of changed leads are brought up to date ([`tend`]) |
//!
//! Nothing that a client sees waits for it: while a copy is behind, readers take the lead itself. It only ends that they
//! have to.

use shared::store::{Store, StoreError};

/// Does all that is due, for all instances. What fails or is cut off is done the next time.
///
/// # Errors
/// [`StoreError`] where the table fails.
pub async fn tend(store: &Store) -> Result<(), StoreError> {
    let leads = store.refresh_copies().await?;
    if leads > 0 {
        tracing::info!(leads, "copies brought up to date");
    }
    Ok(())
}
