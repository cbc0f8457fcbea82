//! Requests that are invalid independently of state and caller, with their responses. They change nothing,
//! which later requests verify.

use std::sync::LazyLock;

use serde_json::{Value, json};

use super::{Asked, Said};

/// An invalid request and its response.
pub struct Refused {
    pub method: &'static str,
    pub path: &'static str,
    pub body: Value,
    said: Said,
}

/// The invalid requests: some of each endpoint, and all of AJV's vectors for endpoints 10 and 19 (C-41,
/// C-70).
pub static TABLE: LazyLock<Vec<Refused>> = LazyLock::new(|| {
    let reading = READING.map(|(path, field)| named("GET", path, Value::Null, field));
    let mut table: Vec<_> = reading.into_iter().chain(writing()).chain(fixed()).collect();
    table.extend(schema(
        "/crm/opportunities/3",
        include_str!("../../../../../../shared/vectors/ajv-list-opportunities.json"),
        |error| {
            let details = json!({ "instancePath": error["instancePath"], "schemaPath": error["schemaPath"],
                "keyword": error["keyword"], "params": error["params"] });
            json!({ "msg": error["message"], "details": details })
        },
    ));
    table.extend(schema(
        "/voip/webhook",
        include_str!("../../../../../../shared/vectors/ajv-call-webhook.json"),
        |error| {
            let err = json!({ "instancePath": error["instancePath"], "keyword": error["keyword"],
                "message": error["message"] });
            json!({ "msg": "invalid_body", "err": err })
        },
    ));
    table
});

/// Reads with an invalid parameter or id, and its name (C-4).
const READING: [(&str, &str); 23] = [
    ("/leads?limit=0", "limit"),
    ("/leads?limit=201", "limit"),
    ("/leads?limit=ten", "limit"),
    ("/leads?page=-1", "page"),
    ("/leads?page=1.5", "page"),
    ("/leads?archived=perhaps", "archived"),
    ("/leads?query={leads{filial}}", "query"),
    ("/leads?query={lead{id}}", "query"),
    ("/leads/0", "id"),
    ("/leads/1001x", "id"),
    ("/leads/1001?query={lead}", "query"),
    ("/leads/1001?query={lead{owner{email}}}", "query"),
    ("/listopportunitysleadcomplete/0", "lead_id"),
    ("/listopportunitysleadcomplete/1001?limit=0", "limit"),
    ("/pcalendar?query={calendars{meetings}}", "query"),
    ("/calendarmeeting/5?limit=0", "limit"),
    ("/calendarmeeting/5?limit=101", "limit"),
    ("/calendarmeeting/5?page=-1", "page"),
    ("/calendarmeeting/5?from=tomorrow", "from"),
    ("/reportchart/1?from=2026-13-01", "from"),
    ("/reportchart/1?from=2026-11-02&to=2026-11-01", "to"),
    ("/reportchart/one", "report_id"),
    ("/calendarmeeting/slots?keyName=", "keyName"),
];

/// A form with a required name.
const CONTACT: &str = "/api/hook/contato?access_token=tok-contato";

/// Bodies with missing or invalid fields, where the response names the field.
fn writing() -> Vec<Refused> {
    let creation = |changes: Value| {
        changed(
            json!({ "title": "Pedido", "crm_column": 31, "lead_id": 1001 }),
            &changes,
        )
    };
    let booking = |changes: Value| {
        let body = json!({ "keyName": "demo", "date": "2027-01-05T09:00:00.000Z", "leadId": 1001 });
        changed(body, &changes)
    };
    let new = "/crmopportunity?id=3";
    [
        ("DELETE", "/leads", json!({ "ids": 1001 }), "ids"),
        ("DELETE", "/leads", json!({ "ids": vec![1001; 121] }), "ids"),
        ("DELETE", "/leads", json!({ "ids": [1001, "x"] }), "ids[1]"),
        ("POST", "/lead/archive", json!({ "id": 1001 }), "archived"),
        (
            "POST",
            "/lead/archive",
            json!({ "id": 1001, "archived": "yes" }),
            "archived",
        ),
        (
            "POST",
            "/lead/archive",
            json!({ "id": "x", "archived": true }),
            "id",
        ),
        ("POST", "/lead/archive", json!({ "archived": true }), "id"),
        ("POST", CONTACT, json!({ "email": "bia@example.com" }), "nome"),
        ("POST", CONTACT, json!({ "nome": [["Bia"]] }), "nome"),
        ("POST", CONTACT, json!({ "nome": "Bia", "cor": {} }), "cor"),
        (
            "POST",
            "/api/hook/leve?access_token=tok-leve",
            json!({ "city": "Recife" }),
            "body",
        ),
        ("POST", new, creation(json!({ "title": "" })), "title"),
        (
            "POST",
            new,
            creation(json!({ "title": "x".repeat(256) })),
            "title",
        ),
        ("POST", new, creation(json!({ "crm_column": null })), "crm_column"),
        ("POST", new, creation(json!({ "lead_id": "abc" })), "lead_id"),
        ("POST", new, creation(json!({ "value": "1,50" })), "value"),
        ("POST", new, creation(json!({ "value": 0.125 })), "value"),
        ("POST", new, creation(json!({ "status": "won" })), "status"),
        (
            "POST",
            new,
            creation(json!({ "expectedCloseDate": "2026-02-30" })),
            "expectedCloseDate",
        ),
        (
            "POST",
            new,
            creation(json!({ "fields": { "Origem": [] } })),
            "fields.Origem",
        ),
        ("POST", "/crmopportunity", creation(json!({})), "id"),
        (
            "POST",
            "/calendarmeeting",
            booking(json!({ "keyName": "" })),
            "keyName",
        ),
        (
            "POST",
            "/calendarmeeting",
            booking(json!({ "date": "2027-01-05" })),
            "date",
        ),
        (
            "POST",
            "/calendarmeeting",
            booking(json!({ "leadId": "null" })),
            "leadId",
        ),
        (
            "POST",
            "/calendarmeeting",
            booking(json!({ "leadId": null })),
            "formData",
        ),
        (
            "POST",
            "/calendarmeeting",
            booking(json!({ "formData": { "email": "a@example.com" } })),
            "formData",
        ),
        (
            "POST",
            "/calendarmeeting",
            booking(json!({ "opportunityId": "1" })),
            "opportunityId",
        ),
        (
            "POST",
            "/calendarmeeting",
            booking(json!({ "properties": 7 })),
            "properties",
        ),
        (
            "POST",
            "/calendarmeeting",
            booking(json!({ "leadId": null, "formData": { "city": "Curitiba" } })),
            "formData",
        ),
        (
            "POST",
            "/calendarmeeting",
            booking(json!({ "leadId": null, "formData": { "firstname": "Eva", "x": [[1]] } })),
            "formData.x",
        ),
    ]
    .map(|(method, path, body, field)| named(method, path, body, field))
    .into_iter()
    .collect()
}

/// Requests with the fixed response `Invalid request`.
fn fixed() -> impl Iterator<Item = Refused> {
    let patch = "/crmopportunity/1?id=3";
    [
        ("PUT", patch, json!({ "title": null })),
        ("PUT", patch, json!({ "status": "Open" })),
        ("PUT", patch, json!({ "value": "12.345" })),
        ("PUT", patch, json!({ "archived": 2 })),
        ("PUT", patch, json!({ "fields": [1] })),
        ("PUT", "/crmopportunity/0?id=3", json!({})),
        ("PUT", "/crmopportunity/1", json!({ "title": "Pedido" })),
        ("POST", "/crm/opportunities/0", json!({ "page": 1, "limit": 1 })),
        ("POST", "/crm/opportunities/99", json!({ "page": 1, "limit": 1 })),
        ("GET", "/sac360/lead/x", Value::Null),
        ("GET", "/sac360/list_file_attendance/-1", Value::Null),
        ("GET", "/sac360/list_file_lead/1e3", Value::Null),
    ]
    .into_iter()
    .map(|(method, path, body)| Refused {
        method,
        path,
        body,
        said: super::error(400),
    })
}

/// Bodies that a schema rejects, with AJV's error. A null body is an absent one.
fn schema(path: &'static str, cases: &str, body: impl Fn(&Value) -> Value) -> Vec<Refused> {
    let cases: Vec<Value> = serde_json::from_str(cases).expect("JSON");
    let bad = cases
        .into_iter()
        .filter(|case| case["valid"] == json!(false) && !case["body"].is_null());
    bad.map(|case| Refused {
        method: "POST",
        path,
        body: case["body"].clone(),
        said: (400, body(&case["error"])),
    })
    .collect()
}

fn changed(mut body: Value, changes: &Value) -> Value {
    for (name, value) in changes.as_object().expect("changes") {
        body[name] = value.clone();
    }
    body
}

fn named(method: &'static str, path: &'static str, body: Value, field: &str) -> Refused {
    let said = if path.starts_with("/crmopportunity") {
        json!({ "msg": field })
    } else {
        json!({ "error": "Invalid request", "details": field })
    };
    Refused {
        method,
        path,
        body,
        said: (400, said),
    }
}

/// The response to a request that is always invalid.
pub fn said(asked: &Asked<'_>) -> Option<Said> {
    find(asked.method, asked.uri, asked.body).map(|one| one.said.clone())
}

fn find(method: &str, path: &str, body: &Value) -> Option<&'static Refused> {
    TABLE
        .iter()
        .find(|one| one.method == method && one.path == path && one.body == *body)
}

/// A response to an invalid request without the words after the field's name: the contract fixes only the
/// name.
pub fn without_words(method: &str, path: &str, body: &Value, mut said: Value) -> Value {
    if find(method, path, body).is_some() {
        for name in ["details", "msg"] {
            if let Some((field, _)) = said[name].as_str().and_then(|text| text.split_once(": ")) {
                said[name] = json!(field);
            }
        }
    }
    // The place of the credential depends on the request alone (C-103).
    if said["error"] == "Unauthorized"
        && let Some(said) = said.as_object_mut()
    {
        said.shift_remove("details");
    }
    said
}
