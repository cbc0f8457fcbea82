//! Bookings (endpoint 13) at once: of those that exclude each other exactly one happens and the others leave nothing, all
//! others happen, and what was answered is there (C-53 to C-55).
//!
//! Each storm goes through every weather of the table. What it was answered and what it cost is printed.

mod deletions;
mod exclusion;
mod free;
mod keys;
mod meanwhile;
pub mod moves;
mod one_slot;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use futures_util::future::join_all;
use serde_json::{Value, json};
use shared::lead::Lead;
use shared::meeting::Meeting;
use shared::store::fault::{Fault, Plan};
use tests::bookings::open_calendars;
use tests::world::Answer;
use tests::{ACME, World};

use super::bad_moments;
use crate::faults::none;

/// What the table is like, and the faults that make it so.
pub type Weather = (&'static str, fn() -> Plan);

/// How the table fares meanwhile: well; with faults of all kinds in every eighth attempt; with every fourth answer lost
/// behind the commit.
pub const WEATHERS: [Weather; 3] = [
    ("calm", none),
    ("faults", || bad_moments(12)),
    ("lost answers", lost_answers),
];
/// How long those who are ready wait for the others.
const MOMENT: Duration = Duration::from_secs(5);
/// The number of the next lead of `acme`.
pub const NEXT_LEAD: u64 = 1013;

/// `acme` with its calendars, where so many callers do the same at once.
pub async fn crowded(callers: usize, plan: Plan) -> Arc<World> {
    Arc::new(office().await.with_faults(all_at_once(callers, plan)))
}

/// `acme` with its calendars.
pub async fn office() -> World {
    let world = World::new().await;
    open_calendars(&world.operator(ACME)).await;
    world
}

/// Every fourth transaction is carried out and nobody hears of it.
fn lost_answers() -> Plan {
    let attempts = AtomicUsize::new(0);
    Arc::new(move |operation| {
        let is_lost = operation == "TransactWriteItems" && attempts.fetch_add(1, Ordering::Relaxed) % 4 == 3;
        is_lost.then_some(Fault::FailedAfter)
    })
}

/// Nobody's first transaction arrives before those of `callers` have all been sent: whatever each of them read, it read
/// before the first one wrote. Whoever fails before that is waited for no longer than a moment.
pub fn all_at_once(callers: usize, plan: Plan) -> Plan {
    let gate = Arc::new((Mutex::new(0), Condvar::new()));
    Arc::new(move |operation| {
        if operation == "TransactWriteItems" {
            tokio::task::block_in_place(|| {
                let (sent, all) = &*gate;
                let mut sent = sent.lock().expect("no panic");
                *sent += 1;
                all.notify_all();
                let waited = all.wait_timeout_while(sent, MOMENT, |sent| *sent < callers);
                drop(waited.expect("no panic"));
            });
        }
        plan(operation)
    })
}

/// Right before the `nth` attempt of an operation something else happens, from its beginning to its end.
pub fn before<F>(operation: &'static str, nth: usize, action: impl Fn() -> F + Send + Sync + 'static) -> Plan
where
    F: Future<Output = ()>,
{
    let met = AtomicUsize::new(0);
    Arc::new(move |called| {
        if called == operation && met.fetch_add(1, Ordering::Relaxed) + 1 == nth {
            tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(action()));
        }
        None
    })
}

/// A request to book.
#[derive(Debug, Clone)]
pub struct Sent {
    pub body: Value,
    /// Its `Idempotency-Key`.
    pub key: Option<&'static str>,
}

impl From<Value> for Sent {
    fn from(body: Value) -> Self {
        Self { body, key: None }
    }
}

impl Sent {
    pub async fn send(&self, world: &World) -> Answer {
        let call = world.call("POST", "/calendarmeeting?i=acme");
        let call = match self.key {
            Some(key) => call.header("idempotency-key", key),
            None => call,
        };
        call.json(&self.body).send().await
    }

    /// Sends it again until it is answered by something else than the honest failure, which tells nothing.
    pub async fn insist(&self, world: &World) -> Answer {
        loop {
            let answer = self.send(world).await;
            if answer.status != 500 {
                return answer;
            }
            answer.is(500, &json!({ "error": "Internal error" }));
        }
    }
}

/// What became of requests that were sent at once.
#[derive(Debug, Default)]
pub struct Tally {
    /// What each booking was answered.
    pub booked: Vec<Value>,
    /// How many of them were told that they came before.
    pub replayed: usize,
    pub taken: usize,
    pub failed: usize,
    /// The calls of each request, and how many of them were transactions.
    costs: Vec<(usize, usize)>,
}

impl Tally {
    /// Sends requests at once, and counts the answers. Nothing but what the contract knows is answered.
    pub async fn of(world: &Arc<World>, requests: impl IntoIterator<Item = Sent>) -> Self {
        let mut tally = Self::default();
        let send = |request: Sent| {
            let world = world.clone();
            tokio::spawn(async move { request.send(&world).await })
        };
        for answer in join_all(requests.into_iter().map(send)).await {
            tally.count(&answer.expect("no panic"));
        }
        tally
    }

    fn count(&mut self, answer: &Answer) {
        let calls = &answer.cost.calls;
        let transactions = calls.iter().filter(|call| call.operation == "TransactWriteItems");
        self.costs.push((calls.len(), transactions.count()));
        match answer.status.as_u16() {
            200 => {
                assert_eq!(answer.body["msg"], "created");
                self.replayed += usize::from(answer.headers.contains_key("idempotent-replayed"));
                self.booked.push(answer.body["data"].clone());
            }
            409 => {
                answer.is(
                    409,
                    &json!({ "error": "slot_unavailable", "msg": "the start is taken" }),
                );
                self.taken += 1;
            }
            _ => {
                answer.is(500, &json!({ "error": "Internal error" }));
                self.failed += 1;
            }
        }
    }

    /// How many answers were bookings, how many were refusals, and how many failures.
    pub fn counts(&self) -> (usize, usize, usize) {
        (self.booked.len(), self.taken, self.failed)
    }

    /// Says what it was: a line of a table.
    pub fn print(&self, what: &str, weather: &str) {
        let (booked, taken, failed) = self.counts();
        let sum = |part: fn(&(usize, usize)) -> usize| self.costs.iter().map(part).sum::<usize>();
        let most = |part: fn(&(usize, usize)) -> usize| self.costs.iter().map(part).max().unwrap_or_default();
        let tenths = |sum: usize| sum * 10 / self.costs.len().max(1);
        let (calls, writes) = (tenths(sum(|cost| cost.0)), tenths(sum(|cost| cost.1)));
        println!(
            "| {what} | {weather} | {booked} | {} | {taken} | {failed} | {}.{} (most {}) | {}.{} (most {}) |",
            self.replayed,
            calls / 10,
            calls % 10,
            most(|cost| cost.0),
            writes / 10,
            writes % 10,
            most(|cost| cost.1),
        );
    }
}

/// The meetings of `acme` by id.
pub async fn meetings(world: &World) -> Vec<Meeting> {
    let operator = world.operator(ACME);
    let mut found = Vec::new();
    if let Some(last) = operator.last_meeting().await.expect("the counter can be read") {
        let mut pages = operator.meetings(last);
        while let Some(page) = pages.next().await.expect("the meetings can be read") {
            found.extend(page);
        }
    }
    found.sort_by_key(|meeting| meeting.id);
    found
}

/// The leads that bookings made, by id.
pub async fn visitors(world: &World) -> Vec<Lead> {
    let mut leads = world.leads().await;
    leads.retain(|lead| lead.created_by_type.as_deref() == Some("booking"));
    leads.sort_by_key(|lead| lead.id);
    leads
}

/// Requires what holds after every storm: whoever was told of a meeting has it, as it was told and once; those whose
/// outcome is not known explain the others; no lead is there without its meeting; no two meetings of a calendar
/// overlap; and everything derived is right. Returns the meetings.
pub async fn settle(world: &World, tally: &Tally) -> Vec<Meeting> {
    let meetings = meetings(world).await;
    let by_id: BTreeMap<u64, &Meeting> = meetings
        .iter()
        .map(|meeting| (meeting.id.get(), meeting))
        .collect();
    let mut told = BTreeSet::new();
    for data in &tally.booked {
        let id = data["id"].as_u64().expect("an id");
        assert_eq!(&with_key(by_id[&id], data), data, "as it was told");
        told.insert(id);
    }
    assert_eq!(told.len() + tally.replayed, tally.booked.len(), "each its own");
    assert!(
        meetings.len() <= told.len() + tally.failed,
        "{} of {told:?}",
        meetings.len()
    );
    let made: Vec<_> = visitors(world).await.iter().map(|lead| Some(lead.id)).collect();
    let known = |meeting: &&Meeting| meeting.lead_id.is_some_and(|lead| lead.get() < NEXT_LEAD);
    let mut linked: Vec<_> = meetings
        .iter()
        .filter(|meeting| !known(meeting))
        .map(|meeting| meeting.lead_id)
        .collect();
    linked.sort_unstable();
    assert_eq!(made, linked, "lead and meeting together or not at all");
    do_not_overlap(&meetings);
    world.is_sound().await;
    meetings
}

/// A meeting as the answer that carries its key shows it.
pub fn with_key(meeting: &Meeting, data: &Value) -> Value {
    let mut shown = json!(meeting);
    shown["rescheduleKey"] = data["rescheduleKey"].clone();
    shown
}

/// Requires that no two meetings of a calendar take place at one time.
#[track_caller]
pub fn do_not_overlap(meetings: &[Meeting]) {
    let mut by_calendar = BTreeMap::<_, Vec<_>>::new();
    for meeting in meetings {
        if let Some(busy) = meeting.takes() {
            by_calendar.entry(meeting.calendar_id).or_default().push(busy);
        }
    }
    for mut taken in by_calendar.into_values() {
        taken.sort_unstable();
        let apart = |pair: &[shared::calendar::Busy]| pair[0].end_millis() <= pair[1].start_millis();
        assert!(taken.windows(2).all(apart), "{taken:?}");
    }
}
