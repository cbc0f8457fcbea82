//! What can be wrong with a request for opportunities or funnels, and the answer to each: an enum for each endpoint, and
//! [`Breach`] for what endpoints 7 and 8 refuse alike.

mod breach;
mod create;
mod funnels;
mod list;
mod update;

pub use breach::Breach;
pub use create::CreateError;
pub use funnels::FunnelsError;
pub use list::ListError;
pub use update::UpdateError;

use shared::http::Refusal;
use shared::store::StoreError;

/// What happened is for the log alone.
fn internal(cause: &StoreError, what: &str) -> Refusal {
    tracing::error!(%cause, "{what}");
    Refusal::Internal
}

#[cfg(test)]
mod tests;
