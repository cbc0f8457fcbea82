//! Faults: which attempts of which of a request's calls get which fault.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use dynamodb::faults::{CallAttempt, CallFaultPlan, Fault, Findings, REASONS, exceptions, is_repeated};

use crate::model::tries_every_case;

/// Operations that write.
const WRITES: [&str; 3] = ["PutItem", "TransactWriteItems", "UpdateItem"];

/// The part of the documented errors that the ordinary run tries at a call.
const ERRORS_IN_TURN: usize = 5;

/// Duration of a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Length {
    /// One attempt of the call.
    Once,
    /// All attempts of the call.
    Call,
    /// The call and all later ones of the operation.
    Stays,
    /// The call and all later ones.
    Outage,
}

/// A fault in call `at` of a request, counted from 0, or from there on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moment {
    pub at: usize,
    pub operation: String,
    pub fault: Fault,
    pub length: Length,
}

impl Moment {
    /// The faults of these calls, except undecodable items. The ordinary run tries a part of the errors at each call,
    /// another one for each `turn`.
    pub fn all(calls: &[String], turn: usize) -> Vec<Self> {
        let one = |(at, operation): (usize, &String)| {
            let mut kinds = kinds(operation, at);
            kinds.extend(errors(operation, turn + at));
            let moments = kinds.into_iter().map(move |(fault, length)| Self {
                at,
                operation: operation.clone(),
                fault,
                length,
            });
            moments.collect::<Vec<_>>()
        };
        calls.iter().enumerate().flat_map(one).collect()
    }

    /// The item at index `place` of the response to call `at` is undecodable.
    pub fn corrupt(at: usize, operation: &str, place: usize) -> Self {
        Self {
            at,
            operation: operation.to_owned(),
            fault: Fault::Corrupt(place),
            length: Length::Once,
        }
    }

    /// Whether the request must succeed: the fault is transient, or it loses the response to a write, which
    /// is then looked up. Throttling of one call, a conflict and a transaction in progress are met by further calls.
    pub fn is_overcome(&self) -> bool {
        if let Fault::Exception(name) | Fault::Cancelled(name) = self.fault {
            return match self.length {
                Length::Once => repeats(&self.operation, name),
                Length::Call => repeats(&self.operation, name) && name != "InternalServerError",
                Length::Stays | Length::Outage => false,
            };
        }
        let is_lost = matches!(self.fault, Fault::FailedAfter | Fault::BrokenOff);
        let is_decodable = !matches!(self.fault, Fault::Corrupt(_));
        let is_found_again = self.operation == "TransactWriteItems" && is_lost;
        match self.length {
            Length::Once => is_decodable,
            Length::Call => is_found_again || self.fault == Fault::Throttled,
            Length::Stays | Length::Outage => false,
        }
    }

    /// Whether it applies to call `at`, after `struck` faults.
    fn strikes(&self, at: usize, operation: &str, struck: usize) -> bool {
        match self.length {
            Length::Once => at == self.at && struck == 0,
            Length::Call => at == self.at,
            Length::Stays => at >= self.at && operation == self.operation,
            Length::Outage => at >= self.at,
        }
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            at,
            operation,
            fault,
            length,
        } = self;
        write!(f, "call {} ({operation}) {fault:?} {length:?}", at + 1)
    }
}

/// The faults and durations of call `at`: a read with a lost response equals a failed one. The ordinary run tries
/// two of the three faults of a read, in turn, each with one duration.
fn kinds(operation: &str, at: usize) -> Vec<(Fault, Length)> {
    let mut kinds = Vec::new();
    let is_whole = WRITES.contains(&operation) || tries_every_case();
    for (turn, fault) in (at..).zip([Fault::Throttled, Fault::FailedBefore, Fault::BrokenOff]) {
        let lengths = [Length::Once, Length::Call].into_iter().enumerate();
        let lengths = lengths.filter(|(length, _)| is_whole || turn % 3 == *length);
        kinds.extend(lengths.map(|(_, length)| (fault, length)));
    }
    kinds.extend([Fault::FailedBefore, Fault::Hung].map(|fault| (fault, Length::Outage)));
    let also: &[Fault] = match operation {
        "BatchGetItem" => &[Fault::Unprocessed, Fault::Partial],
        "TransactWriteItems" | "UpdateItem" => &[Fault::Conflict],
        _ => &[],
    };
    for fault in also {
        kinds.extend([(*fault, Length::Once), (*fault, Length::Stays)]);
    }
    if WRITES.contains(&operation) {
        let lost = [Length::Once, Length::Call, Length::Outage];
        kinds.extend(lost.map(|length| (Fault::FailedAfter, length)));
    }
    kinds
}

/// Whether a call is repeated after an exception or a cancellation. A put is alone with its item, so it has no conflicts.
fn repeats(operation: &str, name: &str) -> bool {
    is_repeated(name) && (operation, name) != ("PutItem", "TransactionConflictException")
}

/// All documented errors of an operation.
pub fn variants(operation: &str) -> Vec<Fault> {
    let exceptions = exceptions(operation).into_iter().map(Fault::Exception);
    let reasons = REASONS.map(Fault::Cancelled).into_iter();
    let reasons = reasons.filter(|reason| reason.fits(operation));
    exceptions.chain(reasons).collect()
}

/// Errors of an operation with their durations: the whole call for those that are not repeated.
fn errors(operation: &str, turn: usize) -> Vec<(Fault, Length)> {
    let mut errors = Vec::new();
    for (place, fault) in variants(operation).into_iter().enumerate() {
        // Requests have too few writes of one item for turns.
        let is_whole = ["PutItem", "UpdateItem"].contains(&operation) || tries_every_case();
        if !is_whole && !(place + turn).is_multiple_of(ERRORS_IN_TURN) {
            continue;
        }
        let (Fault::Exception(name) | Fault::Cancelled(name)) = fault else {
            continue;
        };
        errors.push((fault, Length::Call));
        if name != "InternalServerError" && repeats(operation, name) {
            errors.push((fault, Length::Stays));
        }
    }
    errors
}

/// A call by the id that its attempts share.
#[derive(Debug)]
struct Call {
    id: String,
    operation: String,
}

/// The faults of a process: none until it is armed, then one moment, if any. Records the calls.
#[derive(Debug, Default)]
pub struct Script {
    moment: Option<Moment>,
    armed: AtomicBool,
    calls: Mutex<Vec<Call>>,
    struck: AtomicUsize,
    found: Findings,
}

impl Script {
    pub fn of(moment: Option<Moment>) -> Arc<Self> {
        Arc::new(Self {
            moment,
            ..Self::default()
        })
    }

    pub fn plan(self: &Arc<Self>) -> CallFaultPlan {
        let script = self.clone();
        Arc::new(move |attempt| script.fault(*attempt))
    }

    /// Records the number of items that could be undecodable.
    pub fn found(&self) -> Findings {
        self.found.clone()
    }

    pub fn arm(&self, armed: bool) {
        self.armed.store(armed, Ordering::SeqCst);
    }

    /// The operations of the calls since it was armed.
    pub fn calls(&self) -> Vec<String> {
        let calls = self.calls.lock().expect("no panic");
        calls.iter().map(|call| call.operation.clone()).collect()
    }

    /// Number of attempts with the fault.
    pub fn struck(&self) -> usize {
        self.struck.load(Ordering::SeqCst)
    }

    /// Number of items that could be undecodable.
    pub fn items(&self) -> usize {
        self.found.count()
    }

    /// The key of the undecodable item: partition key, space, sort key.
    pub fn corrupt(&self) -> Option<String> {
        self.found.corrupt()
    }

    fn fault(&self, attempt: CallAttempt<'_>) -> Option<Fault> {
        if !self.armed.load(Ordering::SeqCst) {
            return None;
        }
        let at = self.place(attempt);
        let moment = self.moment.as_ref()?;
        let strikes = moment.strikes(at, attempt.operation, self.struck());
        let strikes = strikes && moment.fault.fits(attempt.operation);
        strikes.then(|| {
            self.struck.fetch_add(1, Ordering::SeqCst);
            moment.fault
        })
    }

    /// Index of the call of an attempt.
    fn place(&self, attempt: CallAttempt<'_>) -> usize {
        let mut calls = self.calls.lock().expect("no panic");
        let known = calls.iter().position(|call| call.id == attempt.call);
        known.unwrap_or_else(|| {
            calls.push(Call {
                id: attempt.call.to_owned(),
                operation: attempt.operation.to_owned(),
            });
            calls.len() - 1
        })
    }
}
