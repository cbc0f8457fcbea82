//! Funnels: columns, custom fields, and access.

use serde::{Deserialize, Serialize};

use crate::ids::{ColumnId, DepartmentId, FunnelId, GroupId, UserId};

/// A funnel of opportunities. Its serialized form is the line of an import (C-81).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Funnel {
    /// The funnel's id.
    pub id: FunnelId,
    /// Display name.
    pub name: String,
    /// Columns in any order. The attribute is absent if there are none.
    #[serde(default)]
    pub columns: Vec<Column>,
    /// The custom fields of its opportunities.
    #[serde(default)]
    pub fields: Vec<CustomField>,
    /// Access restrictions.
    #[serde(default)]
    pub access: FunnelAccess,
}

/// A column (stage) of a funnel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    /// The column's id, unique within the funnel.
    pub id: ColumnId,
    /// Display name.
    pub name: String,
    /// Sort position.
    #[serde(default)]
    pub sequence: u64,
}

/// A custom field of a funnel's opportunities.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CustomField {
    /// Name, compared byte for byte and never trimmed (C-30).
    pub name: String,
    /// Type, such as `text`. Responses contain it, but values are not checked against it.
    #[serde(rename = "type", default = "text")]
    pub kind: String,
}

/// Access to a funnel: everyone if all three lists are empty, else the users that any of them contains (C-82).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct FunnelAccess {
    /// Permitted users.
    pub users: Vec<UserId>,
    /// Permitted departments, including those below them.
    pub departments: Vec<DepartmentId>,
    /// Permitted groups.
    pub groups: Vec<GroupId>,
}

impl FunnelAccess {
    /// Whether access is unrestricted.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.users.is_empty() && self.departments.is_empty() && self.groups.is_empty()
    }
}

impl Funnel {
    /// Columns by sequence, then by id.
    #[must_use]
    pub fn columns_in_order(&self) -> Vec<&Column> {
        let mut columns: Vec<_> = self.columns.iter().collect();
        columns.sort_by_key(|column| (column.sequence, column.id));
        columns
    }

    /// Whether the column belongs to this funnel.
    #[must_use]
    pub fn has_column(&self, column: ColumnId) -> bool {
        self.columns.iter().any(|own| own.id == column)
    }

    /// Whether a custom field with exactly this name is defined.
    #[must_use]
    pub fn defines(&self, field: &str) -> bool {
        self.fields.iter().any(|own| own.name == field)
    }
}

fn text() -> String {
    "text".to_owned()
}
