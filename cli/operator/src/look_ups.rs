//! Look-ups of leads by e-mail address, word and number, which leads written before format 2 lack.

use super::{Operator, OperatorError};
use shared::store::unscoped::entity::Entity as _;
use shared::store::unscoped::key;
use shared::store::unscoped::leads::{LeadRecord, LeadState};
use table::item::Item;
use table::{Condition, Key, KeyRange, MAX_WRITES, Pages, Policy, StoreError, Transaction};

/// Leads that are read at a time.
const LEADS: usize = 100;

/// A lead's missing look-ups, and the lead's version.
struct Missing {
    lead: Key,
    version: u64,
    look_ups: Vec<(Key, Item)>,
}

impl Missing {
    fn put(&self, transaction: &mut Transaction) {
        for (key, item) in &self.look_ups {
            transaction.put(key.clone(), item.clone(), Condition::Always);
        }
        transaction.check(self.lead.clone(), Condition::Version(self.version));
    }

    /// Writes in its transaction.
    fn writes(&self) -> usize {
        self.look_ups.len() + 1
    }
}

impl Operator {
    /// Puts the look-ups that are missing, and returns how many. Reads every lead.
    ///
    /// # Errors
    /// [`OperatorError::Store`] if the table fails; what was put by then stays.
    pub(super) async fn add_look_ups(&self) -> Result<u64, OperatorError> {
        let mut added = 0;
        let mut pages = Pages::of(KeyRange::head(self.keys().leads(), LEADS));
        while let Some(leads) = pages.next_keys(self.table()).await? {
            let missing = self.missing_look_ups(&leads).await?;
            for some in in_transactions(&missing) {
                added += self.add_look_ups_of(some).await?;
            }
        }
        Ok(added)
    }

    /// Puts the look-ups of a few leads; one by one, if one of them was changed concurrently.
    async fn add_look_ups_of(&self, leads: &[Missing]) -> Result<u64, StoreError> {
        let mut transaction = Transaction::default();
        for missing in leads {
            missing.put(&mut transaction);
        }
        if self.table().try_commit(transaction).await? {
            return Ok(leads.iter().map(|missing| missing.look_ups.len() as u64).sum());
        }
        let mut added = 0;
        for Missing { lead, .. } in leads {
            added += self.add_look_ups_again(lead).await?;
        }
        Ok(added)
    }

    /// The same for a lead that was changed concurrently.
    async fn add_look_ups_again(&self, lead: &Key) -> Result<u64, StoreError> {
        let mut retry = self.table().retry(Policy::CONFLICT, "adding a look-up");
        while let Some(missing) = self.missing_look_ups(std::slice::from_ref(lead)).await?.first() {
            let mut transaction = Transaction::default();
            missing.put(&mut transaction);
            if self.table().try_commit(transaction).await? {
                return Ok(missing.look_ups.len() as u64);
            }
            retry.again().await?;
        }
        Ok(0)
    }

    /// Leads that lack any. Those that cannot be read are skipped; the doctor reports them.
    async fn missing_look_ups(&self, leads: &[Key]) -> Result<Vec<Missing>, StoreError> {
        let found = self.table().get_many(leads.iter().cloned()).await?;
        let wanted = leads.iter().filter_map(|lead| {
            let record = LeadRecord::decode(found.get(lead)?.clone()).ok()?;
            let derived = LeadState::derived(&record, self.keys()).ok()?.items.into_iter();
            Some(Missing {
                lead: lead.clone(),
                version: record.version,
                look_ups: derived.filter(|(key, _)| key::is_new_look_up(key)).collect(),
            })
        });
        let mut wanted: Vec<_> = wanted.collect();
        let look_ups = wanted.iter().flat_map(|missing| &missing.look_ups);
        let there = self
            .table()
            .get_many(look_ups.map(|(key, _)| key.clone()))
            .await?;
        for missing in &mut wanted {
            missing.look_ups.retain(|(key, _)| !there.contains_key(key));
        }
        wanted.retain(|missing| !missing.look_ups.is_empty());
        Ok(wanted)
    }
}

/// Divides leads into parts with at most as many writes as a transaction may have.
fn in_transactions(mut leads: &[Missing]) -> Vec<&[Missing]> {
    let mut parts = Vec::new();
    while !leads.is_empty() {
        let mut writes = 0;
        let fits = leads.iter().take_while(|missing| {
            writes += missing.writes();
            writes <= MAX_WRITES
        });
        let (part, rest) = leads.split_at(fits.count().max(1));
        parts.push(part);
        leads = rest;
    }
    parts
}
