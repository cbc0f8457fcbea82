//! A lead's line: fixed fields by name, every other key a custom field (C-81).

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde_json::{Map, Value};
use shared::id::LeadId;
use shared::lead::{DERIVED_FIELDS, Lead};
use shared::store::operator::LeadLine;
use shared::time::Timestamp;

use super::line::{self, take_time, unread_time};
use super::number;

/// The names of the fixed fields.
static FIXED: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
    let lead = LeadId::new(1).zip(Timestamp::parse("1970-01-01T00:00:00Z"));
    let lead = lead.map(|(id, date)| serde_json::json!(Lead::new(id, date)));
    let names = lead
        .as_ref()
        .and_then(Value::as_object)
        .map(|fields| fields.keys().cloned());
    names.into_iter().flatten().collect()
});

/// Reads a lead's fields.
pub fn read(mut fields: Map<String, Value>) -> Result<LeadLine, String> {
    if let Some(derived) = DERIVED_FIELDS.iter().find(|name| fields.contains_key(**name)) {
        return Err(format!(
            "{derived}: is derived from other fields and cannot be imported"
        ));
    }
    let create_date = take_time(&mut fields, "createDate")?;
    let last_active = take_time(&mut fields, "lastActive")?;
    let utm_tags = match fields.shift_remove("utmTags") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(tags)) => tags,
        Some(_) => return Err("utmTags: must be a list".to_owned()),
    };
    let (mut fixed, custom): (Map<_, _>, Map<_, _>) =
        fields.into_iter().partition(|(name, _)| FIXED.contains(name));
    for time in ["createDate", "lastActive"] {
        fixed.insert(time.to_owned(), unread_time());
    }
    let mut lead: Lead = line::read(fixed)?;
    lead.points = number::storable("points", &lead.points)?;
    lead.utm_tags = utm_tags;
    lead.custom = custom;
    Ok(LeadLine {
        lead,
        create_date,
        last_active,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read_value(value: Value) -> Result<LeadLine, String> {
        match value {
            Value::Object(fields) => read(fields),
            _ => Err("no object".to_owned()),
        }
    }

    #[test]
    fn what_is_no_fixed_field_is_a_custom_one() {
        let line = read_value(json!({
            "id": 7, "firstname": "Ana", "points": 4.0, "owner": null, "filial": "Apucarana", "faixas": [null, 1.5], "vip": null
        }))
        .unwrap();
        assert_eq!(line.lead.firstname.as_deref(), Some("Ana"));
        assert_eq!(line.lead.points.as_u64(), Some(4));
        assert_eq!(line.create_date, None);
        assert_eq!(
            Value::Object(line.lead.custom),
            json!({ "filial": "Apucarana", "faixas": [null, 1.5], "vip": null })
        );
    }

    #[test]
    fn bad_fields_are_named() {
        for (value, reason) in [
            (json!({}), "id: is missing"),
            (json!({ "id": 7, "points": "4" }), "points: must be a number"),
            (
                json!({ "id": 7, "points": 1e16 }),
                "points: must be from -1e15 to 1e15",
            ),
            (json!({ "id": 7, "utmTags": {} }), "utmTags: must be a list"),
            (
                json!({ "id": 7, "userAccess": [8, "9"] }),
                "userAccess[1]: must be a whole number that is not negative",
            ),
            (
                json!({ "id": 7, "fullname": "A" }),
                "fullname: is derived from other fields and cannot be imported",
            ),
            (
                json!({ "id": 7, "_id": "lead-7" }),
                "_id: is derived from other fields and cannot be imported",
            ),
            (
                json!({ "id": 7, "lastActive": 5 }),
                "lastActive: must be a date-time such as 2026-11-21T12:00:00.000Z",
            ),
            (
                json!({ "id": 7, "channelRestrictions": { "email": { "disabled": 1 } } }),
                "channelRestrictions.email.disabled: must be true or false",
            ),
        ] {
            assert_eq!(read_value(value.clone()).unwrap_err(), reason, "{value}");
        }
    }
}
