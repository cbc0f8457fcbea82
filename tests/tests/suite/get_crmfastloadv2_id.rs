//! `GET /crmfastloadv2/{id}` (C-96).

use serde_json::{Value, json};
use shared::opportunity::{Opportunity, ServicePermission, Status};
use tests::people::{department, user};
use tests::sales::{add_opportunities, column, funnel, open_shop, page, plain_opportunity};
use tests::{Answer, Wallet, World};

async fn totals(world: &World, wallet: &Wallet, funnel: &str) -> Answer {
    let uri = format!("/crmfastloadv2/{funnel}?i=acme");
    world.get(&uri).with(wallet).send().await
}

/// The board of endpoint 10 without its items.
async fn board(world: &World, wallet: &Wallet, funnel: u64) -> Answer {
    let uri = format!("/crm/opportunities/{funnel}?i=acme&apitoken={}", wallet.key);
    let call = world.call("POST", &uri).json(&page(1, 1, &Value::Null));
    let mut answer = call.send().await;
    for column in answer.body.as_array_mut().into_iter().flatten() {
        column.as_object_mut().expect("a column").shift_remove("items");
    }
    answer
}

/// Users, statuses, archived ones, and service permissions that hide some from most.
fn opportunities() -> Vec<Opportunity> {
    let mut all = Vec::new();
    for id in 1..=60 {
        let mut one = plain_opportunity(id, 7 + id % 9, u32::try_from(id).expect("small"));
        one.begin_as(Status::ALL[usize::try_from(id % 3).expect("small")]);
        one.archived = id % 10 == 0;
        if id % 4 == 0 {
            one.crm_column = column(32);
        }
        if id % 7 == 0 {
            (one.crm_id, one.crm_column) = (funnel(4), column(41));
        }
        if id % 5 == 1 {
            one.service_permission = ServicePermission::Users;
            one.service_permission_users = vec![user(9), user(14)];
        } else if id % 5 == 2 {
            one.service_permission = ServicePermission::Departments;
            one.service_permission_departments = vec![department(1)];
        }
        all.push(one);
    }
    all
}

/// C-45: the same columns and totals as the board, and the same refusals, for every user and funnel. At most two round trips.
#[tokio::test]
async fn every_user_gets_the_totals_of_its_board() {
    let world = World::new().await;
    let operator = world.operator("acme");
    open_shop(&operator).await;
    add_opportunities(&operator, opportunities()).await;
    let mut counts = std::collections::BTreeSet::new();
    for who in [7, 8, 9, 10, 11, 13, 14, 15] {
        let wallet = world.known(who).await;
        for funnel in [3, 4, 5] {
            let (shown, board) = (
                totals(&world, &wallet, &funnel.to_string()).await,
                board(&world, &wallet, funnel).await,
            );
            assert_eq!(
                (shown.status, &shown.body),
                (board.status, &board.body),
                "user {who}, funnel {funnel}"
            );
            assert!(shown.cost.round_trips <= 2, "{:?}", shown.cost);
            let columns = shown.body.as_array().into_iter().flatten();
            counts.insert(columns.filter_map(|column| column["total"].as_u64()).sum::<u64>());
        }
    }
    assert!(counts.len() > 5, "the users see different totals: {counts:?}");
    let admin = world.known(7).await;
    let answer = totals(&world, &admin, "5").await;
    answer.is(
        200,
        &json!([{ "id": 51, "name": "Conversa", "sequence": 1, "crm": 5, "total": 0, "totalValue": 0 }]),
    );
    assert_eq!(answer.cost.round_trips, 1);
}

/// As endpoint 10: 401 for a funnel that the user may not see.
#[tokio::test]
async fn funnels_that_are_not_seen() {
    let world = World::new().await;
    open_shop(&world.operator("acme")).await;
    // User 13 may see no opportunity, and user 14 not funnel 4.
    for (who, id) in [(13, "3"), (14, "4")] {
        let answer = totals(&world, &world.wallet(who).await, id).await;
        answer.is(401, &json!({ "error": "Unauthorized" }));
    }
}

/// A new opportunity counts at once (C-12).
#[tokio::test]
async fn totals_follow_a_write() {
    let world = World::new().await;
    open_shop(&world.operator("acme")).await;
    let wallet = world.wallet(7).await;
    let body = json!({ "title": "Pedido", "crm_column": 32, "lead_id": 1001, "value": "213.20" });
    let made = world
        .call("POST", "/crmopportunity?id=3&i=acme")
        .with(&wallet)
        .json(&body);
    assert_eq!(made.send().await.status, 200);
    let answer = totals(&world, &wallet, "3").await;
    let column = |id: u64, name: &str, sequence: u64, total: u64, value: Value| json!({ "id": id, "name": name, "sequence": sequence, "crm": 3, "total": total, "totalValue": value });
    answer.is(
        200,
        &json!([
            column(31, "Entrada", 1, 0, json!(0)),
            column(32, "Proposta", 2, 1, json!("213.20")),
            column(33, "Fechamento", 3, 0, json!(0)),
        ]),
    );
}
