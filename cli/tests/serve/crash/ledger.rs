//! What was asked of a service and what it told, request by request, and what must be there because of it.
//!
//! Of each record one change is under way at a time, so that its acknowledged state is one state. What only links a record
//! (a sale to a lead, a call from it) asks nobody, and meets deletions under way.

use std::collections::BTreeMap;

use serde_json::Value;

use super::deed::{Caller, Deed, Look};
use super::house::Access;
use super::wire::{Answer, Ask};

/// What of an opportunity changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    pub value: u64,
    pub column: u64,
    pub status: &'static str,
    pub archived: bool,
}

/// Whether a lead is there, as far as its deleter was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Life {
    Here,
    /// Its deletion was asked for.
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
    /// What it is asked to become.
    pub next: Option<bool>,
    /// Whether it may have been in the archive while it called.
    pub ever_archived: bool,
    pub life: Life,
    pub busy: bool,
}

/// An opportunity whose id was told.
#[derive(Debug)]
pub struct Opportunity {
    pub request: usize,
    pub lead: u64,
    pub shape: Shape,
    pub next: Option<Shape>,
    pub busy: bool,
}

/// A meeting whose id was told.
#[derive(Debug)]
pub struct Meeting {
    pub lead: u64,
    pub date: String,
    pub next: Option<String>,
    /// The key with which it is moved, where the answer came.
    pub proof: Option<String>,
    pub busy: bool,
}

/// What became of a request.
#[derive(Debug, Clone)]
pub enum Fate {
    /// Nobody knows.
    UnderWay,
    Answered(Answer),
    /// Its answer never came, and nobody sends it again. Whether it was done was seen afterwards.
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
    /// Whether it was done, where its first answer was cut off.
    pub cut_off: Option<bool>,
}

/// All that was asked of one service.
pub struct Ledger {
    pub access: Access,
    /// When it was begun.
    pub began: String,
    pub round: u64,
    pub people: BTreeMap<u64, Person>,
    pub opportunities: BTreeMap<u64, Opportunity>,
    pub meetings: BTreeMap<u64, Meeting>,
    pub requests: Vec<Request>,
    /// The times that meetings may be had for, and how often each was asked for.
    pub times: Vec<String>,
    pub wanted: BTreeMap<String, u64>,
    /// How many writes were answered.
    pub answered: u64,
}

impl Person {
    /// One who comes by import or by booking.
    pub fn new(mark: u64, phone: String, tickets: usize) -> Self {
        Self {
            mark,
            phone,
            tickets,
            archived: false,
            next: None,
            ever_archived: false,
            life: Life::Here,
            busy: false,
        }
    }
}

impl Request {
    /// The answer, where it says that it was done.
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

    /// Notes that something is asked for, and gives its number and the request. With a key it may be sent again.
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

    /// Nobody else changes meanwhile what is changed.
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

    /// Those that nobody changes just now.
    pub fn free_people(&self) -> Vec<u64> {
        let free = |(_, person): &(&u64, &Person)| !person.busy && person.life == Life::Here;
        self.people.iter().filter(free).map(|(id, _)| *id).collect()
    }

    /// Opportunities that nobody changes just now.
    pub fn free_opportunities(&self) -> Vec<u64> {
        let free = self.opportunities.iter().filter(|(_, known)| !known.busy);
        free.map(|(id, _)| *id).collect()
    }

    /// Meetings that can be moved and that nobody moves just now.
    pub fn free_meetings(&self) -> Vec<u64> {
        let free = self
            .meetings
            .iter()
            .filter(|(_, known)| !known.busy && known.proof.is_some());
        free.map(|(id, _)| *id).collect()
    }

    /// Whether a lead was there all the time.
    pub fn is_here(&self, lead: u64) -> bool {
        self.people[&lead].life == Life::Here
    }

    /// What an answer tells of a number.
    pub fn number(body: &Value, pointer: &str) -> u64 {
        let number = body.pointer(pointer).and_then(Value::as_u64);
        assert!(number.is_some(), "{pointer} of {body}");
        number.unwrap_or_default()
    }
}

impl Deed {
    /// The lead that it needs for itself without changing it.
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
