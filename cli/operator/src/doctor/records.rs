//! From the records to the items that are derived from them: is every item there, and is it right?

use std::collections::HashMap;

use super::check::{Check, Inconsistency};
use super::kind::KindRef;
use super::tally::Recount;
use super::{Doctor, Result};
use crate::Operator;
use shared::store::unscoped::derived::Derived;
use shared::store::unscoped::key;
use table::item::Item;
use table::{Condition, Key, KeyRange, Transaction, key_of};

/// Records whose derived items are read together: a few batches of a hundred.
const BATCH: usize = 100;

impl Doctor<'_> {
    /// Checks all records of a kind and every item derived from them, and counts their classes.
    pub(super) async fn records(&mut self, kind: KindRef) -> Result<Recount> {
        let mut tally = Recount::default();
        let ranges = KeyRange::of_each(kind.records(self.operator.keys()), None, None);
        let mut pages = self.pages_of(ranges);
        while let Some(page) = pages.next().await? {
            for records in page.chunks(BATCH) {
                if let Some(last) = records.last() {
                    self.extent.reach(kind, &key_of(last)?);
                }
                self.checked(kind.plural(), records.len());
                self.some_records(kind, records, &mut tally).await?;
            }
        }
        self.extent.end(kind);
        Ok(tally)
    }

    async fn some_records(&mut self, kind: KindRef, records: &[Item], tally: &mut Recount) -> Result<()> {
        let (operator, may_lack) = (self.operator, self.may_lack);
        let mut readable = Vec::with_capacity(records.len());
        for record in records {
            let key = key_of(record)?;
            match kind.derived(operator.keys(), record) {
                Ok(_) if kind.is_misplaced(&key, record)? => {
                    let reason = format!("contains another {}, which no look-up finds there", kind.name());
                    self.report(key, reason, false);
                }
                Ok(derived) => {
                    self.note_numbers(kind, record)?;
                    tally.count(&derived);
                    self.known.note(derived.items.keys());
                    readable.push((key, record, derived));
                }
                Err(cause) => {
                    tally.unreadable = true;
                    self.report(key, cause, false);
                }
            }
        }
        let derived = readable.iter().flat_map(|(_, _, derived)| derived.items.keys());
        let derived: Vec<_> = derived.cloned().collect();
        self.checked("derived", derived.len());
        let stored = operator.reads().get_many(derived).await?;
        for (key, record, derived) in &readable {
            if differences((kind, may_lack), derived, &stored).next().is_some() {
                self.recheck(key, key, async |record| {
                    check(operator, (kind, may_lack), key, record).await
                })
                .await?;
            }
            if kind.flaw(record)?.is_some() {
                self.flawed(kind, key).await?;
            }
            if kind.place(record)?.is_some_and(|place| !self.columns.has(place)) {
                self.misplaced(kind, key).await?;
            }
        }
        let records: Vec<_> = readable.iter().map(|(key, record, _)| (key, *record)).collect();
        self.copies(kind, &records).await
    }
}

/// Derived items that are not stored as they should be, each with the stored one. `may_lack` excuses those that the former
/// format lacks.
fn differences<'a>(
    (kind, may_lack): (KindRef, bool),
    derived: &'a Derived,
    stored: &'a HashMap<Key, Item>,
) -> impl Iterator<Item = (&'a Key, &'a Item, Option<&'a Item>)> {
    let all = derived.items.iter();
    let all = all.map(|(key, item)| (key, item, stored.get(key)));
    all.filter(move |(key, derived, stored)| match stored {
        Some(stored) => !kind.agrees(derived, stored),
        None => !(may_lack && key::is_new_look_up(key)),
    })
}

/// Compares a record's derived items with it. Every write that changes them changes the record in the same transaction,
/// so a fix is right as long as the record is still the one that was read.
async fn check(
    operator: &Operator,
    (kind, may_lack): (KindRef, bool),
    key: &Key,
    record: &Item,
) -> Result<Check> {
    let derived = kind.derived(operator.keys(), record)?;
    let stored = operator.reads().get_many(derived.items.keys().cloned()).await?;
    let (mut findings, mut fix) = (Vec::new(), Transaction::default());
    for (at, item, found) in differences((kind, may_lack), &derived, &stored) {
        let fault = found.map_or("is missing: ", |_| "is not what is derived: ");
        findings.push((at.to_string(), format!("{fault}{} has it", kind.label(key))));
        fix.put(at.clone(), item.clone(), Condition::Always);
    }
    if findings.is_empty() {
        return Ok(Check::Fine);
    }
    fix.check(key.clone(), kind.unchanged(record)?);
    if let Some(lead) = kind.required_lead(record)? {
        fix.check(operator.keys().lead(lead), Condition::Present);
    }
    let fix = Some(fix);
    Ok(Check::Inconsistency(Inconsistency { findings, fix }))
}
