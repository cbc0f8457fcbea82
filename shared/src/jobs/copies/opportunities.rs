//! Copies of a lead in its opportunities: as many in one transaction as fit, because each transaction checks the lead,
//! and concurrent ones would conflict there.

use std::mem::take;

use super::unchanged;
use crate::ids::{LeadId, OpportunityId};
use crate::store::Writer;
use crate::store::key::{BATCH, Key};
use crate::store::leads::LeadRecord;
use crate::store::opportunities::{OpportunityRecord, OpportunitySnapshot};
use crate::store::quarantine::Unreadable;
use table::{CommitError, KeyRange, MAX_WRITES, Pages, Policy, StoreError, Transaction};

/// Maximum bytes of one transaction, below DynamoDB's 4 MB.
const MAX_BYTES: usize = 3_000_000;

/// A lead with the record to copy; `None` once it is deleted.
type CopySource<'l> = (LeadId, Option<&'l LeadRecord>);

/// Opportunities that are written in one transaction.
#[derive(Default)]
struct CopyBatch {
    transaction: Transaction,
    members: Vec<(Key, OpportunityRecord)>,
}

impl CopyBatch {
    /// Whether a change fits into the transaction: within DynamoDB's limits, and without another write of the same
    /// item.
    fn has_room_for(&self, change: &Transaction) -> bool {
        self.transaction.len() + change.len() <= MAX_WRITES
            && self.transaction.bytes() + change.bytes() <= MAX_BYTES
            && !self.transaction.collides(change)
    }
}

impl Writer {
    /// Writes a lead's record into all of its opportunities. An unreadable opportunity fails after the others are
    /// written.
    pub(super) async fn refresh_copies_of(
        &self,
        lead: LeadId,
        record: Option<&LeadRecord>,
    ) -> Result<(), StoreError> {
        let (source, mut unreadable) = ((lead, record), Unreadable::default());
        let mut pages = Pages::of(KeyRange::head(self.keys().lead_opportunities(lead), BATCH));
        while let Some(keys) = pages.next_keys(&self.reader().table).await? {
            let ids = keys
                .iter()
                .filter_map(|key| OpportunityId::new(key.sk.parse().ok()?));
            let keys = ids.map(|id| self.keys().opportunity(id));
            let mut batch = CopyBatch::default();
            for (key, item) in self.table.reads().get_many(keys).await? {
                let stored = OpportunityRecord::decode(item);
                let change = stored.and_then(|stored| Ok((self.copy_change(&stored, source)?, stored)));
                match change {
                    Ok((None, _)) => {}
                    Ok((Some(change), stored)) => {
                        if !batch.has_room_for(&change) {
                            self.write_batch(take(&mut batch), source, &mut unreadable)
                                .await?;
                        }
                        batch.transaction.merge(change);
                        batch.members.push((key, stored));
                    }
                    Err(error) => unreadable.note(self.reader(), &key, Err(error))?,
                }
            }
            self.write_batch(batch, source, &mut unreadable).await?;
        }
        unreadable.result()
    }

    /// Writes opportunities in one transaction. If that is refused because of one of them, writes each alone. If it is
    /// refused because the lead changed, writes nothing: the lead's marker was set again.
    async fn write_batch(
        &self,
        batch: CopyBatch,
        source: CopySource<'_>,
        unreadable: &mut Unreadable,
    ) -> Result<(), StoreError> {
        if batch.members.len() > 1 {
            match self.table.commit(batch.transaction).await {
                Ok(()) => return Ok(()),
                // The marker remains for the next round.
                Err(CommitError::Refused(items)) if items.contains_key(&self.keys().lead(source.0)) => {
                    return Ok(());
                }
                // One of them changed or cannot be written, so each is written alone below.
                Err(CommitError::Refused(_)) => {}
                Err(CommitError::Store(error)) if error.lasting().is_some() => {}
                Err(CommitError::Store(error)) => return Err(error),
            }
        }
        for (key, stored) in batch.members {
            let outcome = self.refresh_copy(stored, source).await;
            unreadable.note(self.reader(), &key, outcome)?;
        }
        Ok(())
    }

    /// The write of the lead into an opportunity, on condition that the lead is unchanged. `None` if the copy is
    /// current or the opportunity has another lead.
    fn copy_change(
        &self,
        stored: &OpportunityRecord,
        (lead, record): CopySource<'_>,
    ) -> Result<Option<Transaction>, StoreError> {
        let current = OpportunitySnapshot::of(stored.opportunity.clone(), record);
        if stored.opportunity.lead_id != Some(lead) || current == stored.value {
            return Ok(None);
        }
        let mut transaction = stored.replace(self.keys(), current, stored.edited)?;
        transaction.check(self.keys().lead(lead), unchanged(record));
        Ok(Some(transaction))
    }

    /// Writes the lead into one opportunity, unless it is current.
    async fn refresh_copy(
        &self,
        mut stored: OpportunityRecord,
        source: CopySource<'_>,
    ) -> Result<(), StoreError> {
        let mut retry = self.reader().table.retry(Policy::CONFLICT, "refreshing a copy");
        let key = self.keys().opportunity(stored.opportunity.id);
        while let Some(transaction) = self.copy_change(&stored, source)? {
            match self.table.commit(transaction).await {
                Ok(()) => return Ok(()),
                Err(CommitError::Refused(items)) => {
                    // If the lead changed, its marker remains for the next round.
                    let newer = items.get(&key).filter(|item| !item.is_empty());
                    let Some(item) = newer else { return Ok(()) };
                    stored = OpportunityRecord::decode(item)?;
                    retry.again().await?;
                }
                Err(CommitError::Store(error)) => return Err(error),
            }
        }
        Ok(())
    }
}
