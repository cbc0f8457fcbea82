//! Who sees a lead.

use serde::{Deserialize, Serialize};

use crate::ids::UserId;
use crate::lead::Lead;
use crate::viewer::Viewer;
use crate::visibility::AccessLists;

/// The attributes that determine who sees a lead.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeadClass {
    #[serde(rename = "o", default)]
    pub owner: Option<UserId>,
    #[serde(flatten)]
    pub lists: AccessLists,
}

impl LeadClass {
    pub(crate) fn of(lead: &Lead) -> Self {
        Self {
            owner: lead.owner,
            lists: lead.lists(),
        }
    }

    pub(super) fn is_seen_by(&self, viewer: &Viewer) -> bool {
        viewer.sees_lead(self.owner, &self.lists)
    }
}
