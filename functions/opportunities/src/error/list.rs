//! Endpoint 10: a body that breaks the schema is answered as AJV reports it, any other invalid request with
//! `{ "error": "Invalid request" }` and nothing more (spec.md, Errors; C-41); a header tells what is wrong.

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde_json::json;
use shared::http::{NotJson, Refusal, Shape};
use shared::id::FunnelId;
use shared::opportunity::BadDate;
use shared::schema::Violation;
use shared::scope::AccessError;
use shared::store::StoreError;

use super::internal;

/// What a search, a filter or a far page can do that reads too much (C-86).
const OVER_BUDGET: &str = "filters: this would read more than read_budget allows, or for too long; narrow it by columnId, filterByStatus, filterByUsers or filterByCreateDate, or read the pages in their order";

/// Why the opportunities of a funnel are not listed, in the order of judgement (C-41).
#[derive(Debug, thiserror::Error)]
pub enum ListError {
    /// Not let in: 400 for `i`, 401 for the credentials.
    #[error(transparent)]
    Access(#[from] AccessError),
    /// 400: the body is not JSON.
    #[error("body: must be JSON")]
    NotJson,
    /// 400 in a shape of its own: the body breaks the schema.
    #[error("{} {}", .0.instance_path, .0.message)]
    Schema(Box<Violation>),
    /// 400: the id in the path is no id.
    #[error("funnel_id: must be a whole number from 1 to 999999999999999")]
    Id,
    /// 400: there is no such funnel.
    #[error("funnel_id: funnel {0} does not exist")]
    Funnel(FunnelId),
    /// 401: the key may not see the funnel.
    #[error("the funnel is not for this key")]
    Permission,
    /// 400: `columnId` is not one of the funnel's.
    #[error("columnId: is not a column of funnel {0}")]
    Column(FunnelId),
    /// 400: there are more conditions than a request can have.
    #[error("filters: must have at most 50 conditions")]
    TooManyConditions,
    /// 400: a date filter is no date, or begins after it ends (C-8, C-43).
    #[error("{0}: {1}")]
    Date(&'static str, BadDate),
    /// 500.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<NotJson> for ListError {
    fn from(_: NotJson) -> Self {
        Self::NotJson
    }
}

impl IntoResponse for ListError {
    fn into_response(self) -> Response {
        Shape::Fixed.answer(&match &self {
            Self::Access(error) => Refusal::from(error),
            Self::Schema(violation) => return breach(violation),
            Self::NotJson
            | Self::Id
            | Self::Funnel(_)
            | Self::Column(_)
            | Self::TooManyConditions
            | Self::Date(..) => Refusal::Invalid(self.to_string()),
            Self::Permission => Refusal::Unauthorized,
            Self::Store(StoreError::OverBudget) => Refusal::Invalid(OVER_BUDGET.to_owned()),
            Self::Store(cause) => internal(cause, "opportunities could not be listed"),
        })
    }
}

fn breach(violation: &Violation) -> Response {
    let details = json!({
        "instancePath": violation.instance_path,
        "schemaPath": violation.schema_path,
        "keyword": violation.keyword,
        "params": violation.params,
    });
    let body = json!({ "msg": violation.message, "details": details });
    (StatusCode::BAD_REQUEST, Json(body)).into_response()
}
