//! Opportunities as an import writes them (C-81).

use std::collections::HashMap;

use super::batch::Step;
use super::{Operator, OperatorError, Outcome, dates};
use crate::opportunity::Opportunity;
use crate::store::error::StoreError;
use crate::store::item::Item;
use crate::store::key::{Counter, Key};
use crate::store::leads;
use crate::store::opportunities::{self, Card, OpportunityRecord};
use crate::store::transaction::Condition;
use crate::store::unknown::Raw;
use crate::time::Timestamp;

/// An opportunity as an import brings it: the times of the opportunity itself count for nothing, because a line may leave
/// them out.
#[derive(Debug, Clone, PartialEq)]
pub struct OpportunityLine {
    /// Everything but the times of creation and change.
    pub opportunity: Opportunity,
    /// Where it is absent the stored opportunity's stays, and a new one's is now.
    pub create_date: Option<Timestamp>,
    /// Where it is absent the stored opportunity's stays, and a new one's is its time of creation.
    pub update_date: Option<Timestamp>,
}

impl From<Opportunity> for OpportunityLine {
    fn from(opportunity: Opportunity) -> Self {
        Self {
            create_date: Some(opportunity.create_date),
            update_date: Some(opportunity.update_date),
            opportunity,
        }
    }
}

impl OpportunityLine {
    /// The opportunity as it is to be stored.
    fn onto(&self, stored: Option<&Opportunity>, now: Timestamp) -> Opportunity {
        let stored = stored.map(|stored| (stored.create_date, stored.update_date));
        let (create_date, update_date) = dates((self.create_date, self.update_date), stored, now);
        Opportunity {
            create_date,
            update_date,
            ..self.opportunity.clone()
        }
    }
}

impl Operator {
    /// Writes opportunities and all that is derived from them, each replacing the opportunity of its id. One that was made
    /// or changed through the interface since it was last imported is replaced only where `overwrite` says so. One of a
    /// lead that does not exist is refused; the other references are the caller's to check.
    ///
    /// # Errors
    /// [`OperatorError::Store`] where the table fails; what was written by then stays.
    pub async fn import_opportunities(
        &self,
        lines: Vec<OpportunityLine>,
        overwrite: bool,
    ) -> Result<Vec<Outcome>, OperatorError> {
        let Some(last) = lines.iter().map(|line| line.opportunity.id.get()).max() else {
            return Ok(Vec::new());
        };
        // Later opportunities are numbered above imported ones (C-11); raised first, so that no call takes such a number.
        let counter = self.keys().counter(Counter::Opportunity);
        self.table().raise(&counter, "opportunity", last).await?;
        let keys = lines.iter().flat_map(|line| self.rests_on(line));
        let found = self.table().get_many(keys).await?;
        let steps = lines
            .iter()
            .map(|line| Step::decided(self.opportunity_step(line, &found, overwrite)));
        let steps = steps.collect::<Result<_, _>>()?;
        let again = async |at: usize| {
            let Some(line) = lines.get(at) else {
                return Ok(Step::Done(Outcome::Unchanged));
            };
            let found = self.table().get_many(self.rests_on(line)).await?;
            Ok(Step::decided(self.opportunity_step(line, &found, overwrite))?)
        };
        self.carry_out(steps, again).await
    }

    /// The records that decide about a line: the opportunity of its id, and its lead.
    fn rests_on(&self, line: &OpportunityLine) -> impl Iterator<Item = Key> + use<> {
        let lead = line.opportunity.lead_id.map(|lead| self.keys().lead(lead));
        std::iter::once(self.keys().opportunity(line.opportunity.id)).chain(lead)
    }

    fn opportunity_step(
        &self,
        line: &OpportunityLine,
        found: &HashMap<Key, Item>,
        overwrite: bool,
    ) -> Result<Step, StoreError> {
        let keys = self.keys();
        let stored = found.get(&keys.opportunity(line.opportunity.id));
        let stored = stored.map(opportunities::decode).transpose()?;
        let before = stored.as_ref().map(|stored| &stored.card.opportunity);
        let opportunity = line.onto(before, self.now());
        let lead = match opportunity.lead_id {
            None => None,
            Some(id) => match found.get(&keys.lead(id)) {
                Some(item) => Some(leads::decode(item.clone())?),
                None => return Ok(Step::refused(format!("lead_id: lead {id} does not exist"))),
            },
        };
        let settled = stored
            .as_ref()
            .and_then(|stored| settled(stored, &opportunity, overwrite));
        if let Some(outcome) = settled {
            return Ok(Step::Done(outcome));
        }
        let card = Card::of(opportunity, lead.as_ref());
        let mut transaction = if let Some(stored) = stored {
            self.0.replace_card(&stored, card, false)?
        } else {
            let record = OpportunityRecord {
                card,
                version: 1,
                edited: false,
                nonce: None,
                raw: Raw::default(),
            };
            self.0.put_record(None, &record)?
        };
        if let Some(lead) = lead {
            // C-24: what links a lead checks in its own transaction that it exists. At that version it is the one copied.
            transaction.check(keys.lead(lead.lead.id), Condition::Version(lead.version));
        }
        Ok(Step::Write(transaction))
    }
}

/// What an import has to do with a stored opportunity without writing it, if that is so. The copies in it have notices of
/// their own and make no difference here.
fn settled(stored: &OpportunityRecord, opportunity: &Opportunity, overwrite: bool) -> Option<Outcome> {
    // What is stored has lost the empty lists and objects that a line may hold.
    if stored.card.opportunity.sparse() == opportunity.sparse() {
        return Some(Outcome::Unchanged);
    }
    (stored.edited && !overwrite).then(|| {
        Outcome::Refused(format!(
            "opportunity {} was changed through the API since it was imported; use --overwrite to replace it",
            opportunity.id
        ))
    })
}
