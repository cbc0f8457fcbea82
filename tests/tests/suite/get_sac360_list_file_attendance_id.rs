//! `GET /sac360/list_file_attendance/{id}`: endpoint 17.

use serde_json::{Value, json};
use tests::tickets::{add_files, add_tickets, ask, assert_invalid, file, shown_file, ticket};
use tests::{Wallet, World};

const OF_501: &str = "list_file_attendance/501";

async fn world() -> World {
    let world = World::new().await;
    let operator = world.operator("acme");
    let tickets = [
        ticket(&Value::Null),
        ticket(&json!({ "id": 502, "lead_relation": 1002 })),
        ticket(&json!({ "id": 503, "lead_relation": null })),
    ];
    add_tickets(&operator, tickets).await;
    world
}

/// Files with an id by id, then others by path, with every field of spec.md.
#[tokio::test]
async fn files_are_ordered_by_id_then_path() {
    let world = world().await;
    let empty = json!({
        "id": 10, "type": null, "url": null, "mimetype": null, "store_url": null, "store_path": null, "ext": null,
    });
    let files = [
        file(&json!({ "store_path": "s/9" })),
        file(&json!({ "store_path": "" })),
        file(&json!({ "id": 12 })),
        file(&empty),
        file(&json!({ "store_path": "a#b/é ~", "type": "audio" })),
        file(&json!({ "id": 9, "store_path": "s/9" })),
        file(&Value::Null),
        file(&json!({ "ticket": 502 })),
    ];
    add_files(&world.operator("acme"), files).await;
    let at = |path: &str| shown_file(&json!({ "store_path": path }));
    let nothing = json!({ "type": null, "url": null, "mimetype": null, "store_url": null, "store_path": null, "ext": null });
    let expected = json!([
        at("s/9"),
        nothing,
        at("s/10"),
        at(""),
        shown_file(&json!({ "store_path": "a#b/é ~", "type": "audio" })),
        at("s/10"),
        at("s/9"),
    ]);
    let admin = world.wallet(7).await;
    let answer = ask(&world, &admin, OF_501).await;
    answer.is(200, &expected);
    assert_eq!(answer.headers["content-type"], "application/json; charset=utf-8");
    ask(&world, &admin, "list_file_attendance/503")
        .await
        .is(200, &json!([]));
}

/// C-81: a line replaces the file of the same name; a file with an id can move to another ticket.
#[tokio::test]
async fn files_can_be_replaced_and_moved() {
    let world = world().await;
    let (operator, admin) = (world.operator("acme"), world.wallet(7).await);
    add_files(&operator, [file(&Value::Null), file(&json!({ "id": 9 }))]).await;
    let changed = json!({ "ext": "mov" });
    let moved = json!({ "id": 9, "ticket": 502, "store_path": "s/20" });
    add_files(&operator, [file(&changed), file(&moved)]).await;
    ask(&world, &admin, OF_501)
        .await
        .is(200, &json!([shown_file(&changed)]));
    let expected = json!([shown_file(&json!({ "store_path": "s/20" }))]);
    for path in ["list_file_attendance/502", "list_file_lead/1002"] {
        ask(&world, &admin, path).await.is(200, &expected);
    }
    world.is_sound().await;
}

async fn status(world: &World, wallet: &Wallet, path: &str) -> (u16, u32) {
    let answer = ask(world, wallet, path).await;
    if answer.status != 200 {
        let id = path.rsplit('/').next().expect("a path");
        assert_invalid(&answer, &format!("ticket_id: ticket {id} does not exist"));
    }
    (answer.status.as_u16(), answer.cost.round_trips)
}

/// C-82: viewers of the ticket's lead; without a lead, as after its deletion (C-24), viewers of all leads.
/// For others than admins, an uncached lead of a ticket takes one more round trip.
#[tokio::test]
async fn files_are_visible_with_their_lead() {
    for (user, seen, round_trips) in [
        (7, [200, 200, 200], [1, 1, 1]),
        (8, [200, 400, 400], [2, 2, 1]),
        (9, [400, 200, 400], [2, 2, 1]),
        (13, [400, 400, 400], [2, 2, 1]),
        (14, [200, 200, 200], [2, 2, 1]),
    ] {
        let world = world().await;
        let wallet = world.known(user).await;
        for (at, path) in ["501", "502", "503"].into_iter().enumerate() {
            let path = format!("list_file_attendance/{path}");
            let first = status(&world, &wallet, &path).await;
            assert_eq!(first, (seen[at], round_trips[at]), "user {user}, {path}");
            let again = status(&world, &wallet, &path).await;
            assert_eq!(again, (seen[at], 1), "user {user}, {path} again");
        }
    }
}

/// A wrong hint affects only prefetching.
#[tokio::test]
async fn a_stale_hint_does_not_change_the_response() {
    let world = world().await;
    let (operator, seller) = (world.operator("acme"), world.known(8).await);
    assert_eq!(status(&world, &seller, OF_501).await, (200, 2));
    add_tickets(&operator, [ticket(&json!({ "lead_relation": 1002 }))]).await;
    assert_eq!(status(&world, &seller, OF_501).await, (400, 2));
    assert_eq!(status(&world, &seller, OF_501).await, (400, 1));
    add_tickets(&operator, [ticket(&json!({ "lead_relation": null }))]).await;
    assert_eq!(status(&world, &seller, OF_501).await, (400, 1));
}
