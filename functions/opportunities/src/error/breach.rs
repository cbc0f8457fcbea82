//! What endpoints 7 and 8 refuse in a body (C-7, C-30, C-31). Each text names the field at fault.

use shared::http::{BadParameter, NotJson};
use shared::id::{ColumnId, FunnelId, LeadId, UserId};

/// Why an opportunity cannot be made or changed as a request asks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Breach {
    /// The body is not JSON.
    #[error("body: must be JSON")]
    NotJson,
    /// The body is JSON, but no object.
    #[error("body: must be a JSON object")]
    NotObject,
    /// The parameter `id` stands more than once.
    #[error(transparent)]
    Parameter(#[from] BadParameter),
    /// A field without which no opportunity can be made.
    #[error("{0}: is required")]
    Missing(&'static str),
    /// A field does not hold what it must.
    #[error("{0}: {1}")]
    Field(&'static str, &'static str),
    /// A custom field does not hold what it must.
    #[error("fields.{0}: {1}")]
    CustomField(String, &'static str),
    /// There is no such funnel, or the key may not see it.
    #[error("id: funnel {0} does not exist")]
    Funnel(FunnelId),
    /// The column is not one of the funnel's.
    #[error("crm_column: column {0} is not one of funnel {1}")]
    Column(ColumnId, FunnelId),
    /// There is no such lead, or the key may not see it.
    #[error("lead_id: lead {0} does not exist")]
    Lead(LeadId),
    /// There is no such user.
    #[error("user: user {0} does not exist")]
    User(UserId),
    /// The funnel defines no custom field of this name.
    #[error("fields.{0}: is not a field of funnel {1}")]
    Undefined(String, FunnelId),
    /// The record would be too large. Everything else in it is short, so it is the custom fields that are too many.
    #[error("fields: the record must not be larger than 100 KB")]
    TooLarge,
}

impl From<NotJson> for Breach {
    fn from(_: NotJson) -> Self {
        Self::NotJson
    }
}
