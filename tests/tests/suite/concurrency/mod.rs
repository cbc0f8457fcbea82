//! Concurrent callers, with and without faults of the table: no lost call, no duplicate id, no lost change,
//! and derived items correct at every moment.

pub mod bookings;
mod calls;
mod contested;
mod copies;
mod leads;
mod links;
mod storm;
mod updates;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dynamodb::faults::{Fault, FaultPlan};
use serde_json::{Value, json};
use shared::store::OpportunityRecord;
use tests::sales::open_shop;
use tests::world::Answer;
use tests::{ACME, Wallet, World};

use crate::faults::failure;

/// `acme` with its funnels and sellers.
pub async fn shop() -> World {
    let world = World::new().await;
    open_shop(&world.operator(ACME)).await;
    world
}

/// Creates an opportunity in funnel 3 (endpoint 7), optionally with an `Idempotency-Key`.
pub async fn post(world: &World, wallet: &Wallet, key: Option<&str>, body: &Value) -> Answer {
    let mut call = world.call("POST", "/crmopportunity?id=3&i=acme").with(wallet);
    if let Some(key) = key {
        call = call.header("idempotency-key", key);
    }
    call.json(body).send().await
}

/// Changes an opportunity of funnel 3 (endpoint 8).
pub async fn put(world: &World, wallet: &Wallet, id: u64, body: &Value) -> Answer {
    let call = world.call("PUT", &format!("/crmopportunity/{id}?id=3&i=acme"));
    call.with(wallet).json(body).send().await
}

/// Reads funnel 3 (endpoint 10), up to 100 of each column.
pub async fn look(world: &World, wallet: &Wallet, more: &Value) -> Answer {
    let uri = format!("/crm/opportunities/3?i=acme&apitoken={}", wallet.key);
    let body = tests::sales::page(1, 100, more);
    world.call("POST", &uri).json(&body).send().await
}

/// The stored opportunities of `acme`.
pub async fn records(world: &World) -> Vec<OpportunityRecord> {
    let mut pages = world.operator(ACME).opportunities();
    let mut found = Vec::new();
    while let Some(page) = pages.next().await.expect("the opportunities can be read") {
        found.extend(page);
    }
    found
}

/// Injects faults into this number of a hundred attempts, each kind equally often, in an irregular sequence.
pub fn bad_moments(of_hundred: u64) -> FaultPlan {
    let attempts = AtomicU64::new(0);
    Arc::new(move |_| {
        // The golden ratio spreads the attempts.
        let attempt = attempts.fetch_add(1, Ordering::Relaxed);
        let spread = attempt.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let faults = [
            Fault::Conflict,
            Fault::Throttled,
            Fault::FailedBefore,
            Fault::FailedAfter,
        ];
        let fault = faults[usize::try_from(spread / 100 % 4).expect("small")];
        (spread % 100 < of_hundred).then_some(fault)
    })
}

/// The member with the text of an error of endpoint 7, and of the others.
pub const FAILED: [&str; 2] = ["msg", "error"];

/// Whether the table failed or was too busy, which leaves the outcome unknown.
pub fn has_failed(answer: &Answer, name: &str) -> bool {
    let failures = [Fault::FailedBefore, Fault::Conflict].map(failure);
    let failure = failures.iter().find(|(status, _)| answer.status == *status);
    if let Some((status, text)) = failure {
        answer.is(*status, &json!({ (name): text }));
    }
    failure.is_some()
}

/// Repeats a request until the response is no failure of the table. Also returns the number of failures.
pub async fn persist(send: impl AsyncFn() -> Answer, name: &str) -> (Answer, usize) {
    let mut failures = 0;
    loop {
        let answer = send().await;
        if !has_failed(&answer, name) {
            return (answer, failures);
        }
        failures += 1;
    }
}
