//! What can be wrong with a request for leads, and the answer to each (C-1, C-4, C-22, C-23).

use axum::response::{IntoResponse, Response};
use shared::http::{BadParameter, Refusal, Shape};
use shared::scope::AccessError;
use shared::selection::SelectionError;
use shared::store::StoreError;

/// What a search or a far page can do that reads too much (C-86).
const OVER_BUDGET: &str = "search: this would read more than read_budget allows, or for too long; read the pages without a search and in their order";

/// Why a request for leads is refused.
#[derive(Debug, thiserror::Error)]
pub enum LeadError {
    /// Not let in: 400 for `i`, 401 for the credentials.
    #[error(transparent)]
    Access(#[from] AccessError),
    /// 400: the id in the path is no id.
    #[error("id: must be a whole number from 1 to 999999999999999")]
    Id,
    /// 400: a field of the body is absent, or does not hold what it must.
    #[error("{0}: {1}")]
    Field(&'static str, &'static str),
    /// 400: what stands at a place of a list of ids is none.
    #[error("{0}[{1}]: must be an id")]
    ListedId(&'static str, usize),
    /// 403: the key's group may not do it.
    #[error("the user does not have this permission")]
    Permission,
    /// 400: a parameter has a value it does not take.
    #[error(transparent)]
    Parameter(#[from] BadParameter),
    /// 400: `query` selects what cannot be selected.
    #[error("query: {0}")]
    Selection(#[from] SelectionError),
    /// 404: there is no such lead, or none that the key may see.
    #[error("no such lead")]
    NotFound,
    /// 500.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl IntoResponse for LeadError {
    fn into_response(self) -> Response {
        Shape::Error.answer(&match &self {
            Self::Access(error) => Refusal::from(error),
            Self::Permission => Refusal::Forbidden,
            Self::Id | Self::Field(..) | Self::ListedId(..) | Self::Parameter(_) | Self::Selection(_) => {
                Refusal::Invalid(self.to_string())
            }
            Self::NotFound => Refusal::NotFound,
            Self::Store(StoreError::OverBudget) => Refusal::Invalid(OVER_BUDGET.to_owned()),
            Self::Store(cause) => {
                tracing::error!(%cause, "leads could not be read or written");
                Refusal::Internal
            }
        })
    }
}
