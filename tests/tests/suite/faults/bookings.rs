//! Public booking (endpoint 13) with combined faults, and with undecodable items. Single faults are in
//! [matrix](super::matrix).

mod corrupt;
mod lost_answers;

use serde_json::{Value, json};
use tests::bookings::open_calendars;
use tests::sales::{add_opportunities, open_shop, plain_opportunity};
use tests::world::Answer;
use tests::{ACME, World};

/// `acme` with its calendars, and opportunity 1 of lead 1001.
async fn furnish(world: &World) {
    let operator = world.operator(ACME);
    open_calendars(&operator).await;
    open_shop(&operator).await;
    add_opportunities(&operator, vec![plain_opportunity(1, 7, 0)]).await;
}

async fn office() -> World {
    let world = World::new().await;
    furnish(&world).await;
    world
}

#[track_caller]
fn is_failure(answer: &Answer, what: &dyn std::fmt::Debug) {
    let failed = json!({ "error": "Internal error" });
    assert_eq!((answer.status.as_u16(), &answer.body), (500, &failed), "{what:?}");
}

/// The data of a successful response.
#[track_caller]
fn made(answer: &Answer, what: &dyn std::fmt::Debug) -> Value {
    assert_eq!(
        (answer.status.as_u16(), &answer.body["msg"]),
        (200, &json!("created")),
        "{what:?}: {}",
        answer.body
    );
    answer.body["data"].clone()
}
