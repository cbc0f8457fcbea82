//! Concurrent changes of one opportunity (endpoint 8): all survive (C-31).

use std::collections::BTreeMap;

use futures_util::future::join_all;
use serde_json::{Value, json};
use tests::sales::{FIELDS, add_opportunities, plain_opportunity};
use tests::world::over_sdk;
use tests::{ACME, Wallet, World};

use super::{FAILED, bad_moments, persist, put, records, shop};

const ROUNDS: u64 = 10;

/// Eight changes of different fields.
fn changes(round: u64) -> [Value; 8] {
    let (text, statuses) = (format!("Rodada {round}"), ["open", "gain", "lost"]);
    [
        json!({ "title": text }),
        json!({ "value": round * 10 }),
        json!({ "status": statuses[usize::try_from(round % 3).expect("small")] }),
        json!({ "crm_column": 31 + round % 3 }),
        json!({ "user": 7 + round % 4 }),
        json!({ "sequence": round }),
        json!({ "fields": { (FIELDS[0]): text } }),
        json!({ "fields": { (FIELDS[1]): round } }),
    ]
}

/// Opportunity 1, and credentials for each of eight callers.
async fn desk() -> (World, Vec<Wallet>) {
    let world = shop().await;
    add_opportunities(&world.operator(ACME), vec![plain_opportunity(1, 7, 0)]).await;
    let mut wallets = Vec::new();
    for _ in 0..8 {
        wallets.push(world.wallet(7).await);
    }
    (world, wallets)
}

/// Requires every field of `changes` in a record.
#[track_caller]
fn holds(record: &Value, changes: &[Value]) {
    for (name, value) in changes.iter().filter_map(Value::as_object).flatten() {
        match value.as_object() {
            Some(fields) => fields.iter().for_each(|(field, value)| {
                assert_eq!(&record["fields"][field], value, "{field}");
            }),
            None => assert_eq!(&record[name], value, "{name}"),
        }
    }
}

async fn storm(world: &World, wallets: &[Wallet]) -> usize {
    let mut failures = 0;
    for round in 1..=ROUNDS {
        world.clock.set(world.clock.get().plus_seconds(1));
        let changes = changes(round);
        let calls = wallets.iter().zip(&changes).map(async |(wallet, change)| {
            let (answer, failures) = persist(async || put(world, wallet, 1, change).await, FAILED[1]).await;
            assert_eq!(answer.status, 200, "{change}: {}", answer.body);
            holds(&answer.body["data"], std::slice::from_ref(change));
            failures
        });
        failures += join_all(calls).await.iter().sum::<usize>();
        let (answer, _) = persist(async || put(world, &wallets[0], 1, &json!({})).await, FAILED[1]).await;
        holds(&answer.body["data"], &changes);
    }
    world.is_sound().await;
    failures
}

/// No change is lost, and no conflict is reported.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn eight_concurrent_changes_of_different_fields_all_survive() {
    let (world, wallets) = desk().await;
    assert_eq!(storm(&world, &wallets).await, 0, "no caller saw a failure");
}

/// A third of all attempts fails; callers repeat failed requests.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn eight_concurrent_changes_survive_despite_faults() {
    let _sdk = over_sdk();
    let (world, wallets) = desk().await;
    let world = world.with_faults(bad_moments(33));
    let failures = storm(&world, &wallets).await;
    println!("{failures} failures in {} changes", ROUNDS * 8);
}

/// Any number of callers succeed, each change based on the previous ones.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn forty_concurrent_changes_all_survive() {
    let (world, wallets) = desk().await;
    let before = records(&world).await[0].version;
    let values: Vec<u64> = (1..=40).collect();
    let calls = values.iter().map(async |value| {
        let wallet = &wallets[usize::try_from(value % 8).expect("small")];
        let answer = put(&world, wallet, 1, &json!({ "value": value })).await;
        answer.status.as_u16()
    });
    assert_eq!(join_all(calls).await, vec![200; 40]);
    let after = records(&world).await[0].version;
    assert_eq!(after - before, 40, "each change was written once");
    world.is_sound().await;
}

/// C-31: `fields` merges by name, also when callers concurrently add different names.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_changes_of_custom_fields_merge() {
    let (world, wallets) = desk().await;
    for round in 0..ROUNDS {
        let added: BTreeMap<_, _> = FIELDS[..2].iter().map(|name| (name, json!(round))).collect();
        let calls = added.iter().zip(&wallets).map(async |((name, value), wallet)| {
            let answer = put(&world, wallet, 1, &json!({ "fields": { (**name): value } })).await;
            assert_eq!(answer.status, 200, "{}", answer.body);
        });
        join_all(calls).await;
        let record = put(&world, &wallets[0], 1, &json!({})).await;
        assert_eq!(record.body["data"]["fields"], json!(added));
        let cleared = json!({ "fields": { (FIELDS[0]): null, (FIELDS[1]): null } });
        let record = put(&world, &wallets[0], 1, &cleared).await;
        assert_eq!(record.body["data"]["fields"], json!({}));
    }
    world.is_sound().await;
}

/// C-32: all callers who concurrently close an opportunity get a response; its status and dates are
/// consistent.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_closings_leave_consistent_dates() {
    let (world, wallets) = desk().await;
    for _ in 0..ROUNDS {
        let calls = ["gain", "lost"].into_iter().zip(&wallets);
        let calls = calls.map(async |(status, wallet)| {
            let answer = put(&world, wallet, 1, &json!({ "status": status })).await;
            assert_eq!(
                (answer.status.as_u16(), &answer.body["data"]["status"]),
                (200, &json!(status))
            );
        });
        join_all(calls).await;
        let record = put(&world, &wallets[0], 1, &json!({})).await.body["data"].clone();
        let dated = (record["gain_date"].is_string(), record["lost_date"].is_string());
        let expected = if record["status"] == "gain" {
            (true, false)
        } else {
            (false, true)
        };
        assert_eq!(dated, expected, "{}", record["status"]);
        put(&world, &wallets[0], 1, &json!({ "status": "open" })).await;
    }
    world.is_sound().await;
}
