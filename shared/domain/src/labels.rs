//! Tags and loss reasons: labels that other records refer to. Only the operator writes them.

use serde::{Deserialize, Serialize};

use crate::ids::{LossReasonId, TagId};

/// A tag of leads (C-98).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tag {
    /// The tag's id, as leads' `tags` name it.
    pub id: TagId,
    /// Display name.
    pub tag: String,
    /// Display color, such as `#ff8800`.
    #[serde(default)]
    pub color: Option<String>,
}

/// A reason for which opportunities are lost (C-96).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LossReason {
    /// The reason's id.
    pub id: LossReasonId,
    /// Display name.
    pub name: String,
}
