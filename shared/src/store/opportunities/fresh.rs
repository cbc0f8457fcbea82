//! Replaces copies of leads that may be stale by current leads.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::OpportunitySnapshot;
use crate::ids::LeadId;
use crate::opportunity::Opportunity;
use crate::store::Reader;
use crate::store::budget::ReadBudget;
use crate::store::leads::LeadRecord;
use crate::store::leads::stale_markers::StaleMarkers;
use table::StoreError;

impl Reader {
    /// Replaces copies that may be stale. No call if no lead is marked, else one batch of gets.
    pub(crate) async fn refresh_snapshots(
        &self,
        markers: &StaleMarkers,
        cards: &mut [&mut OpportunitySnapshot],
    ) -> Result<(), StoreError> {
        let leads = cards.iter().filter(|card| card.is_stale(markers));
        let leads: BTreeSet<_> = leads.filter_map(|card| card.opportunity.lead_id).collect();
        if leads.is_empty() {
            return Ok(());
        }
        let records = self.lead_records(leads.into_iter()).await?;
        for card in cards.iter_mut().filter(|card| card.is_stale(markers)) {
            card.refresh(&records);
        }
        Ok(())
    }

    /// The marked leads, for a search, because it compares every copy. Reads the markers that were not prefetched,
    /// within the budget.
    pub(crate) async fn fresh_leads(
        &self,
        markers: &StaleMarkers,
        budget: &ReadBudget,
    ) -> Result<Fresh, StoreError> {
        let markers = self.all_stale_markers(markers, budget).await?;
        let records = Mutex::default();
        Ok(Fresh { markers, records })
    }
}

/// The current leads that replace stale copies in a search. A marked lead is read when the search reaches one of its
/// copies. Use: [`read`](Self::read) the leads that snapshots [lack](Self::lacks), then [`apply`](Self::apply).
#[derive(Debug, Default)]
pub struct Fresh {
    markers: StaleMarkers,
    /// The leads read; `None` if deleted.
    records: Mutex<BTreeMap<LeadId, Option<LeadRecord>>>,
}

impl Fresh {
    /// The lead of an opportunity, if it is marked and was not read yet.
    pub fn lacks(&self, opportunity: &Opportunity) -> Option<LeadId> {
        let lead = opportunity.lead_id;
        lead.filter(|lead| self.markers.covers(*lead) && !self.records().contains_key(lead))
    }

    /// Reads leads within the budget. One batch of gets; no call without leads.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be read, or are too many for the budget.
    pub async fn read(
        &self,
        reader: &Reader,
        budget: &ReadBudget,
        leads: BTreeSet<LeadId>,
    ) -> Result<(), StoreError> {
        if leads.is_empty() {
            return Ok(());
        }
        budget
            .take(leads.iter().fold(0.0, |units, _| units + 1.0))
            .await?;
        let mut found = reader.lead_records(leads.iter().copied()).await?;
        let read = leads.into_iter().map(|lead| (lead, found.remove(&lead)));
        self.records().extend(read);
        Ok(())
    }

    /// Replaces the copies of a snapshot if they may be stale. Its lead must have been read; an unread lead counts as
    /// deleted.
    pub fn apply(&self, card: &mut OpportunitySnapshot) {
        let Some(lead) = card.opportunity.lead_id.filter(|lead| self.markers.covers(*lead)) else {
            return;
        };
        let records = self.records();
        let record = records.get(&lead).and_then(Option::as_ref);
        *card = OpportunitySnapshot::of(card.opportunity.clone(), record);
    }

    fn records(&self) -> MutexGuard<'_, BTreeMap<LeadId, Option<LeadRecord>>> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpportunitySnapshot {
    /// Whether its copies may be stale: a marker covers its lead.
    fn is_stale(&self, markers: &StaleMarkers) -> bool {
        self.opportunity.lead_id.is_some_and(|lead| markers.covers(lead))
    }

    /// Replaces its copies by those of its lead's record. Without a record, the lead was deleted.
    fn refresh(&mut self, records: &BTreeMap<LeadId, LeadRecord>) {
        let record = self.opportunity.lead_id.and_then(|lead| records.get(&lead));
        *self = Self::of(self.opportunity.clone(), record);
    }
}
