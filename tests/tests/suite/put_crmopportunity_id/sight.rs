//! Permission to change, and visibility afterwards (C-12, C-32, C-82).

use serde_json::{Value, json};
use tests::people::{add_users, users};
use tests::records::with;

use super::{NOW, first, listed, put, record, refused, updated, world};

fn missing(id: u64) -> String {
    format!("opportunity_id: opportunity {id} does not exist in funnel 3")
}

/// C-82.
#[tokio::test]
async fn invisible_opportunities_are_not_found() {
    let world = world().await;
    for (id, sees) in [
        (1, &[7, 9, 10, 11][..]),
        (2, &[7, 10]),
        (3, &[7, 10]),
        (4, &[7]),
        (6, &[7, 8]),
    ] {
        for who in [7, 8, 9, 10, 11, 14] {
            let answer = put(&world, &world.wallet(who).await, id, &json!({})).await;
            if sees.contains(&who) {
                assert_eq!(answer.status, 200, "{who} and {id}: {:?}", answer.headers);
            } else {
                refused(&answer, &missing(id));
            }
        }
    }
}

/// C-32, C-82: without `wonLost` an opportunity can be closed; it is returned once, and is then not visible.
#[tokio::test]
async fn opportunities_can_be_closed_without_seeing_them_afterwards() {
    let world = world().await;
    let (seller, admin) = (world.wallet(9).await, world.wallet(7).await);
    let closed = put(
        &world,
        &seller,
        1,
        &json!({ "status": "gain", "gain_reason": "preço" }),
    )
    .await;
    let expected = first(
        &json!({ "status": "gain", "gain_reason": "preço", "gain_date": NOW,
        "last_status_change": NOW, "updateDate": NOW }),
    );
    closed.is(200, &updated(&expected));
    for changes in [
        json!({}),
        json!({ "status": "open" }),
        json!({ "title": "x" }),
        json!({ "status": "gain" }),
    ] {
        refused(&put(&world, &seller, 1, &changes).await, &missing(1));
    }
    assert_eq!(record(&world, 1).await, expected);
    assert_eq!(listed(&world, &seller, 31, &json!({})).await, json!([]));
    assert_eq!(
        put(&world, &admin, 1, &json!({ "status": "open" })).await.status,
        200
    );
    assert_eq!(
        listed(&world, &seller, 31, &json!({}))
            .await
            .as_array()
            .map(Vec::len),
        Some(1)
    );
    world.is_sound().await;
}

/// C-82: a user who reassigns an opportunity gets it in the response, and then does not see it; the new user
/// does at once (C-12).
#[tokio::test]
async fn opportunities_can_be_reassigned() {
    let world = world().await;
    let (giver, other) = (world.wallet(9).await, world.wallet(8).await);
    let answer = put(&world, &giver, 1, &json!({ "user": 8 })).await;
    let expected = first(&json!({ "user": 8, "updateDate": NOW }));
    answer.is(200, &updated(&expected));
    refused(&put(&world, &giver, 1, &json!({ "user": 9 })).await, &missing(1));
    put(&world, &other, 1, &json!({}))
        .await
        .is(200, &updated(&expected));
    assert_eq!(listed(&world, &giver, 31, &json!({})).await, json!([]));
    let list = listed(&world, &other, 31, &json!({})).await;
    assert_eq!(
        list.as_array().expect("a list")[1],
        with(expected, &json!({ "value": "1.01" }))
    );
    world.is_sound().await;
}

/// C-30: an invisible lead does not prevent changes while it is unchanged, and may be sent again.
#[tokio::test]
async fn an_invisible_lead_can_be_kept() {
    let world = world().await;
    let seller = world.wallet(9).await;
    let lead = world.get("/leads/1001?i=acme").with(&seller).send().await;
    assert_eq!(lead.status, 404);
    let answer = put(&world, &seller, 1, &json!({ "title": "Nova", "lead_id": 1001 })).await;
    answer.is(
        200,
        &updated(&first(&json!({ "title": "Nova", "updateDate": NOW }))),
    );
    world.is_sound().await;
}

/// C-2, C-82.
#[tokio::test]
async fn permissions_apply_from_the_next_request() {
    let world = world().await;
    let (operator, wallet) = (world.operator("acme"), world.wallet(9).await);
    let mut carla = users().remove(2);
    carla.group = None;
    add_users(&operator, &[carla.clone()]).await;
    let details = "editOpportunities: the user does not have this permission";
    refused(&put(&world, &wallet, 1, &json!({ "title": "x" })).await, details);
    (carla.admin, carla.group) = (true, None);
    add_users(&operator, &[carla.clone()]).await;
    let answer = put(&world, &wallet, 2, &json!({})).await;
    assert_eq!(
        answer.body["data"]["dataLead"]["initial_password"],
        "s3nh4-inicial"
    );
    carla.active = false;
    add_users(&operator, &[carla]).await;
    put(&world, &wallet, 1, &json!({}))
        .await
        .is(401, &json!({ "error": "Unauthorized" }));
    let unchanged: Value = record(&world, 1).await;
    assert_eq!(unchanged, first(&json!({})));
}
