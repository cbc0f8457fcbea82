//! `POST /calendarmeeting`: endpoint 13.

mod accepted;
mod cancel;
mod form;
mod grid;
mod hostile;
mod idempotency;
mod leads;
mod lists;
mod opportunities;
mod refusals;
mod reschedule;
mod shared_time;
mod unknown;

use serde_json::{Value, json};
use tests::bookings::{meetings, open_calendars};
use tests::world::Answer;
use tests::{Wallet, World};

async fn world() -> World {
    let world = World::new().await;
    open_calendars(&world.operator("acme")).await;
    world
}

/// Sends these bytes to `acme`.
async fn book_bytes(world: &World, bytes: impl Into<Vec<u8>>) -> Answer {
    let call = world.call("POST", "/calendarmeeting?i=acme");
    call.bytes(bytes.into()).send().await
}

/// Everything that a booking can change: the meetings of calendars 5 and 7, and the leads.
async fn everything(world: &World, wallet: &Wallet) -> Value {
    json!({
        "meetings": [meetings(world, wallet, 5).await, meetings(world, wallet, 7).await],
        "leads": world.leads().await,
    })
}
