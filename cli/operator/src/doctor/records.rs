//! Checks that each item derived from a record exists and is right.
//!
//! The derived items of records are noted, and the scan of the table (see [`orphans`](super::orphans)) marks the notes
//! that it finds. So each item is read once. A record is compared with its items by key only if an item was not found
//! or changed since, or if the notes have no room.

use std::collections::HashMap;

use futures_util::future::join;

use super::check::{Check, Inconsistency};
use super::tally::Recount;
use super::{Doctor, Result};
use crate::Operator;
use crate::kinds::Storage;
use crate::pages::RecordPages;
use shared::store::unscoped::derived::Derived;
use table::item::Item;
use table::{Condition, Key, KeyRange, Transaction, key_of};

/// Records with derived items that are read together.
const BATCH: usize = 100;

impl Doctor<'_> {
    /// Checks the records of kind number `index` and every item derived from them, and counts their classes.
    pub(super) async fn check_kind(&mut self, index: usize, kind: &Storage) -> Result<()> {
        self.first_counts.push(Recount::default());
        let mut pages = self.record_pages(kind);
        let mut page = pages.next().await?;
        while let Some(records) = page {
            // The next page is read while this one is checked.
            let checked = self.check_page(index, kind, &records);
            let (next, checked) = join(pages.next(), checked).await;
            checked?;
            page = next?;
        }
        Ok(())
    }

    fn record_pages(&self, kind: &Storage) -> RecordPages<Item> {
        self.pages_of(KeyRange::of_each(
            (kind.partitions)(self.operator.keys()),
            None,
            None,
        ))
    }

    async fn check_page(&mut self, index: usize, kind: &Storage, records: &[Item]) -> Result<()> {
        for records in records.chunks(BATCH) {
            self.count_checked(kind.plural, records.len());
            self.check_batch(index, kind, records).await?;
        }
        Ok(())
    }

    /// Notes the derived items of some records, and compares them with the stored ones if there is no room for notes.
    async fn check_batch(&mut self, index: usize, kind: &Storage, records: &[Item]) -> Result<()> {
        let operator = self.operator;
        let mut readable = Vec::with_capacity(records.len());
        let mut unnoted = Vec::new();
        for record in records {
            let key = key_of(record)?;
            match (kind.derived)(operator.keys(), record) {
                Ok(_) if kind.is_misplaced(&key, record)? => {
                    let reason = format!("contains another {}, which no look-up finds there", kind.name);
                    self.report(key, reason, false);
                }
                Ok(derived) => {
                    self.note_numbers(kind, record)?;
                    if let Some(tally) = self.first_counts.get_mut(index) {
                        tally.count(&derived);
                    }
                    self.count_checked("derived", derived.items.len());
                    let items = derived.items.iter();
                    let items = items.map(|(key, item)| (key, content_digest(kind, item)));
                    if !self.known.note(index, items) {
                        unnoted.push((key.clone(), derived));
                    }
                    readable.push((key, record));
                }
                Err(cause) => {
                    if let Some(tally) = self.first_counts.get_mut(index) {
                        tally.unreadable = true;
                    }
                    self.report(key, cause, false);
                }
            }
        }
        self.compare_by_key(kind, &unnoted).await?;
        for (key, record) in &readable {
            if (kind.flaw)(record)?.is_some() {
                self.check_flaw(kind, key).await?;
            }
            let column = (kind.column)(record)?;
            if column.is_some_and(|column| !self.columns.has(column)) {
                self.check_column(kind, key).await?;
            }
        }
        let records: Vec<_> = readable.iter().map(|(key, record)| (key, *record)).collect();
        self.check_copies(kind, &records).await
    }

    /// Gets the derived items of records by key, and checks records with a difference.
    async fn compare_by_key(&mut self, kind: &Storage, records: &[(Key, Derived)]) -> Result<()> {
        let operator = self.operator;
        let derived = records.iter().flat_map(|(_, derived)| derived.items.keys());
        let stored = operator.reads().get_many(derived.cloned()).await?;
        for (key, derived) in records {
            if differences(kind, derived, &stored).next().is_some() {
                self.recheck(key, key, async |record| check(operator, kind, key, record).await)
                    .await?;
            }
        }
        Ok(())
    }

    /// Checks the records of a kind with noted items that the scan did not see.
    pub(super) async fn check_unseen(&mut self, index: usize, kind: &Storage) -> Result<()> {
        if self.known.are_seen(index) {
            return Ok(());
        }
        let keys = self.operator.keys();
        let mut pages = self.record_pages(kind);
        while let Some(page) = pages.next().await? {
            self.report_progress(kind.plural);
            for records in page.chunks(BATCH) {
                let mut unseen = Vec::new();
                for record in records {
                    let key = key_of(record)?;
                    // Unreadable and misplaced records were reported by `check_batch`.
                    let Ok(derived) = (kind.derived)(keys, record) else {
                        continue;
                    };
                    let mut items = derived.items.iter();
                    if !kind.is_misplaced(&key, record)?
                        && items.any(|(key, item)| self.known.is_missed(key, content_digest(kind, item)))
                    {
                        unseen.push((key, derived));
                    }
                }
                self.compare_by_key(kind, &unseen).await?;
            }
        }
        Ok(())
    }
}

/// The digest of an item as it is derived, which is always readable.
fn content_digest(kind: &Storage, derived: &Item) -> u32 {
    (kind.content_digest)(derived).unwrap_or_default()
}

/// The derived items that are missing or wrong: key, right item and stored item.
fn differences<'a>(
    kind: &'a Storage,
    derived: &'a Derived,
    stored: &'a HashMap<Key, Item>,
) -> impl Iterator<Item = (&'a Key, &'a Item, Option<&'a Item>)> {
    let pairs = derived.items.iter();
    let pairs = pairs.map(|(key, item)| (key, item, stored.get(key)));
    pairs.filter(move |(_, right, stored)| stored.is_none_or(|stored| !(kind.agrees)(right, stored)))
}

/// Compares the stored derived items with their record. Every write that changes them changes the record in the same
/// transaction. So a repair is right as long as the record is unchanged.
async fn check(operator: &Operator, kind: &Storage, key: &Key, record: &Item) -> Result<Check> {
    let derived = (kind.derived)(operator.keys(), record)?;
    let stored = operator.reads().get_many(derived.items.keys().cloned()).await?;
    let (mut findings, mut fix) = (Vec::new(), Transaction::default());
    let mut is_lost = false;
    for (at, item, found) in differences(kind, &derived, &stored) {
        let fault = found.map_or("is missing: ", |_| "is not what is derived: ");
        findings.push((at.to_string(), format!("{fault}{} has it", kind.label(key))));
        is_lost |= !(kind.can_restore)(item);
        fix.put(at.clone(), item.clone(), Condition::Always);
    }
    if findings.is_empty() {
        return Ok(Check::Fine);
    }
    fix.check(key.clone(), (kind.unchanged)(record)?);
    if let Some(lead) = (kind.required_lead)(record)? {
        fix.check(operator.keys().lead(lead), Condition::Present);
    }
    // Data that the record does not contain is lost; only an import of the record restores it.
    let fix = (!is_lost).then_some(fix);
    Ok(Check::Inconsistency(Inconsistency { findings, fix }))
}
