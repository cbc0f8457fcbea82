//! `POST /api/hook/{name}`: forms of web pages (C-101).

mod accepted;
mod events;
mod existing;
mod flood;
mod hostile;
mod opportunities;
mod refusals;
mod thousands;

use serde_json::Value;
use tests::World;
use tests::forms::add_form;

/// The first lead that the service makes: the others are imported.
const NEW: u64 = 1013;

/// `acme` with form `contact`.
async fn world(changes: &Value) -> World {
    let world = World::new().await;
    tests::sales::open_shop(&world.operator("acme")).await;
    add_form(&world.operator("acme"), changes).await;
    world
}

/// All fields of a lead.
async fn lead(world: &World, id: u64) -> Value {
    let admin = world.wallet(7).await;
    let answer = world
        .read(&admin, &format!("/leads/{id}?i=acme&allFields=1"))
        .await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer.body["data"]["lead"].clone()
}
