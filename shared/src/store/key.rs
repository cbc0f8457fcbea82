//! The text of every key of the table. No other module writes one.
//!
//! A partition key begins with the instance, whose name cannot hold the delimiter, so no other part of a key can lead
//! into another instance. Three kinds of items belong to no instance, and their keys begin with the delimiter itself:
//! credentials, which say which instance they open, the operator's list of instances, and the table's format.

mod automation;
mod board;
mod calendar;
mod directory;
mod report;
mod ticket;

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;

use crate::credential::{CredentialHash, Kind};
use crate::id::{CallId, CompanyId, EventId, LeadId, MeetingId, OpportunityId, TicketId, UserId};
use crate::instance::InstanceName;
use crate::store::rate::Budget;

pub use automation::{notifications, notified, streamed, triggered};
pub use board::{
    BoardList, place, place_time, placed, rank, rank_begins, rank_day, ranked_day, total_column,
};
pub use directory::{department_members, member_department};
pub use report::{Months, report_generation, report_part_name, report_version};
pub use ticket::placed_ticket;

/// The primary key of an item.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    pub pk: String,
    pub sk: String,
}

impl Key {
    fn new(pk: String, sk: impl Into<String>) -> Self {
        Self { pk, sk: sk.into() }
    }

    /// The key as the SDK wants it.
    pub fn attributes(&self) -> HashMap<String, AttributeValue> {
        HashMap::from([
            ("pk".to_owned(), AttributeValue::S(self.pk.clone())),
            ("sk".to_owned(), AttributeValue::S(self.sk.clone())),
        ])
    }
}

impl std::fmt::Display for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.pk, self.sk)
    }
}

/// Of what kind of record an item is derived, as far as its key tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// It is no item of a list, no look-up, no event and no total.
    None,
    /// Of this lead; `None` where the key is not one that is ever written.
    Lead(Option<LeadId>),
    /// It is an event, whose call the item names.
    Event,
    /// Of this opportunity; `None` where the key is not one that is ever written.
    Opportunity(Option<OpportunityId>),
    /// It leads to a calendar, which the item names.
    CalendarLink,
    /// Of this meeting; `None` where the key is not one that is ever written.
    Meeting(Option<MeetingId>),
    /// Of this ticket; `None` where the key is not one that is ever written.
    Ticket(Option<TicketId>),
    /// Of the file that [`Keys::listed_file`] tells.
    File,
    /// It is a total of leads, derived of many.
    LeadTotal,
    /// It is a total of opportunities, derived of many.
    OpportunityTotal,
    /// It is a total of meetings, derived of many.
    MeetingTotal,
}

/// Which of an instance's running numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Counter {
    Lead,
    /// Calls and events: two numbers in one item, because one write takes both.
    Call,
    Opportunity,
    Calendar,
    Meeting,
    Ticket,
}

/// A credential, found by its hash.
pub fn credential(hash: &CredentialHash) -> Key {
    Key::new(format!("{OPENING}{}", hash.as_str()), "credential")
}

/// With what the partition keys of the items begin that requests find by a credential's hash.
pub const OPENING: &str = "#credential#";

/// Which form the table's items have.
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

/// What the partition of items that were set aside ends with.
const ASIDE: &str = "-aside";

/// Where an item is set aside that cannot be read: under its sort key, beside its partition.
pub fn aside(key: &Key) -> Key {
    Key::new(format!("{}{ASIDE}", key.pk), key.sk.as_str())
}

/// Where an item that was set aside comes from.
pub fn put_back(aside: &Key) -> Key {
    let partition = aside.pk.strip_suffix(ASIDE).unwrap_or(&aside.pk);
    Key::new(partition.to_owned(), aside.sk.as_str())
}

/// Builds the keys of one instance.
#[derive(Debug, Clone, Copy)]
pub struct Keys<'a>(pub &'a InstanceName);

impl Keys<'_> {
    fn pk(self, rest: &str) -> String {
        format!("{}#{rest}", self.0)
    }

    /// What the partition key of every item of the instance begins with.
    pub fn prefix(self) -> String {
        self.pk("")
    }

    /// Of what an item of the instance is derived.
    pub fn origin(self, key: &Key) -> Origin {
        let Some(rest) = key.pk.strip_prefix(&self.prefix()) else {
            return Origin::None;
        };
        let id = |text: &str| LeadId::new(text.parse().ok()?);
        match rest.split('#').next() {
            Some("board") => Origin::Opportunity(placed(&key.sk).and_then(OpportunityId::new)),
            Some("lead-opportunity") => Origin::Opportunity(key.sk.parse().ok().and_then(OpportunityId::new)),
            Some("leads" | "company-lead") => Origin::Lead(id(&key.sk)),
            Some("phone") => Origin::Lead(key.sk.split_once('#').and_then(|(_, text)| id(text))),
            Some("timeline") => Origin::Event,
            Some("calendar-link" | "calendar-public") => Origin::CalendarLink,
            Some("meetings") => Origin::Meeting(calendar::listed(&key.sk)),
            Some("lead-meeting") => Origin::Meeting(key.sk.parse().ok().and_then(MeetingId::new)),
            Some("agenda") => Origin::MeetingTotal,
            Some("meeting-month") if calendar::is_month(&key.sk) => Origin::MeetingTotal,
            Some("meeting-month") => Origin::Meeting(None),
            Some("lead-ticket") => Origin::Ticket(placed_ticket(&key.sk)),
            Some("ticket-file" | "lead-file") => Origin::File,
            Some("lead-total") => Origin::LeadTotal,
            Some("board-total" | "board-rank" | board::RESTRICTED_TOTAL | board::RESTRICTED_RANK) => {
                Origin::OpportunityTotal
            }
            _ => Origin::None,
        }
    }

    /// A running number.
    pub fn counter(self, counter: Counter) -> Key {
        let sk = match counter {
            Counter::Lead => "lead",
            Counter::Call => "call",
            Counter::Opportunity => "opportunity",
            Counter::Calendar => "calendar",
            Counter::Meeting => "meeting",
            Counter::Ticket => "ticket",
        };
        Key::new(self.pk("counter"), sk)
    }

    /// All credentials of the instance, for the operator.
    pub fn credentials(self) -> String {
        self.pk("credential")
    }

    /// A credential in the operator's list.
    pub fn credential(self, kind: Kind, id: &str) -> Key {
        let kind = match kind {
            Kind::Key => "key",
            Kind::Token => "token",
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

    /// All leads' records by id.
    pub fn leads(self) -> String {
        self.pk("lead")
    }

    /// A lead's record.
    pub fn lead(self, id: LeadId) -> Key {
        Key::new(self.leads(), id.padded())
    }

    /// The list of all leads, archived or not, by id.
    pub fn lead_list(self, archived: bool) -> String {
        self.pk(&format!("leads#{}", u8::from(archived)))
    }

    /// The list of an owner's leads, archived or not, by id.
    pub fn owner_list(self, archived: bool, owner: UserId) -> String {
        self.pk(&format!("leads#{}#{owner}", u8::from(archived)))
    }

    /// The totals of the list of leads, an item for each class of leads that the same users see.
    pub fn lead_totals(self, archived: bool) -> String {
        self.pk(&format!("lead-total#{}", u8::from(archived)))
    }

    /// The leads that have a number, the best match first: not archived before archived, then by id (C-72).
    pub fn phone(self, digits: &str) -> String {
        self.pk(&format!("phone#{digits}"))
    }

    /// A lead among those that have a number.
    pub fn phone_lead(self, digits: &str, archived: bool, id: LeadId) -> Key {
        Key::new(
            self.phone(digits),
            format!("{}#{}", u8::from(archived), id.padded()),
        )
    }

    /// What keeps two first calls of one line from making two leads. The line appears as a digest only, because
    /// the item outlives the lead for a while.
    pub fn new_caller(self, line: &str) -> Key {
        Key::new(self.pk(&format!("new-caller#{line}")), "new-caller")
    }

    /// A lead's timeline.
    pub fn timeline(self, lead: LeadId) -> String {
        self.pk(&format!("timeline#{lead}"))
    }

    /// An event on a lead's timeline.
    pub fn event(self, lead: LeadId, id: EventId) -> Key {
        Key::new(self.timeline(lead), format!("event#{}", id.padded()))
    }

    /// The calls of a lead that have no event on its timeline yet, by id.
    pub fn lead_calls(self, lead: LeadId) -> String {
        self.pk(&format!("lead-call#{lead}"))
    }

    /// A call among those of its lead that have no event yet.
    pub fn lead_call(self, lead: LeadId, id: CallId) -> Key {
        Key::new(self.lead_calls(lead), id.padded())
    }

    /// All calls by id.
    pub fn calls(self) -> String {
        self.pk("call")
    }

    /// A record of the call history.
    pub fn call(self, id: CallId) -> Key {
        Key::new(self.calls(), id.padded())
    }

    /// The leads of a company.
    pub fn company_leads(self, company: CompanyId) -> String {
        self.pk(&format!("company-lead#{company}"))
    }

    /// The partitions in which something may be set aside.
    pub fn quarantine(self) -> [String; 3] {
        [self.outbox(), self.notices(), self.erasures()].map(|partition| partition + ASIDE)
    }

    /// The notices of records whose copies elsewhere may be behind.
    pub fn notices(self) -> String {
        self.pk("notice")
    }

    /// The notice that a lead changed.
    pub fn lead_notice(self, lead: LeadId) -> Key {
        Key::new(self.notices(), format!("lead#{}", lead.padded()))
    }

    /// The deleted leads of which something may be left.
    pub fn erasures(self) -> String {
        self.pk("erasure")
    }

    /// That something may be left of a deleted lead.
    pub fn erasure(self, lead: LeadId) -> Key {
        Key::new(self.erasures(), lead.padded())
    }

    /// What a request with an `Idempotency-Key` did, by a digest of its scope and key.
    pub fn idempotency(self, digest: &str) -> Key {
        Key::new(self.pk(&format!("idempotency#{digest}")), "idempotency")
    }

    /// The minutes of a budget of requests.
    pub fn rates(self, budget: Budget<'_>) -> String {
        match budget {
            Budget::Keys => self.pk("rate#keys"),
            Budget::Key(id) => self.pk(&format!("rate#key#{id}")),
            Budget::Public(route) => self.pk(&format!("rate#public#{}", route.as_str())),
            Budget::Webhook => self.pk("rate#webhook"),
        }
    }

    /// What is taken of a budget in a minute, counted from 1970.
    pub fn rate(self, budget: Budget<'_>, minute: u64) -> Key {
        Key::new(self.rates(budget), number(minute))
    }

    /// Where a page of a walk through a list begins.
    pub fn bookmark(self, walk: &str, page: u64) -> Key {
        Key::new(self.pk(&format!("bookmark#{walk}")), format!("{page:020}"))
    }
}

/// The lead that a notice is about, by its key.
pub fn noticed(key: &Key) -> Option<LeadId> {
    LeadId::new(key.sk.strip_prefix("lead#")?.parse().ok()?)
}

/// The lead that a mark of a deletion is about, by its key.
pub fn marked(key: &Key) -> Option<LeadId> {
    LeadId::new(key.sk.parse().ok()?)
}

/// An entry of a list by its place: the key in partition `list`.
pub fn entry(list: String, id: LeadId) -> Key {
    Key::new(list, id.padded())
}

/// The sort key of the record numbered so, where records are sorted by id.
pub fn number(number: u64) -> String {
    format!("{number:015}")
}

/// A total in partition `totals`.
pub fn total(totals: String, class: &str) -> Key {
    Key::new(totals, class)
}

#[cfg(test)]
mod tests;
