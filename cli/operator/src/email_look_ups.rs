//! Look-ups of leads by e-mail address, which leads written before format 2 lack.

use super::{Operator, OperatorError};
use shared::store::unscoped::leads::{LeadRecord, email_look_up};
use table::item::Item;
use table::{Condition, Key, KeyRange, Pages, Policy, StoreError, Transaction};

/// Leads that are read at a time.
const LEADS: usize = 100;
/// Look-ups in one transaction, each with a condition on its lead.
const LOOK_UPS: usize = 50;

/// A lead's missing look-up, and the lead's version.
struct Missing {
    lead: Key,
    version: u64,
    look_up: Key,
}

impl Missing {
    fn put(&self, transaction: &mut Transaction) {
        transaction.put(self.look_up.clone(), Item::new(), Condition::Always);
        transaction.check(self.lead.clone(), Condition::Version(self.version));
    }
}

impl Operator {
    /// Puts the look-ups that are missing, and returns how many. Reads every lead.
    ///
    /// # Errors
    /// [`OperatorError::Store`] if the table fails; what was put by then stays.
    pub(super) async fn add_email_look_ups(&self) -> Result<u64, OperatorError> {
        let mut added = 0;
        let mut pages = Pages::of(KeyRange::head(self.keys().leads(), LEADS));
        while let Some(leads) = pages.next_keys(self.table()).await? {
            for missing in self.missing_look_ups(&leads).await?.chunks(LOOK_UPS) {
                let mut transaction = Transaction::default();
                for missing in missing {
                    missing.put(&mut transaction);
                }
                if self.table().try_commit(transaction).await? {
                    added += missing.len() as u64;
                    continue;
                }
                for Missing { lead, .. } in missing {
                    added += u64::from(self.add_email_look_up(lead).await?);
                }
            }
        }
        Ok(added)
    }

    /// The same for a lead that was changed concurrently.
    async fn add_email_look_up(&self, lead: &Key) -> Result<bool, StoreError> {
        let mut retry = self.table().retry(Policy::CONFLICT, "adding a look-up");
        while let Some(missing) = self.missing_look_ups(std::slice::from_ref(lead)).await?.first() {
            let mut transaction = Transaction::default();
            missing.put(&mut transaction);
            if self.table().try_commit(transaction).await? {
                return Ok(true);
            }
            retry.again().await?;
        }
        Ok(false)
    }

    /// Leads that cannot be read are skipped; the doctor reports them.
    async fn missing_look_ups(&self, leads: &[Key]) -> Result<Vec<Missing>, StoreError> {
        let found = self.table().get_many(leads.iter().cloned()).await?;
        let wanted = leads.iter().filter_map(|lead| {
            let record = LeadRecord::decode(found.get(lead)?).ok()?;
            Some(Missing {
                lead: lead.clone(),
                version: record.version,
                look_up: email_look_up(self.keys(), &record.lead)?,
            })
        });
        let mut wanted: Vec<_> = wanted.collect();
        let look_ups = wanted.iter().map(|missing| missing.look_up.clone());
        let there = self.table().get_many(look_ups).await?;
        wanted.retain(|missing| !there.contains_key(&missing.look_up));
        Ok(wanted)
    }
}
