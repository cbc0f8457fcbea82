//! Records in addition to the demo: leads for opportunities, calls and deletions, a calendar with many times,
//! automations, and reports.

use serde_json::{Value, json};
use shared::environment::Environment;

use super::deed::{mark, phone};
use super::facts;
use super::found::MADE;
use super::house::{Home, House};
use super::ledger::{Ledger, Person};

/// The initial leads.
const LEADS: std::ops::Range<u64> = 5001..5031;
/// The first times are not used, because they may pass during the run.
const PASSING: usize = 40;

/// Imports the records, and starts a ledger.
pub fn set(house: &House, home: &Home) -> Ledger {
    let mut lines: Vec<_> = LEADS.flat_map(person).collect();
    lines.push(json!({ "kind": "setting", "name": "timezone", "value": "UTC" }));
    let day = [["00:00", "24:00"]];
    lines.push(
        json!({ "kind": "calendar", "id": 60, "name": "Balcão", "keyName": "balcao", "publicId": "pub_60",
        "isPublished": true, "userId": 7, "timezone": "UTC", "durationMinutes": 10,
        "hours": { "mon": day, "tue": day, "wed": day, "thu": day, "fri": day } }),
    );
    lines.push(
        json!({ "kind": "automation", "id": 90, "name": "Ligou", "trigger": "leadPhoneCall",
        "event": "received", "actions": [{ "type": "addPoints", "points": 1 },
            { "type": "createOpportunity", "funnel": 4, "column": 41, "title": MADE }] }),
    );
    lines.extend(facts::automations());
    house.import("demo", &home.lines("stage.ndjson", &lines));
    define_reports(house, home, 0);
    let slots = house.read("GET", "/calendarmeeting/slots?keyName=balcao", &Value::Null);
    let times: Vec<String> = serde_json::from_value(slots["data"]["slots"].clone()).unwrap();
    let began = Environment::system().now().to_string();
    let mut ledger = Ledger::new(house.access.clone(), times[PASSING..].to_vec(), began);
    for lead in LEADS {
        ledger.people.insert(lead, Person::new(lead, phone(lead), 1));
    }
    ledger
}

/// Defines reports of the clients' records. Each `number` gives other definitions, so that the reports are refreshed
/// (C-61).
pub fn define_reports(house: &House, home: &Home, number: u64) {
    // All records belong to user 7, so other users in the filter do not matter.
    let others = (0..4).filter(|bit| number >> bit & 1 == 1).map(|bit| 8 + bit);
    let users: Vec<u64> = std::iter::once(7).chain(others).collect();
    let lines = [
        json!({ "kind": "report", "id": 91, "name": "Chamadas", "entity": "calls", "measure": "count",
            "groupBy": "user", "filters": { "service": ["crash", format!("none-{number}")] } }),
        json!({ "kind": "report", "id": 92, "name": "Vendas", "entity": "opportunities", "measure": "sum", "field": "value",
            "groupBy": "column", "filters": { "user": users } }),
        json!({ "kind": "report", "id": 93, "name": "Reuniões", "entity": "meetings", "measure": "count",
            "groupBy": "status", "filters": { "user": users } }),
    ];
    house.import("demo", &home.lines("reports.ndjson", &lines));
}

/// A lead with a ticket.
fn person(lead: u64) -> [Value; 3] {
    let mark = mark(lead);
    let created = "2026-01-01T00:00:00.000Z";
    [
        json!({ "kind": "lead", "id": lead, "firstname": mark, "email": format!("{mark}@example.com"),
            "mobile": phone(lead), "createDate": created }),
        json!({ "kind": "ticket", "id": lead, "lead_relation": lead, "name": mark, "lead_name": mark,
            "createDate": created, "updateDate": created }),
        json!({ "kind": "file", "ticket": lead, "type": "audio", "url": "https://media.example/a", "mimetype": "audio/ogg",
            "store_url": "https://files.example/a", "store_path": format!("t/{lead}/0"), "ext": "ogg" }),
    ]
}
