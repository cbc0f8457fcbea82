//! The body of endpoint 7: a new opportunity (C-30). Null means absent.

use serde_json::{Map, Value};
use shared::id::{ColumnId, LeadId, MAX_ID, OpportunityId, UserId};
use shared::money::Cents;
use shared::opportunity::{Opportunity, Status};

use super::Ground;
use super::body::Body;
use super::fields::{self, CloseDate};
use crate::error::Breach;

/// An opportunity to make.
#[derive(Debug, Clone, PartialEq)]
pub struct NewOpportunity {
    /// Its lead.
    pub lead: LeadId,
    title: String,
    column: ColumnId,
    value: Cents,
    sequence: u64,
    status: Status,
    expected_close_date: Option<CloseDate>,
    /// The responsible user, where it is not who asks.
    pub user: Option<UserId>,
    fields: Map<String, Value>,
}

impl NewOpportunity {
    /// Reads a body: what each field holds, without regard to what there is.
    pub fn read(body: &[u8]) -> Result<Self, Breach> {
        let mut body = Body::parse(body)?.without_nulls();
        Ok(Self {
            title: body.required("title", fields::title)?,
            column: body.required("crm_column", fields::id(ColumnId::new))?,
            lead: body.required("lead_id", fields::id(LeadId::new))?,
            value: body.optional("value", fields::amount)?.unwrap_or_default(),
            sequence: body.optional("sequence", fields::sequence)?.unwrap_or_default(),
            status: body.optional("status", fields::status)?.unwrap_or_default(),
            expected_close_date: body.optional("expectedCloseDate", fields::close_date)?,
            user: body.optional("user", fields::id(UserId::new))?,
            fields: body.custom_fields()?,
        })
    }

    /// Whether what there is lets it be made.
    pub fn judge(&self, ground: &Ground<'_>) -> Result<(), Breach> {
        ground.column(self.column)?;
        ground.lead(self.lead)?;
        self.user.map_or(Ok(()), |user| ground.user(user))?;
        self.fields.keys().try_for_each(|name| ground.field(name))?;
        // Its id is not known yet, so the longest stands for it.
        let longest = OpportunityId::new(MAX_ID).map(|id| self.make(id, ground));
        longest.as_ref().map_or(Ok(()), Ground::size)
    }

    /// The opportunity, under an id.
    pub fn make(&self, id: OpportunityId, ground: &Ground<'_>) -> Opportunity {
        let user = self.user.unwrap_or_else(|| ground.viewer.user());
        let mut fields = self.fields.clone();
        fields.retain(|_, value| !value.is_null());
        let place = (ground.funnel.id, self.column);
        let mut opportunity = Opportunity {
            title: self.title.clone(),
            value: self.value,
            sequence: self.sequence,
            expected_close_date: self.expected_close_date.map(|date| date.within(ground.zone())),
            fields,
            ..Opportunity::new(id, place, self.lead, user, ground.now)
        };
        opportunity.begin_as(self.status);
        opportunity
    }
}

#[cfg(test)]
mod tests {
    use super::super::shop::{Shop, at, column, lead, user};
    use super::*;
    use serde_json::json;

    /// A body with changes; what is changed to `"-"` is left out.
    fn body(changes: &Value) -> Vec<u8> {
        let mut body = json!({ "title": "Reforma", "crm_column": 31, "lead_id": 1001 });
        for (name, value) in changes.as_object().unwrap() {
            body[name] = value.clone();
        }
        body.as_object_mut().unwrap().retain(|_, value| value != "-");
        body.to_string().into_bytes()
    }

    fn made(changes: &Value) -> Opportunity {
        let (shop, new) = (Shop::new(), NewOpportunity::read(&body(changes)).unwrap());
        new.judge(&shop.ground()).unwrap();
        new.make(OpportunityId::new(5).unwrap(), &shop.ground())
    }

    fn refused(changes: &Value) -> String {
        let new = NewOpportunity::read(&body(changes));
        let judged = new.and_then(|new| new.judge(&Shop::new().ground()));
        judged.unwrap_err().to_string()
    }

    #[test]
    fn absent_and_null_have_the_defaults() {
        let id = OpportunityId::new(5).unwrap();
        let place = (Shop::new().funnel.id, column(31));
        let expected = Opportunity {
            title: "Reforma".to_owned(),
            ..Opportunity::new(id, place, lead(1001), user(7), at("2026-11-21T12:00:00Z"))
        };
        let nulls = json!({
            "value": null, "sequence": null, "status": null, "expectedCloseDate": null, "user": null, "fields": null,
        });
        let ignored =
            json!({ "gain_reason": 5, "archived": true, "id": 9, "sale_channel": "x", "unknown": {} });
        for changes in [json!({}), nulls, ignored] {
            assert_eq!(made(&changes), expected, "{changes}");
        }
    }

    #[test]
    fn everything_sent_is_taken() {
        let made = made(&json!({
            "title": "ã".repeat(255), "value": "213.20", "crm_column": "32", "lead_id": "1001.0", "sequence": "4",
            "status": "gain", "expectedCloseDate": "2026-12-24", "user": 8,
            "fields": { "Cor": "azul", " Número do pedido ": 1e300, "Data": null },
        }));
        assert_eq!(
            (made.title.chars().count(), made.value.get(), made.sequence),
            (255, 21320, 4)
        );
        assert_eq!(
            (made.crm_column, made.lead_id, made.user),
            (column(32), Some(lead(1001)), user(8))
        );
        assert_eq!(made.expected_close_date, Some(at("2026-12-24T03:00:00Z")));
        assert_eq!(
            Value::Object(made.fields),
            json!({ "Cor": "azul", " Número do pedido ": 1e300 })
        );
        assert_eq!(
            (made.status, made.gain_date),
            (Status::Gain, Some(at("2026-11-21T12:00:00Z")))
        );
        assert_eq!(
            (made.lost_date, made.last_status_change, made.reopen_date),
            (None, None, None)
        );
    }

    #[test]
    fn what_is_not_right_is_named() {
        let number = "must be a whole number from 1 to 999999999999999";
        let amount = "must be an amount from 0 to 9999999999999.99 with at most two decimals";
        let custom = "must be text of at most 10000 characters, a number, a boolean or null";
        for (changes, name, reason) in [
            (json!({ "title": "-" }), "title", "is required"),
            (json!({ "title": null }), "title", "is required"),
            (json!({ "title": "" }), "title", "must have 1 to 255 characters"),
            (json!({ "crm_column": "-" }), "crm_column", "is required"),
            (json!({ "crm_column": "1.5" }), "crm_column", number),
            (json!({ "lead_id": null }), "lead_id", "is required"),
            (json!({ "lead_id": 0 }), "lead_id", number),
            (json!({ "user": "abc" }), "user", number),
            (json!({ "value": "1,50" }), "value", amount),
            (
                json!({ "sequence": -1 }),
                "sequence",
                "must be a whole number from 0 to 999999999999999",
            ),
            (json!({ "status": "won" }), "status", "must be open, gain or lost"),
            (
                json!({ "expectedCloseDate": "soon" }),
                "expectedCloseDate",
                "must be RFC 3339, a date such as 2026-11-21, or null",
            ),
            (
                json!({ "fields": [] }),
                "fields",
                "must be an object of values by their fields' names",
            ),
            (json!({ "fields": { "Cor": {} } }), "fields.Cor", custom),
        ] {
            assert_eq!(refused(&changes), format!("{name}: {reason}"), "{changes}");
        }
    }

    #[test]
    fn what_there_is_not_is_named() {
        for (changes, reason) in [
            (
                json!({ "crm_column": 9 }),
                "crm_column: column 9 is not one of funnel 3",
            ),
            (json!({ "lead_id": 9 }), "lead_id: lead 9 does not exist"),
            (json!({ "user": 9 }), "user: user 9 does not exist"),
            (
                json!({ "fields": { "cor": "azul" } }),
                "fields.cor: is not a field of funnel 3",
            ),
            (
                json!({ "fields": { "Número do pedido": null } }),
                "fields.Número do pedido: is not a field of funnel 3",
            ),
        ] {
            assert_eq!(refused(&changes), reason, "{changes}");
        }
    }

    #[test]
    fn a_body_is_a_json_object() {
        for (body, reason) in [
            (&b"{"[..], "body: must be JSON"),
            (b"", "body: must be JSON"),
            (b"[]", "body: must be a JSON object"),
            (b"null", "body: must be a JSON object"),
        ] {
            assert_eq!(NewOpportunity::read(body).unwrap_err().to_string(), reason);
        }
    }

    /// The order of judgement: what is read, then column, lead, user and fields.
    #[test]
    fn the_first_breach_is_told() {
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

    #[test]
    fn a_record_has_a_largest_size() {
        let mut shop = Shop::new();
        let long = "ã".repeat(10_000);
        let fields: Map<String, Value> = (0..5).map(|at| (format!("f{at}"), json!(long))).collect();
        shop.funnel.fields = fields.keys().map(|name| named(name)).collect();
        let judged = |fields: &Map<String, Value>| {
            let new = NewOpportunity::read(&body(&json!({ "fields": fields }))).unwrap();
            new.judge(&shop.ground())
        };
        assert_eq!(judged(&fields), Err(Breach::TooLarge));
        assert_eq!(judged(&fields.into_iter().skip(1).collect()), Ok(()));
    }

    fn named(name: &str) -> shared::funnel::CustomField {
        shared::funnel::CustomField {
            name: name.to_owned(),
            kind: "text".to_owned(),
        }
    }
}
