//! Permission to create, and visibility afterwards (C-12, C-30, C-82).

use serde_json::json;
use tests::people::{add_users, users};
use tests::records::{opportunity, with};
use tests::sales::page;

use super::{body, listed, post, total, world};

/// C-12: in endpoints 8 and 10, complete.
#[tokio::test]
async fn created_opportunities_are_visible_at_once() {
    let world = world().await;
    let seller = world.wallet(8).await;
    for id in 1..=3 {
        let changes = json!({ "value": "213.20", "lead_id": 2001, "fields": { "Origem do Lead": "site" } });
        let made = post(&world, &seller, &body(&changes)).await;
        assert_eq!((made.status.as_u16(), &made.body["id"]), (200, &json!(id)));
        let uri = format!("/crmopportunity/{id}?id=3&i=acme");
        let answer = world.write(&seller, "PUT", &uri, &json!({})).await;
        answer.is(200, &json!({ "msg": "updated", "data": made.body }));
        let list = listed(&world, &seller, 31).await;
        // C-42: for equal creation times the higher id is first.
        assert_eq!(list[0], with(made.body, &json!({ "value": "213.20" })));
        assert_eq!(total(&world, &seller).await, id);
    }
    world.is_sound().await;
}

/// C-30: `user` may be anyone, also inactive; the creator need not see the opportunity afterwards.
#[tokio::test]
async fn opportunities_can_be_created_for_others() {
    let world = world().await;
    let (admin, own, other) = (
        world.wallet(7).await,
        world.wallet(8).await,
        world.wallet(9).await,
    );
    for (id, user) in (1..).zip([7, 9, 12, 13]) {
        let answer = post(&world, &own, &body(&json!({ "user": user }))).await;
        answer.is(200, &opportunity(&json!({ "id": id, "user": user })));
    }
    assert_eq!((total(&world, &own).await, total(&world, &admin).await), (0, 4));
    // C-30: a user who sees an opportunity may search by its lead, although the lead itself is not visible.
    let list = listed(&world, &other, 31).await;
    assert_eq!(
        list,
        json!([opportunity(&json!({ "id": 2, "user": 9, "value": "0.00" }))])
    );
    let uri = format!("/crm/opportunities/3?i=acme&apitoken={}", other.key);
    for (term, found) in [("mária silva", 1), ("973263471", 1), ("helena", 0)] {
        let asked = page(1, 25, &json!({ "columnId": 31, "search": term }));
        let answer = world.call("POST", &uri).json(&asked).send().await;
        assert_eq!(answer.body.as_array().map(Vec::len), Some(found), "{term}");
    }
    let lead = world.get("/leads/1001?i=acme").with(&other).send().await;
    assert_eq!(lead.status, 404);
    world.is_sound().await;
}

/// C-32, C-82: without `wonLost` a closed opportunity may be created, and is then not visible.
#[tokio::test]
async fn closed_opportunities_can_be_created_without_seeing_them() {
    let world = world().await;
    let (admin, seller) = (world.wallet(7).await, world.wallet(9).await);
    for (id, status) in (1..).zip(["open", "gain", "lost"]) {
        let answer = post(
            &world,
            &seller,
            &body(&json!({ "lead_id": 1002, "status": status })),
        )
        .await;
        let shown = [&answer.body["id"], &answer.body["user"], &answer.body["status"]];
        assert_eq!(shown, [&json!(id), &json!(9), &json!(status)]);
    }
    assert_eq!(
        (total(&world, &seller).await, total(&world, &admin).await),
        (1, 3)
    );
    world.is_sound().await;
}

/// C-30: archived leads are accepted; C-82: access lists apply.
#[tokio::test]
async fn archived_leads_are_accepted_and_access_lists_apply() {
    let world = world().await;
    for (who, lead, status) in [
        (7, 1003, 200),
        (7, 1004, 200),
        (7, 1007, 200),
        (8, 1004, 200),
        (8, 1005, 400),
        (8, 1012, 200),
        (9, 1002, 200),
        (9, 1012, 200),
        (9, 1007, 400),
        (10, 1005, 200),
        (10, 1004, 400),
        (11, 1004, 200),
        (14, 1005, 400),
        (14, 2001, 200),
    ] {
        let wallet = world.wallet(who).await;
        let answer = post(&world, &wallet, &body(&json!({ "lead_id": lead }))).await;
        assert_eq!(answer.status, status, "user {who}, lead {lead}: {}", answer.body);
    }
    world.is_sound().await;
}

/// C-2.
#[tokio::test]
async fn permissions_apply_from_the_next_request() {
    let world = world().await;
    let (operator, wallet) = (world.operator("acme"), world.wallet(15).await);
    let refused = json!({ "msg": "editOpportunities: the user does not have this permission" });
    post(&world, &wallet, &body(&json!({}))).await.is(400, &refused);
    let mut iris = users().remove(1);
    (iris.id, iris.admin) = (tests::people::user(15), true);
    add_users(&operator, &[iris.clone()]).await;
    assert_eq!(post(&world, &wallet, &body(&json!({}))).await.status, 200);
    (iris.admin, iris.group) = (false, None);
    add_users(&operator, &[iris]).await;
    post(&world, &wallet, &body(&json!({}))).await.is(400, &refused);
    let admin = world.wallet(7).await;
    assert_eq!(total(&world, &admin).await, 1);
}
