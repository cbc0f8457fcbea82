//! `POST /crmopportunity`: endpoint 7.

mod accepted;
mod hostile;
mod idempotency;
mod properties;
mod refusals;
mod sight;
mod size;

use serde_json::{Value, json};
use tests::records::{add_companies, bare_company, embedded, full_company, helena, maria, opportunity, with};
use tests::sales::{add_opportunities, open_shop, page, plain_opportunity};
use tests::world::Answer;
use tests::{Wallet, World};

async fn world() -> World {
    let world = World::new().await;
    let operator = world.operator("acme");
    open_shop(&operator).await;
    add_companies(&operator).await;
    world
}

/// A valid body with changes; null removes a property.
fn body(changes: &Value) -> Value {
    with(
        json!({ "title": "Reforma", "crm_column": 31, "lead_id": 1001 }),
        changes,
    )
}

async fn post(world: &World, wallet: &Wallet, body: &Value) -> Answer {
    let call = world.call("POST", "/crmopportunity?id=3&i=acme").with(wallet);
    call.json(body).send().await
}

async fn post_bytes(world: &World, wallet: &Wallet, bytes: impl Into<Vec<u8>>) -> Answer {
    let call = world.call("POST", "/crmopportunity?id=3&i=acme").with(wallet);
    call.bytes(bytes.into()).send().await
}

/// A page of a column of funnel 3.
async fn listed(world: &World, wallet: &Wallet, column: u64) -> Value {
    let uri = format!("/crm/opportunities/3?i=acme&apitoken={}", wallet.key);
    let body = page(1, 100, &json!({ "columnId": column }));
    world.call("POST", &uri).json(&body).send().await.body
}

/// Number of opportunities in the columns of funnel 3.
async fn total(world: &World, wallet: &Wallet) -> u64 {
    let uri = format!("/crm/opportunities/3?i=acme&apitoken={}", wallet.key);
    let board = world
        .call("POST", &uri)
        .json(&page(1, 1, &json!({})))
        .send()
        .await
        .body;
    let columns = board.as_array().expect("columns");
    columns
        .iter()
        .map(|column| column["total"].as_u64().expect("a number"))
        .sum()
}

/// spec.md, Opportunity: every field; C-21: only admins see `initial_password`; C-30: `user` is the key's.
#[tokio::test]
async fn the_response_has_every_field() {
    let world = world().await;
    let (admin, seller) = (world.known(7).await, world.wallet(8).await);
    let answer = post(&world, &admin, &body(&json!({}))).await;
    let shown = with(maria(), &json!({ "initial_password": "s3nh4-inicial" }));
    answer.is(200, &opportunity(&json!({ "dataLead": shown })));
    assert_eq!(answer.headers["content-type"], "application/json; charset=utf-8");
    assert_eq!(answer.headers.get("idempotent-replayed"), None);
    assert_eq!(answer.cost.round_trips, 2);
    let answer = post(&world, &seller, &body(&json!({}))).await;
    answer.is(200, &opportunity(&json!({ "id": 2, "user": 8 })));
    world.is_sound().await;
}

/// spec.md, Lead and Company: every fixed field of the lead, no custom one, and its company.
#[tokio::test]
async fn the_lead_and_its_company_are_embedded() {
    let world = world().await;
    let (admin, seller) = (world.wallet(7).await, world.wallet(8).await);
    let company = embedded(full_company());
    let helenas = json!({ "lead_id": 2001, "dataLead": helena(), "dataCompany": company, "user": 8 });
    let answer = post(&world, &seller, &body(&json!({ "lead_id": 2001 }))).await;
    answer.is(200, &opportunity(&helenas));
    let answer = post(&world, &admin, &body(&json!({ "lead_id": 2001, "user": 8 }))).await;
    let secret = with(helena(), &json!({ "initial_password": "h3l3n4" }));
    answer.is(
        200,
        &with(opportunity(&helenas), &json!({ "id": 2, "dataLead": secret })),
    );
    let answer = post(&world, &seller, &body(&json!({ "lead_id": 2002 }))).await;
    assert_eq!(answer.body["dataCompany"], embedded(bare_company()));
    // A lead with an unknown company has none.
    let answer = post(&world, &admin, &body(&json!({ "lead_id": 1002 }))).await;
    assert_eq!(
        (&answer.body["dataLead"]["company"], &answer.body["dataCompany"]),
        (&json!(1), &Value::Null)
    );
    world.is_sound().await;
}

/// C-11: also above imported ids.
#[tokio::test]
async fn ids_are_sequential() {
    let world = world().await;
    let (operator, admin) = (world.operator("acme"), world.wallet(7).await);
    let made = async |expected: u64| {
        let answer = post(&world, &admin, &body(&json!({}))).await;
        assert_eq!(answer.body["id"], json!(expected), "{}", answer.body);
    };
    made(1).await;
    made(2).await;
    add_opportunities(&operator, vec![plain_opportunity(500, 7, 0)]).await;
    made(501).await;
    made(502).await;
    add_opportunities(&operator, vec![plain_opportunity(300, 7, 0)]).await;
    made(503).await;
    world.is_sound().await;
}
