//! The permissions that endpoints require (C-82), as types, so that a handler's signature states them.

use crate::http::RequestError;
use crate::permissions::Permissions;
use crate::viewer::Viewer;

/// A permission of a user's group.
pub trait Permission: Send + Sync {
    /// Its name in a group's record and in errors.
    const NAME: &str;
    /// Whether the response depends on the leads and opportunities that the user sees. If not, the members of the user's
    /// department are not read.
    const NEEDS_COLLEAGUES: bool = true;

    /// Whether a group has it.
    fn is_granted(permissions: &Permissions) -> bool;

    /// Checks that a user has it.
    ///
    /// # Errors
    /// [`RequestError::Permission`] if the user's group lacks it.
    fn require(viewer: &Viewer) -> Result<(), RequestError> {
        if Self::is_granted(viewer.permissions()) {
            return Ok(());
        }
        Err(RequestError::Permission(Self::NAME))
    }
}

/// Requires no permission. The response depends on the visibility of records.
#[derive(Debug)]
pub struct AnyUser;

impl Permission for AnyUser {
    const NAME: &str = "";

    fn is_granted(_: &Permissions) -> bool {
        true
    }
}

/// Requires no permission. The response does not depend on the visibility of leads and opportunities.
#[derive(Debug)]
pub struct DirectoryOnly;

impl Permission for DirectoryOnly {
    const NAME: &str = "";
    const NEEDS_COLLEAGUES: bool = false;

    fn is_granted(_: &Permissions) -> bool {
        true
    }
}

macro_rules! permissions {
    ($($(#[$doc:meta])* $name:ident: $text:literal, $field:ident, $colleagues:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name;

        impl Permission for $name {
            const NAME: &str = $text;
            const NEEDS_COLLEAGUES: bool = $colleagues;

            fn is_granted(permissions: &Permissions) -> bool {
                permissions.$field
            }
        }
    )*};
}

permissions! {
    /// Endpoint 5.
    DeleteLeads: "deleteLeads", delete_leads, true;
    /// Endpoint 6.
    ArchiveLeads: "archiveLeads", archive_leads, true;
    /// `POST /leads`, `PUT /leads` and `PUT /leads/{id}`.
    EditLeads: "editLeads", edit_leads, true;
    /// Endpoints 7 and 8.
    EditOpportunities: "editOpportunities", edit_opportunities, true;
    /// Endpoints 11 and 12.
    SeeCalendars: "calendars", calendars, false;
    /// `GET /leads/{id}/meetings`.
    SeeLeadMeetings: "calendars", calendars, true;
    /// Endpoints 14 and 15.
    SeeReports: "reports", reports, false;
    /// Endpoints 16 to 18.
    SeeTickets: "tickets", tickets, true;
}
