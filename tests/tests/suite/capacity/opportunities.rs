use serde_json::json;
use tests::World;
use tests::sales::open_shop;

use super::{Budget, read, within};

pub async fn shop() -> World {
    let world = World::new().await;
    open_shop(&world.operator("acme")).await;
    world
}

/// Endpoints 7 and 8: two round trips, and twice the size of every item.
#[tokio::test]
async fn opportunity_write_costs() {
    let world = shop().await;
    let wallet = world.known(7).await;
    let write = |write_units| Budget {
        round_trips: 2,
        read_units: 7.0,
        write_units,
    };
    let body = json!({ "title": "Pedido", "crm_column": 31, "lead_id": 1001, "value": "213.20", "fields": { "Origem do Lead": "Google" } });
    let uri = "/crmopportunity?id=3&i=acme";
    // Record, four entries, link, a word of the title, two totals, rank, id counter and the check of the lead: twelve items
    // of a started KB.
    within(
        "7: made",
        &world.call("POST", uri).with(&wallet).json(&body).send().await,
        &write(24.0),
    );
    let keyed = || {
        world
            .call("POST", uri)
            .with(&wallet)
            .header("idempotency-key", "k1")
            .json(&body)
    };
    within(
        "7: made with an Idempotency-Key",
        &keyed().send().await,
        &write(26.0),
    );
    within("7: the same again", &keyed().send().await, &read(2, 9.0));
    let refused = world
        .call("POST", uri)
        .with(&wallet)
        .json(&json!({}))
        .send()
        .await;
    within("7: refused body", &refused, &read(1, 3.0));
    let uri = "/crmopportunity/1?id=3&i=acme";
    let answer = world.call("GET", uri).with(&wallet).send().await;
    assert_eq!(answer.status, 200);
    within("one opportunity", &answer, &read(1, 6.0));
    // Links, funnels, lead, opportunity and user; credentials and directory are three units.
    let of_lead = "/listopportunitysleadcomplete/1001?i=acme";
    for (what, round_trips) in [
        ("opportunities of a lead, first request", 3),
        ("opportunities of a lead", 1),
    ] {
        let answer = world.call("GET", of_lead).with(&wallet).send().await;
        assert_eq!(answer.body.as_array().map(Vec::len), Some(2));
        within(what, &answer, &read(round_trips, 9.0));
    }
    for (what, body, units) in [
        // Record and four entries; a word leaves and another comes.
        ("8: title", json!({ "title": "Outro" }), 14.0),
        ("8: value", json!({ "value": "1.00" }), 16.0),
        // Entries leave and enter two lists; the totals of column and user, and one rank change.
        ("8: status", json!({ "status": "gain" }), 20.0),
        ("8: column", json!({ "crm_column": 32 }), 28.0),
        ("8: nothing", json!({}), 0.0),
    ] {
        let answer = world.call("PUT", uri).with(&wallet).json(&body).send().await;
        assert_eq!(answer.status, 200);
        within(what, &answer, &write(units));
    }
    // While a copy may be stale, the lead itself is read.
    let call = super::call(&json!({ "lead": 1001 }));
    assert_eq!(world.webhook(&call).send().await.status, 201);
    let answer = world
        .call("PUT", uri)
        .with(&wallet)
        .json(&json!({ "title": "Mais um" }))
        .send()
        .await;
    within(
        "8: title, the lead changed just before",
        &answer,
        &Budget {
            round_trips: 3,
            read_units: 9.0,
            write_units: 16.0,
        },
    );
    world
        .store
        .refresh_copies()
        .await
        .expect("the copies are brought up to date");
}

/// Endpoint 9: one round trip.
#[tokio::test]
async fn funnel_costs() {
    let world = shop().await;
    let wallet = world.known(7).await;
    let answer = world
        .get(&format!("/crm?i=acme&apitoken={}", wallet.key))
        .send()
        .await;
    within("9: three funnels", &answer, &read(1, 3.0));
}
