//! Searches, filters and far pages within the instance's `read_budget` (C-83, C-86).

use serde_json::{Value, json};
use shared::opportunity::Opportunity;
use tests::people::{add_leads, plain_lead};
use tests::sales::{add_opportunities, open_shop, page, plain_opportunity};
use tests::world::Answer;
use tests::{Wallet, World};

/// 2,400 leads with names of 500 characters, alternately of users 8 and 9: 335 units in the list.
async fn many_leads() -> World {
    let world = World::new().await;
    let name = "n".repeat(500);
    let leads = (2001..=4400).map(|id| plain_lead(id, "Pessoa", &name, Some(8 + id % 2)));
    add_leads(&world.operator("acme"), leads.collect()).await;
    world
}

async fn allow(world: &World, units: u32) {
    let set = world.operator("acme");
    set.set_setting("read_budget", &json!(units))
        .await
        .expect("a setting");
}

/// Round trips, calls and units.
fn spent(answer: &Answer) -> (u32, usize, f64) {
    let cost = &answer.cost;
    (cost.round_trips, cost.calls.len(), cost.read_units())
}

async fn leads(world: &World, wallet: &Wallet, query: &str) -> Answer {
    let call = world.get(&format!("/leads?i=acme&{query}"));
    call.with(wallet).send().await
}

fn ids(answer: &Answer) -> Vec<u64> {
    let leads = answer.body["data"]["leads"].as_array().expect("leads");
    leads.iter().filter_map(|lead| lead["id"].as_u64()).collect()
}

/// C-20: the pages of a search show every match once, by id, for every viewer; after the last they are empty,
/// with the same total.
#[tokio::test]
async fn pages_of_a_search_show_every_match_once() {
    let world = many_leads().await;
    for (user, step) in [(7, 1), (8, 2)] {
        let wallet = world.wallet(user).await;
        let expected: Vec<u64> = (if step == 1 { 2001 } else { 2002 }..=4400)
            .step_by(step)
            .collect();
        let mut walked = Vec::new();
        for number in 1..=12 {
            let answer = leads(&world, &wallet, &format!("search=pessoa&limit=200&page={number}")).await;
            assert_eq!(answer.body["data"]["total"], expected.len(), "user {user}");
            walked.extend(ids(&answer));
        }
        assert_eq!(walked, expected, "user {user}");
        let far = leads(&world, &wallet, "search=pessoa&limit=200&page=999999999").await;
        assert_eq!(
            (far.body["data"]["total"].as_u64(), ids(&far)),
            (Some(expected.len() as u64), vec![])
        );
    }
}

/// C-86: a search beyond the budget is a 400 with advice, and costs at most the budget; cheap requests are unaffected.
#[tokio::test]
async fn leads_beyond_the_budget_are_rejected() {
    let world = many_leads().await;
    let wallet = world.known(7).await;
    let details = "search: this would read more than read_budget allows, or for too long; read the pages without a search and in \
                   their order";
    let refused = json!({ "error": "Invalid request", "details": details });
    let cheap = leads(&world, &wallet, "limit=50").await;
    for (units, searched) in [(1000, 200), (320, 400)] {
        allow(&world, units).await;
        for (query, status) in [
            ("search=pessoa", searched),
            ("search=nobody", 200),
            ("search=pessoa&page=999999999", searched),
            ("limit=200&page=12", 200),
            ("limit=200&page=999999999", 200),
            ("limit=200&page=2", 200),
        ] {
            let answer = leads(&world, &wallet, query).await;
            assert_eq!(answer.status.as_u16(), status, "{units} {query}");
            let units = f64::from(units) + 32.0;
            assert!(answer.cost.read_units() <= units, "{query} {:?}", answer.cost);
            if status == 400 {
                answer.is(400, &refused);
            }
        }
        let again = leads(&world, &wallet, "limit=50").await;
        assert_eq!(spent(&again), spent(&cheap));
    }
}

/// C-86: the same for endpoint 10, whose body is fixed, on the board and on a page; filters by lists reduce
/// the cost.
#[tokio::test]
async fn opportunities_beyond_the_budget_are_rejected() {
    let world = World::new().await;
    let operator = world.operator("acme");
    open_shop(&operator).await;
    let text = "t".repeat(5_000);
    let made = |id: u64| {
        let mut one = plain_opportunity(
            id,
            if id <= 40 { 8 } else { 9 },
            u32::try_from(id).expect("small"),
        );
        one.fields
            .insert("Origem do Lead".to_owned(), Value::from(text.as_str()));
        one
    };
    let made: Vec<Opportunity> = (1..=700).map(made).collect();
    add_opportunities(&operator, made).await;
    let wallet = world.known(7).await;
    let ask = async |more: Value| {
        let body = page(1, 10, &more);
        let uri = format!("/crm/opportunities/3?i=acme&apitoken={}", wallet.key);
        let call = world.call("POST", &uri).json(&body);
        call.send().await
    };
    let unfiltered = ask(json!({})).await;
    let details = "filters: this would read more than read_budget allows, or for too long; narrow it by columnId, \
                   filterByStatus, filterByUsers or filterByCreateDate, or read the pages in their order";
    let nothing =
        json!([{ "filterType": "opField", "properties": { "field": "Origem do Lead", "value": "x" } }]);
    for (units, status) in [(20_000, 200), (600, 400)] {
        allow(&world, units).await;
        for (more, status) in [
            (json!({ "search": "nobody" }), 200),
            (json!({ "search": "nobody", "columnId": 31 }), 200),
            (json!({ "search": "maria" }), status),
            (json!({ "filters": nothing }), status),
            (
                json!({ "filterByExpectedCloseDate": { "start": "2026-01-01" } }),
                status,
            ),
            (json!({ "modifiedSince": "2027-01-01T00:00:00Z" }), status),
            (
                json!({ "modifiedSince": "2027-01-01T00:00:00Z", "columnId": 31 }),
                status,
            ),
            (json!({ "search": "nobody", "filterByUsers": [8] }), 200),
            (
                json!({ "search": "nobody", "page": 999_999_999, "columnId": 31 }),
                200,
            ),
            (json!({ "columnId": 31, "page": 60 }), status),
        ] {
            let answer = ask(more.clone()).await;
            assert_eq!(answer.status.as_u16(), status, "{units} {more}");
            assert!(
                answer.cost.read_units() <= f64::from(units.max(1600)),
                "{more} {:?}",
                answer.cost
            );
            if status == 400 {
                answer.is(400, &json!({ "error": "Invalid request" }));
                assert_eq!(answer.headers["x-error-details"], details);
                assert!(answer.cost.read_units() <= 610.0, "{more} {:?}", answer.cost);
            }
        }
        assert_eq!(spent(&ask(json!({})).await), spent(&unfiltered));
    }
}
