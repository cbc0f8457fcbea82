//! Identifiers, one type for each kind of record.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The largest id: 15 digits, so every id is exact in JSON clients and sorts as fixed-width text.
pub const MAX_ID: u64 = 999_999_999_999_999;
/// The largest id of an imported record, so that a sequence continues above it (C-11).
pub const MAX_IMPORTED_ID: u64 = 899_999_999_999_999;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "u64", into = "u64")]
        pub struct $name(u64);

        impl $name {
            /// The largest id.
            pub const MAX: Self = Self(MAX_ID);

            /// An id from 1 to [`MAX_ID`]; `None` outside the range.
            #[must_use]
            pub fn new(id: u64) -> Option<Self> {
                (1..=MAX_ID).contains(&id).then_some(Self(id))
            }

            /// Parses the canonical decimal form: no sign, no leading zero.
            #[must_use]
            pub fn parse(text: &str) -> Option<Self> {
                parse(text).and_then(Self::new)
            }

            /// The number.
            #[must_use]
            pub fn get(self) -> u64 {
                self.0
            }

            /// The id as fixed-width text, which sorts numerically.
            #[must_use]
            pub fn padded(self) -> String {
                format!("{:015}", self.0)
            }
        }

        impl From<$name> for u64 {
            fn from(id: $name) -> Self {
                id.0
            }
        }

        impl TryFrom<u64> for $name {
            type Error = &'static str;

            fn try_from(id: u64) -> Result<Self, Self::Error> {
                Self::new(id).ok_or("must be an id from 1 to 999999999999999")
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )*};
}

ids! {
    /// A lead.
    LeadId;
    /// A user of an instance, who owns leads, answers calls and has credentials.
    UserId;
    /// A department, optionally below another.
    DepartmentId;
    /// A permission group.
    GroupId;
    /// A company.
    CompanyId;
    /// A record of the call history.
    CallId;
    /// An event on a lead's timeline.
    EventId;
    /// A funnel.
    FunnelId;
    /// A column of a funnel.
    ColumnId;
    /// An opportunity.
    OpportunityId;
    /// A calendar.
    CalendarId;
    /// A meeting on a calendar.
    MeetingId;
    /// A customer service ticket.
    TicketId;
    /// A file of a ticket.
    FileId;
    /// A report.
    ReportId;
    /// An automation.
    AutomationId;
    /// A form of a web page.
    FormId;
    /// A tag of leads.
    TagId;
    /// A reason for which opportunities are lost.
    LossReasonId;
}

fn parse(text: &str) -> Option<u64> {
    let is_canonical = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
    if is_canonical { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_positive_integers_in_range_are_ids() {
        assert_eq!(LeadId::parse("1001"), LeadId::new(1001));
        assert_eq!(LeadId::parse("999999999999999"), LeadId::new(MAX_ID));
        for bad in [
            "",
            "0",
            "-1",
            "+1",
            "1.0",
            "01",
            " 1",
            "1e3",
            "abc",
            "1000000000000000",
            "99999999999999999999999",
        ] {
            assert_eq!(LeadId::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn padded_ids_sort_like_numbers() {
        let padded = |id| LeadId::new(id).unwrap().padded();
        assert!(padded(9) < padded(10) && padded(10) < padded(MAX_ID));
    }
}
