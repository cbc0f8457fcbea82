//! Checks that each item derived from a record exists and is right.
//!
//! The derived items of records are noted, and the scan of the table (see [`orphans`](super::orphans)) marks the notes
//! that it finds. So each item is read once. A record is compared with its items by key only if an item was not found
//! or changed since, or if the notes have no room.

use std::collections::HashMap;

use futures_util::future::join;

use super::check::{Check, Inconsistency};
use super::kind::KindRef;
use super::resume::Position;
use super::tally::Recount;
use super::{Doctor, Result};
use crate::Operator;
use crate::pages::RecordPages;
use shared::store::unscoped::derived::Derived;
use shared::store::unscoped::key;
use table::item::Item;
use table::{Condition, Key, KeyRange, Transaction, key_of};

/// Records with derived items that are read together.
const BATCH: usize = 100;

impl Doctor<'_> {
    /// Checks all records of a kind and every item derived from them, and counts their classes.
    pub(super) async fn records(
        &mut self,
        (number, kind): (usize, KindRef),
        after: Option<String>,
    ) -> Result<()> {
        if self.counted.len() <= number {
            self.counted.push(Recount::default());
        }
        let mut pages = self.record_pages(kind, after.as_ref());
        let mut page = pages.next().await?;
        while let Some(records) = page {
            let last = records.last().map(key_of).transpose()?;
            let checked = self.page((number, kind), &records);
            let (next, checked) = join(pages.next(), checked).await;
            checked?;
            if let Some(last) = last {
                self.reached(Position::Records(number, Some(last.sk)))?;
            }
            page = next?;
        }
        self.extent.end(kind);
        self.reached(Position::Records(number + 1, None))
    }

    fn record_pages(&self, kind: KindRef, after: Option<&String>) -> RecordPages<Item> {
        self.pages_of(KeyRange::of_each(kind.records(self.operator.keys()), after, None))
    }

    async fn page(&mut self, (number, kind): (usize, KindRef), records: &[Item]) -> Result<()> {
        for records in records.chunks(BATCH) {
            if let Some(last) = records.last() {
                self.extent.reach(kind, &key_of(last)?);
            }
            self.checked(kind.plural(), records.len());
            self.some_records((number, kind), records).await?;
        }
        Ok(())
    }

    async fn some_records(&mut self, (number, kind): (usize, KindRef), records: &[Item]) -> Result<()> {
        let operator = self.operator;
        let mut readable = Vec::with_capacity(records.len());
        let mut unnoted = Vec::new();
        for record in records {
            let key = key_of(record)?;
            match kind.derived(operator.keys(), record) {
                Ok(_) if kind.is_misplaced(&key, record)? => {
                    let reason = format!("contains another {}, which no look-up finds there", kind.name());
                    self.report(key, reason, false);
                }
                Ok(derived) => {
                    self.note_numbers(kind, record)?;
                    if let Some(tally) = self.counted.get_mut(number) {
                        tally.count(&derived);
                    }
                    self.checked("derived", derived.items.len());
                    let items = derived.items.iter();
                    let items = items.map(|(key, item)| (key, content(kind, item)));
                    if !self.known.note(number, items) {
                        unnoted.push((key.clone(), derived));
                    }
                    readable.push((key, record));
                }
                Err(cause) => {
                    if let Some(tally) = self.counted.get_mut(number) {
                        tally.unreadable = true;
                    }
                    self.report(key, cause, false);
                }
            }
        }
        self.compare(kind, &unnoted).await?;
        for (key, record) in &readable {
            if kind.flaw(record)?.is_some() {
                self.flawed(kind, key).await?;
            }
            if kind.place(record)?.is_some_and(|place| !self.columns.has(place)) {
                self.misplaced(kind, key).await?;
            }
        }
        let records: Vec<_> = readable.iter().map(|(key, record)| (key, *record)).collect();
        self.copies(kind, &records).await
    }

    /// Compares the derived items of records by key, and checks records with a difference.
    async fn compare(&mut self, kind: KindRef, records: &[(Key, Derived)]) -> Result<()> {
        let (operator, may_lack) = (self.operator, self.may_lack);
        let derived = records.iter().flat_map(|(_, derived)| derived.items.keys());
        let stored = operator.reads().get_many(derived.cloned()).await?;
        for (key, derived) in records {
            if differences((kind, may_lack), derived, &stored).next().is_some() {
                self.recheck(key, key, async |record| {
                    check(operator, (kind, may_lack), key, record).await
                })
                .await?;
            }
        }
        Ok(())
    }

    /// Checks the records of a kind with noted items that the scan did not see.
    pub(super) async fn unseen(&mut self, number: usize, kind: KindRef) -> Result<()> {
        if self.known.are_seen(number) {
            return Ok(());
        }
        let keys = self.operator.keys();
        let mut pages = self.record_pages(kind, None);
        while let Some(page) = pages.next().await? {
            self.progress(kind.plural());
            for records in page.chunks(BATCH) {
                let mut unseen = Vec::new();
                for record in records {
                    let key = key_of(record)?;
                    // Those that cannot be read, or are misplaced, were reported.
                    let Ok(derived) = kind.derived(keys, record) else {
                        continue;
                    };
                    let mut items = derived.items.iter();
                    if !kind.is_misplaced(&key, record)?
                        && items.any(|(key, item)| self.known.is_missed(key, content(kind, item)))
                    {
                        unseen.push((key, derived));
                    }
                }
                self.compare(kind, &unseen).await?;
            }
        }
        Ok(())
    }
}

/// The digest of a derived item, which is always readable.
fn content(kind: KindRef, derived: &Item) -> u32 {
    kind.content(derived).unwrap_or_default()
}

/// Derived items that are missing or wrong, each with the stored one. `may_lack` excuses those that a former format
/// lacks.
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

/// Compares the stored derived items with their record. Every write that changes them changes the record in the same
/// transaction. So a repair is right as long as the record is unchanged.
async fn check(
    operator: &Operator,
    (kind, may_lack): (KindRef, bool),
    key: &Key,
    record: &Item,
) -> Result<Check> {
    let derived = kind.derived(operator.keys(), record)?;
    let stored = operator.reads().get_many(derived.items.keys().cloned()).await?;
    let (mut findings, mut fix) = (Vec::new(), Transaction::default());
    let mut is_lost = false;
    for (at, item, found) in differences((kind, may_lack), &derived, &stored) {
        let fault = found.map_or("is missing: ", |_| "is not what is derived: ");
        findings.push((at.to_string(), format!("{fault}{} has it", kind.label(key))));
        is_lost |= !kind.can_restore(item);
        fix.put(at.clone(), item.clone(), Condition::Always);
    }
    if findings.is_empty() {
        return Ok(Check::Fine);
    }
    fix.check(key.clone(), kind.unchanged(record)?);
    if let Some(lead) = kind.required_lead(record)? {
        fix.check(operator.keys().lead(lead), Condition::Present);
    }
    // An import of the record restores what is lost.
    let fix = (!is_lost).then_some(fix);
    Ok(Check::Inconsistency(Inconsistency { findings, fix }))
}
