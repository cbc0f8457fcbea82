//! A refresh that exceeds the time of a run: the next run continues, every record counts once despite
//! changes, and no instance is starved.

use std::sync::Arc;

use dynamodb::faults::{Fault, FaultPlan};
use serde_json::{Value, json};
use shared::store::Store;
use tests::reports::{add_reports, chart, plotted, report};
use tests::world::over_sdk;
use tests::{Wallet, World};

use super::{add_calls, call};
use crate::faults::{behind, either};

/// Three pages of records.
const CALLS: u64 = 2_300;
const DAY: &str = "from=2026-11-20&to=2026-11-20";

/// A world with this number of calls on a day, all in one partition.
async fn settle(world: &World, calls: u64) -> Wallet {
    let ids: Vec<_> = (1..=calls).map(|n| 4 * n).collect();
    for ids in ids.chunks(200) {
        let calls = ids
            .iter()
            .map(|id| call(*id, "2026-11-20T12:00:00Z", &Value::Null));
        add_calls(world, calls).await;
    }
    world.wallet(14).await
}

/// A world whose report 1 counts 2,300 calls by day.
async fn many() -> (World, Wallet) {
    let world = World::own().await;
    tests::people::settle(&world.operator("acme")).await;
    add_reports(&world.operator("acme"), [report(1, &Value::Null)]).await;
    let wallet = settle(&world, CALLS).await;
    (world, wallet)
}

/// Each query takes 36 seconds: a run has time for the instances, their reports and one page of records, which is a query of
/// each of five partitions.
fn slow(world: &World) -> FaultPlan {
    let clock = world.clock.clone();
    Arc::new(move |operation| {
        if operation == "Query" {
            clock.set(clock.get().plus_seconds(36));
        }
        None
    })
}

async fn refresh(store: &Store) -> u64 {
    store.refresh_reports().await.expect("they are refreshed")
}

/// Number of the instance's items with this text in the key.
async fn items(world: &World, of: &str) -> usize {
    let acme = shared::instance::InstanceName::parse("acme").expect("a name");
    let items = world.store.dump(&acme).await.expect("the items can be read");
    items.iter().filter(|item| item.contains(of)).count()
}

/// The count of the day, from the stored result only.
async fn stored(world: &World, wallet: &Wallet, id: u64) -> Value {
    world.meet(wallet).await;
    let answer = chart(world, wallet, id, DAY).await;
    assert_eq!(answer.cost.round_trips, 1, "there is a stored result");
    json!([plotted(&answer)[2], answer.body["data"]["report"]["generatedAt"]])
}

/// C-61: runs continue each other's scans, and each record is read once.
#[tokio::test]
async fn an_unfinished_scan_is_continued() {
    let _sdk = over_sdk();
    let (world, wallet) = many().await;
    let counted = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let seen = Arc::clone(&counted);
    let counting: FaultPlan = Arc::new(move |operation| {
        seen.fetch_add(
            usize::from(operation == "Query"),
            std::sync::atomic::Ordering::Relaxed,
        );
        None
    });
    let hurried = world.faulty(either(counting, slow(&world)));
    for (done, queries) in [(0, 6), (0, 6), (1, 9)] {
        counted.store(0, std::sync::atomic::Ordering::Relaxed);
        assert_eq!(refresh(&hurried).await, done);
        assert_eq!(counted.load(std::sync::atomic::Ordering::Relaxed), queries);
    }
    // Its time is the start of the scan, after the queries of instances and reports.
    assert_eq!(
        stored(&world, &wallet, 1).await,
        json!([CALLS, "2026-11-21T12:01:12.000Z"])
    );
    assert_eq!(
        (items(&world, "#report-walk").await, refresh(&world.store).await),
        (0, 0)
    );
}

/// A run that dies after writing drafts: no other run continues until its claim expires, and then its drafts
/// are not added.
#[tokio::test]
async fn drafts_of_a_dead_run_are_not_counted() {
    let _sdk = over_sdk();
    let (world, wallet) = many().await;
    let hurried = world.faulty(slow(&world));
    assert_eq!(refresh(&hurried).await, 0);
    assert_eq!(items(&world, "#report-draft").await, 1);
    let dies = behind("TransactWriteItems", Fault::FailedBefore, 1);
    let dying = world.faulty(either(slow(&world), dies));
    assert!(dying.refresh_reports().await.is_err());
    assert_eq!(items(&world, "#report-draft").await, 2);
    assert_eq!(refresh(&world.store).await, 0);
    world.clock.set(world.clock.get().plus_seconds(6 * 60));
    assert_eq!(refresh(&world.store).await, 1);
    assert_eq!(stored(&world, &wallet, 1).await[0], CALLS);
}

#[tokio::test]
async fn a_failed_slice_is_released_at_once() {
    let _sdk = over_sdk();
    let (world, wallet) = many().await;
    let hurried = world.faulty(slow(&world));
    assert_eq!(refresh(&hurried).await, 0);
    let failing = world.faulty(behind("PutItem", Fault::FailedBefore, 0));
    assert!(failing.refresh_reports().await.is_err());
    assert_eq!(refresh(&world.store).await, 1);
    assert_eq!(stored(&world, &wallet, 1).await[0], CALLS);
}

/// Of reports in one scan one changes: that one is computed again from the first record.
#[tokio::test]
async fn a_report_changed_during_its_scan_is_computed_again() {
    let _sdk = over_sdk();
    let (world, wallet) = many().await;
    let operator = world.operator("acme");
    add_reports(&operator, [report(2, &json!({ "measure": "sum" }))]).await;
    let hurried = world.faulty(slow(&world));
    assert_eq!(refresh(&hurried).await, 0);
    let unanswered = json!({ "measure": "sum", "filters": { "status": "INCOMPLETE" } });
    add_reports(&operator, [report(2, &unanswered)]).await;
    assert_eq!(refresh(&world.store).await, 2);
    assert_eq!(
        stored(&world, &wallet, 1).await,
        json!([CALLS, "2026-11-21T12:01:12.000Z"])
    );
    assert_eq!(stored(&world, &wallet, 2).await[0], 0);
}

/// A result is of one time.
#[tokio::test]
async fn old_scans_are_restarted() {
    let _sdk = over_sdk();
    let (world, wallet) = many().await;
    let hurried = world.faulty(slow(&world));
    assert_eq!(refresh(&hurried).await, 0);
    world.clock.set(world.clock.get().plus_seconds(6 * 3600));
    let now = world.clock.get();
    assert_eq!(refresh(&world.store).await, 1);
    assert_eq!(stored(&world, &wallet, 1).await, json!([CALLS, now]));
}

#[tokio::test]
async fn more_reports_than_one_scan_allows_are_all_stored() {
    let world = World::new().await;
    let wallet = settle(&world, 3).await;
    let reports: Vec<_> = (1..=40).map(|id| report(id, &Value::Null)).collect();
    add_reports(&world.operator("acme"), reports).await;
    assert_eq!(refresh(&world.store).await, 40);
    for id in [1, 16, 17, 40] {
        assert_eq!(stored(&world, &wallet, id).await[0], 3);
    }
}

/// An instance with an unreadable record uses all the time repeatedly: others still have their turn.
#[tokio::test]
async fn a_slow_instance_does_not_starve_others() {
    let _sdk = over_sdk();
    let (world, _) = many().await;
    tests::people::settle(&world.operator("other-shop")).await;
    let leads = json!({ "entity": "leads" });
    add_reports(&world.operator("other-shop"), [report(1, &leads)]).await;
    let table = world.raw();
    table.put("acme#call", "000000000000007", &json!({ "id": { "S": "?" } }));
    let hurried = world.faulty(slow(&world));
    let other = world.wallet_of("other-shop", 14).await;
    let mut round = 0;
    loop {
        let _ = hurried.refresh_reports().await;
        world.get("/leads/x?i=other-shop").with(&other).send().await;
        let uri = format!("/reportchart/1?i=other-shop&apitoken={}", other.key);
        if world.get(&uri).send().await.cost.round_trips == 1 {
            break;
        }
        round += 1;
        assert!(round < 60, "it never has a turn");
    }
}

/// Unreadable records are skipped by a refresh, and the doctor names them.
#[tokio::test]
async fn unreadable_records_are_skipped() {
    let world = World::own().await;
    tests::people::settle(&world.operator("acme")).await;
    let leads = report(1, &json!({ "entity": "leads" }));
    add_reports(&world.operator("acme"), [leads, report(2, &Value::Null)]).await;
    let wallet = settle(&world, 3).await;
    let broken = json!({ "id": { "S": "?" } });
    world.raw().put("acme#lead", "000000000000001", &broken);
    assert_eq!(chart(&world, &wallet, 1, DAY).await.status, 500);
    assert_eq!(refresh(&world.store).await, 2);
    assert_eq!(stored(&world, &wallet, 2).await[0], 3);
    assert_eq!(chart(&world, &wallet, 1, DAY).await.status, 200);
    let seen = world.operator("acme").doctor(false, &|_| {}).await;
    let found = seen.expect("the doctor comes to an end").differences;
    assert!(
        found
            .iter()
            .any(|found| found.item == "acme#lead 000000000000001")
    );
}

/// A result with more parts than its head can name is too large; requests for centuries are rejected at the
/// cost of a decade.
#[tokio::test]
async fn results_of_centuries_are_too_large() {
    let world = World::new().await;
    add_reports(
        &world.operator("acme"),
        [
            report(1, &Value::Null),
            report(2, &json!({ "filters": { "user": 7 } })),
        ],
    )
    .await;
    let wallet = world.wallet(14).await;
    let mut next = 0;
    for (months, status) in [(2_500, 200), (2_501, 400)] {
        let ids: Vec<_> = (next..months).collect();
        for ids in ids.chunks(200) {
            let on = |id: &u64| format!("{:04}-{:02}-15T12:00:00Z", 1901 + id / 12, 1 + id % 12);
            let calls = ids.iter().map(|id| call(1 + *id, &on(id), &Value::Null));
            add_calls(&world, calls).await;
        }
        next = months;
        world.clock.set(world.clock.get().plus_seconds(6 * 3600));
        assert_eq!(refresh(&world.store).await, 2);
        world.meet(&wallet).await;
        let answer = chart(&world, &wallet, 1, "from=1901-01-01&to=1901-12-31").await;
        assert_eq!(answer.status, status, "{}", answer.body);
        assert_eq!(answer.cost.round_trips, 1);
        assert_eq!(plotted(&chart(&world, &wallet, 2, "to=1901-12-31").await)[2], 0);
        // The head alone has about 300 KB; the parts of all months about as much.
        let far = chart(&world, &wallet, 1, "from=1901-01-01").await;
        assert_eq!(far.status, 400);
        assert!(far.cost.read_units() < 100.0, "{:?}", far.cost);
    }
    let details = "report_id: the report has too many groups; its definition must filter them";
    let refused = json!({ "error": "Invalid request", "details": details });
    chart(&world, &wallet, 1, DAY).await.is(400, &refused);
}

/// The scan restarts, and counts every record once.
#[tokio::test]
async fn unreadable_drafts_restart_the_scan() {
    let _sdk = over_sdk();
    let (world, wallet) = many().await;
    let hurried = world.faulty(slow(&world));
    assert_eq!(refresh(&hurried).await, 0);
    let table = world.raw();
    let partition = "acme#report-draft#1";
    let items = table.items();
    let drafts: Vec<_> = items.iter().filter(|item| item["pk"]["S"] == partition).collect();
    assert!(!drafts.is_empty());
    for draft in drafts {
        let sk = draft["sk"]["S"].as_str().expect("a key");
        table.put(partition, sk, &json!({ "days": { "N": "1" } }));
    }
    assert_eq!((refresh(&world.store).await, refresh(&world.store).await), (0, 1));
    assert_eq!(stored(&world, &wallet, 1).await[0], json!(CALLS));
}
