//! Changes leads. The record, its derived items and the stale marker are one transaction.

use std::collections::BTreeMap;

use futures_util::future::try_join_all;

use super::record::{LeadRecord, LeadState};
use super::stale_markers;
use super::whole::WholeLead;
use crate::lead::Lead;
use crate::store::Writer;
use crate::store::companies::NamedCompany;
use crate::store::facts;
use crate::store::key::Key;
use table::StoreError;
use table::item::Item;
use table::{CommitError, Policy, Retry, Transaction};

/// Maximum leads that are changed in parallel.
pub(super) const CONCURRENCY: usize = 16;

/// Outcome of a change of a lead.
#[derive(Debug, Clone, PartialEq)]
pub enum UpdatedLead<R> {
    /// It is written, or changes nothing.
    Done(Box<Lead>),
    /// The change was refused; nothing is written.
    Refused(R),
    /// The lead is gone; nothing is written.
    Gone,
    /// The company that the lead would get is gone; nothing is written.
    CompanyGone,
}

impl Writer {
    /// Changes a lead with `change`, which runs again on the newer record after a concurrent change. `company` is the
    /// company that the lead may get. One transaction; no call if nothing changes.
    ///
    /// # Errors
    /// [`StoreError`] if it failed, or if its outcome is unknown.
    pub async fn update_lead<R>(
        &self,
        stored: WholeLead,
        company: Option<NamedCompany>,
        change: impl Fn(&Lead) -> Result<Lead, R>,
    ) -> Result<UpdatedLead<R>, StoreError> {
        self.change_lead(stored.into(), company, change).await
    }

    /// Like [`update_lead`](Self::update_lead), for a record that may lack the custom fields, if `change` concerns
    /// none.
    async fn change_lead<R>(
        &self,
        mut stored: LeadRecord,
        mut company: Option<NamedCompany>,
        change: impl Fn(&Lead) -> Result<Lead, R>,
    ) -> Result<UpdatedLead<R>, StoreError> {
        let mut retry = self.reader.table.retry(Policy::CONTESTED, "changing a lead");
        loop {
            let lead = match change(&stored.lead) {
                Ok(lead) => lead,
                Err(refused) => return Ok(UpdatedLead::Refused(refused)),
            };
            if lead == stored.lead {
                return Ok(UpdatedLead::Done(Box::new(lead)));
            }
            let transaction = self.lead_update(&stored, &lead, company.as_ref())?;
            let refused = match self.table.commit(transaction).await {
                Ok(()) => return Ok(UpdatedLead::Done(Box::new(lead))),
                Err(CommitError::Refused(items)) => items,
                Err(CommitError::Store(error)) => {
                    // The outcome may be unknown. The change is done if it changes nothing of the stored lead.
                    let current = self.reader.whole_lead(lead.id).await?;
                    let is_changed = |current: WholeLead| {
                        change(&current.lead).is_ok_and(|unchanged| unchanged == current.lead)
                    };
                    let is_done = current.is_some_and(is_changed);
                    return is_done.then(|| UpdatedLead::Done(Box::new(lead))).ok_or(error);
                }
            };
            if let Some(named) = company.take() {
                company = named.renewed(self.keys(), &refused)?;
                if company.is_none() {
                    return Ok(UpdatedLead::CompanyGone);
                }
            }
            match self.newer_lead(stored, refused, &mut retry).await? {
                Some(newer) => stored = newer,
                None => return Ok(UpdatedLead::Gone),
            }
        }
    }

    /// Returns the lead for the attempt after a refusal, or `None` if it was deleted. `refused` contains the items of
    /// the failed conditions. The first retry uses the lead's among them, or `stored` if the lead's condition did not
    /// fail. Later retries read the lead after a pause, because with many writers an earlier version is outdated. If
    /// `stored` has its custom fields, so has the newer one.
    pub(crate) async fn newer_lead(
        &self,
        stored: LeadRecord,
        mut refused: BTreeMap<Key, Item>,
        retry: &mut Retry<'_>,
    ) -> Result<Option<LeadRecord>, StoreError> {
        let (id, is_whole) = (stored.lead.id, stored.is_whole());
        let has_paused = retry.again().await?;
        let newer = if has_paused {
            self.reader.lead_record(id).await?
        } else {
            match refused.remove(&self.keys().lead(id)) {
                None => return Ok(Some(stored)),
                Some(item) if item.is_empty() => None,
                Some(item) => Some(LeadRecord::decode(item)?),
            }
        };
        match newer {
            Some(newer) if is_whole => Ok(self.reader.whole(newer).await?.map(LeadRecord::from)),
            newer => Ok(newer),
        }
    }

    /// Archives or restores several leads independently, [`CONCURRENCY`] at a time. Returns the leads, without those
    /// that `may` refuses or that are gone, and without the custom fields of large leads.
    ///
    /// # Errors
    /// [`StoreError`] if one failed, or if its outcome is unknown; what was changed by then stays so.
    pub async fn archive_leads(
        &self,
        stored: Vec<LeadRecord>,
        archived: bool,
        may: impl Fn(&Lead) -> bool,
    ) -> Result<Vec<Lead>, StoreError> {
        let change = |lead: &Lead| {
            if !may(lead) {
                return Err(());
            }
            Ok(Lead {
                archived,
                ..lead.clone()
            })
        };
        let mut changed = Vec::with_capacity(stored.len());
        for batch in stored.chunks(CONCURRENCY) {
            let updates = batch
                .iter()
                .map(|stored| self.change_lead(stored.clone(), None, change));
            for outcome in try_join_all(updates).await? {
                if let UpdatedLead::Done(lead) = outcome {
                    changed.push(*lead);
                }
            }
        }
        Ok(changed)
    }
}

impl Writer {
    /// The writes that replace a stored lead, whose company stays, on condition that it is unchanged, and enqueue its
    /// facts.
    pub(crate) fn lead_change(&self, stored: &LeadRecord, lead: &Lead) -> Result<Transaction, StoreError> {
        self.lead_update(stored, lead, None)
    }

    /// Like [`lead_change`](Self::lead_change), for a lead that may get this company. A lead that gets it requires that
    /// it is unchanged. A change of copied fields adds a stale marker, unless no opportunity copies the lead.
    fn lead_update(
        &self,
        stored: &LeadRecord,
        lead: &Lead,
        company: Option<&NamedCompany>,
    ) -> Result<Transaction, StoreError> {
        let keys = self.keys();
        let keeps_company = lead.company == stored.lead.company;
        let gets = |named: &&NamedCompany| !keeps_company && lead.company == Some(named.company.id);
        let new_company = company.filter(gets);
        let copy = if keeps_company {
            stored.company.clone()
        } else {
            new_company.map(|named| named.company.clone())
        };
        let changed = LeadRecord {
            // An import may replace a lead that was only active since.
            edited: stored.edited || facts::differs(&stored.lead, lead),
            ..stored.next(LeadState {
                lead: lead.clone(),
                company: copy,
                unlinked: stored.unlinked,
                details: stored.details.clone(),
            })
        };
        let mut transaction = self.put_record(&changed, Some(stored))?;
        if let Some(new_company) = new_company {
            new_company.require(&mut transaction, keys);
        }
        if !stored.unlinked && stored.copied() != changed.copied() {
            stale_markers::mark(&mut transaction, keys, lead.id, &self.reader.environment);
        }
        Ok(transaction)
    }
}
