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
            assert_eq!(
                is_lower_bound(&answer),
                is_search && is_partial,
                "{units} {query}"
            );
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

/// A shop with 700 opportunities of 5 KB in column 31, the first five with a short custom field.
async fn large_opportunities() -> World {
    let world = World::new().await;
    let operator = world.operator("acme");
    open_shop(&operator).await;
    let text = "t".repeat(5_000);
    let made = |id: u64| {
        let responsible = if id <= 40 { 8 } else { 9 };
        let mut one = plain_opportunity(id, responsible, u32::try_from(id).expect("small"));
        let origin = if id <= 5 { "Site" } else { text.as_str() };
        one.fields
            .insert("Origem do Lead".to_owned(), Value::from(origin));
        one
    };
    let made: Vec<Opportunity> = (1..=700).map(made).collect();
    add_opportunities(&operator, made).await;
    world
}

async fn opportunities(world: &World, wallet: &Wallet, number: u64, more: &Value) -> Answer {
    let uri = format!("/crm/opportunities/3?i=acme&apitoken={}", wallet.key);
    let call = world.call("POST", &uri).json(&page(number, 10, more));
    call.send().await
}

fn is_lower_bound(answer: &Answer) -> bool {
    answer
        .headers
        .get("x-total-relation")
        .is_some_and(|value| value == "gte")
}

/// C-43: a word of so many titles that neither these nor the lists fit the budget.
#[tokio::test]
async fn a_search_of_frequent_titles_shows_the_newest() {
    let world = large_opportunities().await;
    let wallet = world.known(7).await;
    // As if the column had a million opportunities, of which 700 have the word.
    let (table, pk, sk) = (world.raw(), "acme#board-total#3#0", "column#31#-");
    let mut total = table.get(pk, sk).expect("a total");
    total["n.open"] = json!({ "N": "1000000" });
    table.put(pk, sk, &total);
    allow(&world, 600).await;
    let more = json!({ "search": "pedido", "searchBy": "opportunity" });
    let answer = opportunities(&world, &wallet, 1, &more).await;
    assert_eq!(
        (answer.status.as_u16(), is_lower_bound(&answer)),
        (200, true),
        "{}",
        answer.body
    );
    assert_newest_hits(&answer, true);
    assert!(answer.cost.read_units() <= 1_600.0, "{:?}", answer.cost);
}

/// C-42, C-43: the page after one that the budget did not fill continues where that one stopped reading.
#[tokio::test]
async fn a_partial_page_is_continued() {
    let world = large_opportunities().await;
    let wallet = world.known(7).await;
    allow(&world, 600).await;
    let old =
        json!([{ "filterType": "opField", "properties": { "field": "Origem do Lead", "value": "Site" } }]);
    let more = json!({ "search": "maria", "columnId": 31, "filters": old });
    let mut pages = Vec::new();
    for number in 1..=4 {
        let answer = opportunities(&world, &wallet, number, &more).await;
        let found = answer.body.as_array().expect("opportunities").iter();
        pages.push(
            found
                .map(|one| one["id"].as_u64().expect("an id"))
                .collect::<Vec<_>>(),
        );
        if !is_lower_bound(&answer) {
            break;
        }
    }
    assert!(pages.len() > 1 && pages[0].is_empty(), "{pages:?}");
    assert_eq!(pages.concat(), [5, 4, 3, 2, 1]);
}

/// C-43, C-86: on endpoint 10, whose body is fixed, a search answers the newest hits that it could read; other filters are
/// refused. Filters by lists reduce the cost.
#[tokio::test]
async fn opportunities_beyond_the_budget_are_rejected() {
    let world = large_opportunities().await;
    let wallet = world.known(7).await;
    let ask = async |more: Value| opportunities(&world, &wallet, 1, &more).await;
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
            assert_eq!(is_lower_bound(&answer), is_partial, "{units} {more}");
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
