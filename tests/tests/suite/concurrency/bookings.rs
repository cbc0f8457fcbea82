//! Concurrent bookings (endpoint 13): of mutually exclusive ones exactly one happens and the others leave
//! nothing, all others happen, and acknowledged ones exist (C-53 to C-55).
//!
//! Each storm runs with every set of faults.

mod deletions;
mod exclusion;
mod free;
mod keys;
mod meanwhile;
pub mod moves;
mod one_slot;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use dynamodb::faults::{Fault, FaultPlan};
use futures_util::future::join_all;
use operator::kinds::Meetings;
use serde_json::{Value, json};
use shared::lead::Lead;
use shared::meeting::Meeting;
use tests::bookings::open_calendars;
use tests::world::{Answer, over_sdk};
use tests::{ACME, World};

use super::{FAILED, bad_moments, has_failed};
use crate::faults::none;

/// Name and faults of the table.
pub type Weather = (&'static str, fn() -> FaultPlan);

/// No faults; faults of all kinds in every eighth attempt; every fourth response lost after the commit.
pub const WEATHERS: [Weather; 3] = [
    ("calm", none),
    ("faults", || bad_moments(12)),
    ("lost answers", lost_answers),
];
/// How long ready callers wait for the others.
const MOMENT: Duration = Duration::from_secs(5);
/// Id of the next lead of `acme`.
pub const NEXT_LEAD: u64 = 1013;

/// `acme` with its calendars and this number of concurrent callers.
pub async fn crowded(callers: usize, plan: FaultPlan) -> Arc<World> {
    let _sdk = over_sdk();
    Arc::new(office().await.with_faults(all_at_once(callers, plan)))
}

/// `acme` with its calendars.
pub async fn office() -> World {
    let world = World::new().await;
    open_calendars(&world.operator(ACME)).await;
    world
}

/// Every fourth transaction is executed without a response.
fn lost_answers() -> FaultPlan {
    let attempts = AtomicUsize::new(0);
    Arc::new(move |operation| {
        let is_lost = operation == "TransactWriteItems" && attempts.fetch_add(1, Ordering::Relaxed) % 4 == 3;
        is_lost.then_some(Fault::FailedAfter)
    })
}

/// Delays first transactions until `callers` of them have been sent, so every caller reads before the first
/// write. Callers that fail earlier delay the others only for a moment.
pub fn all_at_once(callers: usize, plan: FaultPlan) -> FaultPlan {
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

/// Runs an action completely before the `nth` attempt of an operation.
pub fn before<F>(
    operation: &'static str,
    nth: usize,
    action: impl Fn() -> F + Send + Sync + 'static,
) -> FaultPlan
where
    F: Future<Output = ()>,
{
    before_each(operation, nth..=nth, action)
}

/// Runs an action completely before each of these attempts of an operation.
pub fn before_each<F>(
    operation: &'static str,
    attempts: RangeInclusive<usize>,
    action: impl Fn() -> F + Send + Sync + 'static,
) -> FaultPlan
where
    F: Future<Output = ()>,
{
    let met = AtomicUsize::new(0);
    Arc::new(move |called| {
        if called == operation && attempts.contains(&(met.fetch_add(1, Ordering::Relaxed) + 1)) {
            tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(action()));
        }
        None
    })
}

/// A booking request.
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

    /// Repeats it until the response is no failure of the table.
    pub async fn insist(&self, world: &World) -> Answer {
        loop {
            let answer = self.send(world).await;
            if !has_failed(&answer, FAILED[1]) {
                return answer;
            }
        }
    }
}

/// The results of concurrent requests.
#[derive(Debug, Default)]
pub struct Tally {
    /// The response of each booking.
    pub booked: Vec<Value>,
    /// Number of replays.
    pub replayed: usize,
    pub taken: usize,
    pub failed: usize,
}

impl Tally {
    /// Sends requests concurrently, and counts the responses, which must be those of the contract.
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
                assert!(has_failed(answer, FAILED[1]), "{answer:?}");
                self.failed += 1;
            }
        }
    }

    /// Number of bookings, refusals and failures.
    pub fn counts(&self) -> (usize, usize, usize) {
        (self.booked.len(), self.taken, self.failed)
    }
}

/// The meetings of `acme` by id.
pub async fn meetings(world: &World) -> Vec<Meeting> {
    let operator = world.operator(ACME);
    let mut found = Vec::new();
    let mut pages = operator.records::<Meetings>();
    while let Some(page) = pages.next().await.expect("the meetings can be read") {
        found.extend(page);
    }
    found.sort_by_key(|meeting| meeting.id);
    found
}

/// The leads created by bookings, by id.
pub async fn visitors(world: &World) -> Vec<Lead> {
    let mut leads = world.leads().await;
    leads.retain(|lead| lead.created_by_type.as_deref() == Some("booking"));
    leads.sort_by_key(|lead| lead.id);
    leads
}

/// Requires the invariants after every storm: acknowledged meetings exist unchanged and once; requests of
/// unknown outcome explain the others; no lead exists without its meeting; no two meetings of a calendar
/// overlap; all derived items are correct. Returns the meetings.
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

/// A meeting as in a response with its key.
pub fn with_key(meeting: &Meeting, data: &Value) -> Value {
    let mut shown = json!(meeting);
    shown["rescheduleKey"] = data["rescheduleKey"].clone();
    shown
}

/// Requires that no two meetings of a calendar overlap.
#[track_caller]
pub fn do_not_overlap(meetings: &[Meeting]) {
    let mut by_calendar = BTreeMap::<_, Vec<_>>::new();
    for meeting in meetings {
        if let Some(busy) = meeting.busy_time() {
            by_calendar.entry(meeting.calendar_id).or_default().push(busy);
        }
    }
    for mut taken in by_calendar.into_values() {
        taken.sort_unstable();
        let apart = |pair: &[shared::calendar::Busy]| pair[0].end_millis() <= pair[1].start_millis();
        assert!(taken.windows(2).all(apart), "{taken:?}");
    }
}
