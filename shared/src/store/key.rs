//! The text of every key of the table. No other module writes one.
//!
//! A partition key begins with the name of the instance. The name cannot contain the delimiter, so no other part of a
//! key can lead to another instance. Three kinds of items belong to no instance, and their keys begin with the
//! delimiter: credentials, which contain their instance, the operator's list of instances, and the table's format.

mod automation;
mod base;
mod board;
mod calendar;
mod directory;
mod form;
mod lead;
mod report;
mod ticket;

use crate::credential::{CredentialHash, CredentialKind};
use crate::ids::{CompanyId, LeadId, MAX_ID, MeetingId, OpportunityId, TicketId, UserId};
use crate::instance::InstanceName;
use crate::store::rate::Budget;
use table::KeyRange;

pub use table::Key;

pub use automation::{
    Cause, notifications, notified, outbox_notifications, outbox_triggers, streamed, triggered,
};
pub use base::{Keys, class, number};
pub use board::{
    BoardList, BoardTotalOf, DAY_MILLIS, EntryKey, after_places, before_places, before_rank, column_begins,
    place, placed, rank, rank_begins, rank_day, rank_span, ranked_day, restricted_rank, restricted_ranked,
    total_column, total_of, user_begins, user_column_begins,
};
pub use calendar::AgendaOf;
pub use directory::{department_members, member_department};
pub use lead::{
    class_of, in_span, keyed_id, looked_up_lead, numbered_block, stale_marker_lead, tombstone_lead,
};
pub use report::{
    Months, report_generation, report_part_name, report_part_sort, report_slice, report_slice_begins,
    report_version,
};
pub use ticket::placed_ticket;

/// Number of links that are read at a time. Their records are one batch of gets.
pub const BATCH: usize = 100;

/// The record that an item is derived from, as far as its key determines it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The item is no list entry, look-up, event or total.
    None,
    /// This lead. `None` if no such key is ever written.
    Lead(Option<LeadId>),
    /// A call. The item is its event and contains its id.
    Event,
    /// This opportunity. `None` if no such key is ever written.
    Opportunity(Option<OpportunityId>),
    /// A calendar. The item is its look-up and contains its id.
    CalendarLink,
    /// A form. The item is its look-up and contains its id.
    FormLink,
    /// This meeting. `None` if no such key is ever written.
    Meeting(Option<MeetingId>),
    /// This ticket. `None` if no such key is ever written.
    Ticket(Option<TicketId>),
    /// The file that [`Keys::listed_file`] returns.
    File,
    /// Many leads. The item is a total.
    LeadTotal,
    /// Many opportunities. The item is a total.
    OpportunityTotal,
    /// Many meetings. The item is a total.
    MeetingTotal,
    /// Many calendars. The item is a total.
    CalendarTotal,
}

/// A counter of an instance: an item with the last ids of its kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Counter {
    Lead,
    /// Calls and events. Both ids are in one item, because one write takes both.
    Call,
    Opportunity,
    Calendar,
    Meeting,
    Ticket,
    /// Of `funil user add`, and the next of `funil funnel add`.
    User,
    Funnel,
}

/// A credential by its hash.
pub fn credential(hash: &CredentialHash) -> Key {
    Key::new(format!("{CREDENTIAL_PREFIX}{}", hash.as_str()), "credential")
}

/// Selects every item of an instance, and its credentials.
#[cfg(any(feature = "operator", feature = "testing"))]
pub fn everything(instance: &InstanceName) -> table::Selection<'_> {
    table::Selection {
        prefix: Keys::of(instance).prefix(),
        other_prefix: CREDENTIAL_PREFIX,
        attribute: ("instance", instance.as_str()),
    }
}

/// The prefix of the partition keys of items that requests find by a credential's hash.
pub const CREDENTIAL_PREFIX: &str = "#credential#";

/// The item with the table's format (C-88).
pub fn format() -> Key {
    Key::new("#format".to_owned(), "format")
}

/// The partition of the operator's list of instances.
pub fn instances() -> String {
    "#instance".to_owned()
}

/// An instance in the operator's list.
pub fn instance(name: &InstanceName) -> Key {
    Key::new(instances(), name.as_str())
}

/// The name of the partition of work that was set aside.
const ASIDE: &str = "aside";

/// The key of an item of background work after it was set aside: one partition has those of all kinds of work.
pub fn aside_key(key: &Key) -> Key {
    let (instance, kind) = key.pk.split_once('#').unwrap_or((&key.pk, ""));
    Key::new(format!("{instance}#{ASIDE}"), format!("{kind}#{}", key.sk))
}

/// The key that an item had before it was set aside. `None` if no such key is ever written.
pub fn original_key(aside: &Key) -> Option<Key> {
    let instance = aside.pk.strip_suffix(ASIDE)?;
    let (kind, sort) = aside.sk.split_once('#')?;
    Some(Key::new(format!("{instance}{kind}"), sort))
}

impl Keys<'_> {
    /// Returns the record from which an item of the instance is derived. The first part of the partition key after the
    /// instance determines the kind of the item; the sort key contains the id.
    pub fn origin(self, key: &Key) -> Origin {
        let Some(rest) = key.pk.strip_prefix(&self.prefix()) else {
            return Origin::None;
        };
        let lead_id = |text: &str| LeadId::new(text.parse().ok()?);
        match rest.split('#').next() {
            Some(board::BOARD) => Origin::Opportunity(placed(&key.sk).and_then(OpportunityId::new)),
            Some("title" | "wordy-title") => {
                Origin::Opportunity(keyed_id(&key.sk).and_then(OpportunityId::new))
            }
            Some("lead-opportunity") => Origin::Opportunity(key.sk.parse().ok().and_then(OpportunityId::new)),
            Some("leads" | "wordy" | "company-lead" | "lead-details") => Origin::Lead(lead_id(&key.sk)),
            Some("phone" | "email" | "word" | "number") => Origin::Lead(looked_up_lead(&key.sk)),
            Some("timeline") => Origin::Event,
            Some("calendar-link" | "calendar-public") => Origin::CalendarLink,
            Some("hook-link") => Origin::FormLink,
            Some("meetings") => Origin::Meeting(calendar::listed(&key.sk)),
            Some("lead-meeting") => Origin::Meeting(key.sk.parse().ok().and_then(MeetingId::new)),
            Some("agenda" | "user-agenda") => Origin::MeetingTotal,
            Some("shared-buffers") => Origin::CalendarTotal,
            Some("meeting-month") if calendar::is_month(&key.sk) => Origin::MeetingTotal,
            Some("meeting-month") => Origin::Meeting(None),
            Some("lead-ticket") => Origin::Ticket(placed_ticket(&key.sk)),
            Some("ticket-file" | "lead-file") => Origin::File,
            Some("lead-total" | lead::RESTRICTED_LEADS | lead::LEAD_BLOCKS) => Origin::LeadTotal,
            Some("board-total" | "board-rank" | board::RESTRICTED_TOTAL | board::RESTRICTED_RANK) => {
                Origin::OpportunityTotal
            }
            _ => Origin::None,
        }
    }

    /// The item with the last id of a kind.
    pub fn counter(self, counter: Counter) -> Key {
        let sk = match counter {
            Counter::Lead => "lead",
            Counter::Call => "call",
            Counter::Opportunity => "opportunity",
            Counter::Calendar => "calendar",
            Counter::Meeting => "meeting",
            Counter::Ticket => "ticket",
            Counter::User => "user",
            Counter::Funnel => "funnel",
        };
        Key::new(self.pk("counter"), sk)
    }

    /// All credentials of the instance, for the operator.
    pub fn credentials(self) -> String {
        self.pk("credential")
    }

    /// A credential in the operator's list.
    pub fn credential(self, kind: CredentialKind, id: &str) -> Key {
        let kind = match kind {
            CredentialKind::Key => "key",
            CredentialKind::Token => "token",
        };
        Key::new(self.credentials(), format!("{kind}#{id}"))
    }

    /// All users.
    pub fn users(self) -> String {
        self.pk("user")
    }

    /// A user.
    pub fn user(self, id: UserId) -> Key {
        Key::new(self.users(), id.padded())
    }

    /// All companies.
    pub fn companies(self) -> String {
        self.pk("company")
    }

    /// A company.
    pub fn company(self, id: CompanyId) -> Key {
        Key::new(self.companies(), id.padded())
    }

    /// All profiles of messaging accounts.
    pub fn profiles(self) -> String {
        self.pk("profile")
    }

    /// The profile of a number in its normal form.
    pub fn profile(self, digits: &str) -> Key {
        Key::new(self.profiles(), digits)
    }

    /// Background work that was set aside, by the partition that it was in.
    pub fn set_aside(self) -> String {
        self.pk(ASIDE)
    }

    /// The outcome of a request with an `Idempotency-Key`, by a digest of its scope and key.
    pub fn idempotency(self, digest: &str) -> Key {
        Key::new(self.pk(&format!("idempotency#{digest}")), "idempotency")
    }

    /// The partition with the minutes of a rate limit's budget.
    pub fn rates(self, budget: Budget<'_>) -> String {
        match budget {
            Budget::Keys => self.pk("rate#keys"),
            Budget::Key(id) => self.pk(&format!("rate#key#{id}")),
            Budget::Public(route) => self.pk(&format!("rate#public#{}", route.as_str())),
            Budget::Webhook => self.pk("rate#webhook"),
        }
    }

    /// The item that counts the requests of a budget in a minute. Minutes are numbered from 1970.
    pub fn rate(self, budget: Budget<'_>, minute: u64) -> Key {
        Key::new(self.rates(budget), number(minute))
    }

    /// The cursor of a page of a list.
    pub fn page_cursor(self, cursor: &str, page: u64) -> Key {
        Key::new(self.pk(&format!("bookmark#{cursor}")), format!("{page:020}"))
    }
}

/// The key of a lead's entry in partition `list`.
pub fn entry(list: String, id: LeadId) -> Key {
    Key::new(list, id.padded())
}

/// Divides the items of a partition with a number above `after` into `parts` ranges of equally many numbers. `last` is
/// the greatest number expected. Items may be added concurrently, so the last range has no end.
pub fn split(partition: &str, after: u64, last: u64, parts: u64) -> Vec<KeyRange> {
    let step = last.min(MAX_ID).saturating_sub(after).div_ceil(parts).max(1);
    let bound = |part: u64| number((after + part * step).min(MAX_ID));
    let ranges = (0..parts).map(|part| KeyRange {
        after: Some(bound(part)),
        through: (part + 1 < parts).then(|| bound(part + 1)),
        ..KeyRange::whole(partition.to_owned())
    });
    // Bounds above the greatest id are equal, and such ranges empty.
    ranges.filter(|range| range.after != range.through).collect()
}

/// The parts of a class's name.
pub fn class_parts(class: &str) -> impl Iterator<Item = &str> {
    class.split('#')
}

/// A total in partition `totals`.
pub fn total(totals: String, class: &str) -> Key {
    Key::new(totals, class)
}

#[cfg(test)]
mod tests;
