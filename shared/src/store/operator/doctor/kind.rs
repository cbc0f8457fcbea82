//! The kinds of records from which items are derived. A new kind is a line in [`KINDS`] and a value like the others.

use std::collections::BTreeMap;

use super::copies::{self, Copies};
use super::ticket_kinds::{FILES, TICKETS};
use crate::call::Event;
use crate::id::{CallId, ColumnId, FunnelId};
use crate::store::calendars;
use crate::store::calls::CallRecord;
use crate::store::derived::Derived;
use crate::store::error::StoreError;
use crate::store::item::{self, Item};
use crate::store::key::{self, Counter, Key, Keys};
use crate::store::lead_list;
use crate::store::leads;
use crate::store::meetings;
use crate::store::operator::calls::record;
use crate::store::opportunities;
use crate::store::transaction::Condition;

/// All kinds that have derived items, in the order in which they are looked at: leads before the opportunities that copy
/// them.
pub const KINDS: [&Kind; 7] = [
    &LEADS,
    &CALLS,
    &OPPORTUNITIES,
    &CALENDARS,
    &MEETINGS,
    &TICKETS,
    &FILES,
];

/// A kind of records from which items are derived.
pub struct Kind {
    /// What one of them is called.
    pub name: &'static str,
    /// What all of them are called.
    pub plural: &'static str,
    /// The partition of the records.
    pub records: fn(Keys<'_>) -> String,
    /// What is derived from a record.
    pub derived: fn(Keys<'_>, Item) -> Result<Derived, StoreError>,
    /// What is wrong with a record that should derive more than it can, by itself.
    pub flaw: fn(&Item) -> Result<Option<&'static str>, StoreError>,
    /// That a record is still as it was read.
    pub unchanged: fn(&Item) -> Result<Condition, StoreError>,
    /// Another record that must be there for this one's derived items to be put.
    pub needs: fn(Keys<'_>, &Item) -> Result<Option<Key>, StoreError>,
    /// Whether a stored item is what the derived one says.
    pub agree: fn(&Item, &Item) -> bool,
    /// Of which record of this kind an item is derived.
    pub origin: fn(Keys<'_>, &Key, &Item) -> Origin,
    /// What its records copy of others.
    pub copies: Option<&'static Copies>,
    /// The column that a record stands in.
    pub place: fn(&Item) -> Result<Option<Place>, StoreError>,
    /// The running number that the records' ids come from.
    pub number: Number,
    /// The running numbers that a record has taken.
    pub numbers: fn(&Item) -> Result<Numbers, StoreError>,
}

/// A running number: in which item, and under which name.
pub type Number = (Counter, &'static str);
/// Running numbers and what a record has of each.
pub type Numbers = Vec<(Number, u64)>;

/// A column of a funnel.
pub type Place = (FunnelId, ColumnId);

const LEAD: Number = (Counter::Lead, "lead");
const CALL: Number = (Counter::Call, "call");
const EVENT: Number = (Counter::Call, "event");
const OPPORTUNITY: Number = (Counter::Opportunity, "opportunity");
const CALENDAR: Number = (Counter::Calendar, "calendar");
const MEETING: Number = (Counter::Meeting, "meeting");

/// Of which record of a kind an item is derived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// Of none of this kind.
    Elsewhere,
    /// Of this one, if it is there.
    Record(Key),
    /// Of many: it is a total of this kind.
    Many,
    /// Of none that can be: no record of this kind ever derives such an item.
    Nobody,
}

const LEADS: Kind = Kind {
    name: "lead",
    plural: "leads",
    records: |keys| keys.leads(),
    derived: |keys, item| leads::derived(keys, &leads::read(item)?),
    flaw: |_| Ok(None),
    unchanged: |item| Ok(Condition::Version(item::number("lead", item, "v")?)),
    needs: |_, _| Ok(None),
    agree: |derived, stored| derived.is_empty() || lead_list::known(stored).as_ref() == Some(derived),
    origin: |keys, key, _| match keys.origin(key) {
        key::Origin::Lead(Some(id)) => Origin::Record(keys.lead(id)),
        key::Origin::Lead(None) => Origin::Nobody,
        key::Origin::LeadTotal => Origin::Many,
        _ => Origin::Elsewhere,
    },
    copies: Some(&copies::COMPANIES),
    place: |_| Ok(None),
    number: LEAD,
    numbers: |item| Ok(vec![(LEAD, item::number("lead", item, "id")?)]),
};

const CALLS: Kind = Kind {
    name: "call",
    plural: "calls",
    records: |keys| keys.calls(),
    derived: |keys, item| {
        let mut items = BTreeMap::new();
        if let Some(CallRecord {
            call,
            event: Some(id),
            ..
        }) = record(Some(item))?
            && let Some(event) = call.event(id)
        {
            items.insert(keys.event(event.lead, id), item::encode("event", &event)?);
        }
        let totals = BTreeMap::new();
        Ok(Derived { items, totals })
    },
    flaw: |item| {
        let stored = record(Some(item.clone()))?;
        let lacks = stored.is_some_and(|stored| stored.call.lead.is_some() && stored.event.is_none());
        Ok(lacks.then_some("has a lead and no event"))
    },
    // A call has no version, so it is held by its content.
    unchanged: |item| {
        let lacks = OPTIONAL.into_iter().filter(|name| !item.contains_key(*name));
        let mut has = item.clone();
        has.retain(|name, _| name != "pk" && name != "sk");
        Ok(Condition::Exactly {
            has,
            lacks: lacks.collect(),
        })
    },
    // C-24: what links a lead checks in its own transaction that it exists.
    needs: |keys, item| {
        let lead = record(Some(item.clone()))?.and_then(|stored| stored.call.lead);
        Ok(lead.map(|lead| keys.lead(lead)))
    },
    // An event's line may say more than its call does (C-81): only the links are derived. One that cannot be read says less.
    agree: |derived, stored| {
        let links = ["id", "lead", "call"];
        let linked = links
            .into_iter()
            .all(|name| derived.get(name) == stored.get(name));
        linked && item::decode::<Event>("event", stored.clone()).is_ok()
    },
    origin: |keys, key, item| match keys.origin(key) {
        key::Origin::Event => {
            let call = item::number("event", item, "call").ok().and_then(CallId::new);
            call.map_or(Origin::Nobody, |call| Origin::Record(keys.call(call)))
        }
        _ => Origin::Elsewhere,
    },
    copies: None,
    place: |_| Ok(None),
    number: CALL,
    numbers: |item| {
        let number = |name| item::number("call", item, name);
        let (call, event) = (number("id")?, number("event")?);
        Ok(vec![(CALL, call), (EVENT, event)])
    },
};

pub const OPPORTUNITIES: Kind = Kind {
    name: "opportunity",
    plural: "opportunities",
    records: |keys| keys.opportunities(),
    derived: |keys, item| opportunities::derived(keys, &opportunities::decode(&item)?),
    flaw: |_| Ok(None),
    unchanged: |item| Ok(Condition::Version(item::number("opportunity", item, "v")?)),
    needs: |_, _| Ok(None),
    agree: item::contains,
    origin: |keys, key, _| match keys.origin(key) {
        key::Origin::Opportunity(Some(id)) => Origin::Record(keys.opportunity(id)),
        key::Origin::Opportunity(None) => Origin::Nobody,
        key::Origin::OpportunityTotal => Origin::Many,
        _ => Origin::Elsewhere,
    },
    copies: Some(&copies::LEADS),
    place: |item| {
        let opportunity = opportunities::decode(item)?.card.opportunity;
        Ok(Some((opportunity.crm_id, opportunity.crm_column)))
    },
    number: OPPORTUNITY,
    numbers: |item| Ok(vec![(OPPORTUNITY, item::number("opportunity", item, "id")?)]),
};

const CALENDARS: Kind = Kind {
    name: "calendar",
    plural: "calendars",
    records: |keys| keys.calendars(),
    derived: |keys, item| Ok(calendars::derived(keys, &calendars::decode(&item)?)),
    flaw: |_| Ok(None),
    unchanged: |item| Ok(Condition::Version(item::number("calendar", item, "v")?)),
    needs: |_, _| Ok(None),
    agree: item::contains,
    origin: |keys, key, item| match keys.origin(key) {
        key::Origin::CalendarLink => {
            calendars::linked(item).map_or(Origin::Nobody, |id| Origin::Record(keys.calendar(id)))
        }
        _ => Origin::Elsewhere,
    },
    copies: None,
    place: |_| Ok(None),
    number: CALENDAR,
    numbers: |item| Ok(vec![(CALENDAR, item::number("calendar", item, "id")?)]),
};

const MEETINGS: Kind = Kind {
    name: "meeting",
    plural: "meetings",
    records: |keys| keys.meetings(),
    derived: |keys, item| Ok(meetings::derived(keys, &meetings::decode(&item)?)),
    flaw: |_| Ok(None),
    unchanged: |item| Ok(Condition::Version(item::number("meeting", item, "v")?)),
    needs: |_, _| Ok(None),
    agree: item::contains,
    origin: |keys, key, _| match keys.origin(key) {
        key::Origin::Meeting(Some(id)) => Origin::Record(keys.meeting(id)),
        key::Origin::Meeting(None) => Origin::Nobody,
        key::Origin::MeetingTotal => Origin::Many,
        _ => Origin::Elsewhere,
    },
    copies: None,
    place: |_| Ok(None),
    number: MEETING,
    numbers: |item| Ok(vec![(MEETING, item::number("meeting", item, "id")?)]),
};

/// What a stored call may lack.
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
