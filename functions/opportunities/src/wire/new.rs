//! The body of endpoint 7: a new opportunity (C-30). Null means absent.

use shared::http::{JsonObject, RequestError};
use shared::ids::{ColumnId, LeadId, UserId};
use shared::opportunity_edit::NewOpportunity;

use super::fields;

/// Parses a body field by field.
pub fn read(body: &[u8]) -> Result<NewOpportunity, RequestError> {
    let mut body = JsonObject::parse(body)?
        .without_nulls()
        .without_blanks(&fields::NOT_TEXT);
    Ok(NewOpportunity {
        title: body.required("title", fields::title)?,
        column: body.required("crm_column", fields::id(ColumnId::new))?,
        lead: body.required("lead_id", fields::id(LeadId::new))?,
        value: body.optional("value", fields::amount)?.unwrap_or_default(),
        sequence: body.optional("sequence", fields::sequence)?.unwrap_or_default(),
        status: body.optional("status", fields::status)?.unwrap_or_default(),
        expected_close_date: body.optional("expectedCloseDate", fields::close_date)?,
        user: body.optional("user", fields::id(UserId::new))?,
        fields: fields::custom_fields(&mut body)?,
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::Shop;
    use super::*;
    use serde_json::{Value, json};
    use shared::ids::OpportunityId;
    use shared::opportunity::Opportunity;

    /// A body with changes; fields changed to `"-"` are omitted.
    fn body(changes: &Value) -> Vec<u8> {
        let mut body = json!({ "title": "Reforma", "crm_column": 31, "lead_id": 1001 });
        for (name, value) in changes.as_object().unwrap() {
            body[name] = value.clone();
        }
        body.as_object_mut().unwrap().retain(|_, value| value != "-");
        body.to_string().into_bytes()
    }

    fn made(changes: &Value) -> Opportunity {
        let (shop, new) = (Shop::new(), read(&body(changes)).unwrap());
        new.validate(&shop.context()).unwrap();
        new.make(OpportunityId::new(5).unwrap(), &shop.context())
    }

    fn refused(changes: &Value) -> String {
        let new = read(&body(changes));
        let validated = new.and_then(|new| {
            new.validate(&Shop::new().context())
                .map_err(RequestError::invalid)
        });
        validated.unwrap_err().to_string()
    }

    /// The order of checks: parsing, then column, lead, user and fields.
    #[test]
    fn the_first_error_is_returned() {
        let all =
            json!({ "crm_column": 9, "lead_id": 9, "user": 9, "fields": { "cor": 1 }, "status": "won" });
        let mut changes = all;
        for (name, reason) in [
            ("status", "status: must be open, gain or lost"),
            ("crm_column", "crm_column: column 9 is not one of funnel 3"),
            ("lead_id", "lead_id: lead 9 does not exist"),
            ("user", "user: user 9 does not exist"),
            ("fields", "fields.cor: is not a field of funnel 3"),
        ] {
            assert_eq!(refused(&changes), reason);
            changes.as_object_mut().unwrap().shift_remove(name);
        }
        made(&changes);
    }
}
