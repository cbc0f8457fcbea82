//! All requests to a service with their responses, and the state that follows from them.
//!
//! A record has at most one pending change, so that its acknowledged state is unambiguous. Requests that only link a
//! record, such as a new opportunity of a lead or a call from it, may be concurrent with a deletion.

use std::collections::BTreeMap;

use serde_json::Value;

use super::deed::{Caller, Deed, Look};
use super::house::Access;
use super::wire::{Answer, Ask};

/// The fields of an opportunity that change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    pub value: u64,
    pub column: u64,
    pub status: &'static str,
    pub archived: bool,
}

/// Whether a lead exists, by the responses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Life {
    Here,
    /// Its deletion is pending.
    Leaving,
    Gone,
}

/// A lead.
#[derive(Debug)]
pub struct Person {
    pub mark: u64,
    pub phone: String,
    pub tickets: usize,
    pub archived: bool,
    /// The requested archived flag.
    pub next: Option<bool>,
    /// Whether it may have been archived during a call.
    pub ever_archived: bool,
    /// 1 for a lead of a booking, 0 for one of an import.
    pub created: u64,
    /// Number of changes of the archived flag, and of changes that set it.
    pub archived_or_back: u64,
    pub archivals: u64,
    pub life: Life,
    pub busy: bool,
}

/// An opportunity with a known id.
#[derive(Debug)]
pub struct Opportunity {
    pub request: usize,
    pub lead: u64,
    pub shape: Shape,
    pub next: Option<Shape>,
    /// Number of changes of the shape, and of the column.
    pub changes: u64,
    pub moves: u64,
    pub busy: bool,
}

impl Opportunity {
    /// Changes its shape.
    pub fn change(&mut self, to: Shape) {
        self.changes += u64::from(to != self.shape);
        self.moves += u64::from(to.column != self.shape.column);
        self.shape = to;
    }
}

/// A meeting with a known id.
#[derive(Debug)]
pub struct Meeting {
    pub lead: u64,
    pub date: String,
    pub next: Option<String>,
    pub moves: u64,
    /// Its reschedule key, if the response arrived.
    pub proof: Option<String>,
    pub busy: bool,
}

/// Outcome of a request.
#[derive(Debug, Clone)]
pub enum Fate {
    /// Pending.
    UnderWay,
    Answered(Answer),
    /// The response was lost, and the request is not repeated. The export shows whether it was done.
    CutOff {
        done: bool,
    },
}

/// A request.
#[derive(Debug)]
pub struct Request {
    pub round: u64,
    pub deed: Deed,
    pub key: bool,
    pub ask: Ask,
    pub fate: Fate,
    /// Whether the request was done, if its first response was lost.
    pub cut_off: Option<bool>,
}

/// All requests to one service.
pub struct Ledger {
    pub access: Access,
    /// Time of the start.
    pub began: String,
    pub round: u64,
    pub people: BTreeMap<u64, Person>,
    pub opportunities: BTreeMap<u64, Opportunity>,
    pub meetings: BTreeMap<u64, Meeting>,
    pub requests: Vec<Request>,
    /// Possible times of meetings, and the number of requests for each.
    pub times: Vec<String>,
    pub wanted: BTreeMap<String, u64>,
    /// Number of answered writes.
    pub answered: u64,
}

impl Meeting {
    /// Changes the date.
    pub fn move_to(&mut self, date: &str) {
        self.moves += u64::from(date != self.date);
        date.clone_into(&mut self.date);
    }
}

impl Person {
    /// A lead from an import or a booking.
    pub fn new(mark: u64, phone: String, tickets: usize) -> Self {
        Self {
            mark,
            phone,
            tickets,
            archived: false,
            next: None,
            ever_archived: false,
            created: 0,
            archived_or_back: 0,
            archivals: 0,
            life: Life::Here,
            busy: false,
        }
    }

    /// Sets the archived flag.
    pub fn archive(&mut self, archived: bool) {
        self.archived_or_back += u64::from(archived != self.archived);
        self.archivals += u64::from(archived && !self.archived);
        self.archived = archived;
    }
}

impl Request {
    /// The response, if it reports success.
    pub fn acknowledged(&self) -> Option<&Answer> {
        match &self.fate {
            Fate::Answered(answer) if answer.status < 300 => Some(answer),
            _ => None,
        }
    }
}

impl Ledger {
    pub fn new(access: Access, times: Vec<String>, began: String) -> Self {
        Self {
            access,
            began,
            round: 0,
            people: BTreeMap::new(),
            opportunities: BTreeMap::new(),
            meetings: BTreeMap::new(),
            requests: Vec::new(),
            times,
            wanted: BTreeMap::new(),
            answered: 0,
        }
    }

    /// Registers a request, and returns its number and content. A request with a key may be repeated.
    pub fn begin(&mut self, deed: Deed, key: bool) -> (usize, Ask) {
        let number = self.requests.len();
        let key = key && deed.takes_key();
        let mut ask = deed.ask(number, self);
        if key {
            ask = ask.with("idempotency-key", format!("k{number}"));
        }
        self.hold(&deed);
        self.requests.push(Request {
            round: self.round,
            deed,
            key,
            ask: ask.clone(),
            fate: Fate::UnderWay,
            cut_off: None,
        });
        (number, ask)
    }

    /// Blocks other changes of the same record.
    fn hold(&mut self, deed: &Deed) {
        match deed {
            Deed::Change { opportunity, to, .. } => {
                let held = self.opportunities.get_mut(opportunity).unwrap();
                (held.busy, held.next) = (true, Some(*to));
            }
            Deed::Move { meeting, date } => {
                let held = self.meetings.get_mut(meeting).unwrap();
                (held.busy, held.next) = (true, Some(date.clone()));
            }
            Deed::Archive { leads, archived } => {
                for lead in leads {
                    let held = self.person(*lead);
                    (held.busy, held.next) = (true, Some(*archived));
                    held.ever_archived |= archived;
                }
            }
            Deed::Delete { leads } => {
                for lead in leads {
                    let held = self.person(*lead);
                    (held.busy, held.life) = (true, Life::Leaving);
                }
            }
            _ => {}
        }
        if let Some(lead) = deed.holds() {
            self.person(lead).busy = true;
        }
        if let Deed::Book { date, .. } | Deed::Move { date, .. } = deed {
            *self.wanted.entry(date.clone()).or_default() += 1;
        }
    }

    pub fn person(&mut self, lead: u64) -> &mut Person {
        self.people.get_mut(&lead).unwrap()
    }

    /// Leads without a pending change.
    pub fn free_people(&self) -> Vec<u64> {
        let free = |(_, person): &(&u64, &Person)| !person.busy && person.life == Life::Here;
        self.people.iter().filter(free).map(|(id, _)| *id).collect()
    }

    /// Opportunities without a pending change.
    pub fn free_opportunities(&self) -> Vec<u64> {
        let free = self.opportunities.iter().filter(|(_, known)| !known.busy);
        free.map(|(id, _)| *id).collect()
    }

    /// Movable meetings without a pending change.
    pub fn free_meetings(&self) -> Vec<u64> {
        let free = self
            .meetings
            .iter()
            .filter(|(_, known)| !known.busy && known.proof.is_some());
        free.map(|(id, _)| *id).collect()
    }

    /// Whether a lead existed during all requests.
    pub fn is_here(&self, lead: u64) -> bool {
        self.people[&lead].life == Life::Here
    }

    /// An id in a response.
    pub fn number(body: &Value, pointer: &str) -> u64 {
        let number = body.pointer(pointer).and_then(Value::as_u64);
        assert!(number.is_some(), "{pointer} of {body}");
        number.unwrap_or_default()
    }
}

impl Deed {
    /// The lead that the request blocks without changing it.
    pub fn holds(&self) -> Option<u64> {
        match self {
            Self::Call {
                caller: Caller::Lead { lead, named: true },
                ..
            }
            | Self::Look(Look::Lead(lead) | Look::Tickets(lead)) => Some(*lead),
            _ => None,
        }
    }
}
