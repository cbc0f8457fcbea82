//! Checks that each copy of another record is right, unless a stale marker or a tombstone excuses it.
//!
//! [`Doctor::recheck`] reads the record before and after a check. The check reads the source, the markers and the
//! source again. If record and source are unchanged, they were also unchanged when the markers were read. A change of a
//! lead sets a marker in the same transaction, and the marker is deleted only after the opportunities are written, so
//! an opportunity without a marker must have the right copy. The tombstone of a deleted lead excuses files, because the
//! erasure clears their ticket first. Changes of companies and of tickets' leads set no marker: until they are
//! complete, their copies may be reported. A repair depends on both records being unchanged.

use super::check::Check;
use super::{Doctor, Result};
use crate::Operator;
use crate::kinds::storage::{CopyRule, Storage};
use shared::store::unscoped::derived::Derived;
use shared::store::unscoped::key::Keys;
use shared::store::unscoped::leads::linked;
use shared::store::unscoped::notices;
use table::item::Item;
use table::{Condition, Key, StoreError, Transaction};

/// A record with a copy, and the rule of the copy.
#[derive(Clone, Copy)]
struct CopyingRecord<'a> {
    kind: &'a Storage,
    rule: CopyRule,
    key: &'a Key,
    item: &'a Item,
}

impl Doctor<'_> {
    /// Checks the copies in some records. Reads their sources in one batch, and the markers of differing copies in
    /// another.
    pub(super) async fn check_copies(&mut self, kind: &Storage, records: &[(&Key, &Item)]) -> Result<()> {
        let Some(rule) = kind.copy else {
            return Ok(());
        };
        let operator = self.operator;
        let keys = operator.keys();
        let sources = records.iter().map(|(_, record)| (rule.source)(keys, record));
        let sources = sources.collect::<Result<Vec<_>, _>>()?;
        let source_keys: Vec<_> = sources.iter().flatten().cloned().collect();
        self.count_checked("copies", source_keys.len());
        let found = operator.reads().get_many(source_keys).await?;
        let mut differing = Vec::new();
        for ((key, item), source_key) in records.iter().zip(&sources) {
            let source = source_key.as_ref().and_then(|key| found.get(key));
            let record = CopyingRecord {
                kind,
                rule,
                key,
                item,
            };
            let compared = compare(operator, record, source_key.as_ref(), source);
            self.report_stranger(record, source);
            if !matches!(compared, Ok(Check::Fine)) {
                differing.push((*key, markers(operator, rule, item, source)));
            }
        }
        let all_markers = differing.iter().flat_map(|(_, markers)| markers).cloned();
        let excuses = operator.reads().get_many(all_markers).await?;
        for (key, markers) in differing {
            if !markers.iter().any(|marker| excuses.contains_key(marker)) {
                let check_copy = async |item: &Item| {
                    let record = CopyingRecord {
                        kind,
                        rule,
                        key,
                        item,
                    };
                    check(operator, record).await
                };
                self.recheck(key, key, check_copy).await?;
            }
        }
        Ok(())
    }

    /// Reports a record that may mean another source. One that cannot be decoded is reported by the comparison.
    fn report_stranger(&mut self, record: CopyingRecord<'_>, source: Option<&Item>) {
        let stranger = source.and_then(|source| (record.rule.stranger)(record.item, source).ok()?);
        if let Some(reason) = stranger {
            self.report(record.key, reason, false);
        }
    }
}

/// The markers that excuse a wrong copy. Empty if record or source cannot be decoded, which the check reports.
fn markers(operator: &Operator, rule: CopyRule, record: &Item, source: Option<&Item>) -> Vec<Key> {
    (rule.markers)(operator.keys(), record, source).unwrap_or_default()
}

/// Compares a record with its source, unless a marker excuses it. Reads the source before and after the markers; see
/// the [module](self).
async fn check(operator: &Operator, record: CopyingRecord<'_>) -> Result<Check> {
    let (table, rule) = (operator.table(), record.rule);
    let source_key = (rule.source)(operator.keys(), record.item)?;
    let read_source = async || match &source_key {
        Some(key) => table.reads().get(key).await,
        None => Ok(None),
    };
    let source = read_source().await?;
    let excuses = table
        .reads()
        .get_many(markers(operator, rule, record.item, source.as_ref()))
        .await?;
    if read_source().await? != source {
        return Ok(Check::Changing);
    }
    if !excuses.is_empty() {
        return Ok(Check::Fine);
    }
    compare(operator, record, source_key.as_ref(), source.as_ref())
}

/// Compares a record with its source, both as they were at one moment. `source_key` is `None` if the record names no
/// source, and `source` if the source does not exist.
fn compare(
    operator: &Operator,
    record: CopyingRecord<'_>,
    source_key: Option<&Key>,
    source: Option<&Item>,
) -> Result<Check> {
    let (keys, rule) = (operator.keys(), record.rule);
    let label = source_key.map(|key| rule.label(key)).unwrap_or_default();
    if rule.needs_source && source_key.is_some() && source.is_none() {
        let reason = format!("belongs to {label}, which does not exist");
        return Ok(Check::wrong(record.key, reason, None));
    }
    let compared = (rule.renewed)(record.item, source).and_then(|renewed| {
        let unlinked = source.map(|source| (rule.is_unlinked)(source)).transpose()?;
        Ok((renewed, unlinked == Some(true)))
    });
    let (renewed, unlinked) = match compared {
        Ok((None, false)) => return Ok(Check::Fine),
        Ok(compared) => compared,
        Err(cause @ StoreError::Corrupt { .. }) if source_key.is_some() => {
            let reason = format!("cannot be compared with {label}: {cause}");
            return Ok(Check::wrong(record.key, reason, None));
        }
        Err(error) => return Err(error.into()),
    };
    let reason = match (&renewed, source_key, source) {
        (None, ..) => format!("is linked to {label}, which is marked as never linked"),
        (_, None, _) => format!("has the copy of a {} without its id", rule.source_name),
        (_, _, None) => format!("has a copy of {label}, which does not exist"),
        _ => format!("the copy of {label} differs from its record"),
    };
    let mut fix = renewal(keys, record, renewed)?;
    if let Some(source_key) = source_key {
        let unchanged = source.map_or(Ok(Condition::Absent), |source| (rule.unchanged)(source))?;
        if unlinked {
            fix.update(source_key.clone(), "v", 1, linked(), unchanged);
        } else {
            fix.check(source_key.clone(), unchanged);
        }
    }
    if let Some(lead) = (rule.stale_lead)(record.item)? {
        notices::mark(&mut fix, keys, lead, operator.environment());
    }
    Ok(Check::wrong(record.key, reason, fix))
}

/// The writes that renew a record. If only the link is wrong, the condition that the record is unchanged.
fn renewal(keys: Keys<'_>, record: CopyingRecord<'_>, renewed: Option<Item>) -> Result<Transaction> {
    let CopyingRecord { kind, key, item, .. } = record;
    let mut fix = Transaction::default();
    let unchanged = (kind.unchanged)(item)?;
    if let Some(renewed) = renewed {
        let (old, new) = ((kind.derived)(keys, item)?, (kind.derived)(keys, &renewed)?);
        fix.put(key.clone(), renewed, unchanged);
        Derived::change(&mut fix, &old, new);
    } else {
        fix.check(key.clone(), unchanged);
    }
    Ok(fix)
}
