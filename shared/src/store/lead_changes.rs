//! Changing leads: the record, all that is derived from it, and the notice that its copies are behind, in one transaction.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::future::try_join_all;

use super::derived::Derived;
use super::erasure::Deleted;
use super::error::StoreError;
use super::item::Item;
use super::key::Key;
use super::leads::{self, LeadRecord};
use super::notices;
use super::transaction::{CommitError, Condition, Transaction};
use super::{InstanceStore, Reader};
use crate::id::LeadId;
use crate::lead::Lead;

/// How often a change is decided anew because others changed the lead meanwhile: about 3 s of pauses in all.
pub const ATTEMPTS: u32 = 40;
/// From which attempt on pauses no longer grow: whoever waits long loses to those who come later.
const LONGEST_PAUSE: u32 = 3;
/// Leads that are changed at a time.
const TOGETHER: usize = 16;

impl InstanceStore {
    /// Changes a lead as `change` decides, which is asked again where others changed the lead meanwhile; `None` where it
    /// refuses, or where the lead is gone. One transaction; none where it changes nothing.
    ///
    /// # Errors
    /// [`StoreError`] where it failed, or where nobody knows whether it happened.
    pub async fn update_lead(
        &self,
        mut stored: LeadRecord,
        change: impl Fn(&Lead) -> Option<Lead>,
    ) -> Result<Option<Lead>, StoreError> {
        for attempt in 0..ATTEMPTS {
            let Some(lead) = change(&stored.lead) else {
                return Ok(None);
            };
            if lead == stored.lead {
                return Ok(Some(lead));
            }
            let newer = match self.table.commit(self.lead_change(&stored, &lead)?).await {
                Ok(()) => return Ok(Some(lead)),
                Err(CommitError::Refused(items)) => self.newer_lead(lead.id, items, attempt).await?,
                Err(CommitError::Store(error)) => {
                    let there = self.lead_record(lead.id).await?;
                    let done = there.is_some_and(|there| change(&there.lead).as_ref() == Some(&there.lead));
                    return if done { Ok(Some(lead)) } else { Err(error) };
                }
            };
            match newer {
                Some(newer) => stored = newer,
                None => return Ok(None),
            }
        }
        Err(StoreError::Contention("changing a lead"))
    }

    /// The lead to decide on next, `None` once it is gone: at first as it stood in the way, then as it is after a pause.
    /// Where many want the same, what was there before the pause is old after it.
    pub(super) async fn newer_lead(
        &self,
        id: LeadId,
        mut refused: BTreeMap<Key, Item>,
        attempt: u32,
    ) -> Result<Option<LeadRecord>, StoreError> {
        if attempt > 0 {
            self.table.pause(attempt.min(LONGEST_PAUSE)).await;
            return self.lead_record(id).await;
        }
        let stood = refused
            .remove(&self.keys().lead(id))
            .filter(|item| !item.is_empty());
        stood.map(leads::decode).transpose()
    }

    /// The same for several leads, each for itself, some at a time; those that were refused or gone are not in the result.
    ///
    /// # Errors
    /// [`StoreError`] as there; what was changed by then stays.
    pub async fn update_leads(
        &self,
        stored: Vec<LeadRecord>,
        change: impl Fn(&Lead) -> Option<Lead>,
    ) -> Result<Vec<Lead>, StoreError> {
        let mut changed = Vec::with_capacity(stored.len());
        for some in stored.chunks(TOGETHER) {
            let some = some
                .iter()
                .map(|stored| self.update_lead(stored.clone(), &change));
            changed.extend(try_join_all(some).await?.into_iter().flatten());
        }
        Ok(changed)
    }

    /// Deletes several leads, each for itself, some at a time; the ids of those that were deleted.
    ///
    /// # Errors
    /// [`StoreError`] where one failed; what was deleted by then stays so.
    pub async fn delete_leads(
        &self,
        stored: Vec<LeadRecord>,
        may: impl Fn(&Lead) -> bool,
    ) -> Result<BTreeSet<LeadId>, StoreError> {
        let mut deleted = BTreeSet::new();
        for some in stored.chunks(TOGETHER) {
            let some = some.iter().map(async |stored| {
                let outcome = self.delete_lead(stored.clone(), &may).await?;
                Ok::<_, StoreError>((outcome == Deleted::Done).then_some(stored.lead.id))
            });
            deleted.extend(try_join_all(some).await?.into_iter().flatten());
        }
        Ok(deleted)
    }
}

impl Reader {
    /// The writes that put a lead in the place of what is stored, on condition that it still is.
    pub(super) fn lead_change(&self, stored: &LeadRecord, lead: &Lead) -> Result<Transaction, StoreError> {
        let keys = self.keys();
        let record = LeadRecord {
            lead: lead.clone(),
            version: stored.version + 1,
            edited: true,
            company: stored.company.clone(),
            raw: stored.raw.clone(),
        };
        let mut transaction = Transaction::default();
        let condition = Condition::Version(stored.version);
        transaction.put(keys.lead(lead.id), leads::encode(&record)?, condition);
        Derived::change(
            &mut transaction,
            &leads::derived(keys, &stored.lead)?,
            leads::derived(keys, lead)?,
        );
        if stored.copied() != record.copied() {
            notices::raise(&mut transaction, keys, lead.id, self.table.ambient.now());
        }
        Ok(transaction)
    }
}
