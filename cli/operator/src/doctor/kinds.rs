//! The kinds of records with derived items. A new kind is an implementation, an entry of [`KINDS`] and a line of
//! [`origin`].

use std::collections::BTreeMap;

use super::copy_rules;
use super::kind::{About, CheckedKind, FunnelColumn, KindRef, Number, RuleRef};
use super::known;
use shared::event::CallEvent;
use shared::ids::{CallId, LeadId};
use shared::store::unscoped::calendars;
use shared::store::unscoped::calls;
use shared::store::unscoped::derived::Derived;
use shared::store::unscoped::entity::Entity as _;
use shared::store::unscoped::events;
use shared::store::unscoped::forms;
use shared::store::unscoped::key::{self, Counter, Keys};
use shared::store::unscoped::lead_list;
use shared::store::unscoped::leads::{self, LeadRecord};
use shared::store::unscoped::meetings::MeetingRecord;
use shared::store::unscoped::opportunities::{OpportunityRecord, OpportunitySnapshot, entry};
use shared::store::unscoped::tickets::{FileRecord, TicketRecord};
use table::item::{self, Item};
use table::{Condition, Key, StoreError};

/// All kinds with derived items or copies, in the order of their checks: leads before the opportunities that copy them.
pub const KINDS: [KindRef; 9] = [
    &CheckedLeads,
    &CheckedCalls,
    &CheckedFormEvents,
    &CheckedOpportunities,
    &CheckedCalendars,
    &CheckedMeetings,
    &CheckedTickets,
    &CheckedFiles,
    &CheckedForms,
];

/// The source of a derived item.
pub enum DerivedFrom {
    /// Many records of a kind: it is a total.
    Many(KindRef),
    /// One record of a kind, at this key, which need not exist. Without a key, no record can have such an item.
    One(KindRef, Option<Key>),
}

/// The kind and key of the record that an item is derived from; `None` if the item is not derived. The item's key
/// contains the record's id. Events, calendar links and form links instead contain the id in an attribute.
pub fn origin(keys: Keys<'_>, key: &Key, item: &Item) -> Option<DerivedFrom> {
    let (kind, record): (KindRef, Option<Key>) = match keys.origin(key) {
        key::Origin::None => return None,
        key::Origin::LeadTotal => return Some(DerivedFrom::Many(&CheckedLeads)),
        key::Origin::OpportunityTotal => return Some(DerivedFrom::Many(&CheckedOpportunities)),
        key::Origin::CalendarTotal => return Some(DerivedFrom::Many(&CheckedCalendars)),
        key::Origin::MeetingTotal => return Some(DerivedFrom::Many(&CheckedMeetings)),
        key::Origin::Lead(id) => (&CheckedLeads, id.map(|id| keys.lead(id))),
        key::Origin::Event => (&CheckedCalls, call_of(item).map(|id| keys.call(id))),
        key::Origin::Opportunity(id) => (&CheckedOpportunities, id.map(|id| keys.opportunity(id))),
        key::Origin::CalendarLink => (
            &CheckedCalendars,
            calendars::linked(item).map(|id| keys.calendar(id)),
        ),
        key::Origin::FormLink => (&CheckedForms, forms::linked(item).map(|id| keys.form(id))),
        key::Origin::Meeting(id) => (&CheckedMeetings, id.map(|id| keys.meeting(id))),
        key::Origin::Ticket(id) => (&CheckedTickets, id.map(|id| keys.ticket(id))),
        key::Origin::File => (&CheckedFiles, keys.listed_file(key).map(|name| keys.file(&name))),
    };
    Some(DerivedFrom::One(kind, record))
}

/// The call of an event.
fn call_of(event: &Item) -> Option<CallId> {
    item::number("event", event, "call").ok().and_then(CallId::new)
}

struct CheckedLeads;

impl CheckedKind for CheckedLeads {
    fn about(&self) -> About {
        About::new("lead", "leads", Some(Counter::Lead))
    }

    fn records(&self, keys: Keys<'_>) -> Vec<String> {
        vec![keys.leads()]
    }

    fn derived(&self, keys: Keys<'_>, record: &Item) -> Result<Derived, StoreError> {
        LeadRecord::decode(record)?.derived_as_read(keys)
    }

    fn agrees(&self, derived: &Item, stored: &Item) -> bool {
        if let Some(digest) = leads::digest(derived) {
            return leads::is_sound(stored, digest);
        }
        derived.is_empty() || lead_list::known(stored).as_ref() == Some(derived)
    }

    fn can_restore(&self, derived: &Item) -> bool {
        leads::digest(derived).is_none()
    }

    /// Of details their digest, if it is right.
    fn content_digest(&self, item: &Item) -> Option<u32> {
        let Some(digest) = leads::digest(item) else {
            return Some(known::content_digest(known::body(item)));
        };
        let is_stored = item.contains_key("pk");
        let is_right = !is_stored || leads::is_sound(item, digest);
        is_right.then(|| known::content_digest(&item::part(item, leads::DIGEST)))
    }

    fn copy_rule(&self) -> Option<RuleRef> {
        Some(&copy_rules::CompanyOfLead)
    }
}

struct CheckedCalls;

const CALL: Number = (Counter::Call, "call");
const EVENT: Number = (Counter::Call, "event");
/// The attributes of an event that are derived.
const LINKS: [&str; 3] = ["id", "lead", "call"];
/// Attributes that a stored call may lack.
const OPTIONAL: [&str; 8] = [
    "lead",
    "event",
    "nonce",
    "leadPhone",
    "leadName",
    "userName",
    "callId",
    "description",
];

impl CheckedKind for CheckedCalls {
    fn about(&self) -> About {
        About::new("call", "calls", Some(Counter::Call))
    }

    fn records(&self, keys: Keys<'_>) -> Vec<String> {
        keys.calls()
    }

    fn derived(&self, keys: Keys<'_>, record: &Item) -> Result<Derived, StoreError> {
        let stored = calls::decode_record(record.clone())?;
        let mut items = BTreeMap::new();
        if let Some(id) = stored.event
            && let Some(event) = stored.call.event(id)
        {
            items.insert(keys.event(event.lead, id), item::encode("event", &event)?);
        }
        Ok(Derived {
            items,
            ..Derived::default()
        })
    }

    fn numbers(&self, record: &Item) -> Result<Vec<(Number, u64)>, StoreError> {
        let number = |name| item::number("call", record, name);
        Ok(vec![(CALL, number("id")?), (EVENT, number("event")?)])
    }

    /// A call has no version, so its whole content is compared.
    fn unchanged(&self, record: &Item) -> Result<Condition, StoreError> {
        let lacks = OPTIONAL.into_iter().filter(|name| !record.contains_key(*name));
        Ok(Condition::Exactly {
            has: record.clone(),
            lacks: lacks.collect(),
        })
    }

    fn required_lead(&self, record: &Item) -> Result<Option<LeadId>, StoreError> {
        Ok(calls::decode_record(record.clone())?.call.lead)
    }

    /// Compares the links only, because the event's own line may have contained more than its call (C-81). The event
    /// must be readable.
    fn agrees(&self, derived: &Item, stored: &Item) -> bool {
        let linked = LINKS.iter().all(|name| derived.get(*name) == stored.get(*name));
        linked && item::decode::<CallEvent>("event", stored.clone()).is_ok()
    }

    fn content_digest(&self, item: &Item) -> Option<u32> {
        let readable = item::decode::<CallEvent>("event", item.clone()).is_ok();
        readable
            .then(|| known::content_digest(item.iter().filter(|(name, _)| LINKS.contains(&name.as_str()))))
    }

    fn flaw(&self, record: &Item) -> Result<Option<&'static str>, StoreError> {
        let stored = calls::decode_record(record.clone())?;
        let lacks = stored.call.lead.is_some() && stored.event.is_none();
        Ok(lacks.then_some("has a lead and no event"))
    }

    fn copy_rule(&self) -> Option<RuleRef> {
        Some(&copy_rules::LeadOfEvent)
    }
}

struct CheckedFormEvents;

impl CheckedKind for CheckedFormEvents {
    /// The ids are of one sequence with those of calls' events.
    fn about(&self) -> About {
        About::new("event", "events", Some(Counter::Call))
    }

    fn records(&self, keys: Keys<'_>) -> Vec<String> {
        vec![keys.form_events()]
    }

    fn derived(&self, _: Keys<'_>, record: &Item) -> Result<Derived, StoreError> {
        events::decode(record).map(|_| Derived::default())
    }

    /// An event has no version, so its whole content is compared.
    fn unchanged(&self, record: &Item) -> Result<Condition, StoreError> {
        let (has, lacks) = (record.clone(), Vec::new());
        Ok(Condition::Exactly { has, lacks })
    }

    fn copy_rule(&self) -> Option<RuleRef> {
        Some(&copy_rules::LeadOfEvent)
    }
}

struct CheckedOpportunities;

impl CheckedKind for CheckedOpportunities {
    fn about(&self) -> About {
        About::new("opportunity", "opportunities", Some(Counter::Opportunity))
    }

    fn records(&self, keys: Keys<'_>) -> Vec<String> {
        vec![keys.opportunities()]
    }

    fn derived(&self, keys: Keys<'_>, record: &Item) -> Result<Derived, StoreError> {
        OpportunityRecord::decode(record)?.derived_as_read(keys)
    }

    fn agrees(&self, derived: &Item, stored: &Item) -> bool {
        derived.is_empty() || entry::known(stored).as_ref() == Some(derived)
    }

    fn column(&self, record: &Item) -> Result<Option<FunnelColumn>, StoreError> {
        let opportunity = OpportunitySnapshot::decode(record)?.opportunity;
        Ok(Some((opportunity.crm_id, opportunity.crm_column)))
    }

    fn copy_rule(&self) -> Option<RuleRef> {
        Some(&copy_rules::LeadOfOpportunity)
    }
}

struct CheckedCalendars;

impl CheckedKind for CheckedCalendars {
    fn about(&self) -> About {
        About::new("calendar", "calendars", Some(Counter::Calendar))
    }

    fn records(&self, keys: Keys<'_>) -> Vec<String> {
        vec![keys.calendars()]
    }

    fn derived(&self, keys: Keys<'_>, record: &Item) -> Result<Derived, StoreError> {
        calendars::CalendarRecord::decode(record)?.derived_as_read(keys)
    }
}

struct CheckedMeetings;

impl CheckedKind for CheckedMeetings {
    fn about(&self) -> About {
        About::new("meeting", "meetings", Some(Counter::Meeting))
    }

    fn records(&self, keys: Keys<'_>) -> Vec<String> {
        vec![keys.meetings()]
    }

    fn derived(&self, keys: Keys<'_>, record: &Item) -> Result<Derived, StoreError> {
        MeetingRecord::decode(record)?.derived_as_read(keys)
    }
}

struct CheckedTickets;

impl CheckedKind for CheckedTickets {
    fn about(&self) -> About {
        About::new("ticket", "tickets", Some(Counter::Ticket))
    }

    fn records(&self, keys: Keys<'_>) -> Vec<String> {
        vec![keys.tickets()]
    }

    fn derived(&self, keys: Keys<'_>, record: &Item) -> Result<Derived, StoreError> {
        TicketRecord::decode(record)?.derived_as_read(keys)
    }

    fn required_lead(&self, record: &Item) -> Result<Option<LeadId>, StoreError> {
        Ok(TicketRecord::decode(record)?.ticket.lead_relation)
    }
}

struct CheckedFiles;

impl CheckedKind for CheckedFiles {
    /// Files are only imported, with ids of the former system.
    fn about(&self) -> About {
        About::new("file", "files", None)
    }

    fn records(&self, keys: Keys<'_>) -> Vec<String> {
        vec![keys.files()]
    }

    fn derived(&self, keys: Keys<'_>, record: &Item) -> Result<Derived, StoreError> {
        FileRecord::decode(record)?.derived_as_read(keys)
    }

    fn required_lead(&self, record: &Item) -> Result<Option<LeadId>, StoreError> {
        Ok(FileRecord::decode(record)?.lead)
    }

    fn copy_rule(&self) -> Option<RuleRef> {
        Some(&copy_rules::LeadOfFile)
    }
}

struct CheckedForms;

impl CheckedKind for CheckedForms {
    /// Forms are only imported.
    fn about(&self) -> About {
        About::new("hook", "hooks", None)
    }

    fn records(&self, keys: Keys<'_>) -> Vec<String> {
        vec![keys.forms()]
    }

    fn derived(&self, keys: Keys<'_>, record: &Item) -> Result<Derived, StoreError> {
        forms::FormRecord::decode(record)?.derived_as_read(keys)
    }
}
