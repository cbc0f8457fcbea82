//! A line of an import: its kind, its types, its limits. What it refers to is judged later, against the table.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use shared::call::{Call, Event};
use shared::directory::{Department, Group};
use shared::id::{DepartmentId, GroupId};
use shared::json;
use shared::people::{Company, Figure, Profile};
use shared::permissions::Permissions;
use shared::phone::{Phone, digits};
use shared::store::operator::CallLine;
use shared::time::Timestamp;

use super::limits::{self, within};
use super::number;
use super::reason::strict;
use super::record::Record;
use super::{automation, calendar, definition, funnel, lead, meeting, opportunity, ticket};

#[derive(Deserialize)]
struct DepartmentLine {
    id: DepartmentId,
    name: String,
    #[serde(default)]
    parent: Option<DepartmentId>,
}

#[derive(Deserialize)]
struct GroupLine {
    id: GroupId,
    name: String,
    permissions: Permissions,
}

/// Reads a line; `Err` holds the reason without the line's number.
pub fn parse(text: &str) -> Result<Record, String> {
    let value = json::parse(text.trim_end().as_bytes()).map_err(|error| not_json(&error))?;
    if let Some(path) = json::find_inexact("", &value) {
        return Err(format!("{path}: {}", json::MUST_BE_TEXT));
    }
    let Value::Object(mut fields) = value else {
        return Err("must be a JSON object".to_owned());
    };
    let kind = match fields.shift_remove("kind") {
        Some(Value::String(kind)) => kind,
        Some(_) => return Err("kind: must be text".to_owned()),
        None => return Err("kind: is missing".to_owned()),
    };
    limits::judge(&fields, text.len())?;
    match kind.as_str() {
        "setting" => setting(fields),
        "department" => {
            let DepartmentLine { id, name, parent } = read(fields)?;
            Ok(Record::Department(id, Department { name, parent }))
        }
        "group" => group(fields),
        "user" => read(fields).map(Record::User),
        "profile" => profile(fields),
        "company" => company(fields),
        "lead" => lead::read(fields).map(Box::new).map(Record::Lead),
        "funnel" => funnel::read(fields).map(Box::new).map(Record::Funnel),
        "opportunity" => opportunity::read(fields).map(Box::new).map(Record::Opportunity),
        "calendar" => calendar::read(fields).map(Box::new).map(Record::Calendar),
        "meeting" => meeting::read(fields).map(Box::new).map(Record::Meeting),
        "ticket" => ticket::read(fields).map(Box::new).map(Record::Ticket),
        "file" => ticket::read_file(fields).map(Box::new).map(Record::File),
        "call" => call(fields),
        "event" => event(fields),
        "report" => definition::read(fields).map(Box::new).map(Record::Report),
        "automation" => automation::read(fields).map(Box::new).map(Record::Automation),
        other => Err(format!("unknown kind {}", Value::from(other))),
    }
}

fn not_json(error: &serde_json::Error) -> String {
    format!(
        "not JSON: {}",
        error.to_string().replace(" at line 1 column ", " at column ")
    )
}

/// A typed record. A null is an absent value (C-24 has import accept nulls).
pub fn read<T: DeserializeOwned>(mut fields: Map<String, Value>) -> Result<T, String> {
    fields.retain(|_, value| !value.is_null());
    strict(Value::Object(fields))
}

/// A time that may be absent.
pub fn take_time(fields: &mut Map<String, Value>, name: &str) -> Result<Option<Timestamp>, String> {
    match fields.shift_remove(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => serde_json::from_value(value)
            .map(Some)
            .map_err(|_| format!("{name}: must be a date-time such as 2026-11-21T12:00:00.000Z")),
    }
}

/// The times of creation and change, which may be absent. In their place stand times that are never stored.
pub fn take_dates(fields: &mut Map<String, Value>) -> Result<(Option<Timestamp>, Option<Timestamp>), String> {
    let create_date = take_time(fields, "createDate")?;
    let update_date = take_time(fields, "updateDate")?;
    for time in ["createDate", "updateDate"] {
        fields.insert(time.to_owned(), unread_time());
    }
    Ok((create_date, update_date))
}

fn setting(mut fields: Map<String, Value>) -> Result<Record, String> {
    let name = fields.shift_remove("name");
    let value = fields.shift_remove("value");
    only(&fields, &[])?;
    match (name, value) {
        (Some(Value::String(name)), Some(value)) => {
            // The settings themselves know what they accept (C-83).
            let checked = shared::settings::Settings::default().set(&name, &value);
            checked.map_err(|error| match error {
                shared::settings::SettingError::Unknown => format!("name: {error}"),
                shared::settings::SettingError::Value(..) => format!("value: {error}"),
            })?;
            Ok(Record::Setting(name, value))
        }
        (None, _) => Err("name: is missing".to_owned()),
        (Some(_), None) => Err("value: is missing".to_owned()),
        (Some(_), Some(_)) => Err("name: must be text".to_owned()),
    }
}

fn group(fields: Map<String, Value>) -> Result<Record, String> {
    let told = fields.get("permissions");
    for name in ["leads", "opportunities"] {
        let level = told.and_then(|permissions| permissions.get(name)?.as_str());
        // A stored level that is unknown is none.
        if level.is_some_and(|level| !LEVELS.contains(&level)) {
            return Err(format!("permissions.{name}: must be {}", LEVELS.join(" or ")));
        }
    }
    let GroupLine {
        id,
        name,
        permissions,
    } = read(fields)?;
    Ok(Record::Group(id, Group { name, permissions }))
}

fn profile(fields: Map<String, Value>) -> Result<Record, String> {
    let profile: Profile = read(fields)?;
    if Phone::of(&profile.number).is_none() {
        return Err("number: must be a telephone number".to_owned());
    }
    Ok(Record::Profile(profile))
}

fn company(fields: Map<String, Value>) -> Result<Record, String> {
    let mut company: Company = read(fields)?;
    let figures = [
        ("companyannualrevenue", &mut company.companyannualrevenue),
        ("companynemployees", &mut company.companynemployees),
    ];
    for (name, figure) in figures {
        if let Some(Figure::Number(value)) = figure {
            *value = number::storable(name, value)?;
        }
    }
    let numbers = [
        ("points", &mut company.points),
        ("customer_count", &mut company.customer_count),
    ];
    for (name, value) in numbers {
        if let Some(value) = value {
            *value = number::storable(name, value)?;
        }
    }
    Ok(Record::Company(Box::new(company)))
}

const LEVELS: [&str; 4] = ["all", "department", "own", "none"];

const CALL: [&str; 14] = [
    "id",
    "user",
    "leadPhone",
    "type",
    "status",
    "duration",
    "record",
    "service",
    "lead",
    "leadName",
    "userName",
    "callId",
    "description",
    "createDate",
];

fn call(mut fields: Map<String, Value>) -> Result<Record, String> {
    only(&fields, &CALL)?;
    let create_date = take_time(&mut fields, "createDate")?;
    fields.insert("createDate".to_owned(), unread_time());
    let mut call: Call = read(fields)?;
    call.lead_phone = call.lead_phone.as_deref().map(digits);
    // C-71, here without cutting: an operator can mend a line, a telephony provider cannot.
    within("service", Some(&call.service), 32)?;
    within("leadPhone", call.lead_phone.as_deref(), 64)?;
    within("leadName", call.lead_name.as_deref(), 64)?;
    within("userName", call.user_name.as_deref(), 64)?;
    within("callId", call.call_id.as_deref(), 64)?;
    within("description", call.description.as_deref(), 1000)?;
    let line = CallLine {
        call,
        create_date,
        with_event: false,
    };
    Ok(Record::Call(Box::new(line)))
}

fn event(fields: Map<String, Value>) -> Result<Record, String> {
    let mut event: Event = read(fields)?;
    event.phone = event.phone.as_deref().map(digits);
    within("service", Some(&event.service), 32)?;
    within("phone", event.phone.as_deref(), 64)?;
    within("callId", event.call_id.as_deref(), 64)?;
    Ok(Record::Event(Box::new(event)))
}

fn only(fields: &Map<String, Value>, known: &[&str]) -> Result<(), String> {
    let unknown = fields.keys().find(|name| !known.contains(&name.as_str()));
    unknown.map_or(Ok(()), |name| Err(format!("{name}: unknown field")))
}

/// A time that stands where one must, and is never stored.
pub fn unread_time() -> Value {
    Value::from("1970-01-01T00:00:00.000Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        parse(text).map_or_else(|reason| reason, |record| format!("accepted {record:?}"))
    }

    const CALL: &str = r#"{"kind":"call","id":1,"user":8,"leadPhone":"+55 11","type":"INCOMING","status":"COMPLETE","duration":6,"record":true,"service":"x""#;

    #[test]
    fn a_line_that_is_no_record_is_refused() {
        for (line, reason) in [
            ("{", "not JSON: EOF while parsing an object at column 1"),
            ("[]", "must be a JSON object"),
            ("{}", "kind: is missing"),
            (r#"{"kind":7}"#, "kind: must be text"),
            (r#"{"kind":"message","id":1}"#, r#"unknown kind "message""#),
            (r#"{"kind":"user","id":1}"#, "name: is missing"),
            (r#"{"kind":"user","id":1,"name":null}"#, "name: is missing"),
            (
                r#"{"kind":"department","id":"1","name":"A"}"#,
                "id: must be a whole number that is not negative",
            ),
            (r#"{"kind":"group","id":1,"name":"A"}"#, "permissions: is missing"),
            (
                r#"{"kind":"group","id":1,"name":"A","permissions":{"leads":"some"}}"#,
                "permissions.leads: must be all or department or own or none",
            ),
            (
                r#"{"kind":"profile","number":"none","name":"A"}"#,
                "number: must be a telephone number",
            ),
            (
                r#"{"kind":"company","id":1,"companyname":"A","vat":1}"#,
                "vat: unknown field",
            ),
            (
                r#"{"kind":"company","id":1,"companyname":"A","points":1e300}"#,
                "points: must be from -1e15 to 1e15",
            ),
            (
                r#"{"kind":"lead","id":1,"notas":[{"chave":35261112345678901234567890123456789012345678}]}"#,
                "notas[0].chave: must be sent as text, because a number cannot hold it exactly",
            ),
            (
                r#"{"kind":"opportunity","id":1,"fields":{"Chave":-1e400}}"#,
                "fields.Chave: must be sent as text, because a number cannot hold it exactly",
            ),
        ] {
            assert_eq!(refused(line), reason, "{line}");
        }
    }

    /// Files that were put together have one where each of them begins.
    #[test]
    fn a_byte_order_mark_is_no_part_of_a_line() {
        let line = format!("\u{feff}{CALL}}}\r\n");
        assert!(parse(&line).is_ok(), "{}", refused(&line));
    }

    #[test]
    fn settings_are_judged_by_their_own_rules() {
        for (line, reason) in [
            (r#"{"kind":"setting","value":1}"#, "name: is missing"),
            (r#"{"kind":"setting","name":"page_base"}"#, "value: is missing"),
            (
                r#"{"kind":"setting","name":"page_base","value":2}"#,
                "value: page_base must be 0 or 1",
            ),
            (
                r#"{"kind":"setting","name":"page_base","value":1,"x":1}"#,
                "x: unknown field",
            ),
        ] {
            assert_eq!(refused(line), reason, "{line}");
        }
        assert!(
            refused(r#"{"kind":"setting","name":"pages","value":2}"#).starts_with("name: unknown setting")
        );
        let unset = parse(r#"{"kind":"setting","name":"page_base","value":null}"#).unwrap();
        assert_eq!(unset, Record::Setting("page_base".to_owned(), Value::Null));
    }

    #[test]
    fn calls_keep_digits_and_their_limits() {
        let Record::Call(line) = parse(&format!("{CALL}}}")).unwrap() else {
            unreachable!("it is a call");
        };
        assert_eq!(line.call.lead_phone.as_deref(), Some("5511"));
        assert_eq!(line.create_date, None);
        assert_eq!(refused(&format!(r#"{CALL},"calls":1}}"#)), "calls: unknown field");
        assert_eq!(
            refused(&format!(r#"{CALL},"createDate":"today"}}"#)),
            "createDate: must be a date-time such as 2026-11-21T12:00:00.000Z"
        );
        let name = "é".repeat(65);
        assert_eq!(
            refused(&format!(r#"{CALL},"leadName":"{name}"}}"#)),
            "leadName: must have at most 64 characters"
        );
        assert_eq!(
            refused(&CALL.replace("INCOMING", "incoming").replace("\"x\"", "\"x\"}")),
            "type: must be INCOMING or OUTGOING"
        );
    }

    #[test]
    fn every_kind_has_the_limits_of_a_record() {
        let name = "a".repeat(100_000);
        let tree = "[".repeat(8) + &"]".repeat(8);
        for kind in [
            "user",
            "company",
            "funnel",
            "opportunity",
            "calendar",
            "meeting",
            "ticket",
            "file",
            "call",
        ] {
            assert_eq!(
                refused(&format!(r#"{{"kind":"{kind}","id":1,"name":"{name}"}}"#)),
                "the record is larger than 100 KB"
            );
            assert_eq!(
                refused(&format!(r#"{{"kind":"{kind}","id":1,"tree":{tree}}}"#)),
                "the record is nested over 8 levels"
            );
        }
        let spaces = " ".repeat(100_000);
        assert!(parse(&format!(r#"{{"kind":"user",{spaces}"id":1,"name":"A"}}"#)).is_ok());
    }

    #[test]
    fn lines_of_one_record_have_one_identity() {
        let identity = |text: &str| parse(text).unwrap().identity();
        assert_eq!(
            identity(r#"{"kind":"profile","number":"+55 11 98700-1122","name":"A"}"#),
            identity(r#"{"kind":"profile","number":"11987001122","name":"B"}"#)
        );
        assert_ne!(
            identity(r#"{"kind":"setting","name":"page_base","value":1}"#),
            identity(r#"{"kind":"setting","name":"timezone","value":"UTC"}"#)
        );
    }
}
