//! Requests to every endpoint of spec.md, with their targets.

use std::time::Duration;

use serde_json::{Value, json};
use tests::bookings::{FREE, booking};
use tests::forms;
use tests::sales::page;
use tests::world::Request;
use tests::{Wallet, World};

use crate::stock::{COMMON, FULL, FULLEST};

/// Maximum for a read of one record.
const SIMPLE: Duration = Duration::from_micros(150);
/// Maximum for a board of ten columns with 25 typical opportunities each.
const BOARD: Duration = Duration::from_millis(3);

/// Placement of the credentials.
#[derive(Debug, Clone, Copy)]
enum Place {
    Headers,
    Header,
    Query,
    /// No credentials.
    Public,
}

/// A use of an endpoint.
pub struct Ask {
    /// The endpoint's number in spec.md, and a description.
    pub name: &'static str,
    /// Maximum processor time.
    pub target: Option<Duration>,
    /// Whether it only reads.
    pub is_read: bool,
    method: &'static str,
    uri: String,
    place: Place,
    wallet: Wallet,
    body: Option<Value>,
}

impl Ask {
    fn target(self, target: Duration) -> Self {
        Self {
            target: Some(target),
            ..self
        }
    }

    pub fn request<'w>(&self, world: &'w World) -> Request<'w> {
        let request = match self.place {
            Place::Query => {
                let uri = format!("{}&apitoken={}", self.uri, self.wallet.key);
                world.call(self.method, &uri)
            }
            _ => world.call(self.method, &self.uri),
        };
        let request = match self.place {
            Place::Headers => request.with(&self.wallet),
            Place::Header => request.header("apitoken", &self.wallet.key),
            Place::Query | Place::Public => request,
        };
        match &self.body {
            Some(body) => request.json(body),
            None => request,
        }
    }
}

/// Every endpoint; writes last, so that reads find everything.
pub fn asks(admin: &Wallet) -> Vec<Ask> {
    leads(admin)
        .into_iter()
        .chain(reads(admin))
        .chain(lists(admin))
        .chain(boards(admin))
        .chain(lead_writes(admin))
        .chain(writes(admin))
        .collect()
}

fn read(admin: &Wallet, name: &'static str, place: Place, uri: &str) -> Ask {
    Ask {
        name,
        target: None,
        is_read: true,
        method: "GET",
        uri: uri.to_owned(),
        place,
        wallet: admin.clone(),
        body: None,
    }
}

fn write(
    admin: &Wallet,
    name: &'static str,
    place: Place,
    (method, uri): (&'static str, &str),
    body: Value,
) -> Ask {
    Ask {
        method,
        is_read: false,
        body: Some(body),
        ..read(admin, name, place, uri)
    }
}

fn leads(admin: &Wallet) -> Vec<Ask> {
    let read = |name, place, uri| read(admin, name, place, uri);
    let simple = |name, place, uri| read(name, place, uri).target(SIMPLE);
    vec![
        read("1: list of leads, 50", Place::Headers, "/leads?i=acme"),
        read(
            "1: list of leads, 50, all fields",
            Place::Headers,
            "/leads?i=acme&allFields=1",
        ),
        simple("2: lead", Place::Headers, "/leads/1001?i=acme"),
        simple(
            "3: lead, all fields, every one set",
            Place::Headers,
            "/leads/2001?i=acme&allFields=1",
        ),
        simple(
            "4: lead, selected fields",
            Place::Headers,
            "/leads/1001?i=acme&query={lead{fullname,city,owner{name}}}",
        ),
        Ask {
            is_read: true,
            ..write(
                admin,
                "POST /leadsadvanced, 50",
                Place::Headers,
                ("POST", "/leadsadvanced?i=acme"),
                json!({ "limit": 50 }),
            )
        },
    ]
}

fn reads(admin: &Wallet) -> Vec<Ask> {
    let read = |name, place, uri| read(admin, name, place, uri);
    let simple = |name, place, uri| read(name, place, uri).target(SIMPLE);
    vec![
        simple("9: funnels", Place::Query, "/crm?i=acme"),
        simple("11: calendars", Place::Header, "/pcalendar?i=acme"),
        read(
            "12: meetings of a calendar, 20",
            Place::Header,
            "/calendarmeeting/5?i=acme&from=2026-11-23T00:00:00Z",
        ),
        read(
            "13: times that are free",
            Place::Public,
            "/calendarmeeting/slots?i=acme&keyName=demo",
        ),
        simple("14: reports", Place::Query, "/advancedreports?i=acme"),
        simple("15: report", Place::Query, "/reportchart/2?i=acme"),
        simple(
            "16: tickets of a lead, 5",
            Place::Header,
            "/sac360/lead/1001?i=acme",
        ),
        simple(
            "17: files of a ticket, 5",
            Place::Header,
            "/sac360/list_file_attendance/501?i=acme",
        ),
        simple(
            "18: files of a lead, 5",
            Place::Header,
            "/sac360/list_file_lead/1001?i=acme",
        ),
    ]
}

fn lists(admin: &Wallet) -> Vec<Ask> {
    let read = |name, place, uri| read(admin, name, place, uri);
    let simple = |name, place, uri| read(name, place, uri).target(SIMPLE);
    vec![
        read(
            "GET /crmfastloadv2/{id}: totals of ten columns",
            Place::Headers,
            "/crmfastloadv2/6?i=acme",
        ),
        simple(
            "GET /crmopportunity/{id}",
            Place::Headers,
            "/crmopportunity/6000?i=acme",
        ),
        read(
            "GET /listopportunitysleadcomplete/{id}",
            Place::Headers,
            "/listopportunitysleadcomplete/3001?i=acme",
        ),
        simple("GET /user", Place::Headers, "/user?i=acme"),
        simple("GET /departament", Place::Headers, "/departament?i=acme"),
        simple("GET /tags", Place::Headers, "/tags?i=acme"),
        simple("GET /crmlossreason", Place::Headers, "/crmlossreason?i=acme"),
    ]
}

/// Endpoint 10, a read by POST.
fn boards(admin: &Wallet) -> Vec<Ask> {
    let look = |name, funnel: u64, more: Value| Ask {
        is_read: true,
        ..write(
            admin,
            name,
            Place::Query,
            ("POST", &format!("/crm/opportunities/{funnel}?i=acme")),
            page(1, 25, &more),
        )
    };
    let column = |funnel: u64| json!({ "columnId": funnel * 10 });
    let all = Value::Null;
    vec![
        look("10: column, 25 common records", COMMON, column(COMMON)),
        look("10: column, 25 of a full lead and company", FULL, column(FULL)),
        look("10: board, 250 common records", COMMON, all.clone()).target(BOARD),
        look("10: board, 250 of a full lead and company", FULL, all.clone()),
        look("10: board, 250 with every field of all", FULLEST, all),
    ]
}

fn writes(admin: &Wallet) -> Vec<Ask> {
    let write = |name, place, at, body| write(admin, name, place, at, body);
    let new = json!({ "title": "Reforma", "crm_column": 31, "lead_id": 1001, "value": "213.20" });
    vec![
        write(
            "7: new opportunity",
            Place::Headers,
            ("POST", "/crmopportunity?id=3&i=acme"),
            new,
        ),
        write(
            "8: opportunity, status and column",
            Place::Headers,
            ("PUT", "/crmopportunity/6000?id=6&i=acme"),
            json!({ "status": "gain", "crm_column": 62 }),
        ),
        write(
            "13: booking",
            Place::Public,
            ("POST", "/calendarmeeting?i=acme"),
            booking(FREE[1], &json!({})),
        ),
        write(
            "19: call of a known lead",
            Place::Public,
            ("POST", "/voip/webhook?i=acme"),
            call(),
        ),
    ]
}

fn lead_writes(admin: &Wallet) -> Vec<Ask> {
    let write = |name, place, at, body| write(admin, name, place, at, body);
    vec![
        write(
            "POST /leads, unique",
            Place::Headers,
            ("POST", "/leads?i=acme&unique=phone,email"),
            json!({ "firstname": "Bia", "phone": "+55 41 98888-0001", "email": "bia@example.com" }),
        ),
        write(
            "PUT /leads/{id}",
            Place::Headers,
            ("PUT", "/leads/1002?i=acme"),
            json!({ "city": "Curitiba", "phone": "+55 41 98888-0002" }),
        ),
        write(
            "POST /api/hook/{name}: new lead",
            Place::Public,
            ("POST", &forms::address("")),
            json!({ "nome": "Ana", "email": "ana@example.com" }),
        ),
        write(
            "6: archiving a lead",
            Place::Query,
            ("POST", "/lead/archive?i=acme"),
            json!({ "archived": true, "id": 1005 }),
        ),
        Ask {
            body: None,
            ..write(
                "5: deleting a lead",
                Place::Query,
                ("DELETE", "/leads/1006?i=acme"),
                Value::Null,
            )
        },
    ]
}

fn call() -> Value {
    json!({ "event": "call", "data": {
        "user": 8, "leadPhone": "+55 11 97326-3471", "type": "INCOMING", "status": "COMPLETE", "duration": 65,
        "record": true, "service": "acme-voip" } })
}
