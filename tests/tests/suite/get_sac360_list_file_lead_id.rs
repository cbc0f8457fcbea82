//! `GET /sac360/list_file_lead/{id}`: endpoint 18.

use serde_json::{Value, json};
use tests::World;
use tests::tickets::{add_files, add_tickets, ask, file, shown_file, ticket};

const OF_1001: &str = "list_file_lead/1001";

async fn world() -> World {
    let world = World::new().await;
    let operator = world.operator("acme");
    // The newer ticket has the lower id.
    let tickets = [
        ticket(&json!({ "id": 60, "createDate": "2026-05-03T10:00:00.000Z" })),
        ticket(&Value::Null),
        ticket(&json!({ "id": 502, "lead_relation": 1002 })),
    ];
    add_tickets(&operator, tickets).await;
    world
}

/// C-62: by ticket, then by file.
#[tokio::test]
async fn files_are_ordered_by_ticket_then_file() {
    let world = world().await;
    let files = [
        file(&json!({ "store_path": "a" })),
        file(&json!({ "store_path": "z", "ticket": 60 })),
        file(&json!({ "store_path": "b", "id": 3 })),
        file(&json!({ "store_path": "c", "id": 4, "ticket": 60 })),
        file(&json!({ "store_path": "d", "ticket": 502 })),
    ];
    add_files(&world.operator("acme"), files).await;
    let at = |path: &str| shown_file(&json!({ "store_path": path }));
    let admin = world.known(7).await;
    let answer = ask(&world, &admin, OF_1001).await;
    answer.is(200, &json!([at("c"), at("z"), at("b"), at("a")]));
    assert_eq!(answer.cost.round_trips, 1);
    ask(&world, &admin, "list_file_lead/1006")
        .await
        .is(200, &json!([]));
    world.is_sound().await;
}

#[tokio::test]
async fn files_follow_their_ticket_to_another_lead() {
    let world = world().await;
    let (operator, admin) = (world.operator("acme"), world.wallet(7).await);
    let many = (1..=150).map(|n| file(&json!({ "store_path": format!("{n:03}") })));
    add_files(&operator, many).await;
    let count = async |lead: u64| {
        let answer = ask(&world, &admin, &format!("list_file_lead/{lead}")).await;
        answer.body.as_array().expect("an array").len()
    };
    for (lead, counts) in [
        (json!(1001), (150, 0)),
        (json!(1002), (0, 150)),
        (Value::Null, (0, 0)),
        (json!(1001), (150, 0)),
    ] {
        add_tickets(&operator, [ticket(&json!({ "lead_relation": lead }))]).await;
        assert_eq!((count(1001).await, count(1002).await), counts, "{lead}");
        world.is_sound().await;
    }
}
