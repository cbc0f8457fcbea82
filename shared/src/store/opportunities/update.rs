//! Changes opportunities. A change is computed from the record that was read and written on condition that the record
//! is unchanged. After a conflict it is computed again from the newer record, so no update is lost (C-31).

use super::{OpportunityRecord, OpportunitySnapshot};
use crate::funnel::Funnel;
use crate::ids::{FunnelId, LeadId, OpportunityId, UserId};
use crate::opportunity::Opportunity;
use crate::store::leads::stale_markers::StaleMarkers;
use crate::store::leads::{self, LeadRecord};
use crate::store::{Reader, Writer};
use table::StoreError;
use table::item::{self, Item};
use table::{CommitError, Policy, Transaction};

/// Prefetched reads of an update.
#[derive(Debug)]
pub struct PrefetchedUpdate {
    /// The funnel, if there is one.
    pub funnel: Option<Funnel>,
    /// The opportunity's record, if there is one.
    pub stored: Option<OpportunityRecord>,
    /// The record of the requested lead, if it exists.
    pub lead: Option<LeadRecord>,
    /// The requested user, if it exists.
    pub user: Option<UserId>,
    markers: StaleMarkers,
}

/// Outcome of an update.
#[derive(Debug, Clone, PartialEq)]
pub enum Updated<R> {
    /// It is written, or changes nothing.
    Done(Box<OpportunitySnapshot>),
    /// `change` refused; nothing is written.
    Refused(R),
    /// The opportunity, or its new lead, does not exist; nothing is written.
    Gone,
}

impl Reader {
    /// Prefetches the records for an update. One batch of gets, in parallel with a query of stale markers.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be read.
    pub async fn begin_update(
        &self,
        id: OpportunityId,
        funnel: FunnelId,
        (lead, user): (Option<LeadId>, Option<UserId>),
    ) -> Result<PrefetchedUpdate, StoreError> {
        let (record_key, funnel_key) = (self.keys().opportunity(id), self.keys().funnel(funnel));
        let lead_key = lead.map(|lead| self.keys().lead(lead));
        let user_key = user.map(|user| self.keys().user(user));
        let wanted = [record_key.clone(), funnel_key.clone()].into_iter();
        let wanted = wanted.chain(lead_key.clone()).chain(user_key.clone());
        let (mut found, markers) = tokio::try_join!(self.table.get_many(wanted), self.stale_markers())?;
        let funnel = found.remove(&funnel_key).map(|item| item::decode("funnel", item));
        let lead = lead_key
            .and_then(|key| found.remove(&key))
            .map(LeadRecord::decode);
        Ok(PrefetchedUpdate {
            funnel: funnel.transpose()?,
            stored: found
                .remove(&record_key)
                .map(OpportunityRecord::decode)
                .transpose()?,
            lead: lead.transpose()?,
            user: user.filter(|_| user_key.is_some_and(|key| found.contains_key(&key))),
            markers,
        })
    }

    /// An opportunity by id, with its current lead. A get in parallel with a query of stale markers; then a get of the
    /// lead if a marker covers it.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be read.
    pub async fn opportunity_card(
        &self,
        id: OpportunityId,
    ) -> Result<Option<OpportunitySnapshot>, StoreError> {
        let (stored, markers) = tokio::try_join!(self.opportunity(id), self.stale_markers())?;
        let Some(OpportunityRecord {
            value: mut snapshot, ..
        }) = stored
        else {
            return Ok(None);
        };
        self.refresh_snapshots(&markers, &mut [&mut snapshot]).await?;
        Ok(Some(snapshot))
    }
}

impl Writer {
    /// Changes an opportunity with `change`, which returns the changed opportunity or the reason to refuse. It runs
    /// again on the newer record after a concurrent change. One transaction; none if nothing changes. A get of the lead
    /// first, if its copy may be stale; more calls after conflicts.
    ///
    /// # Errors
    /// [`StoreError`] if it failed, or if its outcome is unknown.
    pub async fn update_opportunity<R>(
        &self,
        start: PrefetchedUpdate,
        change: impl Fn(&Opportunity) -> Result<Opportunity, R>,
    ) -> Result<Updated<R>, StoreError> {
        let (markers, mut lead) = (start.markers, start.lead);
        let Some(mut stored) = start.stored else {
            return Ok(Updated::Gone);
        };
        let table = &self.reader.table;
        let mut retry = table.retry(Policy::CONTESTED, "changing an opportunity");
        loop {
            // Response and new record replace a stale copy by the lead, like readers.
            let mut current = stored.value.clone();
            self.reader
                .refresh_snapshots(&markers, &mut [&mut current])
                .await?;
            let changed = match change(&current.opportunity) {
                Ok(changed) => changed,
                Err(refused) => return Ok(Updated::Refused(refused)),
            };
            if changed == current.opportunity {
                return Ok(Updated::Done(Box::new(current)));
            }
            let Some((snapshot, transaction)) =
                self.change_writes(&stored, current, changed, lead.as_ref())?
            else {
                return Ok(Updated::Gone);
            };
            let refused = match self.table.commit(transaction).await {
                Ok(()) => return Ok(Updated::Done(Box::new(snapshot))),
                Err(CommitError::Refused(items)) => items,
                Err(CommitError::Store(error)) => return self.find_change(snapshot).await?.ok_or(error),
            };
            if let Some(item) = refused.get(&self.keys().opportunity(snapshot.opportunity.id)) {
                stored = OpportunityRecord::decode(item)?;
                // An attempt of unknown outcome wrote it.
                if stored.opportunity == snapshot.opportunity {
                    return Ok(Updated::Done(Box::new(snapshot)));
                }
            }
            lead = newer_lead(lead, |lead| refused.get(&self.keys().lead(lead)))?;
            // With many writers, a record from before the pause is outdated.
            if retry.again().await? {
                match self.reader.opportunity(stored.opportunity.id).await? {
                    Some(record) => stored = record,
                    None => return Ok(Updated::Gone),
                }
            }
        }
    }

    /// The new snapshot and its writes; `None` if its new lead does not exist. `stored` is replaced; `current` is its
    /// snapshot with the current lead.
    fn change_writes(
        &self,
        stored: &OpportunityRecord,
        current: OpportunitySnapshot,
        changed: Opportunity,
        lead: Option<&LeadRecord>,
    ) -> Result<Option<(OpportunitySnapshot, Transaction)>, StoreError> {
        if changed.lead_id == current.opportunity.lead_id {
            let snapshot = OpportunitySnapshot {
                opportunity: changed,
                ..current
            };
            let transaction = self.replacement(stored, snapshot.clone())?;
            return Ok(Some((snapshot, transaction)));
        }
        let Some(lead) = lead.filter(|record| changed.lead_id == Some(record.lead.id)) else {
            return Ok(None);
        };
        let snapshot = OpportunitySnapshot::of(changed, Some(lead));
        let mut transaction = self.replacement(stored, snapshot.clone())?;
        leads::link(&mut transaction, self.keys(), lead);
        Ok(Some((snapshot, transaction)))
    }

    /// The writes that replace the stored snapshot and raise its facts.
    fn replacement(
        &self,
        stored: &OpportunityRecord,
        snapshot: OpportunitySnapshot,
    ) -> Result<Transaction, StoreError> {
        let record = OpportunityRecord {
            edited: true,
            ..stored.next(snapshot)
        };
        self.put_record(&record, Some(stored))
    }

    /// The outcome of a transaction that returned an error: the snapshot, if the stored record equals it, so that it
    /// was written all the same.
    async fn find_change<R>(&self, snapshot: OpportunitySnapshot) -> Result<Option<Updated<R>>, StoreError> {
        let stored = self.reader.opportunity(snapshot.opportunity.id).await?;
        let is_written = stored.is_some_and(|record| record.opportunity == snapshot.opportunity);
        Ok(is_written.then_some(Updated::Done(Box::new(snapshot))))
    }
}

/// The record of the requested lead after a failed transaction: from its failed condition, which `refused` returns,
/// else the known one. `None` if the lead was deleted.
fn newer_lead<'i>(
    known: Option<LeadRecord>,
    refused: impl FnOnce(LeadId) -> Option<&'i Item>,
) -> Result<Option<LeadRecord>, StoreError> {
    match known.as_ref().and_then(|known| refused(known.lead.id)) {
        Some(item) if item.is_empty() => Ok(None),
        Some(item) => LeadRecord::decode(item).map(Some),
        None => Ok(known),
    }
}
