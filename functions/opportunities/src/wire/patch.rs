//! The body of endpoint 8: what changes of an opportunity (C-31). What is absent stays.

use serde_json::{Map, Value};
use shared::id::{ColumnId, LeadId, UserId};
use shared::money::Cents;
use shared::opportunity::{Opportunity, Status};

use super::Ground;
use super::body::{Body, Change};
use super::fields::{self, CloseDate};
use crate::error::Breach;

/// Changes of an opportunity.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OpportunityPatch {
    /// The lead that it gets, if any.
    pub lead: Option<LeadId>,
    title: Option<String>,
    column: Option<ColumnId>,
    value: Option<Cents>,
    sequence: Option<u64>,
    status: Option<Status>,
    expected_close_date: Change<CloseDate>,
    /// The user that becomes responsible, if any.
    pub user: Option<UserId>,
    gain_reason: Change<String>,
    loss_reason: Change<String>,
    archived: Option<bool>,
    /// Custom fields by name; null takes one away.
    fields: Map<String, Value>,
}

impl OpportunityPatch {
    /// Reads a body: what each field holds, without regard to what there is.
    pub fn read(body: &[u8]) -> Result<Self, Breach> {
        let mut body = Body::parse(body)?;
        Ok(Self {
            title: body.optional("title", fields::title)?,
            column: body.optional("crm_column", fields::id(ColumnId::new))?,
            lead: body.optional("lead_id", fields::id(LeadId::new))?,
            value: body.optional("value", fields::amount)?,
            sequence: body.optional("sequence", fields::sequence)?,
            status: body.optional("status", fields::status)?,
            expected_close_date: body.change("expectedCloseDate", fields::close_date)?,
            user: body.optional("user", fields::id(UserId::new))?,
            gain_reason: body.change("gain_reason", fields::reason)?,
            loss_reason: body.change("loss_reason", fields::reason)?,
            archived: body.optional("archived", fields::flag)?,
            fields: body.custom_fields()?,
        })
    }

    /// What an opportunity becomes. It stays as it is, `updateDate` too, where the patch says what already holds: so a
    /// client may send a whole record back, and what it left alone is not judged again.
    pub fn apply(&self, stored: &Opportunity, ground: &Ground<'_>) -> Result<Opportunity, Breach> {
        let mut changed = stored.clone();
        self.apply_references(&mut changed, ground)?;
        self.apply_values(&mut changed, ground);
        self.apply_fields(&mut changed, ground)?;
        if changed != *stored {
            changed.update_date = ground.now;
            Ground::size(&changed)?;
        }
        Ok(changed)
    }

    fn apply_references(&self, changed: &mut Opportunity, ground: &Ground<'_>) -> Result<(), Breach> {
        if let Some(column) = self.column.filter(|column| *column != changed.crm_column) {
            ground.column(column)?;
            changed.move_to(column, ground.now);
        }
        if let Some(lead) = self.lead.filter(|lead| Some(*lead) != changed.lead_id) {
            ground.lead(lead)?;
            changed.lead_id = Some(lead);
        }
        if let Some(user) = self.user.filter(|user| *user != changed.user) {
            ground.user(user)?;
            changed.user = user;
        }
        Ok(())
    }

    fn apply_values(&self, changed: &mut Opportunity, ground: &Ground<'_>) {
        if let Some(title) = &self.title {
            changed.title.clone_from(title);
        }
        if let Some(status) = self.status {
            changed.turn(status, ground.now);
        }
        changed.value = self.value.unwrap_or(changed.value);
        changed.sequence = self.sequence.unwrap_or(changed.sequence);
        changed.archived = self.archived.unwrap_or(changed.archived);
        self.expected_close_date
            .apply(&mut changed.expected_close_date, |date| {
                date.within(ground.zone())
            });
        self.gain_reason.apply(&mut changed.gain_reason, String::clone);
        self.loss_reason.apply(&mut changed.loss_reason, String::clone);
    }

    fn apply_fields(&self, changed: &mut Opportunity, ground: &Ground<'_>) -> Result<(), Breach> {
        for (name, value) in &self.fields {
            let stored = changed.fields.get(name);
            // A value stays when its definition goes, and can still be taken away or sent back.
            if stored != Some(value) && !(value.is_null() && stored.is_some()) {
                ground.field(name)?;
            }
            if value.is_null() {
                changed.fields.shift_remove(name);
            } else {
                changed.fields.insert(name.clone(), value.clone());
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
