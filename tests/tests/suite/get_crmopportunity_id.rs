//! `GET /crmopportunity/{id}` (C-94).

use serde_json::{Value, json};
use tests::sales::{add_opportunities, column, funnel, open_shop, page, plain_opportunity};
use tests::{Answer, Wallet, World};

use shared::opportunity::{Opportunity, Status};

/// Opportunities 1, 2 and 3 of user 9 are open, won and lost; 4 is user 7's; 5 is in funnel 4.
async fn world() -> World {
    let world = World::new().await;
    open_shop(&world.operator("acme")).await;
    let begun = |id, status| {
        let mut opportunity = plain_opportunity(id, 9, 0);
        opportunity.begin_as(status);
        opportunity
    };
    let elsewhere = Opportunity {
        crm_id: funnel(4),
        crm_column: column(41),
        ..plain_opportunity(5, 9, 0)
    };
    let opportunities = vec![
        begun(1, Status::Open),
        begun(2, Status::Gain),
        begun(3, Status::Lost),
        plain_opportunity(4, 7, 0),
        elsewhere,
    ];
    add_opportunities(&world.operator("acme"), opportunities).await;
    world
}

async fn get(world: &World, wallet: &Wallet, path: &str) -> Answer {
    let call = world.call("GET", &format!("/crmopportunity/{path}"));
    call.with(wallet).send().await
}

/// The opportunities that endpoint 10 lists in both funnels; none of a funnel that it refuses.
async fn listed(world: &World, wallet: &Wallet) -> Vec<Value> {
    let mut records = Vec::new();
    for (funnel, column) in [(3, 31), (4, 41)] {
        let uri = format!("/crm/opportunities/{funnel}?i=acme&apitoken={}", wallet.key);
        let body = page(1, 100, &json!({ "columnId": column }));
        let answer = world.call("POST", &uri).json(&body).send().await;
        assert!([200, 401].contains(&answer.status.as_u16()), "{}", answer.body);
        records.extend(answer.body.as_array().cloned().unwrap_or_default());
    }
    records
}

#[tokio::test]
async fn a_user_gets_exactly_what_it_can_list() {
    let world = world().await;
    let mut seen = 0;
    for user in [7, 8, 9, 10, 11, 14] {
        let wallet = world.wallet(user).await;
        let listed = listed(&world, &wallet).await;
        for id in 1..=6 {
            let answer = get(&world, &wallet, &format!("{id}?i=acme")).await;
            match listed.iter().find(|record| record["id"] == id) {
                Some(record) => answer.is(200, record),
                None => answer.is(404, &json!({ "error": "Not found" })),
            }
        }
        seen += listed.len();
    }
    assert!((8..36).contains(&seen), "{seen}");
}

#[tokio::test]
async fn the_funnel_has_to_be_its_own() {
    let world = world().await;
    let wallet = world.wallet(7).await;
    for (parameters, status) in [
        ("1?i=acme&id=3", 200),
        ("1?i=acme&id=", 200),
        ("1?i=acme&id=4", 404),
        ("1?i=acme&id=99", 404),
        ("1?i=acme&id=x", 400),
        ("0?i=acme", 400),
    ] {
        let answer = get(&world, &wallet, parameters).await;
        assert_eq!(answer.status, status, "{parameters}: {}", answer.body);
    }
}
