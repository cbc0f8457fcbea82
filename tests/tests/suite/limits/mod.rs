//! Rate limits (C-9): number of accepted requests in a minute over all processes, and headers of the
//! responses.

mod answers;
mod budgets;
mod cost;
mod processes;
mod reading;
mod unreachable;

use serde_json::{Value, json};
use shared::credential::CredentialKind;
use shared::settings::Rate;
use tests::people::user;
use tests::world::{Answer, Request};
use tests::{ACME, Wallet, World};

/// `acme` with a limit in this setting.
async fn world(setting: &str, limit: u32) -> World {
    let world = World::new().await;
    set(&world, setting, &json!(limit)).await;
    world
}

async fn set(world: &World, setting: &str, value: &Value) {
    let set = world.operator(ACME).set_setting(setting, value).await;
    set.expect("a setting");
}

/// Sets or removes a key's own limit.
async fn limit_key(world: &World, wallet: &Wallet, limit: Option<u32>) {
    let limit = limit.and_then(Rate::new);
    let set = world.operator(ACME).limit_key(&wallet.key_id, limit).await;
    set.expect("a limit");
}

/// Credentials of user 7 whose key is issued with its own limit.
async fn limited_wallet(world: &World, limit: u32) -> Wallet {
    let issued = world
        .operator(ACME)
        .issue_key(user(7), None, None, Rate::new(limit))
        .await;
    let issued = issued.expect("a key");
    let wallet = world.wallet(7).await;
    let unused = world
        .operator(ACME)
        .revoke(CredentialKind::Key, &wallet.key_id)
        .await;
    unused.expect("a key is revoked");
    Wallet {
        key: issued.secret.reveal().to_owned(),
        key_id: issued.entry.id,
        ..wallet
    }
}

/// A request with credentials.
fn keyed<'w>(world: &'w World, wallet: &Wallet) -> Request<'w> {
    world.get("/leads/1001?i=acme").with(wallet)
}

/// A public request, accepted and then rejected for its body.
fn public(world: &World) -> Request<'_> {
    world.call("POST", "/voip/webhook?i=acme").bytes("{}")
}

/// The headers of the limit: status, limit, remaining, seconds to the end of the minute, and seconds to wait.
fn said(answer: &Answer) -> (u16, [Option<u64>; 4]) {
    let names = [
        "ratelimit-limit",
        "ratelimit-remaining",
        "ratelimit-reset",
        "retry-after",
    ];
    let value = |name| {
        let value = answer.headers.get(name)?;
        Some(value.to_str().ok()?.parse().expect("a number"))
    };
    (answer.status.as_u16(), names.map(value))
}

/// The headers of an accepted request.
fn within(status: u16, limit: u64, remaining: u64, reset: u64) -> (u16, [Option<u64>; 4]) {
    (status, [Some(limit), Some(remaining), Some(reset), None])
}

/// The headers beyond the limit.
fn beyond(limit: u64, reset: u64) -> (u16, [Option<u64>; 4]) {
    (429, [Some(limit), Some(0), Some(reset), Some(reset)])
}

/// The headers without a limit.
fn unlimited(status: u16) -> (u16, [Option<u64>; 4]) {
    (status, [None; 4])
}
