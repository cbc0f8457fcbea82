//! The body of endpoint 8: changes of an opportunity (C-31). Absent fields stay unchanged.

use shared::http::{JsonObject, RequestError};
use shared::ids::{ColumnId, LeadId, UserId};
use shared::opportunity_edit::OpportunityPatch;

use super::fields;

/// Parses a body field by field.
pub fn read(body: &[u8]) -> Result<OpportunityPatch, RequestError> {
    let mut body = JsonObject::parse(body)?.without_blanks(&fields::NOT_TEXT);
    Ok(OpportunityPatch {
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
        fields: fields::custom_fields(&mut body)?,
    })
}

#[cfg(test)]
mod tests;
