//! The lists in a lead or an opportunity that restrict who sees it (C-82).

use serde::{Deserialize, Serialize};

use crate::ids::{DepartmentId, UserId};

/// Users and departments that see a lead in addition to its owner. Empty lists restrict nothing (C-82).
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AccessLists {
    /// Permitted users.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub user_access: Vec<UserId>,
    /// Permitted departments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub department_access: Vec<DepartmentId>,
    /// Excludes the departments below the permitted ones.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub ignore_sub_departments: bool,
}

impl AccessLists {
    /// Whether the lists restrict nothing.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.user_access.is_empty() && self.department_access.is_empty()
    }
}

/// Users who see an opportunity in addition to its responsible user, by its own fields.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub enum Restriction {
    /// No restriction beyond permissions.
    #[default]
    #[serde(rename = "all")]
    Open,
    /// Only these users.
    #[serde(rename = "users")]
    Users(Vec<UserId>),
    /// Only users of these departments and those below them.
    #[serde(rename = "departments")]
    Departments(Vec<DepartmentId>),
}

impl Restriction {
    /// Whether nothing is restricted.
    #[must_use]
    pub fn is_open(&self) -> bool {
        *self == Self::Open
    }
}
