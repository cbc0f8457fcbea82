//! The embedded lead follows the opportunity's lead, and shows its changes at once (C-12, C-73).

use operator::kinds::Companies;
use serde_json::{Value, json};
use shared::ids::CompanyId;
use shared::lead::Lead;
use tests::World;
use tests::people::{add_leads, plain_lead};
use tests::records::{bare_company, embedded, full_company, helena, maria, with};
use tests::sales::page;
use tests::world::at;

use super::{NOW, first, listed, put, record, sixth, updated, world};

/// Records a call of a lead.
async fn call(world: &World, lead: u64, now: &str) {
    world.clock.set(at(now));
    let body = json!({ "event": "call", "data": { "user": 8, "leadPhone": "", "type": "INCOMING", "lead": lead,
        "status": "COMPLETE", "duration": 1, "record": false, "service": "x" } });
    assert_eq!(world.webhook(&body).send().await.status, 201);
}

/// The embedded lead of opportunity 1 in both modes of endpoint 10, and in endpoint 8 with and without a
/// change.
async fn shown(world: &World, sequence: usize) -> [Value; 4] {
    let admin = world.wallet(7).await;
    let found = |list: &Value| {
        let list = list.as_array().expect("a list").iter();
        let one = list.into_iter().find(|one| one["id"] == 1).expect("it is there");
        without_secret(&one["dataLead"])
    };
    let uri = format!("/crm/opportunities/3?i=acme&apitoken={}", admin.key);
    let board = world
        .call("POST", &uri)
        .json(&page(1, 25, &json!({})))
        .send()
        .await
        .body;
    let column = listed(world, &admin, 31, &json!({})).await;
    let read = put(world, &admin, 1, &json!({})).await.body;
    let written = put(world, &admin, 1, &json!({ "sequence": sequence })).await.body;
    let [read, written] = [read, written].map(|body| without_secret(&body["data"]["dataLead"]));
    [found(&board[0]["items"]), found(&column), read, written]
}

fn without_secret(lead: &Value) -> Value {
    with(lead.clone(), &json!({ "initial_password": null }))
}

/// C-12: before and after the copies are refreshed.
#[tokio::test]
async fn a_call_shows_at_once() {
    let world = world().await;
    for (sequence, (now, refreshed)) in (1..).zip([
        ("2026-11-21T12:05:00.000Z", false),
        ("2026-11-21T12:06:00.000Z", true),
        ("2026-11-21T12:07:00.000Z", false),
    ]) {
        call(&world, 1001, now).await;
        if refreshed {
            world
                .store
                .refresh_copies()
                .await
                .expect("the copies are brought up to date");
        }
        let expected = with(maria(), &json!({ "lastActive": now }));
        for lead in shown(&world, sequence).await {
            assert_eq!(lead, expected, "refreshed: {refreshed}");
        }
    }
    world
        .store
        .refresh_copies()
        .await
        .expect("the copies are brought up to date");
    world.is_sound().await;
}

/// C-12: in an opportunity that is created, or gets the lead, while other copies are stale.
#[tokio::test]
async fn a_call_shows_in_opportunities_embedding_the_lead_later() {
    let world = world().await;
    let (seller, called) = (world.wallet(8).await, "2026-11-21T12:05:00.000Z");
    call(&world, 2001, called).await;
    let expected = with(helena(), &json!({ "lastActive": called }));
    let new = json!({ "title": "Reforma", "crm_column": 31, "lead_id": 2001 });
    let post = world.call("POST", "/crmopportunity?id=3&i=acme").with(&seller);
    let made = post.json(&new).send().await;
    assert_eq!((&made.body["id"], &made.body["dataLead"]), (&json!(7), &expected));
    let moved = put(&world, &world.wallet(10).await, 1, &json!({ "lead_id": 2001 })).await;
    assert_eq!(moved.body["data"]["dataLead"], expected, "{}", moved.body);
    let untouched = put(&world, &seller, 6, &json!({})).await;
    assert_eq!(untouched.body["data"]["dataLead"], expected);
    world
        .store
        .refresh_copies()
        .await
        .expect("the copies are brought up to date");
    for id in [1, 6, 7] {
        assert_eq!(record(&world, id).await["dataLead"], expected);
    }
    world.is_sound().await;
}

/// C-31: the embedded lead and company are replaced; calls of the former lead have no effect.
#[tokio::test]
async fn a_new_lead_replaces_the_embedded_one() {
    let world = world().await;
    let admin = world.wallet(7).await;
    let answer = put(&world, &admin, 1, &json!({ "lead_id": "2002" })).await;
    let rui = world.read(&admin, "/leads/2002?i=acme&allFields=1").await.body["data"]["lead"].clone();
    assert_eq!(rui["fullname"], "Rui Sem Firma");
    let moved = json!({ "lead_id": 2002, "dataLead": rui, "dataCompany": embedded(bare_company()), "updateDate": NOW });
    answer.is(200, &updated(&first(&moved)));
    assert_eq!(record(&world, 1).await, first(&moved));
    call(&world, 1001, "2026-11-21T12:05:00.000Z").await;
    assert_eq!(record(&world, 1).await, first(&moved));
    let called = "2026-11-21T12:06:00.000Z";
    call(&world, 2002, called).await;
    let expected = with(
        first(&moved),
        &json!({ "dataLead": with(rui, &json!({ "lastActive": called })) }),
    );
    assert_eq!(record(&world, 1).await, expected);
    world
        .store
        .refresh_copies()
        .await
        .expect("the copies are brought up to date");
    assert_eq!(record(&world, 1).await, expected);
    let searched = json!({ "search": "rui sem" });
    let list = listed(&world, &admin, 31, &searched).await;
    assert_eq!(list, json!([with(expected, &json!({ "value": "1.01" }))]));
    assert_eq!(
        listed(&world, &admin, 31, &json!({ "search": "maria" }))
            .await
            .as_array()
            .map(Vec::len),
        Some(3)
    );
    // And back: no company, and with the call in between.
    world.clock.set(at(NOW));
    put(&world, &admin, 1, &json!({ "lead_id": 1001 })).await;
    let back = with(maria(), &json!({ "lastActive": "2026-11-21T12:05:00.000Z" }));
    assert_eq!(
        record(&world, 1).await,
        first(&json!({ "dataLead": back, "updateDate": NOW }))
    );
    world.is_sound().await;
}

/// C-12: imports of a lead or a company are in the opportunities at once.
#[tokio::test]
async fn an_import_shows_at_once() {
    let world = world().await;
    let operator = world.operator("acme");
    let company = with(full_company(), &json!({ "companyname": "Obra Nova" }));
    let read = serde_json::from_value(company.clone()).expect("a company");
    operator
        .import::<Companies>(&[read], false)
        .await
        .expect("the company can be written");
    let mut expected = with(sixth(), &json!({ "dataCompany": embedded(company) }));
    assert_eq!(record(&world, 6).await, expected);
    let lead = Lead {
        company: CompanyId::new(6),
        ..plain_lead(2001, "Outra", "Helena", None)
    };
    add_leads(&operator, vec![lead]).await;
    let admin = world.wallet(7).await;
    let full = world.get("/leads/2001?i=acme&allFields=1").with(&admin);
    let lead = full.send().await.body["data"]["lead"].clone();
    assert_eq!(lead["fullname"], "Outra Helena");
    expected = with(
        expected,
        &json!({ "dataLead": lead, "dataCompany": embedded(bare_company()) }),
    );
    assert_eq!(record(&world, 6).await, expected);
    world
        .store
        .refresh_copies()
        .await
        .expect("the copies are brought up to date");
    assert_eq!(record(&world, 6).await, expected);
    world.is_sound().await;
}
