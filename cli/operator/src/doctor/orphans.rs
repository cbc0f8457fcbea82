//! Checks that each derived item has a record that derives it.
//!
//! No record leads to the partition of some orphans, such as a look-up of an unused number, the list of a removed owner
//! or the total of a removed column. So this check scans the whole table. It also finds the partitions of totals, which
//! are compared separately, and checks that each item by which requests find a credential has an entry in the list of
//! credentials.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::future::join;

use super::check::Check;
use super::{Doctor, Result};
use crate::Operator;
use crate::kinds::{Kind, Storage};
use shared::ids::CallId;
use shared::store::unscoped::key::{self, Keys, Origin};
use shared::store::unscoped::{calendars, forms};
use table::item::{self, Item};
use table::{Condition, Key, Scanned, Transaction, key_of};

/// Items with records that are read together, in one batch of gets.
const BATCH: usize = 100;

/// The partitions of totals by the name of their kind. Their number grows with columns, not with records.
pub type TotalPartitions = BTreeMap<&'static str, BTreeSet<String>>;

/// A derived item, and the record from which it should be derived.
struct Derivation {
    /// The kind of the record.
    kind: &'static Storage,
    /// The key of the derived item.
    item: Key,
    /// The key of the record; `None` if no record can have such an item.
    record: Option<Key>,
}

/// The source of a derived item.
enum DerivedFrom {
    /// Many records of a kind: it is a total.
    Many(&'static Storage),
    /// One record of a kind, at this key, which need not exist. Without a key, no record can have such an item.
    One(&'static Storage, Option<Key>),
}

/// The kind and key of the record that an item is derived from; `None` if the item is not derived. The item's key
/// contains the record's id. Events, calendar links and form links instead contain the id in an attribute.
fn origin(keys: Keys<'_>, key: &Key, item: &Item) -> Option<DerivedFrom> {
    let many = |kind: Kind| kind.storage().map(DerivedFrom::Many);
    let (kind, record) = match keys.origin(key) {
        Origin::None => return None,
        Origin::LeadTotal => return many(Kind::Leads),
        Origin::OpportunityTotal => return many(Kind::Opportunities),
        Origin::CalendarTotal => return many(Kind::Calendars),
        Origin::MeetingTotal => return many(Kind::Meetings),
        Origin::Lead(id) => (Kind::Leads, id.map(|id| keys.lead(id))),
        Origin::Event => (Kind::Calls, call_of(item).map(|id| keys.call(id))),
        Origin::Opportunity(id) => (Kind::Opportunities, id.map(|id| keys.opportunity(id))),
        Origin::CalendarLink => (
            Kind::Calendars,
            calendars::linked(item).map(|id| keys.calendar(id)),
        ),
        Origin::FormLink => (Kind::Hooks, forms::linked(item).map(|id| keys.form(id))),
        Origin::Meeting(id) => (Kind::Meetings, id.map(|id| keys.meeting(id))),
        Origin::Ticket(id) => (Kind::Tickets, id.map(|id| keys.ticket(id))),
        Origin::File => (Kind::Files, keys.listed_file(key).map(|name| keys.file(&name))),
    };
    Some(DerivedFrom::One(kind.storage()?, record))
}

/// The call of an event.
fn call_of(event: &Item) -> Option<CallId> {
    item::number("event", event, "call").ok().and_then(CallId::new)
}

impl Doctor<'_> {
    /// Checks every derived item of the instance, and collects the partitions of totals.
    pub(super) async fn check_orphans(&mut self) -> Result<()> {
        let operator = self.operator;
        let wanted = key::everything(operator.instance());
        self.known.sort();
        let mut page = Some(operator.table().scan(&wanted, None).await?);
        while let Some(Scanned { items, next }) = page {
            self.count_checked("items", items.len());
            // The next page is read while this one is checked.
            let read = async {
                match &next {
                    Some(after) => operator.table().scan(&wanted, Some(after)).await.map(Some),
                    None => Ok(None),
                }
            };
            let (read, checked) = join(read, self.check_scanned(items)).await;
            checked?;
            page = read?;
        }
        Ok(())
    }

    /// Checks the items of a page: finds derived items that no record derives, and checks credentials. Collects the
    /// partitions of totals, which are compared later.
    async fn check_scanned(&mut self, items: Vec<Item>) -> Result<()> {
        let operator = self.operator;
        let mut derivations = Vec::new();
        for item in items {
            let key = key_of(&item)?;
            if key.pk.starts_with(key::CREDENTIAL_PREFIX) {
                self.check_credential(&key, &item).await?;
                continue;
            }
            match origin(operator.keys(), &key, &item) {
                // The item is not derived.
                None => {}
                Some(DerivedFrom::One(kind, record)) => {
                    if let Some(known) = self.known.find(&key) {
                        // A record that was already checked derives the item, so it is no orphan. Items that are
                        // missing from the scan or have other content stay unmarked; `check_unseen` later checks their
                        // records.
                        known.mark_if_equal((kind.content_digest)(&item));
                    } else {
                        let item = key;
                        derivations.push(Derivation { kind, item, record });
                    }
                }
                Some(DerivedFrom::Many(kind)) => {
                    self.total_partitions.entry(kind.name).or_default().insert(key.pk);
                }
            }
        }
        for derivations in derivations.chunks(BATCH) {
            self.check_derivations(derivations).await?;
        }
        Ok(())
    }

    /// Checks whether the records of these items derive them.
    async fn check_derivations(&mut self, derivations: &[Derivation]) -> Result<()> {
        let operator = self.operator;
        let keys = derivations
            .iter()
            .filter_map(|derivation| derivation.record.clone());
        let found = operator.reads().get_many(keys).await?;
        for Derivation { kind, item, record } in derivations {
            let record = record.as_ref().and_then(|key| found.get(key));
            // An unreadable record was reported itself, and may derive anything.
            let is_derived = |record| {
                let derived = (kind.derived)(operator.keys(), record);
                derived.map_or(true, |derived| derived.items.contains_key(item))
            };
            // A difference between a record and this item was reported with the record.
            if !record.is_some_and(is_derived) && !self.is_reported(item) {
                self.recheck(item, item, async |stored| check(operator, item, stored).await)
                    .await?;
            }
        }
        Ok(())
    }
}

/// Compares an item with the record that should derive it. The record is read twice around the comparison. The deletion
/// of an orphan depends on the record being unchanged, or still absent.
async fn check(operator: &Operator, key: &Key, item: &Item) -> Result<Check> {
    let Some(DerivedFrom::One(kind, place)) = origin(operator.keys(), key, item) else {
        return Ok(Check::Fine);
    };
    let mut fix = Transaction::default();
    fix.delete(key.clone(), Condition::Always);
    let Some(place) = place else {
        return Ok(Check::wrong(
            key,
            format!("no {} can have such an item", kind.name),
            fix,
        ));
    };
    let record = operator.reads().get(&place).await?;
    if let Some(record) = &record
        && (kind.derived)(operator.keys(), record)?.items.contains_key(key)
    {
        return Ok(Check::Fine);
    }
    if operator.reads().get(&place).await? != record {
        return Ok(Check::Changing);
    }
    let fault = if record.is_none() {
        "does not exist"
    } else {
        "does not have it"
    };
    let reason = format!("{} {fault}", kind.label(&place));
    let unchanged = record.map(|record| (kind.unchanged)(&record));
    fix.check(place, unchanged.unwrap_or(Ok(Condition::Absent))?);
    Ok(Check::wrong(key, reason, fix))
}
