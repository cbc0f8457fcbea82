//! Leads as an import writes them (C-81).

use std::collections::BTreeSet;

use super::batch::Step;
use super::{Operator, OperatorError, Outcome};
use crate::id::LeadId;
use crate::lead::Lead;
use crate::store::error::StoreError;
use crate::store::key::Counter;
use crate::store::leads::{self, Derived, LeadRecord};
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
        let keys = lines.iter().map(|line| self.keys().lead(line.lead.id));
        let mut stored = self.table().get_many(keys).await?;
        let steps = lines.iter().map(|line| {
            let item = stored.remove(&self.keys().lead(line.lead.id));
            let record = item.map(leads::decode).transpose()?;
            self.lead_step(line, record, overwrite)
        });
        let steps = steps.collect::<Result<_, _>>()?;
        let again = async |at: usize| {
            let Some(line) = lines.get(at) else {
                return Ok(Step::Done(Outcome::Unchanged));
            };
            let item = self.table().get(&self.keys().lead(line.lead.id)).await?;
            Ok(self.lead_step(line, item.map(leads::decode).transpose()?, overwrite)?)
        };
        self.carry_out(steps, again).await
    }

    fn lead_step(
        &self,
        line: &LeadLine,
        stored: Option<LeadRecord>,
        overwrite: bool,
    ) -> Result<Step, StoreError> {
        let lead = line.onto(stored.as_ref().map(|stored| &stored.lead), self.now());
        let mut old = Derived::default();
        let mut version = 0;
        if let Some(stored) = stored {
            if let Some(done) = settled(&stored, &lead, overwrite) {
                return Ok(Step::Done(done));
            }
            old = leads::derived(self.keys(), &stored.lead)?;
            version = stored.version;
        }
        let new = leads::derived(self.keys(), &lead)?;
        let condition = match version {
            0 => Condition::Absent,
            version => Condition::Version(version),
        };
        let record = LeadRecord {
            lead,
            version: version + 1,
            edited: false,
        };
        let mut transaction = Transaction::default();
        transaction.put(
            self.keys().lead(record.lead.id),
            leads::encode(&record)?,
            condition,
        );
        leads::derive(&mut transaction, &old, new);
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
