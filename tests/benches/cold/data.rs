//! Import lines that the instance has in addition to the demo, for large responses.

use std::fmt::Write as _;

use serde_json::{Value, json};

/// The first of the leads: two more than the largest page.
const FIRST_LEAD: u64 = 2_001;
const LEADS: u64 = 202;
/// The first opportunity; each column has more than a board shows.
const FIRST_OPPORTUNITY: u64 = 1_001;
const OPPORTUNITIES: u64 = 900;
/// The first ticket; all are of one lead.
const FIRST_TICKET: u64 = 101;
const TICKETS: u64 = 600;
/// The first of the users.
const FIRST_USER: u64 = 101;
const USERS: u64 = 600;

/// The number of a lead.
pub fn phone(at: u64) -> String {
    format!("+55 11 98000-{}", FIRST_LEAD + at % LEADS)
}

/// The lead of the tickets.
pub const LEAD_OF_TICKETS: u64 = FIRST_LEAD;
/// A report with a label for each day.
pub const REPORT_BY_DAY: u64 = 3;

/// All lines, as NDJSON.
pub fn lines() -> String {
    let leads = (0..LEADS).map(lead);
    let opportunities = (0..OPPORTUNITIES).map(|at| opportunity(FIRST_OPPORTUNITY + at));
    let tickets = (0..TICKETS).map(|at| ticket(FIRST_TICKET + at));
    let users = (0..USERS).map(|at| user(FIRST_USER + at));
    let others = [automation(), report(REPORT_BY_DAY)];
    let mut text = String::new();
    for line in users
        .chain(leads)
        .chain(opportunities)
        .chain(tickets)
        .chain(others)
    {
        writeln!(text, "{line}").expect("a text takes every line");
    }
    text
}

fn lead(at: u64) -> Value {
    let id = FIRST_LEAD + at;
    json!({
        "kind": "lead", "id": id, "firstname": format!("Pessoa {id}"), "lastname": "de Tal da Conceição",
        "email": format!("lead{id}@example.com"), "mobile": phone(at), "owner": 8, "city": "Curitiba", "state": "PR", "country": "Brazil",
        "address": "Rua Comendador Araújo, 143, conjunto 1204", "createDate": "2026-03-11T12:00:01.123Z",
        "Observação": "Prefere ser atendida pela manhã; pediu orçamento em três vias. ".repeat(6),
    })
}

fn opportunity(id: u64) -> Value {
    let day = 1 + id % 28;
    let month = 1 + id / 28 % 10;
    json!({
        "kind": "opportunity", "id": id, "title": format!("Pedido {id} de balcão"), "value": "213.20", "crm_id": 3,
        "crm_column": 31 + id % 3, "lead_id": FIRST_LEAD + id % LEADS, "status": "open", "user": 8 + id % 3,
        "createDate": format!("2026-{month:02}-{day:02}T13:42:10.000Z"),
        "fields": { "Origem do Lead": "Indicação", " Número do pedido ": format!("A-{id}") },
    })
}

fn user(id: u64) -> Value {
    json!({
        "kind": "user", "id": id, "name": format!("Pessoa {id}"), "lastName": "de Tal", "department": 3,
        "email": format!("pessoa{id}@example.com"), "active": !id.is_multiple_of(4), "branch": id.to_string(),
    })
}

fn ticket(id: u64) -> Value {
    json!({
        "kind": "ticket", "id": id, "lead_relation": LEAD_OF_TICKETS, "status": "closed", "attendant": 8,
        "attendantName": "Bruno Lima", "name": format!("Atendimento {id}: segunda via do pedido"), "type": "chatapp",
        "accid": "demo", "createDate": "2026-04-14T13:00:00.000Z", "updateDate": "2026-04-14T13:40:00.000Z",
    })
}

/// An active automation; the demo's own is inactive.
fn automation() -> Value {
    json!({
        "kind": "automation", "id": 2, "name": "Ligou: pontos", "trigger": "leadPhoneCall", "event": "received",
        "actions": [{ "type": "addPoints", "points": 5 }], "active": true,
    })
}

/// A report of opportunities by day.
pub fn report(id: u64) -> Value {
    json!({
        "kind": "report", "id": id, "name": format!("Oportunidades por dia, {id}"), "type": "line",
        "entity": "opportunities", "measure": "count", "groupBy": "day",
    })
}
