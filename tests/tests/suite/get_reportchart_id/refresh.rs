//! Stored results: when they are refreshed, and that readers always get a consistent one.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use dynamodb::faults::{Fault, FaultPlan};
use serde_json::{Value, json};
use shared::instance::InstanceName;
use tests::reports::{add_reports, chart, plotted, report};
use tests::world::{at, over_sdk};
use tests::{Wallet, World};

use super::{add_calls, call};
use crate::faults::always;

const DAYS: &str = "from=2026-09-01&to=2026-10-31";

/// The `number`th calls in September and in October.
async fn add_pair(world: &World, number: u64) {
    let september = call(2 * number, "2026-09-10T12:00:00Z", &Value::Null);
    add_calls(
        world,
        [
            september,
            call(2 * number + 1, "2026-10-10T12:00:00Z", &Value::Null),
        ],
    )
    .await;
}

/// A world with report 1, calls by month, and a pair of calls.
async fn world() -> (World, Wallet) {
    let world = World::new().await;
    add_reports(
        &world.operator("acme"),
        [report(1, &json!({ "groupBy": "month" }))],
    )
    .await;
    add_pair(&world, 1).await;
    let wallet = world.wallet(14).await;
    (world, wallet)
}

async fn refresh(world: &World) -> u64 {
    world.store.refresh_reports().await.expect("they are refreshed")
}

/// The two months' counts and `generatedAt`.
async fn shown(world: &World, wallet: &Wallet) -> Value {
    let answer = chart(world, wallet, 1, DAYS).await;
    json!([plotted(&answer)[1], answer.body["data"]["report"]["generatedAt"]])
}

/// Number of stored parts, referenced or not.
async fn parts(world: &World) -> usize {
    let acme = InstanceName::parse("acme").expect("a name");
    let items = world.store.dump(&acme).await.expect("the items can be read");
    items
        .iter()
        .filter(|item| item.contains("acme#report-data#1") && !item.contains("generatedAt"))
        .count()
}

fn later(world: &World, seconds: u32) {
    world.clock.set(world.clock.get().plus_seconds(seconds));
}

/// C-61, C-12: a report shows the state at `generatedAt`, and is refreshed every six hours.
#[tokio::test]
async fn results_are_kept_for_six_hours() {
    let (world, wallet) = world().await;
    assert_eq!(refresh(&world).await, 1);
    let first = json!([[1, 1], "2026-11-21T12:00:00.000Z"]);
    add_pair(&world, 2).await;
    later(&world, 6 * 3600 - 1);
    assert_eq!((refresh(&world).await, shown(&world, &wallet).await), (0, first));
    later(&world, 1);
    maintenance::tend(&world.store).await.expect("it is tended");
    assert_eq!(
        shown(&world, &wallet).await,
        json!([[2, 2], "2026-11-21T18:00:00.000Z"])
    );
    assert_eq!((refresh(&world).await, parts(&world).await), (0, 2));
    world.is_sound().await;
}

/// Results for another query or zone are stale: the report is computed until it is refreshed. A new name
/// changes nothing.
#[tokio::test]
async fn a_changed_definition_or_zone_applies_at_once() {
    let (world, wallet) = world().await;
    let operator = world.operator("acme");
    refresh(&world).await;
    later(&world, 60);
    let named = report(1, &json!({ "groupBy": "month", "name": "Outro", "type": "line" }));
    add_reports(&operator, [named]).await;
    let answer = chart(&world, &wallet, 1, DAYS).await;
    let told = &answer.body["data"]["report"];
    assert_eq!(
        json!([
            told["name"],
            told["type"],
            told["series"][0]["name"],
            told["generatedAt"]
        ]),
        json!(["Outro", "line", "Outro", "2026-11-21T12:00:00.000Z"])
    );
    assert_eq!(refresh(&world).await, 0);
    add_reports(
        &operator,
        [report(1, &json!({ "groupBy": "month", "measure": "sum" }))],
    )
    .await;
    let changed = json!([[60, 60], "2026-11-21T12:01:00.000Z"]);
    assert_eq!(shown(&world, &wallet).await, changed);
    assert_eq!(
        (refresh(&world).await, shown(&world, &wallet).await),
        (1, changed)
    );
    later(&world, 60);
    add_calls(&world, [call(9, "2026-11-01T02:00:00Z", &Value::Null)]).await;
    tests::people::set(&operator, "timezone", &json!("America/Sao_Paulo")).await;
    let moved = json!([[60, 120], "2026-11-21T12:02:00.000Z"]);
    assert_eq!(shown(&world, &wallet).await, moved);
    assert_eq!((refresh(&world).await, shown(&world, &wallet).await), (1, moved));
    assert_eq!(refresh(&world).await, 0);
}

#[tokio::test]
async fn unchanged_months_are_not_written() {
    let _sdk = over_sdk();
    let (world, wallet) = world().await;
    refresh(&world).await;
    let written = Arc::new(AtomicUsize::new(0));
    for (more, expected) in [(None, 0), (Some("2026-10-11T12:00:00Z"), 1)] {
        add_calls(&world, more.map(|time| call(9, time, &Value::Null))).await;
        later(&world, 6 * 3600);
        let seen = Arc::clone(&written);
        let plan: FaultPlan = Arc::new(move |operation| {
            seen.fetch_add(usize::from(operation == "PutItem"), Ordering::Relaxed);
            None
        });
        written.store(0, Ordering::Relaxed);
        let counting = world.faulty(plan);
        assert_eq!(counting.refresh_reports().await.expect("they are refreshed"), 1);
        assert_eq!(
            (written.load(Ordering::Relaxed), parts(&world).await),
            (expected, 2)
        );
    }
    assert_eq!(plotted(&chart(&world, &wallet, 1, DAYS).await)[1], json!([1, 2]));
}

/// A refresh interrupted at any write leaves the previous result; the next one deletes its parts.
#[tokio::test]
async fn interrupted_refreshes_keep_the_previous_result() {
    let _sdk = over_sdk();
    let (world, wallet) = world().await;
    refresh(&world).await;
    let before = json!([[1, 1], "2026-11-21T12:00:00.000Z"]);
    add_pair(&world, 2).await;
    later(&world, 6 * 3600);
    let second_put = || -> FaultPlan {
        let puts = AtomicUsize::new(0);
        Arc::new(move |operation| {
            let cut = operation == "PutItem" && puts.fetch_add(1, Ordering::Relaxed) > 0;
            cut.then_some(Fault::FailedBefore)
        })
    };
    for plan in [
        always("Query", Fault::FailedBefore),
        always("GetItem", Fault::Throttled),
        always("PutItem", Fault::FailedBefore),
        always("PutItem", Fault::FailedAfter),
        second_put(),
        always("TransactWriteItems", Fault::FailedBefore),
    ] {
        let cut = world.faulty(plan);
        assert!(cut.refresh_reports().await.is_err());
        assert_eq!(shown(&world, &wallet).await, before);
    }
    assert!(parts(&world).await > 2, "parts that no head names");
    assert_eq!(refresh(&world).await, 1);
    assert_eq!(
        shown(&world, &wallet).await,
        json!([[2, 2], "2026-11-21T18:00:00.000Z"])
    );
    assert_eq!(parts(&world).await, 2);
    // The head was written without a response: the new result is valid, and the old parts are deleted by the
    // next refresh.
    add_pair(&world, 3).await;
    later(&world, 6 * 3600);
    // The first transaction claims the scan.
    let head: FaultPlan = {
        let met = AtomicUsize::new(0);
        Arc::new(move |operation| {
            let unheard =
                operation == "TransactWriteItems" && (1..5).contains(&met.fetch_add(1, Ordering::Relaxed));
            unheard.then_some(Fault::FailedAfter)
        })
    };
    let unheard = world.faulty(head);
    let _ = unheard.refresh_reports().await;
    assert_eq!(
        shown(&world, &wallet).await,
        json!([[3, 3], "2026-11-22T00:00:00.000Z"])
    );
    later(&world, 6 * 3600);
    assert_eq!((refresh(&world).await, parts(&world).await), (1, 2));
}

/// One of them counts, and nothing is damaged.
#[tokio::test]
async fn one_of_concurrent_refreshes_counts() {
    let (world, wallet) = world().await;
    for round in 2..8 {
        let stores = [0; 4].map(|_| world.store.elsewhere());
        let refreshes = stores.iter().map(shared::store::Store::refresh_reports);
        let done = futures_util::future::try_join_all(refreshes)
            .await
            .expect("they are refreshed");
        assert!(done.iter().sum::<u64>() >= 1, "{done:?}");
        let counts = &shown(&world, &wallet).await[0];
        assert_eq!(*counts, json!([round - 1, round - 1]));
        add_pair(&world, round).await;
        later(&world, 6 * 3600);
    }
    assert_eq!((refresh(&world).await, parts(&world).await), (1, 2));
    assert_eq!(shown(&world, &wallet).await[0], json!([7, 7]));
}

/// Runs that continue after their claims expired: one result counts.
#[tokio::test]
async fn runs_without_a_claim_do_no_damage() {
    let _sdk = over_sdk();
    let (world, wallet) = world().await;
    let clock = world.clock.clone();
    // Each write of a checkpoint or a head takes longer than a claim.
    let slow: FaultPlan = Arc::new(move |operation| {
        if operation == "TransactWriteItems" {
            clock.set(clock.get().plus_seconds(361));
        }
        None
    });
    for round in 2..6 {
        let stores = [0; 4].map(|_| world.elsewhere().faulty(Arc::clone(&slow)));
        let refreshes = stores.iter().map(shared::store::Store::refresh_reports);
        let done = futures_util::future::try_join_all(refreshes)
            .await
            .expect("they are refreshed");
        assert_eq!(done.iter().sum::<u64>(), 1, "{done:?}");
        assert_eq!(shown(&world, &wallet).await[0], json!([round - 1, round - 1]));
        add_pair(&world, round).await;
        later(&world, 6 * 3600);
    }
}

/// Readers get one of the results, never a mixture.
#[tokio::test]
async fn concurrent_readers_get_one_consistent_result() {
    let (world, wallet) = world().await;
    refresh(&world).await;
    let writing = async {
        for number in 2..12 {
            add_pair(&world, number).await;
            later(&world, 6 * 3600);
            assert_eq!(refresh(&world).await, 1);
        }
    };
    let reading = async {
        let mut seen = 0;
        while seen < 11 {
            let shown = shown(&world, &wallet).await;
            let counts = shown[0].as_array().expect("two months");
            assert_eq!(counts[0], counts[1], "{shown}");
            assert!(counts[0].as_u64().expect("a count") >= seen, "{shown}");
            seen = counts[0].as_u64().expect("a count");
        }
    };
    tokio::join!(writing, reading);
}

/// A failure of one instance does not affect others, and nothing is refreshed that is not due.
#[tokio::test]
async fn failures_of_one_instance_do_not_affect_others() {
    let (world, _) = world().await;
    tests::people::settle(&world.operator("other-shop")).await;
    assert_eq!((refresh(&world).await, refresh(&world).await), (1, 0));
    add_reports(&world.operator("other-shop"), [report(1, &Value::Null)]).await;
    world.clock.set(at("2026-11-21T18:00:00Z"));
    assert_eq!(refresh(&world).await, 2);
}

/// A report with too many groups is not retried every time, and its error says how to fix it.
#[tokio::test]
async fn too_large_results_are_not_retried() {
    let world = World::own().await;
    tests::people::settle(&world.operator("acme")).await;
    add_reports(&world.operator("acme"), [report(1, &Value::Null)]).await;
    let wallet = world.wallet(14).await;
    refresh(&world).await;
    let table = world.raw();
    let mut head = table.get("acme#report-data#1", "head").expect("a head");
    head["tooLarge"] = json!({ "N": "1" });
    table.put("acme#report-data#1", "head", &head);
    let details = "report_id: the report has too many groups; its definition must filter them";
    let refused = json!({ "error": "Invalid request", "details": details });
    assert_eq!(refresh(&world).await, 0);
    chart(&world, &wallet, 1, DAYS).await.is(400, &refused);
}
