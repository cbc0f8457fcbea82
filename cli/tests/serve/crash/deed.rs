//! The writes of the interface, and a few reads. Each created record contains the number of its request, so that it can
//! be found without the response.

use serde_json::{Value, json};

use super::house::Access;
use super::ledger::{Ledger, Shape};
use super::wire::Ask;

/// A request of a client.
#[derive(Debug, Clone)]
pub enum Deed {
    /// Endpoint 7.
    Sell { lead: u64, shape: Shape },
    /// Endpoint 8.
    Change {
        opportunity: u64,
        from: Shape,
        to: Shape,
    },
    /// Endpoint 13, for a lead or a new contact.
    Book {
        lead: Option<u64>,
        opportunity: Option<u64>,
        date: String,
    },
    /// Endpoint 13 with a reschedule key.
    Move { meeting: u64, date: String },
    /// Endpoint 19.
    Call { caller: Caller, incoming: bool },
    /// Endpoint 6, in bulk for several leads.
    Archive { leads: Vec<u64>, archived: bool },
    /// Endpoint 5, in bulk for several leads.
    Delete { leads: Vec<u64> },
    /// A read.
    Look(Look),
}

/// The caller.
#[derive(Debug, Clone, Copy)]
pub enum Caller {
    /// A number without a lead at the start.
    Line(u64),
    /// The number of a lead.
    Number(u64),
    /// A lead by its id, as the provider sends it. The call has a name only if no other request changes the lead,
    /// because the name in a call that was never linked is not erased with the lead.
    Lead { lead: u64, named: bool },
}

/// Kinds of reads.
#[derive(Debug, Clone, Copy)]
pub enum Look {
    Lead(u64),
    Tickets(u64),
    Column(u64),
    Board,
    Meetings,
    Slots,
    Report(u64),
}

/// A text that only the records of one person contain. It is in lower case, like look-ups.
pub fn mark(number: u64) -> String {
    format!("pz{number}q")
}

/// The numbers of all marks in a text.
pub fn marks(text: &str) -> impl Iterator<Item = u64> {
    text.match_indices("pz").filter_map(|(at, _)| {
        let (digits, _) = text[at + 2..].split_once('q')?;
        digits.parse().ok()
    })
}

/// The reference of a request's opportunity, meeting or call.
pub fn reference(number: usize) -> String {
    format!("r{number}.")
}

/// The person's number of a new contact, by request.
pub fn guest(number: usize) -> u64 {
    1_000_000 + u64::try_from(number).unwrap()
}

/// A line in one of the two forms of a mobile number (C-72).
pub fn line(line: u64, ninth: bool) -> String {
    format!("5541{}8888{line:04}", if ninth { "9" } else { "" })
}

impl Deed {
    /// The name of its kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Sell { .. } => "create an opportunity (7)",
            Self::Change { .. } => "change an opportunity (8)",
            Self::Book { lead: None, .. } => "book, with a new lead (13)",
            Self::Book { .. } => "book for a lead (13)",
            Self::Move { .. } => "move a meeting (13)",
            Self::Call {
                caller: Caller::Line(_),
                ..
            } => "call from a number without lead (19)",
            Self::Call { .. } => "call from a lead (19)",
            Self::Archive { leads, .. } if leads.len() > 1 => "archive in bulk (6)",
            Self::Archive { .. } => "archive a lead (6)",
            Self::Delete { leads } if leads.len() > 1 => "delete in bulk (5)",
            Self::Delete { .. } => "delete a lead (5)",
            Self::Look(_) => "reads",
        }
    }

    /// Whether its endpoint supports `Idempotency-Key` (C-10).
    pub fn takes_key(&self) -> bool {
        matches!(
            self,
            Self::Sell { .. } | Self::Book { .. } | Self::Move { .. } | Self::Call { .. }
        )
    }

    /// The request to send.
    pub fn ask(&self, number: usize, ledger: &Ledger) -> Ask {
        match self {
            Self::Sell { lead, shape } => sell(number, *lead, shape, &ledger.access),
            Self::Change {
                opportunity,
                from,
                to,
            } => change(*opportunity, from, to, &ledger.access),
            Self::Book {
                lead,
                opportunity,
                date,
            } => book(number, *lead, *opportunity, date),
            Self::Move { meeting, date } => {
                let known = &ledger.meetings[meeting];
                let proof = json!({ "rescheduleMeetingId": meeting, "rescheduleKey": known.proof });
                // Other fields than the key and the time are ignored.
                let body = json!({ "keyName": "balcao", "date": date, "leadId": null,
                    "formData": { "firstname": "x" }, "properties": proof });
                Ask::new("POST", "/calendarmeeting?i=demo", &body)
            }
            Self::Call { caller, incoming } => call(number, *caller, *incoming, ledger),
            Self::Archive { leads, archived } => {
                let body = match leads[..] {
                    [lead] => json!({ "archived": archived, "id": lead }),
                    _ => json!({ "archived": archived, "ids": leads }),
                };
                let path = format!("/lead/archive?i=demo&apitoken={}", ledger.access.key);
                Ask::new("POST", path, &body)
            }
            Self::Delete { leads } => {
                let key = &ledger.access.key;
                match leads[..] {
                    [lead] => Ask::new(
                        "DELETE",
                        format!("/leads/{lead}?i=demo&apitoken={key}"),
                        &Value::Null,
                    ),
                    _ => Ask::new(
                        "DELETE",
                        format!("/leads?i=demo&apitoken={key}"),
                        &json!({ "ids": leads }),
                    ),
                }
            }
            Self::Look(look) => ledger.access.signed(look.ask(&ledger.access.key)),
        }
    }
}

fn sell(number: usize, lead: u64, shape: &Shape, access: &Access) -> Ask {
    let body = json!({ "title": reference(number), "crm_column": shape.column, "lead_id": lead, "value": shape.value,
        "status": shape.status, "fields": { "Origem do Lead": reference(number) } });
    access.signed(Ask::new("POST", "/crmopportunity?id=3&i=demo", &body))
}

/// Sends only the differences (C-31).
fn change(opportunity: u64, from: &Shape, to: &Shape, access: &Access) -> Ask {
    let mut body = json!({});
    if from.value != to.value {
        body["value"] = to.value.into();
    }
    if from.column != to.column {
        body["crm_column"] = to.column.into();
    }
    if from.status != to.status {
        body["status"] = to.status.into();
    }
    if from.archived != to.archived {
        body["archived"] = to.archived.into();
    }
    let path = format!("/crmopportunity/{opportunity}?id=3&i=demo");
    access.signed(Ask::new("PUT", path, &body))
}

fn book(number: usize, lead: Option<u64>, opportunity: Option<u64>, date: &str) -> Ask {
    let mut body = json!({ "keyName": "balcao", "date": date, "leadId": lead, "opportunityId": opportunity,
        "properties": { "ref": reference(number) } });
    if lead.is_none() {
        let (mark, phone) = (mark(guest(number)), phone(guest(number)));
        body["formData"] = json!({ "firstname": mark, "email": format!("{mark}@example.com"), "mobile": phone,
            "note": format!("of {mark}") });
    }
    Ask::new("POST", "/calendarmeeting?i=demo", &body)
}

fn call(number: usize, caller: Caller, incoming: bool, ledger: &Ledger) -> Ask {
    let kind = if incoming { "INCOMING" } else { "OUTGOING" };
    let mut data = json!({ "user": 8, "type": kind, "status": "COMPLETE", "duration": 1, "record": false,
        "service": "crash", "callId": reference(number) });
    match caller {
        Caller::Line(known) => data["leadPhone"] = line(known, number.is_multiple_of(2)).into(),
        Caller::Number(lead) => data["leadPhone"] = ledger.people[&lead].phone.clone().into(),
        Caller::Lead { lead, named } => {
            data["leadPhone"] = "".into();
            data["lead"] = lead.into();
            if named {
                data["leadName"] = mark(ledger.people[&lead].mark).into();
            }
        }
    }
    let body = json!({ "event": "call", "data": data });
    Ask::new("POST", "/voip/webhook?i=demo", &body)
}

/// A person's own number.
pub fn phone(mark: u64) -> String {
    format!("55219{:08}", 70_000_000 + mark)
}

impl Look {
    fn ask(self, key: &str) -> Ask {
        let page = json!({ "page": 1, "limit": 25 });
        match self {
            Self::Lead(lead) => Ask::new("GET", format!("/leads/{lead}?i=demo&allFields=1"), &Value::Null),
            Self::Tickets(lead) => Ask::new("GET", format!("/sac360/lead/{lead}?i=demo"), &Value::Null),
            Self::Column(column) => {
                let body = json!({ "page": 1, "limit": 25, "columnId": column });
                Ask::new(
                    "POST",
                    format!("/crm/opportunities/3?i=demo&apitoken={key}"),
                    &body,
                )
            }
            Self::Board => Ask::new(
                "POST",
                format!("/crm/opportunities/3?i=demo&apitoken={key}"),
                &page,
            ),
            Self::Meetings => Ask::new("GET", "/calendarmeeting/60?i=demo&page=0", &Value::Null),
            Self::Slots => Ask::new(
                "GET",
                "/calendarmeeting/slots?i=demo&keyName=balcao",
                &Value::Null,
            ),
            Self::Report(report) => {
                let path = format!("/reportchart/{report}?i=demo&apitoken={key}");
                Ask::new("GET", path, &Value::Null)
            }
        }
    }
}
