//! Leads as an import writes them (C-81), each with a copy of its company's record.

use std::collections::{BTreeSet, HashMap};

use super::batch::Step;
use super::companies::same_company;
use super::{Operator, OperatorError, Outcome};
use crate::id::LeadId;
use crate::lead::Lead;
use crate::store::derived::Derived;
use crate::store::error::StoreError;
use crate::store::item::{self, Item};
use crate::store::key::{Counter, Key};
use crate::store::leads::{self, LeadRecord};
use crate::store::notices;
use crate::store::transaction::{Condition, Transaction};
use crate::time::Timestamp;

/// A lead as an import brings it: the times of the lead itself count for nothing, because a line may leave them out.
#[derive(Debug, Clone, PartialEq)]
pub struct LeadLine {
    /// Everything but the times.
    pub lead: Lead,
    /// Where it is absent the stored lead's stays, and a new lead's is now.
    pub create_date: Option<Timestamp>,
    /// Where it is absent or earlier the stored lead's stays, and a new lead's is its time of creation.
    pub last_active: Option<Timestamp>,
}

impl From<Lead> for LeadLine {
    fn from(lead: Lead) -> Self {
        Self {
            create_date: Some(lead.create_date),
            last_active: Some(lead.last_active),
            lead,
        }
    }
}

impl LeadLine {
    /// The lead as it is to be stored.
    fn onto(&self, stored: Option<&Lead>, now: Timestamp) -> Lead {
        let create_date = self.create_date.or(stored.map(|stored| stored.create_date));
        let create_date = create_date.unwrap_or(now);
        // Calls move it meanwhile, and an import of older data must not move it back.
        let last_active = self.last_active.max(stored.map(|stored| stored.last_active));
        Lead {
            create_date,
            last_active: last_active.unwrap_or(create_date),
            ..self.lead.clone()
        }
    }
}

impl Operator {
    /// Writes leads and all that is derived from them, each replacing the lead of its id. A lead that was made or
    /// changed through the interface since it was last imported is replaced only where `overwrite` says so.
    ///
    /// The copies that opportunities have of a changed lead are behind until [`refresh_copies`](Self::refresh_copies).
    /// The references are the caller's to check.
    ///
    /// # Errors
    /// [`OperatorError::Store`] where the table fails; what was written by then stays.
    pub async fn import_leads(
        &self,
        lines: Vec<LeadLine>,
        overwrite: bool,
    ) -> Result<Vec<Outcome>, OperatorError> {
        let Some(last) = lines.iter().map(|line| line.lead.id.get()).max() else {
            return Ok(Vec::new());
        };
        // Later leads are numbered above imported ones (C-11); raised first, so that no call takes such a number.
        let counter = self.keys().counter(Counter::Lead);
        self.table().raise(&counter, "lead", last).await?;
        let keys = lines.iter().flat_map(|line| self.lead_rests_on(line));
        let found = self.table().get_many(keys).await?;
        let steps = lines
            .iter()
            .map(|line| Step::decided(self.lead_step(line, &found, overwrite)));
        let steps = steps.collect::<Result<_, _>>()?;
        let again = async |at: usize| {
            let Some(line) = lines.get(at) else {
                return Ok(Step::Done(Outcome::Unchanged));
            };
            let mark = self.keys().erasure(line.lead.id);
            let keys = self.lead_rests_on(line).chain([mark.clone()]);
            let found = self.table().get_many(keys).await?;
            if found.contains_key(&mark) {
                return Ok(being_erased(line.lead.id));
            }
            Ok(Step::decided(self.lead_step(line, &found, overwrite))?)
        };
        self.carry_out(steps, again).await
    }

    /// The records that decide about a line: the lead of its id, and its company.
    fn lead_rests_on(&self, line: &LeadLine) -> impl Iterator<Item = Key> + use<> {
        let company = line.lead.company.map(|company| self.keys().company(company));
        std::iter::once(self.keys().lead(line.lead.id)).chain(company)
    }

    fn lead_step(
        &self,
        line: &LeadLine,
        found: &HashMap<Key, Item>,
        overwrite: bool,
    ) -> Result<Step, StoreError> {
        let keys = self.keys();
        let stored = found.get(&keys.lead(line.lead.id)).cloned();
        let stored = stored.map(leads::decode).transpose()?;
        let lead = line.onto(stored.as_ref().map(|stored| &stored.lead), self.now());
        let mut transaction = Transaction::default();
        let company = lead.company.map(|id| keys.company(id));
        let company = company.and_then(|key| found.get_key_value(&key));
        if let Some((key, item)) = company {
            transaction.check(key.clone(), same_company(item));
        }
        let company = company.map(|(_, item)| item::decode("company", item.clone()));
        let mut record = LeadRecord {
            lead,
            version: 1,
            edited: false,
            company: company.transpose()?,
            raw: stored
                .as_ref()
                .map(|stored| stored.raw.clone())
                .unwrap_or_default(),
        };
        let (mut old, mut condition) = (Derived::default(), Condition::Absent);
        if let Some(stored) = stored {
            if let Some(done) = settled(&stored, &record.lead, overwrite) {
                return Ok(Step::Done(done));
            }
            if stored.copied() != record.copied() {
                notices::raise(&mut transaction, keys, record.lead.id, self.now());
            }
            old = leads::derived(keys, &stored.lead)?;
            condition = Condition::Version(stored.version);
            record.version = stored.version + 1;
        } else {
            // A lead cannot come back while what is left of it is being taken out of other records (C-24).
            transaction.check(keys.erasure(record.lead.id), Condition::Absent);
        }
        transaction.put(keys.lead(record.lead.id), leads::encode(&record)?, condition);
        Derived::change(&mut transaction, &old, leads::derived(keys, &record.lead)?);
        Ok(Step::Write(transaction))
    }

    /// Which of these leads exist.
    ///
    /// # Errors
    /// [`StoreError`] where they cannot be read.
    pub async fn existing_leads(
        &self,
        ids: impl IntoIterator<Item = LeadId>,
    ) -> Result<BTreeSet<LeadId>, StoreError> {
        self.existing(ids, |id| self.keys().lead(id)).await
    }
}

fn being_erased(lead: LeadId) -> Step {
    Step::refused(format!(
        "lead {lead} was deleted and is being erased; import it again in some minutes"
    ))
}

/// What an import has to do with a stored lead without writing it, if that is so.
fn settled(stored: &LeadRecord, lead: &Lead, overwrite: bool) -> Option<Outcome> {
    if stored.lead == *lead {
        return Some(Outcome::Unchanged);
    }
    if !stored.edited || overwrite {
        return None;
    }
    // Calls move `lastActive`; it alone is no difference.
    let touched = Lead {
        last_active: lead.last_active,
        ..stored.lead.clone()
    };
    if touched == *lead {
        return Some(Outcome::Unchanged);
    }
    Some(Outcome::Refused(format!(
        "lead {} was changed through the API since it was imported; use --overwrite to replace it",
        lead.id
    )))
}
