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
    /// Prefetches the records for an update. One batch of gets, in parallel with a query of stale markers and, until
    /// this process has read the current format, a get of the format.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be read.
    pub async fn begin_update(
        &self,
        id: OpportunityId,
        funnel: FunnelId,
        (lead, user): (Option<LeadId>, Option<UserId>),
    ) -> Result<PrefetchedUpdate, StoreError> {
        let (id, funnel) = (self.keys().opportunity(id), self.keys().funnel(funnel));
        let lead = lead.map(|lead| self.keys().lead(lead));
        let named = user.map(|user| self.keys().user(user));
        let wanted = [id.clone(), funnel.clone()].into_iter().chain(lead.clone());
        let wanted = wanted.chain(named.clone());
        let (mut found, markers, ()) = tokio::try_join!(
            self.table.get_many(wanted),
            self.stale_markers(),
            self.learn_format()
        )?;
        let funnel = found.remove(&funnel).map(|item| item::decode("funnel", item));
        let lead = lead.and_then(|lead| found.remove(&lead)).map(LeadRecord::decode);
        Ok(PrefetchedUpdate {
            funnel: funnel.transpose()?,
            stored: found.remove(&id).map(OpportunityRecord::decode).transpose()?,
            lead: lead.transpose()?,
            user: user.filter(|_| named.is_some_and(|named| found.contains_key(&named))),
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
        let Some(OpportunityRecord { value: mut card, .. }) = stored else {
            return Ok(None);
        };
        self.refresh_snapshots(&markers, &mut [&mut card]).await?;
        Ok(Some(card))
    }
}

impl Writer {
    /// Changes an opportunity with `change`, which runs again on the newer record after a concurrent change. One
    /// transaction; none if nothing changes. A get of the lead first, if its copy may be stale; more calls after
    /// conflicts.
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
        let mut retry = self
            .reader
            .table
            .retry(Policy::CONTESTED, "changing an opportunity");
        loop {
            // Response and new record replace a stale copy by the lead, like readers.
            let mut fresh = stored.value.clone();
            self.reader.refresh_snapshots(&markers, &mut [&mut fresh]).await?;
            let changed = match change(&fresh.opportunity) {
                Ok(changed) => changed,
                Err(refused) => return Ok(Updated::Refused(refused)),
            };
            if changed == fresh.opportunity {
                return Ok(Updated::Done(Box::new(fresh)));
            }
            let Some((card, transaction)) = self.change(&stored, fresh, changed, lead.as_ref())? else {
                return Ok(Updated::Gone);
            };
            let refused = match self.table.commit(transaction).await {
                Ok(()) => return Ok(Updated::Done(Box::new(card))),
                Err(CommitError::Refused(items)) => items,
                Err(CommitError::Store(error)) => return self.changed_after_all(card).await?.ok_or(error),
            };
            if let Some(item) = refused.get(&self.keys().opportunity(card.opportunity.id)) {
                stored = OpportunityRecord::decode(item)?;
                // An attempt of unknown outcome wrote it.
                if stored.opportunity == card.opportunity {
                    return Ok(Updated::Done(Box::new(card)));
                }
            }
            lead = newer(lead, |lead| refused.get(&self.keys().lead(lead)))?;
            // With many writers, a record from before the pause is outdated.
            if retry.again().await? {
                match self.reader.opportunity(stored.opportunity.id).await? {
                    Some(record) => stored = record,
                    None => return Ok(Updated::Gone),
                }
            }
        }
    }

    /// The new snapshot and its writes; `None` if its new lead does not exist.
    fn change(
        &self,
        stored: &OpportunityRecord,
        fresh: OpportunitySnapshot,
        changed: Opportunity,
        lead: Option<&LeadRecord>,
    ) -> Result<Option<(OpportunitySnapshot, Transaction)>, StoreError> {
        if changed.lead_id == fresh.opportunity.lead_id {
            let card = OpportunitySnapshot {
                opportunity: changed,
                ..fresh
            };
            let transaction = self.replacement(stored, card.clone())?;
            return Ok(Some((card, transaction)));
        }
        let Some(lead) = lead.filter(|record| changed.lead_id == Some(record.lead.id)) else {
            return Ok(None);
        };
        let card = OpportunitySnapshot::of(changed, Some(lead));
        let mut transaction = self.replacement(stored, card.clone())?;
        leads::link(&mut transaction, self.keys(), lead);
        Ok(Some((card, transaction)))
    }

    /// The writes that replace the stored snapshot and raise its facts.
    fn replacement(
        &self,
        stored: &OpportunityRecord,
        card: OpportunitySnapshot,
    ) -> Result<Transaction, StoreError> {
        let record = OpportunityRecord {
            edited: true,
            ..stored.next(card)
        };
        self.put_record(&record, Some(stored))
    }

    /// Looks up whether an attempt of unknown outcome succeeded, by comparing the record with the intended one.
    async fn changed_after_all<R>(
        &self,
        card: OpportunitySnapshot,
    ) -> Result<Option<Updated<R>>, StoreError> {
        let stored = self.reader.opportunity(card.opportunity.id).await?;
        let same = stored.is_some_and(|record| record.opportunity == card.opportunity);
        Ok(same.then_some(Updated::Done(Box::new(card))))
    }
}

/// Returns the record of the requested lead from the failed condition, else the known record. `None` if the lead was
/// deleted.
fn newer<'i>(
    known: Option<LeadRecord>,
    refused: impl FnOnce(LeadId) -> Option<&'i Item>,
) -> Result<Option<LeadRecord>, StoreError> {
    match known.as_ref().and_then(|known| refused(known.lead.id)) {
        Some(item) if item.is_empty() => Ok(None),
        Some(item) => LeadRecord::decode(item).map(Some),
        None => Ok(known),
    }
}
