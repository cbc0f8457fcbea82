//! Changes leads. The record, its derived items and the stale marker are one transaction.

use std::collections::BTreeMap;

use futures_util::future::try_join_all;

use super::details::WholeLead;
use super::record::{LeadRecord, LeadState};
use super::stale_markers;
use crate::lead::Lead;
use crate::store::Writer;
use crate::store::companies::NamedCompany;
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

    /// The same for a record that may lack the custom fields, if `change` concerns none.
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
            self.learn_division(&lead).await?;
            let transaction = self.lead_update(&stored, &lead, company.as_ref())?;
            let refused = match self.table.commit(transaction).await {
                Ok(()) => return Ok(UpdatedLead::Done(Box::new(lead))),
                Err(CommitError::Refused(items)) => items,
                Err(CommitError::Store(error)) => {
                    let there = self.reader.whole_lead(lead.id).await?;
                    let is_done = |there: WholeLead| change(&there.lead).is_ok_and(|same| same == there.lead);
                    let done = there.is_some_and(is_done);
                    return done.then(|| UpdatedLead::Done(Box::new(lead))).ok_or(error);
                }
            };
            let renewed = company.map(|company| company.renewed(self.keys(), &refused));
            match renewed.transpose()? {
                Some(None) => return Ok(UpdatedLead::CompanyGone),
                renewed => company = renewed.flatten(),
            }
            match self.newer_lead(stored, refused, &mut retry).await? {
                Some(newer) => stored = newer,
                None => return Ok(UpdatedLead::Gone),
            }
        }
    }

    /// Returns the lead for the next attempt, or `None` if it was deleted. The first retry uses the item of the failed
    /// condition. Later retries read the lead after a pause, because with many writers an earlier version is outdated.
    /// If `stored` has its custom fields, so has the newer one.
    pub(crate) async fn newer_lead(
        &self,
        stored: LeadRecord,
        mut refused: BTreeMap<Key, Item>,
        retry: &mut Retry<'_>,
    ) -> Result<Option<LeadRecord>, StoreError> {
        let (id, is_whole) = (stored.lead.id, stored.is_whole());
        let newer = if retry.again().await? {
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

    /// Archives or restores several leads, each for itself, some at a time; those that `may` refuses or that are gone are not
    /// in the result. The result lacks the custom fields of large leads.
    ///
    /// # Errors
    /// [`StoreError`] as there; what was changed by then stays.
    pub async fn archive_leads(
        &self,
        stored: Vec<LeadRecord>,
        archived: bool,
        may: impl Fn(&Lead) -> bool,
    ) -> Result<Vec<Lead>, StoreError> {
        let change = |lead: &Lead| {
            let changed = || Lead {
                archived,
                ..lead.clone()
            };
            may(lead).then(changed).ok_or(())
        };
        let mut changed = Vec::with_capacity(stored.len());
        for some in stored.chunks(CONCURRENCY) {
            let updates = some
                .iter()
                .map(|stored| self.change_lead(stored.clone(), None, change));
            let outcomes = try_join_all(updates).await?.into_iter();
            changed.extend(outcomes.filter_map(|outcome| match outcome {
                UpdatedLead::Done(lead) => Some(*lead),
                UpdatedLead::Refused(()) | UpdatedLead::Gone | UpdatedLead::CompanyGone => None,
            }));
        }
        Ok(changed)
    }
}

impl Writer {
    /// The writes that replace a stored lead, on condition that it is unchanged, and raise its facts.
    pub(crate) fn lead_change(&self, stored: &WholeLead, lead: &Lead) -> Result<Transaction, StoreError> {
        self.lead_update(stored, lead, None)
    }

    /// Like [`lead_change`](Self::lead_change), for a lead that may get this company.
    fn lead_update(
        &self,
        stored: &LeadRecord,
        lead: &Lead,
        company: Option<&NamedCompany>,
    ) -> Result<Transaction, StoreError> {
        let keys = self.keys();
        let gets = |named: &&NamedCompany| lead.company == Some(named.company.id);
        let new = company
            .filter(|_| lead.company != stored.lead.company)
            .filter(gets);
        let copy = if lead.company == stored.lead.company {
            stored.company.clone()
        } else {
            new.map(|named| named.company.clone())
        };
        let changed = LeadRecord {
            edited: true,
            ..stored.next(LeadState {
                lead: lead.clone(),
                company: copy,
                unlinked: stored.unlinked,
                details: stored.details.next(&self.reader.settled),
            })
        };
        let mut transaction = self.put_record(&changed, Some(stored))?;
        if let Some(new) = new {
            new.require(&mut transaction, keys);
        }
        if !stored.unlinked && stored.copied() != changed.copied() {
            stale_markers::mark(&mut transaction, keys, lead.id, &self.reader.environment);
        }
        Ok(transaction)
    }
}
