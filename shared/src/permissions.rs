//! What a group of users may do (C-82).

use serde::{Deserialize, Serialize};

/// How far a group's sight reaches over leads or opportunities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reach {
    /// Every record.
    All,
    /// The records of the user's department and of those below it.
    Department,
    /// The user's own records.
    Own,
    /// Nothing. So is a level that a later version made (C-88).
    #[default]
    #[serde(other)]
    None,
}

/// The permissions of a group. What a group does not say, it does not allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "they are the independent switches of C-82, named as it names them"
)]
pub struct Permissions {
    /// Which leads are seen.
    pub leads: Reach,
    /// Which opportunities are seen.
    pub opportunities: Reach,
    /// Won and lost opportunities are seen.
    pub won_lost: bool,
    /// Leads may be deleted (endpoint 5).
    pub delete_leads: bool,
    /// Leads may be archived and unarchived (endpoint 6).
    pub archive_leads: bool,
    /// Opportunities may be created and changed (endpoints 7 and 8).
    pub edit_opportunities: bool,
    /// Calendars and meetings are seen (endpoints 11 and 12).
    pub calendars: bool,
    /// Tickets and files are seen (endpoints 16 to 18).
    pub tickets: bool,
    /// Reports are seen (endpoints 14 and 15).
    pub reports: bool,
}

impl Permissions {
    /// What a user marked `admin` may do: everything.
    pub const EVERYTHING: Self = Self {
        leads: Reach::All,
        opportunities: Reach::All,
        won_lost: true,
        delete_leads: true,
        archive_leads: true,
        edit_opportunities: true,
        calendars: true,
        tickets: true,
        reports: true,
    };
}
