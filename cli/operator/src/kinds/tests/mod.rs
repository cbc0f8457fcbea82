//! Tests of single lines of every kind: tables of refusals and defaults, and the properties of all kinds.

mod defaults;
mod laws;
mod refusals;

use std::borrow::Borrow as _;

use serde_json::{Value, json};

use super::*;

/// A good line of a kind.
pub fn good(kind: Kind) -> Value {
    let mut line = match kind {
        Kind::Settings => json!({ "name": "page_base", "value": 1 }),
        Kind::Departments | Kind::Users | Kind::Leads | Kind::LossReasons => json!({ "id": 1, "name": "A" }),
        Kind::Groups => json!({ "id": 1, "name": "A", "permissions": { "leads": "all" } }),
        Kind::Profiles => json!({ "number": "+55 11 98700-1122", "name": "A" }),
        Kind::Tags => json!({ "id": 1, "tag": "A" }),
        Kind::Companies => json!({ "id": 1, "companyname": "A" }),
        Kind::Funnels => json!({ "id": 3, "name": "V", "columns": [{ "id": 31, "name": "A" }] }),
        Kind::Opportunities => {
            json!({ "id": 5, "title": "Pedido", "crm_id": 3, "crm_column": 31, "user": 7 })
        }
        Kind::Calendars => json!({
            "id": 5, "name": "Demonstração", "keyName": "demo", "publicId": "pub_5", "userId": 7,
            "timezone": "America/Sao_Paulo", "durationMinutes": 30, "hours": {},
        }),
        Kind::Meetings => json!({
            "id": 1, "calendarId": 5, "date": "2027-03-01T12:00:00Z", "endDate": "2027-03-01T12:30:00Z",
        }),
        Kind::Tickets => json!({ "id": 501 }),
        Kind::Files => json!({ "ticket": 501, "store_path": "s/10" }),
        Kind::Calls => json!({
            "id": 1, "user": 8, "leadPhone": "+55 11", "type": "INCOMING", "status": "COMPLETE", "duration": 6,
            "record": true, "service": "x",
        }),
        Kind::Events => json!({
            "id": 1, "lead": 1, "name": "voip.call_incoming", "operator": 8, "status": "COMPLETE", "duration": 1,
            "service": "x", "call": 1, "createDate": "2026-01-01T00:00:00Z",
        }),
        Kind::Reports => {
            json!({ "id": 3, "name": "Ligações", "entity": "calls", "measure": "count", "groupBy": "day" })
        }
        Kind::Automations => json!({
            "id": 3, "name": "Ligou", "trigger": "leadPhoneCall", "event": "received",
            "actions": [{ "type": "addPoints", "points": 5 }],
        }),
        Kind::Hooks => json!({ "id": 1, "name": "contact", "token": "t" }),
    };
    line["kind"] = kind.name().into();
    line
}

/// A good line with these fields added or replaced.
pub fn with(kind: Kind, rest: &Value) -> String {
    let mut line = good(kind);
    for (name, value) in rest.as_object().unwrap() {
        line[name] = value.clone();
    }
    line.to_string()
}

/// The reason why a line is refused, or the line.
#[track_caller]
pub fn refused(text: &str) -> String {
    check_line(text).map_or_else(|reason| reason, |_| format!("accepted: {text}"))
}

/// The exported line of a good line with other fields, without the times that a line may omit.
#[track_caller]
fn exported<K: RecordKind>(rest: &Value) -> Value {
    let text = with(K::KIND, rest);
    let line = parse::<K>(&text).unwrap().unwrap();
    let mut fields = K::export(line.borrow()).unwrap();
    fields.retain(|name, _| !["createDate", "updateDate", "lastActive"].contains(&name.as_str()));
    Value::Object(fields)
}

#[test]
fn a_good_line_of_every_kind_is_of_that_kind() {
    for kind in Kind::ALL.iter().copied() {
        assert_eq!(check_line(&good(kind).to_string()).unwrap().kind, kind);
        assert_eq!(Kind::named(kind.name()), Some(kind));
    }
}

#[test]
fn every_kind_has_the_limits_of_a_record() {
    let tree = (0..8).fold(json!(1), |inner, _| json!([inner]));
    for kind in Kind::ALL.iter().copied() {
        let large = with(kind, &json!({ "name": "a".repeat(100_000) }));
        assert_eq!(refused(&large), "the record is larger than 100 KB");
        let deep = with(kind, &json!({ "tree": tree }));
        assert_eq!(refused(&deep), "the record is nested over 8 levels");
    }
    let spaces = " ".repeat(100_000);
    assert!(check_line(&format!(r#"{{"kind":"user",{spaces}"id":1,"name":"A"}}"#)).is_ok());
}

/// Leads alone have custom fields.
#[test]
fn unknown_fields_are_refused() {
    for kind in Kind::ALL.iter().copied().filter(|kind| *kind != Kind::Leads) {
        let unknown = with(kind, &json!({ "weather": "red" }));
        assert_eq!(refused(&unknown), "weather: unknown field", "{kind:?}");
    }
}

/// Concatenated files contain a byte order mark at the start of each file.
#[test]
fn a_byte_order_mark_is_not_part_of_a_line() {
    let line = format!("\u{feff}{}\r\n", good(Kind::Calls));
    assert!(check_line(&line).is_ok(), "{}", refused(&line));
}

#[test]
fn lines_of_one_record_have_one_identity() {
    let identity = |kind, rest: &Value| check_line(&with(kind, rest)).unwrap().identity;
    assert_eq!(
        identity(Kind::Profiles, &json!({})),
        identity(Kind::Profiles, &json!({ "number": "11987001122", "name": "B" }))
    );
    assert_ne!(
        identity(Kind::Settings, &json!({})),
        identity(Kind::Settings, &json!({ "name": "timezone", "value": "UTC" }))
    );
    let file = |rest: &Value| identity(Kind::Files, rest);
    assert_eq!(
        file(&json!({ "id": 7 })),
        file(&json!({ "id": 7, "store_path": "s/11" }))
    );
    assert_ne!(file(&json!({})), file(&json!({ "ticket": 502 })));
}

/// The secret of a notification appears in no debug output.
#[test]
fn secrets_are_not_shown() {
    let action = json!({ "type": "notify", "url": "https://erp.example/h", "secret": "s3cr3t" });
    let text = with(Kind::Automations, &json!({ "actions": [action] }));
    let line = parse::<Automations>(&text).unwrap().unwrap();
    assert!(!format!("{line:?}").contains("s3cr3t"));
}
