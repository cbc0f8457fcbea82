//! Changing leads: the record, all that is derived from it, and the marker that its copies are stale, in one transaction.

use std::collections::BTreeMap;

use futures_util::future::try_join_all;

use super::record::{LeadRecord, LeadState};
use super::stale_markers;
use crate::ids::LeadId;
use crate::lead::Lead;
use crate::store::key::Key;
use crate::store::{InstanceStore, Reader};
use table::StoreError;
use table::item::Item;
use table::{CommitError, Policy, Retry, Transaction};

/// Leads that are changed at a time.
pub(super) const CONCURRENCY: usize = 16;

impl InstanceStore {
    /// Changes a lead as `change` decides, which is asked again where others changed the lead concurrently; `None` where it
    /// refuses, or where the lead is gone. One transaction; none where it changes nothing.
    ///
    /// # Errors
    /// [`StoreError`] where it failed, or where nobody knows whether it happened.
    pub async fn update_lead(
        &self,
        mut stored: LeadRecord,
        change: impl Fn(&Lead) -> Option<Lead>,
    ) -> Result<Option<Lead>, StoreError> {
        let mut retry = self.table.retry(Policy::CONTESTED, "changing a lead");
        loop {
            let Some(lead) = change(&stored.lead) else {
                return Ok(None);
            };
            if lead == stored.lead {
                return Ok(Some(lead));
            }
            let newer = match self.table.commit(self.lead_change(&stored, &lead)?).await {
                Ok(()) => return Ok(Some(lead)),
                Err(CommitError::Refused(items)) => self.newer_lead(lead.id, items, &mut retry).await?,
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
    }

    /// The lead to decide on next, `None` once it is gone: at first as it stood in the way, then as it is after a pause.
    /// Where many want the same, what was there before the pause is old after it.
    pub(crate) async fn newer_lead(
        &self,
        id: LeadId,
        mut refused: BTreeMap<Key, Item>,
        retry: &mut Retry<'_>,
    ) -> Result<Option<LeadRecord>, StoreError> {
        if retry.again().await? {
            return self.lead_record(id).await;
        }
        let stood = refused
            .remove(&self.keys().lead(id))
            .filter(|item| !item.is_empty());
        stood.map(LeadRecord::decode).transpose()
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
        for some in stored.chunks(CONCURRENCY) {
            let some = some
                .iter()
                .map(|stored| self.update_lead(stored.clone(), &change));
            changed.extend(try_join_all(some).await?.into_iter().flatten());
        }
        Ok(changed)
    }
}

impl Reader {
    /// The writes that put a lead in the place of what is stored, on condition that it still is.
    pub(crate) fn lead_change(&self, stored: &LeadRecord, lead: &Lead) -> Result<Transaction, StoreError> {
        let keys = self.keys();
        let changed = LeadRecord {
            edited: true,
            ..stored.next(LeadState {
                lead: lead.clone(),
                company: stored.company.clone(),
            })
        };
        let mut transaction = changed.put(keys, Some(stored))?;
        if stored.copied() != changed.copied() {
            stale_markers::mark(&mut transaction, keys, lead.id, self.environment.now());
        }
        Ok(transaction)
    }
}
