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

/// C-86: a search beyond the budget answers some of its matches, and costs at most the budget; other requests are
/// unaffected.
#[tokio::test]
async fn searches_of_leads_beyond_the_budget_are_lower_bounds() {
    let world = many_leads().await;
    let wallet = world.known(7).await;
    let cheap = leads(&world, &wallet, "limit=50").await;
    for (units, is_partial) in [(1000, false), (320, true)] {
        allow(&world, units).await;
        for (query, shows, is_search) in [
            ("search=pessoa", true, true),
            ("search=nobody", false, false),
            ("search=pessoa&page=999999999", false, true),
            ("limit=200&page=12", true, false),
            ("limit=200&page=999999999", false, false),
            ("limit=200&page=2", true, false),
        ] {
            let answer = leads(&world, &wallet, query).await;
            assert_eq!(answer.status, 200, "{units} {query}");
            let most = f64::from(units) + 32.0;
            assert!(answer.cost.read_units() <= most, "{query} {:?}", answer.cost);
            assert_eq!(!ids(&answer).is_empty(), shows, "{units} {query}");
            let told = answer.headers.get("x-total-relation").map(|value| value == "gte");
            assert_eq!(told, (is_search && is_partial).then_some(true), "{units} {query}");
            if is_search {
                let total = answer.body["data"]["total"].as_u64().expect("a total");
                assert_eq!((1..2400).contains(&total), is_partial, "{total}");
            }
        }
        let again = leads(&world, &wallet, "limit=50").await;
        assert_eq!(spent(&again), spent(&cheap));
    }
}

/// The ten newest of 700 opportunities, and a total that is theirs unless the answer is partial.
fn assert_newest_hits(answer: &Answer, is_partial: bool) {
    let column = &answer.body[0];
    let shown = column.get("items").unwrap_or(&answer.body);
    let shown = shown.as_array().expect("opportunities").iter();
    let shown: Vec<_> = shown.map(|one| one["id"].as_u64().expect("an id")).collect();
    assert_eq!(shown, (691..=700).rev().collect::<Vec<_>>());
    if let Some(total) = column.get("total") {
        let total = total.as_u64().expect("a total");
        assert!(
            if is_partial {
                (10..700).contains(&total)
            } else {
                total == 700
            },
            "{total}"
        );
    }
}

/// C-43, C-86: on endpoint 10, whose body is fixed, a search answers the newest hits that it could read; other filters are
/// refused. Filters by lists reduce the cost.
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
            (json!({ "search": "maria" }), 200),
            (json!({ "search": "maria", "columnId": 31 }), 200),
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
            let is_partial = more["search"] == "maria" && units == 600 && more.get("columnId").is_none();
            let told = answer.headers.get("x-total-relation").map(|value| value == "gte");
            assert_eq!(told, is_partial.then_some(true), "{units} {more}");
            if more["search"] == "maria" {
                assert_newest_hits(&answer, is_partial);
            }
            if status == 400 {
                answer.is(400, &json!({ "error": "Invalid request" }));
                assert_eq!(answer.headers["x-error-details"], details);
                assert!(answer.cost.read_units() <= 610.0, "{more} {:?}", answer.cost);
            }
        }
        assert_eq!(spent(&ask(json!({})).await), spent(&unfiltered));
    }
}
