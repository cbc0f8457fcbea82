//! Creations and moves that meet conflicts at totals and daily counts, which then have shards.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use dynamodb::faults::Fault;
use futures_util::future::join_all;
use serde_json::{Value, json};
use tests::sales::{add_opportunities, page, plain_opportunity};
use tests::world::over_sdk;
use tests::{ACME, Wallet, World};

use super::shop;

const IMPORTED: u64 = 600;
const TASKS: u64 = 8;
const MADE_BY_EACH: u64 = 12;

/// A shop in which every third transaction meets a conflict at all of its items.
async fn crowded() -> World {
    let attempts = AtomicUsize::new(0);
    let plan = move |operation: &str| {
        let is_crowded = || attempts.fetch_add(1, Ordering::Relaxed).is_multiple_of(3);
        (operation == "TransactWriteItems" && is_crowded()).then_some(Fault::Crowded)
    };
    shop().await.with_faults(Arc::new(plan))
}

async fn board(world: &World, wallet: &Wallet, agent: &str, body: &Value) -> Value {
    let uri = format!("/crm/opportunities/3?i=acme&apitoken={}", wallet.key);
    let call = world.call("POST", &uri).header("user-agent", agent).json(body);
    let answer = call.send().await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer.body
}

/// The totals of columns 31 and 32.
async fn totals(world: &World, wallet: &Wallet, filter: &Value) -> [Value; 2] {
    let board = board(world, wallet, "totals", &page(1, 1, filter)).await;
    [31, 32].map(|id| {
        let mut columns = board.as_array().expect("columns").iter();
        let column = columns.find(|column| column["id"] == id).expect("the column");
        column["total"].clone()
    })
}

/// Creates opportunities, and moves every third one.
async fn create(world: &World, wallet: &Wallet, user: u64) {
    for number in 0..MADE_BY_EACH {
        let body =
            json!({ "title": "Nova", "crm_column": 31, "lead_id": 1001, "user": user, "value": "2.50" });
        let made = world.call("POST", "/crmopportunity?id=3&i=acme").with(wallet);
        let made = made.json(&body).send().await;
        assert_eq!(made.status, 200, "{}", made.body);
        if number % 3 == 0 {
            let uri = format!("/crmopportunity/{}?id=3&i=acme", made.body["id"]);
            let moved = world.call("PUT", &uri).with(wallet);
            let moved = moved
                .json(&json!({ "crm_column": 32, "status": "gain" }))
                .send()
                .await;
            assert_eq!(moved.status, 200, "{}", moved.body);
        }
    }
}

/// Creates leads of an owner, and archives every third one.
async fn create_leads(world: &World, wallet: &Wallet) {
    for number in 0..MADE_BY_EACH {
        let made = world.call("POST", "/leads?i=acme").with(wallet);
        let made = made
            .json(&json!({ "firstname": "Nova", "owner": 8 }))
            .send()
            .await;
        assert_eq!(made.status, 200, "{}", made.body);
        if number % 3 == 0 {
            let uri = format!("/lead/archive?i=acme&apitoken={}", wallet.key);
            let archive = json!({ "id": made.body["id"], "archived": true });
            let archived = world.call("POST", &uri).json(&archive).send().await;
            assert_eq!(archived.status, 200, "{}", archived.body);
        }
    }
}

/// The shards of totals and daily counts.
fn shards(world: &World) -> Vec<Value> {
    let items = world.raw().items().into_iter();
    let is_shard = |item: &Value| item["sk"]["S"].as_str().is_some_and(|sort| sort.contains('~'));
    items.filter(is_shard).collect()
}

/// C-12, C-45: no contribution is lost or counted twice, in boards, pages at an offset and for the doctor.
#[tokio::test]
async fn contested_totals_are_exact() {
    let _sdk = over_sdk();
    let world = crowded().await;
    let stock =
        (1..=IMPORTED).map(|id| plain_opportunity(id, 8 + id % 3, u32::try_from(id * 600).expect("small")));
    add_opportunities(&world.operator(ACME), stock.collect()).await;
    let wallet = world.wallet(7).await;
    join_all((0..TASKS).map(|task| create(&world, &wallet, 8 + task % 3))).await;
    let stored = shards(&world);
    let is_of = |item: &&Value, part: &str| item.to_string().contains(part);
    for part in ["#board-rank#3#31#0", "column#31#", "user#8#3#", "column#32#"] {
        assert!(stored.iter().any(|item| is_of(&item, part)), "{part}: {stored:?}");
    }
    let negative = |item: &&Value| item.to_string().contains(r#""N":"-"#);
    assert!(stored.iter().any(|item| negative(&item)), "{stored:?}");
    let moved = TASKS * MADE_BY_EACH / 3;
    let (made, of_one) = (TASKS * MADE_BY_EACH, 3 * MADE_BY_EACH);
    let expected = [
        (json!({}), [IMPORTED + made - moved, moved]),
        (
            json!({ "filterByUsers": [8] }),
            [IMPORTED / 3 + of_one - of_one / 3, of_one / 3],
        ),
        (
            json!({ "filterByUsers": [8, 9, 10], "filterByStatus": ["open"] }),
            [IMPORTED + made - moved, 0],
        ),
    ];
    // From the 162nd on of those imported, all in days that are counted, but for a part of the first one.
    let dated = json!({ "filterByCreateDate": { "start": "2026-01-02T03:00:00Z" } });
    let (since, left) = (IMPORTED - 161, made - moved);
    let cents = (162..=IMPORTED).map(|id| id * 100 + 1).sum::<u64>() + 250 * left;
    let of_dates = [
        json!(since + left),
        json!(format!("{}.{:02}", cents / 100, cents % 100)),
    ];
    let exact = async || {
        for world in [&world, &world.elsewhere()] {
            for (filter, counts) in &expected {
                let counts = counts.map(|count| json!(count));
                assert_eq!(totals(world, &wallet, filter).await, counts, "{filter}");
            }
            let board = board(world, &wallet, "dates", &page(1, 1, &dated)).await;
            assert_eq!(
                [&board[0]["total"], &board[0]["totalValue"]],
                [&of_dates[0], &of_dates[1]]
            );
            // The oldest are those imported first, beyond what is skipped.
            let body = page(23, 25, &json!({ "columnId": 31 }));
            let shown = self::board(world, &wallet, "alone", &body).await;
            let before = 22 * 25 - (made - moved);
            assert_eq!(shown[0]["id"], IMPORTED - before);
            world.is_sound().await;
        }
    };
    exact().await;
    let mut wrong = stored[0].clone();
    let (pk, sk) = (wrong["pk"]["S"].clone(), wrong["sk"]["S"].clone());
    wrong["n.later"] = json!({ "N": "5" });
    world
        .raw()
        .put(pk.as_str().expect("a key"), sk.as_str().expect("a key"), &wrong);
    let repaired = world
        .operator(ACME)
        .doctor(true, &|_| {})
        .await
        .expect("a diagnosis");
    assert_eq!(
        (repaired.differences.len(), repaired.remaining),
        (1, 0),
        "{repaired:?}"
    );
    assert!(shards(&world).len() < stored.len());
    exact().await;
}

/// C-42: pages of viewers of all and of their own are exact while opportunities leave and enter the column that are
/// older than the page, also after conflicts, if daily counts and totals have shards.
#[tokio::test]
async fn far_pages_are_exact_during_moves() {
    let _sdk = over_sdk();
    let world = crowded().await;
    let stock = (1..=IMPORTED).map(|id| {
        let user = if id % 10 == 0 { 9 } else { 8 };
        plain_opportunity(id, user, u32::try_from(id * 14_400).expect("small"))
    });
    add_opportunities(&world.operator(ACME), stock.collect()).await;
    let (admin, own) = (world.wallet(7).await, world.wallet(8).await);
    let over = AtomicBool::new(false);
    let moves = (1..=TASKS).map(async |task| {
        for id in [task, task + 10, task + 20] {
            for column in [32, 31] {
                let body = json!({ "crm_column": column });
                let moved = super::put(&world, &admin, id, &body).await;
                assert_eq!(moved.status, 200, "{}", moved.body);
            }
        }
    });
    let moves = async {
        join_all(moves).await;
        over.store(true, Ordering::Relaxed);
    };
    let reads = [(&admin, 1), (&own, 10)].map(async |(wallet, of)| {
        let seen = (1..=IMPORTED).rev().filter(|id| of == 1 || id % of != 0);
        let expected: Vec<_> = seen.skip(500).take(3).collect();
        let mut round = 0;
        while !over.load(Ordering::Relaxed) || round < 2 {
            round += 1;
            for (at, id) in (501..).zip(&expected) {
                let body = page(at, 1, &json!({ "columnId": 31 }));
                let shown = board(&world, wallet, &format!("{round} {at}"), &body).await;
                assert_eq!(shown[0]["id"], *id, "{round} {at}");
            }
        }
        round
    });
    let ((), rounds) = tokio::join!(moves, join_all(reads));
    println!("{rounds:?} rounds");
    let stored = shards(&world);
    for part in ["#board-rank#3#31#0", "column#31#"] {
        assert!(
            stored.iter().any(|item| item.to_string().contains(part)),
            "{part}"
        );
    }
    world.is_sound().await;
}

/// C-12: the number of leads is exact for viewers of all and of an owner's leads, and for the doctor.
#[tokio::test]
async fn contested_totals_of_leads_are_exact() {
    let _sdk = over_sdk();
    let world = crowded().await;
    let wallet = world.wallet(7).await;
    let count = async |world: &World, archived: bool| {
        let uri = format!("/leads?i=acme&limit=1&archived={archived}");
        let listed = world.get(&uri).with(&wallet).send().await;
        listed.body["data"]["total"].as_u64().expect("a number")
    };
    let before = [count(&world, false).await, count(&world, true).await];
    join_all((0..TASKS).map(|_| create_leads(&world, &wallet))).await;
    let stored = shards(&world);
    for part in ["#lead-total#0", "#lead-total#1"] {
        let has = |item: &Value| item["pk"]["S"].as_str().is_some_and(|pk| pk.ends_with(part));
        assert!(stored.iter().any(has), "{part}: {stored:?}");
    }
    let (made, archived) = (TASKS * MADE_BY_EACH, TASKS * MADE_BY_EACH / 3);
    for world in [&world, &world.elsewhere()] {
        let after = [count(world, false).await, count(world, true).await];
        assert_eq!(after, [before[0] + made - archived, before[1] + archived]);
        world.is_sound().await;
    }
}
