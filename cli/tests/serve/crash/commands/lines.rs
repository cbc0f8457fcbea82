//! Records of every kind for an import; each version changes every record.

use serde_json::{Value, json};

/// Number of records of frequent kinds.
const MANY: u64 = 30;
const CREATED: &str = "2026-01-01T00:00:00.000Z";

/// The lines of a version.
pub fn of(version: u64) -> Vec<Value> {
    let mut lines = vec![
        json!({ "kind": "group", "id": 1, "name": format!("Todos {version}"), "permissions": { "leads": "all" } }),
        json!({ "kind": "user", "id": 7, "name": format!("Ana {version}"), "admin": true }),
        json!({ "kind": "user", "id": 8, "name": format!("Bruno {version}"), "group": 1 }),
        json!({ "kind": "funnel", "id": 3, "name": format!("Vendas {version}"),
            "columns": [{ "id": 31, "name": "Entrada" }, { "id": 32, "name": "Proposta" }] }),
        json!({ "kind": "calendar", "id": 1, "name": format!("Balcão {version}"), "keyName": "balcao", "publicId": "pub_1",
            "userId": 7, "timezone": "UTC", "durationMinutes": 10, "hours": { "mon": [["00:00", "24:00"]] },
            "createDate": CREATED, "updateDate": CREATED }),
        json!({ "kind": "report", "id": 1, "name": format!("Vendas {version}"), "entity": "opportunities",
            "measure": "count", "groupBy": "column", "createDate": CREATED, "updateDate": CREATED }),
        json!({ "kind": "automation", "id": 1, "name": format!("Ligou {version}"), "trigger": "leadPhoneCall",
            "event": "received", "actions": [{ "type": "addPoints", "points": 1 }], "active": false }),
    ];
    lines.extend((1..=4).map(|id| {
        json!({ "kind": "company", "id": id, "companyname": format!("Padaria {id}.{version}"), "createDate": CREATED })
    }));
    for id in 1..=MANY {
        lines.extend(person(id, version));
        lines.extend(history(id, version));
    }
    lines
}

/// A lead, with changing owner and number, and its opportunity, with changing column and status.
fn person(id: u64, version: u64) -> [Value; 2] {
    let status = ["open", "gain", "lost"][usize::try_from((id + version) % 3).unwrap()];
    let phone = format!("55419{:08}", 70_000_000 + id * 100 + version % 100);
    let mut opportunity = json!({ "kind": "opportunity", "id": id, "title": format!("Pedido {version}"),
        "value": format!("{}.50", id + version), "crm_id": 3, "crm_column": 31 + (id + version) % 2, "lead_id": id,
        "status": status, "user": 7 + version % 2, "createDate": CREATED, "updateDate": CREATED });
    if status != "open" {
        opportunity[format!("{status}_date")] = CREATED.into();
    }
    [
        json!({ "kind": "lead", "id": id, "firstname": format!("Bia {version}"), "email": format!("bia{id}@example.com"),
            "phone": phone, "owner": 7 + (id + version) % 2, "company": 1 + (id + version) % 4,
            "archived": (id + version).is_multiple_of(5), "createDate": CREATED }),
        opportunity,
    ]
}

/// A meeting, a ticket with a file, and a call with its event.
fn history(id: u64, version: u64) -> [Value; 5] {
    // The times differ in every version and do not overlap.
    let at = |minutes: u64| {
        let hour = (id + version) % 24;
        format!(
            "2027-{:02}-{:02}T{hour:02}:{minutes:02}:00.000Z",
            1 + id % 12,
            1 + id / 12
        )
    };
    [
        json!({ "kind": "meeting", "id": id, "calendarId": 1, "date": at(0), "endDate": at(10), "leadId": id, "userId": 7,
            "formData": { "version": version }, "createDate": CREATED, "updateDate": CREATED }),
        json!({ "kind": "ticket", "id": id, "lead_relation": 1 + (id + version) % MANY, "name": format!("Pedido {version}"),
            "createDate": CREATED, "updateDate": CREATED }),
        json!({ "kind": "file", "ticket": id, "id": id, "type": "audio", "url": format!("https://media.example/{version}"),
            "mimetype": "audio/ogg", "store_url": "https://files.example/a", "store_path": format!("t/{id}"), "ext": "ogg" }),
        json!({ "kind": "call", "id": id, "user": 7, "leadPhone": "5541977776666", "type": "INCOMING", "status": "COMPLETE",
            "duration": version, "record": false, "service": "x", "lead": id, "createDate": CREATED }),
        json!({ "kind": "event", "id": id, "lead": id, "name": "voip.call_incoming", "operator": 7,
            "phone": "5541977776666", "status": "COMPLETE", "duration": version, "service": "x", "call": id,
            "createDate": CREATED }),
    ]
}
