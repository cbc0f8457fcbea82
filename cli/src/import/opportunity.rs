//! An opportunity's line. The names in `fields` are not compared with those that the funnel defines: a definition may go
//! while values stay, and what is exported must come in again.

use serde_json::{Map, Value};
use shared::opportunity::Opportunity;
use shared::store::operator::OpportunityLine;

use super::limits::{self, within};
use super::line::{self, take_dates};

/// The most characters of a title and of a text in `fields` (C-30).
const MOST_TITLE: usize = 255;
const MOST_TEXT: usize = 10_000;

/// Reads an opportunity's fields.
pub fn read(mut fields: Map<String, Value>) -> Result<OpportunityLine, String> {
    let (create_date, update_date) = take_dates(&mut fields)?;
    let mut opportunity: Opportunity = line::read(fields)?;
    if opportunity.title.is_empty() {
        return Err("title: must not be empty".to_owned());
    }
    within("title", Some(&opportunity.title), MOST_TITLE)?;
    opportunity.fields.retain(|_, value| !value.is_null());
    for (name, value) in &opportunity.fields {
        let name = format!("fields.{name}");
        if value.is_array() || value.is_object() {
            return Err(format!("{name}: must be text, a number, true, false or null"));
        }
        within(&name, value.as_str(), MOST_TEXT)?;
    }
    limits::size(&opportunity.sparse())?;
    Ok(OpportunityLine {
        opportunity,
        create_date,
        update_date,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn line(rest: &Value) -> Value {
        let mut line = json!({ "id": 5, "title": "Pedido", "crm_id": 3, "crm_column": 31, "user": 7 });
        for (name, value) in rest.as_object().unwrap() {
            line[name] = value.clone();
        }
        line
    }

    fn read_with(rest: &Value) -> Result<OpportunityLine, String> {
        match line(rest) {
            Value::Object(fields) => read(fields),
            _ => Err("no object".to_owned()),
        }
    }

    /// What is stored of a line, without the times that it does not say.
    #[track_caller]
    fn kept(rest: &Value) -> Value {
        let line = read_with(rest).unwrap();
        assert_eq!((line.create_date, line.update_date), (None, None));
        let mut fields = line.opportunity.sparse();
        fields.retain(|name, _| !["createDate", "updateDate"].contains(&name.as_str()));
        Value::Object(fields)
    }

    #[test]
    fn what_a_line_leaves_out_has_its_default() {
        let bare = json!({
            "id": 5, "title": "Pedido", "value": "0.00", "crm_column": 31, "crm_id": 3, "status": "open", "user": 7
        });
        assert_eq!(kept(&json!({})), bare);
        let nothing = json!({
            "value": null, "lead_id": null, "status": null, "archived": null, "fields": null, "files": [],
            "reject_appro": {}, "gain_date": null, "service_permission": "all", "sequence": 0,
        });
        assert_eq!(kept(&nothing), bare);
    }

    #[test]
    fn values_have_two_forms_and_flags_four() {
        for (value, stored) in [
            (json!(213.2), "213.20"),
            (json!("213.2"), "213.20"),
            (json!(7), "7.00"),
        ] {
            assert_eq!(kept(&json!({ "value": value }))["value"], stored, "{value}");
        }
        for (archived, stored) in [
            (json!(1), json!(1)),
            (json!(true), json!(1)),
            (json!(0), Value::Null),
            (json!(false), Value::Null),
        ] {
            let kept = kept(&json!({ "archived": archived }));
            assert_eq!(
                kept.get("archived").unwrap_or(&Value::Null),
                &stored,
                "{archived}"
            );
        }
    }

    #[test]
    fn custom_fields_keep_what_they_say() {
        let text = r#"{"fields":{" Número ":"","n":1e21,"m":-0.0,"k":12345678901234567890,"yes":true,"gone":null,"":4.0}}"#;
        let kept = kept(&serde_json::from_str(text).unwrap());
        assert_eq!(
            kept["fields"].to_string(),
            r#"{" Número ":"","n":1e+21,"m":-0.0,"k":12345678901234567890,"yes":true,"":4.0}"#
        );
    }

    #[track_caller]
    fn assert_refused<const N: usize>(lines: [(Value, &str); N]) {
        for (rest, reason) in lines {
            assert_eq!(read_with(&rest).unwrap_err(), reason, "{rest}");
        }
    }

    #[test]
    fn bad_fields_are_named() {
        let amount = "value: must be an amount from 0 to 9999999999999.99 with at most two decimals";
        let date = "updateDate: must be a date-time such as 2026-11-21T12:00:00.000Z";
        let number = "crm_column: must be a whole number that is not negative";
        assert_refused([
            (json!({ "title": null }), "title: is missing"),
            (json!({ "value": -1 }), amount),
            (json!({ "value": "1,5" }), amount),
            (json!({ "crm_id": null }), "crm_id: is missing"),
            (json!({ "crm_column": "31" }), number),
            (
                json!({ "lead_id": 0 }),
                "lead_id: must be an id from 1 to 999999999999999",
            ),
            (json!({ "user": null }), "user: is missing"),
            (json!({ "status": "won" }), "status: must be open or gain or lost"),
            (json!({ "archived": 2 }), "archived: must be 0 or 1"),
            (json!({ "archived": "1" }), "archived: must be 0 or 1"),
            (
                json!({ "service_permission": "groups" }),
                "service_permission: must be all or users or departments",
            ),
            (json!({ "updateDate": "today" }), date),
            (json!({ "files": {} }), "files: must be a list"),
            (json!({ "dataLead": {} }), "dataLead: unknown field"),
            (
                json!({ "dataCompanyExtra": [{ "id": 1 }] }),
                "dataCompanyExtra[0].companyname: is missing",
            ),
        ]);
    }

    #[test]
    fn titles_and_custom_fields_have_limits() {
        assert_refused([
            (json!({ "title": "" }), "title: must not be empty"),
            (
                json!({ "title": "é".repeat(256) }),
                "title: must have at most 255 characters",
            ),
            (json!({ "fields": [] }), "fields: must be an object"),
            (
                json!({ "fields": { " a b": [1] } }),
                "fields. a b: must be text, a number, true, false or null",
            ),
            (
                json!({ "fields": { "a": "é".repeat(10_001) } }),
                "fields.a: must have at most 10000 characters",
            ),
        ]);
    }

    #[test]
    fn a_record_is_judged_as_it_is_stored() {
        let longest = json!({ "title": "é".repeat(255), "fields": { "a": "é".repeat(10_000) } });
        assert!(read_with(&longest).is_ok());
        // Written out, each of them has 24 fields.
        let companies = vec![json!({ "id": 1, "companyname": "" }); 1000];
        assert_eq!(
            read_with(&json!({ "dataCompanyExtra": companies })).unwrap_err(),
            "the record is larger than 100 KB"
        );
    }
}
