//! Funnels: their columns, their custom fields, and who may see them.

use serde::{Deserialize, Serialize};

use crate::id::{ColumnId, DepartmentId, FunnelId, GroupId, UserId};

/// A funnel of opportunities. The serialized form is that of an import's line (C-81).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Funnel {
    /// The funnel's id.
    pub id: FunnelId,
    /// What it is called.
    pub name: String,
    /// Its columns, in any order. An item without any has no such attribute.
    #[serde(default)]
    pub columns: Vec<Column>,
    /// The custom fields of its opportunities.
    #[serde(default)]
    pub fields: Vec<CustomField>,
    /// Who may see it.
    #[serde(default)]
    pub access: FunnelAccess,
}

/// A column (stage) of a funnel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    /// The column's id, one of its own within the funnel.
    pub id: ColumnId,
    /// What it is called.
    pub name: String,
    /// Its place among the columns.
    #[serde(default)]
    pub sequence: u64,
}

/// A custom field of a funnel's opportunities.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CustomField {
    /// Its name, compared byte for byte and never trimmed (C-30).
    pub name: String,
    /// Its kind, such as `text`: told to callers, and not enforced.
    #[serde(rename = "type", default = "text")]
    pub kind: String,
}

/// Who may see a funnel: everyone where all three lists are empty, else whom any of them names (C-82).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct FunnelAccess {
    /// Users that are admitted.
    pub users: Vec<UserId>,
    /// Departments whose users are admitted, those below them too.
    pub departments: Vec<DepartmentId>,
    /// Groups whose users are admitted.
    pub groups: Vec<GroupId>,
}

impl FunnelAccess {
    /// Whether everyone is admitted.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.users.is_empty() && self.departments.is_empty() && self.groups.is_empty()
    }
}

impl Funnel {
    /// The columns in the order of their sequence; of equal ones the lower id comes first.
    #[must_use]
    pub fn columns_in_order(&self) -> Vec<&Column> {
        let mut columns: Vec<_> = self.columns.iter().collect();
        columns.sort_by_key(|column| (column.sequence, column.id));
        columns
    }

    /// Whether a column is one of this funnel's.
    #[must_use]
    pub fn has_column(&self, column: ColumnId) -> bool {
        self.columns.iter().any(|own| own.id == column)
    }

    /// Whether a custom field of exactly this name is defined.
    #[must_use]
    pub fn defines(&self, field: &str) -> bool {
        self.fields.iter().any(|own| own.name == field)
    }
}

fn text() -> String {
    "text".to_owned()
}
