//! Deleting leads (C-24).
//!
//! A deletion is one transaction. It deletes the record and its derived items, and writes a tombstone and a [stale
//! marker](super::stale_markers). Every reader of data that may contain the lead's data checks one of the two, so no
//! data of the person is shown. `jobs::erasure` removes the remaining data.
//!
//! No record can be linked to the lead concurrently: each link checks the lead in its own transaction.

use std::collections::BTreeSet;

use futures_util::future::try_join_all;

use super::record::LeadRecord;
use super::stale_markers;
use super::update::CONCURRENCY;
use crate::ids::LeadId;
use crate::lead::Lead;
use crate::store::Writer;
use crate::store::derived::Derived;
use table::item::{self, s};
use table::{CommitError, Condition, Policy, StoreError, Transaction};

/// Outcome of a deletion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deleted {
    /// The lead is deleted.
    Done,
    /// The lead does not exist, or may no longer be deleted; nothing is written.
    Gone,
}

impl Writer {
    /// Deletes a lead permanently, on condition that it is unchanged. After a concurrent change, `may` decides again.
    /// One transaction; more after conflicts.
    ///
    /// # Errors
    /// [`StoreError`] if it failed, or if its outcome is unknown.
    pub async fn delete_lead(
        &self,
        mut record: LeadRecord,
        may: impl Fn(&Lead) -> bool,
    ) -> Result<Deleted, StoreError> {
        let nonce = self.reader.environment.token();
        let id = record.lead.id;
        let mut retry = self.reader.table.retry(Policy::CONTESTED, "deleting a lead");
        loop {
            if !may(&record.lead) {
                return Ok(Deleted::Gone);
            }
            // The lead for the next attempt; `None` if it was deleted.
            let newer = match self.table.commit(self.deletion(&record, &nonce)?).await {
                Ok(()) => return Ok(Deleted::Done),
                Err(CommitError::Refused(items)) => {
                    self.newer_lead(record.clone(), items, &mut retry).await?
                }
                Err(CommitError::Store(error)) => {
                    // The outcome may be unknown, so the tombstone's nonce decides.
                    let is_own = self.is_deleted_by(id, &nonce).await?;
                    return if is_own { Ok(Deleted::Done) } else { Err(error) };
                }
            };
            match newer {
                Some(newer) => record = newer,
                // An attempt of unknown outcome, or another request, has deleted it.
                None if self.is_deleted_by(id, &nonce).await? => return Ok(Deleted::Done),
                None => return Ok(Deleted::Gone),
            }
        }
    }

    /// Deletes several leads independently, [`CONCURRENCY`] at a time. Returns the ids of deleted leads, without those
    /// that `may` refuses or that are gone.
    ///
    /// # Errors
    /// [`StoreError`] if one failed; what was deleted by then stays so.
    pub async fn delete_leads(
        &self,
        stored: Vec<LeadRecord>,
        may: impl Fn(&Lead) -> bool,
    ) -> Result<BTreeSet<LeadId>, StoreError> {
        let mut deleted = BTreeSet::new();
        for batch in stored.chunks(CONCURRENCY) {
            let deletions = batch.iter().map(async |stored| {
                let outcome = self.delete_lead(stored.clone(), &may).await?;
                Ok::<_, StoreError>((outcome == Deleted::Done).then_some(stored.lead.id))
            });
            deleted.extend(try_join_all(deletions).await?.into_iter().flatten());
        }
        Ok(deleted)
    }

    /// Whether the request with this nonce deleted a lead.
    async fn is_deleted_by(&self, lead: LeadId, nonce: &str) -> Result<bool, StoreError> {
        let tombstone = self.reader.table.get(&self.keys().tombstone(lead)).await?;
        Ok(tombstone.is_some_and(|tombstone| item::is_own(&tombstone, nonce)))
    }

    /// The writes of a deletion, on condition that the record is unchanged.
    fn deletion(&self, record: &LeadRecord, nonce: &str) -> Result<Transaction, StoreError> {
        let (keys, id) = (self.keys(), record.lead.id);
        let mut transaction = Transaction::default();
        transaction.delete(keys.lead(id), Condition::Version(record.version));
        let derived = record.derived_as_read(keys)?;
        Derived::change(&mut transaction, &derived, Derived::default());
        let now = self.reader.environment.now();
        let mut tombstone = stale_markers::marked_at(now);
        tombstone.insert("nonce".to_owned(), s(nonce));
        transaction.put(keys.tombstone(id), tombstone, Condition::Always);
        stale_markers::mark_deleted(&mut transaction, keys, id, now);
        Ok(transaction)
    }
}
