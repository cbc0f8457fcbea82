//! The requests of each function: the event that starts it, and the events after it.

use std::ops::Range;

use serde_json::{Value, json};
use tests::runtime::{Recorded, Stage};

use super::data::{LEAD_OF_TICKETS, REPORT_BY_DAY, phone};
use super::ground;

/// A function and its requests.
#[derive(Debug)]
pub struct Work {
    /// The function's name in the template.
    pub function: &'static str,
    /// File name of the Node.js endpoint, without extension; of some functions there is one.
    pub node: Option<&'static str>,
    /// The endpoint or trigger.
    pub what: &'static str,
    first: First,
    then: Then,
}

/// The event that starts a function.
#[derive(Debug, Clone, Copy)]
enum First {
    Recorded(&'static str),
    /// A stream record of a call.
    Call,
}

/// The later events, which determine the memory.
#[derive(Debug, Clone, Copy)]
enum Then {
    /// A request with a large response: a recorded one with another path, query and body.
    Large(&'static str, fn() -> Asked),
    /// A full batch of stream records.
    Calls,
    /// A scheduled run with everything due: a call's trigger, copies of a lead, a report.
    Minute,
}

/// Records of a batch, as in the template.
const BATCH: u64 = 16;

/// All functions; each leaves the table as the next one needs it.
pub const ALL: [Work; 9] = [
    Work {
        function: "LeadsFunction",
        node: Some("leads"),
        what: "`GET /leads/{id}`",
        first: First::Recorded("lead"),
        then: Then::Large("leads-list-all-fields", leads),
    },
    Work {
        function: "OpportunitiesFunction",
        node: Some("opportunities"),
        what: "`POST /crm/opportunities/{id}`, the board",
        first: First::Recorded("opportunities-kanban"),
        then: Then::Large("opportunities-kanban", board),
    },
    Work {
        function: "CalendarsFunction",
        node: Some("calendars"),
        what: "`GET /calendarmeeting/slots`",
        first: First::Recorded("slots-list"),
        then: Then::Large("slots-list", slots),
    },
    Work {
        function: "TicketsFunction",
        node: Some("tickets"),
        what: "`GET /sac360/lead/{id}`",
        first: First::Recorded("tickets-list"),
        then: Then::Large("tickets-list", tickets),
    },
    Work {
        function: "ReportsFunction",
        node: None,
        what: "`GET /reportchart/{id}`",
        first: First::Recorded("report"),
        then: Then::Large("report", report),
    },
    Work {
        function: "DirectoryFunction",
        node: Some("directory"),
        what: "`GET /user`",
        first: First::Recorded("users-list"),
        then: Then::Large("users-list", users),
    },
    Work {
        function: "MaintenanceFunction",
        node: None,
        what: "a minute in which nothing is due",
        first: First::Recorded("maintenance-minute"),
        then: Then::Minute,
    },
    Work {
        function: "CallWebhookFunction",
        node: None,
        what: "`POST /voip/webhook`, a known lead",
        first: First::Recorded("call-record"),
        then: Then::Large("call-record", call),
    },
    Work {
        function: "AutomationsFunction",
        node: None,
        what: "a record of the stream, one action",
        first: First::Call,
        then: Then::Calls,
    },
];

/// Parts of a request.
struct Asked {
    path: String,
    query: &'static str,
    /// Empty if there is none.
    body: String,
}

fn leads() -> Asked {
    Asked {
        path: "/leads".to_owned(),
        query: "i=demo&allFields=1&limit=200",
        body: String::new(),
    }
}

fn board() -> Asked {
    Asked {
        path: "/crm/opportunities/3".to_owned(),
        query: "i=demo&apitoken=API_KEY",
        body: json!({ "page": 1, "limit": 100 }).to_string(),
    }
}

fn slots() -> Asked {
    Asked {
        path: "/calendarmeeting/slots".to_owned(),
        query: "i=demo&keyName=demo&from=2099-01-05T00:00:00Z&to=2099-03-07T00:00:00Z",
        body: String::new(),
    }
}

fn users() -> Asked {
    Asked {
        path: "/user".to_owned(),
        query: "i=demo",
        body: String::new(),
    }
}

fn tickets() -> Asked {
    Asked {
        path: format!("/sac360/lead/{LEAD_OF_TICKETS}"),
        query: "i=demo",
        body: String::new(),
    }
}

fn report() -> Asked {
    Asked {
        path: format!("/reportchart/{REPORT_BY_DAY}"),
        query: "apitoken=API_KEY&i=demo&from=2026-01-01&to=2026-12-31",
        body: String::new(),
    }
}

fn call() -> Asked {
    Asked {
        path: "/voip/webhook".to_owned(),
        query: "i=demo",
        body: record(0, &"ã".repeat(1_000)),
    }
}

/// The body of a call's record.
fn record(lead: u64, description: &str) -> String {
    let data = json!({
        "user": 8, "leadPhone": phone(lead), "type": "INCOMING", "status": "COMPLETE", "duration": 65,
        "record": false, "service": "demo", "description": description,
    });
    json!({ "event": "call", "data": data }).to_string()
}

impl Work {
    /// The first event.
    pub async fn first(&self, stage: &Stage) -> Value {
        match self.first {
            First::Recorded(name) => stage.event(&Recorded::named(name)),
            First::Call => streamed(stage, 0..1).await,
        }
    }

    /// Another event, distinguished by its number.
    pub async fn further(&self, stage: &Stage, number: u64) -> Value {
        match self.then {
            Then::Large(recorded, asked) => large(stage, recorded, &asked()),
            Then::Calls => streamed(stage, number * BATCH..(number + 1) * BATCH).await,
            Then::Minute => {
                received(stage, number).await;
                ground::import(stage, &super::data::report(1_000 + number).to_string()).await;
                stage.event(&Recorded::named("maintenance-minute"))
            }
        }
    }
}

fn large(stage: &Stage, recorded: &str, asked: &Asked) -> Value {
    let event = Recorded::named(recorded).changed(|event| {
        event["rawPath"] = json!(asked.path);
        event["requestContext"]["http"]["path"] = json!(asked.path);
        event["rawQueryString"] = json!(asked.query);
        if !asked.body.is_empty() {
            event["body"] = json!(asked.body);
            event["isBase64Encoded"] = json!(false);
        }
    });
    stage.event(&event)
}

/// Receives a call of a lead. Returns the call's id.
async fn received(stage: &Stage, lead: u64) -> u64 {
    let call = Recorded::named("call-record").changed(|event| event["body"] = json!(record(lead, "")));
    let answer = stage.answer(&stage.event(&call)).await;
    let body = answer["body"].as_str().expect("a body");
    let body: Value = serde_json::from_str(body).expect("JSON");
    body["id"].as_u64().expect("the call's id")
}

/// Stream records of a call of each lead.
async fn streamed(stage: &Stage, leads: Range<u64>) -> Value {
    let mut event = Recorded::named("automations-trigger").raw();
    let record = event["Records"][0].take();
    let mut records = Vec::new();
    for lead in leads {
        let mut record = record.clone();
        let key = format!("call#{:015}", received(stage, lead).await);
        for keyed in ["Keys", "NewImage"] {
            record["dynamodb"][keyed]["sk"]["S"] = json!(key);
        }
        records.push(record);
    }
    event["Records"] = json!(records);
    event
}
