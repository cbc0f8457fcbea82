//! Look-ups of leads by address, word and number, and of opportunities by the words of their titles. Records written
//! before format 3 lack them.

use super::{Operator, OperatorError};
use shared::store::OpportunitySnapshot;
use shared::store::unscoped::entity::{Entity, Stored};
use shared::store::unscoped::key;
use shared::store::unscoped::leads::LeadState;
use table::item::Item;
use table::{Condition, Key, KeyRange, MAX_WRITES, Pages, Policy, StoreError, Transaction};

/// Records that are read at a time.
const RECORDS: usize = 100;

/// A record's missing look-ups, and the record's version.
struct MissingLookUps {
    record: Key,
    version: u64,
    look_ups: Vec<(Key, Item)>,
}

impl MissingLookUps {
    fn put(&self, transaction: &mut Transaction) {
        for (key, item) in &self.look_ups {
            transaction.put(key.clone(), item.clone(), Condition::Always);
        }
        transaction.check(self.record.clone(), Condition::Version(self.version));
    }

    /// The number of its writes.
    fn writes(&self) -> usize {
        self.look_ups.len() + 1
    }
}

impl Operator {
    /// Puts the missing look-ups, and returns their number. Reads every lead and opportunity.
    ///
    /// # Errors
    /// [`OperatorError::Store`] if the table fails; what was put by then stays.
    pub(super) async fn add_look_ups(&self) -> Result<u64, OperatorError> {
        let keys = self.keys();
        let of_leads = self.add_look_ups_of::<LeadState>(keys.leads()).await?;
        let of_opportunities = self.add_look_ups_of::<OpportunitySnapshot>(keys.opportunities());
        Ok(of_leads + of_opportunities.await?)
    }

    async fn add_look_ups_of<E: Entity>(&self, records: String) -> Result<u64, StoreError> {
        let mut added = 0;
        let mut pages = Pages::of(KeyRange::head(records, RECORDS));
        while let Some(records) = pages.next_keys(self.reads()).await? {
            let missing = self.missing_look_ups::<E>(&records).await?;
            for batch in batches(&missing) {
                added += self.add_batch::<E>(batch).await?;
            }
        }
        Ok(added)
    }

    /// Puts the look-ups of a few records. If one of the records changed concurrently, puts them record by record.
    async fn add_batch<E: Entity>(&self, records: &[MissingLookUps]) -> Result<u64, StoreError> {
        let mut transaction = Transaction::default();
        for missing in records {
            missing.put(&mut transaction);
        }
        if self.table().try_commit(transaction).await? {
            return Ok(records.iter().map(|missing| missing.look_ups.len() as u64).sum());
        }
        let mut added = 0;
        for MissingLookUps { record, .. } in records {
            added += self.add_look_ups_again::<E>(record).await?;
        }
        Ok(added)
    }

    /// Puts the look-ups of a record that may have changed concurrently.
    async fn add_look_ups_again<E: Entity>(&self, record: &Key) -> Result<u64, StoreError> {
        let mut retry = self.table().retry(Policy::CONFLICT, "adding a look-up");
        let record = std::slice::from_ref(record);
        while let Some(missing) = self.missing_look_ups::<E>(record).await?.first() {
            let mut transaction = Transaction::default();
            missing.put(&mut transaction);
            if self.table().try_commit(transaction).await? {
                return Ok(missing.look_ups.len() as u64);
            }
            retry.again().await?;
        }
        Ok(0)
    }

    /// Records that lack look-ups. Unreadable records are skipped; the doctor reports them.
    async fn missing_look_ups<E: Entity>(&self, records: &[Key]) -> Result<Vec<MissingLookUps>, StoreError> {
        let found = self.reads().get_many(records.iter().cloned()).await?;
        let records_missing = records.iter().filter_map(|key| {
            let record = Stored::<E>::decode(found.get(key)?).ok()?;
            let derived = record.derived_as_read(self.keys()).ok()?.items.into_iter();
            Some(MissingLookUps {
                record: key.clone(),
                version: record.version,
                look_ups: derived.filter(|(key, _)| key::is_new_look_up(key)).collect(),
            })
        });
        let mut records_missing: Vec<_> = records_missing.collect();
        let look_ups = records_missing.iter().flat_map(|missing| &missing.look_ups);
        let stored = self
            .reads()
            .get_many(look_ups.map(|(key, _)| key.clone()))
            .await?;
        for missing in &mut records_missing {
            missing.look_ups.retain(|(key, _)| !stored.contains_key(key));
        }
        records_missing.retain(|missing| !missing.look_ups.is_empty());
        Ok(records_missing)
    }
}

/// Divides records into parts with at most as many writes as a transaction may have.
fn batches(mut records: &[MissingLookUps]) -> Vec<&[MissingLookUps]> {
    let mut batches = Vec::new();
    while !records.is_empty() {
        let mut writes = 0;
        let fitting = records.iter().take_while(|missing| {
            writes += missing.writes();
            writes <= MAX_WRITES
        });
        let (batch, rest) = records.split_at(fitting.count().max(1));
        batches.push(batch);
        records = rest;
    }
    batches
}
