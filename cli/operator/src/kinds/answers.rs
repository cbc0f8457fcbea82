//! Accepts records in the form of responses (C-105): removes read-only fields, and replaces embedded records by their
//! ids.

use serde_json::Value;
use shared::lead_edit::split_name;

use super::Kind;
use crate::line::Fields;

/// Fields of responses that an import ignores.
const READ_ONLY: [(Kind, &[&str]); 6] = [
    (Kind::Leads, &["_id", "fullname", "instancedomain", "companyData"]),
    (Kind::Companies, &["_id"]),
    (Kind::Opportunities, &["dataLead", "dataCompany", "funnel_id"]),
    (Kind::Calendars, &["nextMeeting"]),
    (Kind::Meetings, &["rescheduleKey"]),
    (Kind::Departments, &["users", "subs"]),
];

/// Fields that contain a record or a list of records in responses, and ids in lines.
const EMBEDDED: [(Kind, &[&str]); 2] = [
    (Kind::Leads, &["owner", "tags"]),
    (Kind::Opportunities, &["user"]),
];

/// Fields of a funnel's columns in responses.
const OF_COLUMNS: [&str; 3] = ["crm", "total", "totalValue"];

/// Removes read-only fields, and replaces embedded records by their ids. A full name alone is divided.
pub(super) fn reduce(kind: Kind, fields: &mut Fields) {
    if kind == Kind::Leads {
        // A custom field may be called `name`, and none `fullname`.
        split_name(fields, &["fullname"]);
    }
    for name in named(&READ_ONLY, kind) {
        fields.shift_remove(*name);
    }
    for name in named(&EMBEDDED, kind) {
        match fields.get_mut(*name) {
            Some(Value::Array(list)) => list.iter_mut().for_each(replace_by_id),
            Some(value) => replace_by_id(value),
            None => {}
        }
    }
    if kind == Kind::Funnels
        && let Some(Value::Array(columns)) = fields.get_mut("columns")
    {
        for column in columns.iter_mut().filter_map(Value::as_object_mut) {
            column.retain(|name, _| !OF_COLUMNS.contains(&name.as_str()));
        }
    }
    if kind == Kind::Opportunities
        && let Some(Value::Array(companies)) = fields.get_mut("dataCompanyExtra")
    {
        for company in companies.iter_mut().filter_map(Value::as_object_mut) {
            company.shift_remove("_id");
        }
    }
}

/// The names of a table's row for a kind.
fn named(of: &[(Kind, &'static [&'static str])], kind: Kind) -> &'static [&'static str] {
    let found = of.iter().find(|(other, _)| *other == kind);
    found.map(|(_, names)| *names).unwrap_or_default()
}

/// Replaces an embedded record by its id.
fn replace_by_id(value: &mut Value) {
    if let Some(id) = value.get("id").filter(|_| value.is_object()).cloned() {
        *value = id;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn embedded_records_become_references() {
        let reduced = |kind, fields: Value| {
            let mut fields = fields.as_object().unwrap().clone();
            reduce(kind, &mut fields);
            Value::Object(fields)
        };
        let lead = json!({ "_id": "lead-1", "fullname": "A", "firstname": "B", "owner": { "id": 7, "name": "Ana" }, "tags": [{ "id": 1, "tag": "a" }, 2] });
        assert_eq!(
            reduced(Kind::Leads, lead),
            json!({ "firstname": "B", "owner": 7, "tags": [1, 2] })
        );
        let lead = json!({ "owner": null, "companyData": { "id": 1 }, "dataLead": 1 });
        assert_eq!(
            reduced(Kind::Leads, lead),
            json!({ "owner": null, "dataLead": 1 })
        );
        let opportunity =
            json!({ "user": { "id": 7 }, "dataLead": {}, "dataCompanyExtra": [{ "_id": 1, "id": 2 }] });
        let expected = json!({ "user": 7, "dataCompanyExtra": [{ "id": 2 }] });
        assert_eq!(reduced(Kind::Opportunities, opportunity), expected);
        let funnel = json!({ "columns": [{ "id": 1, "crm": 3, "total": 0, "totalValue": 0 }] });
        assert_eq!(
            reduced(Kind::Funnels, funnel),
            json!({ "columns": [{ "id": 1 }] })
        );
    }
}
