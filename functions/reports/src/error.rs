//! What can be wrong with a request for reports, and the answer to each (spec.md, Errors; C-4, C-61, C-82).

use axum::response::{IntoResponse, Response};
use shared::http::{BadParameter, Refusal, Shape};
use shared::report::BadRange;
use shared::scope::AccessError;
use shared::store::StoreError;

/// Why reports are not shown.
#[derive(Debug, thiserror::Error)]
pub enum ReportsError {
    /// Not let in: 400 for `i`, 401 for the credentials.
    #[error(transparent)]
    Access(#[from] AccessError),
    /// 400: what the path names is no id.
    #[error("report_id: must be a whole number from 1 to 999999999999999")]
    Id,
    /// 400: a parameter has a value it does not take.
    #[error(transparent)]
    Parameter(#[from] BadParameter),
    /// 400: the days are no range.
    #[error(transparent)]
    Range(#[from] BadRange),
    /// 400: there are too many records to compute a report that has no stored result yet.
    #[error("report_id: the report is being prepared; try again in 5 minutes")]
    Preparing,
    /// 400: there is no result, because it would have more groups than anybody can plot.
    #[error("report_id: the report has too many groups; its definition must filter them")]
    TooLarge,
    /// 403: the key's group does not see reports.
    #[error("reports: the user does not have this permission")]
    Permission,
    /// 404: there is no such report.
    #[error("no such report")]
    NotFound,
    /// 500.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl IntoResponse for ReportsError {
    fn into_response(self) -> Response {
        Shape::Error.answer(&match &self {
            Self::Access(error) => Refusal::from(error),
            Self::Id | Self::Parameter(_) | Self::Range(_) | Self::Preparing | Self::TooLarge => {
                Refusal::Invalid(self.to_string())
            }
            Self::Permission => Refusal::Forbidden,
            Self::NotFound => Refusal::NotFound,
            Self::Store(cause) => {
                tracing::error!(%cause, "reports could not be read");
                Refusal::Internal
            }
        })
    }
}
