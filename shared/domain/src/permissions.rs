//! Permissions of a group (C-82).

use serde::{Deserialize, Serialize};

/// Access to leads or opportunities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AccessLevel {
    /// Every record.
    All,
    /// Records of the user's department and those below it.
    Department,
    /// The user's own records.
    Own,
    /// No records. Unknown levels of later versions are also read as this (C-88).
    #[default]
    #[serde(other)]
    None,
}

/// The permissions of a group. Absent permissions are denied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "they are the independent switches of C-82, named as it names them"
)]
pub struct Permissions {
    /// Visible leads.
    pub leads: AccessLevel,
    /// Visible opportunities.
    pub opportunities: AccessLevel,
    /// See won and lost opportunities.
    pub won_lost: bool,
    /// Delete leads (endpoint 5).
    pub delete_leads: bool,
    /// Archive and unarchive leads (endpoint 6).
    pub archive_leads: bool,
    /// Create and change leads through the API. Granted if the group does not specify it (C-82).
    #[serde(default = "granted")]
    pub edit_leads: bool,
    /// Create and change opportunities (endpoints 7 and 8).
    pub edit_opportunities: bool,
    /// See calendars and meetings (endpoints 11 and 12).
    pub calendars: bool,
    /// See tickets and files (endpoints 16 to 18).
    pub tickets: bool,
    /// See reports (endpoints 14 and 15).
    pub reports: bool,
}

impl Permissions {
    /// Permissions of an admin.
    pub const EVERYTHING: Self = Self {
        leads: AccessLevel::All,
        opportunities: AccessLevel::All,
        won_lost: true,
        delete_leads: true,
        archive_leads: true,
        edit_leads: true,
        edit_opportunities: true,
        calendars: true,
        tickets: true,
        reports: true,
    };
}

fn granted() -> bool {
    true
}
