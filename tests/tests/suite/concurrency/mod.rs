//! Many callers at once, in good moments of the table and in bad ones: no call lost, no number taken twice, no change
//! lost, and what is derived right at every moment.

pub mod bookings;
mod calls;
mod copies;
mod storm;
mod updates;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};
use shared::store::OpportunityRecord;
use shared::store::fault::{Fault, Plan};
use tests::sales::open_shop;
use tests::world::Answer;
use tests::{ACME, Wallet, World};

/// `acme` with its funnels and sellers.
pub async fn shop() -> World {
    let world = World::new().await;
    open_shop(&world.operator(ACME)).await;
    world
}

/// Makes an opportunity in funnel 3 (endpoint 7), under an `Idempotency-Key` where one is given.
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

/// The opportunities of `acme` as they are stored.
pub async fn records(world: &World) -> Vec<OpportunityRecord> {
    let mut pages = world.operator(ACME).opportunities();
    let mut found = Vec::new();
    while let Some(page) = pages.next().await.expect("the opportunities can be read") {
        found.extend(page);
    }
    found
}

/// So many of a hundred attempts meet a fault, each kind as often as the others and no two runs of them alike.
pub fn bad_moments(of_hundred: u64) -> Plan {
    let attempts = AtomicU64::new(0);
    Arc::new(move |_| {
        // The golden ratio spreads the running numbers.
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

/// What endpoint 7 answers where the table fails, and what all others do.
pub const FAILED: [(&str, &str); 2] = [("msg", "Internal error"), ("error", "Internal error")];

/// Sends a request until it is answered by something else than the honest failure, which tells nothing. Returns how often
/// it failed, too.
pub async fn persist(send: impl AsyncFn() -> Answer, (name, text): (&str, &str)) -> (Answer, usize) {
    let mut failures = 0;
    loop {
        let answer = send().await;
        if answer.status != 500 {
            return (answer, failures);
        }
        answer.is(500, &json!({ (name): text }));
        failures += 1;
    }
}
