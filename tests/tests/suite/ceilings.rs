//! The model of DynamoDB's limits on which the benchmark `ceilings` measures.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use dynamodb::{Api, Emulator};
use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, join_all};
use indicatif::ProgressBar;
use operator::Operator;
use operator::import::{Source, import};
use serde_json::{Value, json};
use tests::bench::ceiling::{bulk, process};
use tests::limits::{Latency, Limits, Stop};
use tests::people::{add_leads, plain_lead};
use tests::sales::open_shop;
use tests::world::{TABLE, at};
use tests::{ACME, NOW, World};
use tokio::time::{Instant, sleep};

use crate::concurrency::{post, records};

const LATENCY: Latency = Latency {
    call: Duration::from_millis(5),
    transaction: Duration::from_millis(15),
};

/// An empty table, and its limits.
async fn limited() -> (World, Arc<Limits>) {
    let emulator = Emulator::new();
    let world = World::emulated(&emulator, Arc::new(emulator.clone())).await;
    (world, Limits::new(emulator, LATENCY))
}

async fn call(limits: &Arc<Limits>, operation: &str, request: Value) -> Value {
    let request = request.to_string().into_bytes();
    let (status, answer) = limits.clone().answer(operation.to_owned(), request).await;
    let answer: Value = serde_json::from_str(&answer).expect("JSON");
    let error = answer["__type"].as_str().unwrap_or_default();
    let codes = answer["CancellationReasons"].as_array().into_iter().flatten();
    let codes: Vec<_> = codes.map(|reason| &reason["Code"]).collect();
    json!([status, error.rsplit('#').next(), codes])
}

fn key(partition: &str, sort: &str) -> Value {
    json!({ "pk": { "S": partition }, "sk": { "S": sort } })
}

fn update(sort: &str) -> Value {
    json!({ "TableName": TABLE, "Key": key("acme#a", sort), "UpdateExpression": "ADD n :by",
        "ExpressionAttributeValues": { ":by": { "N": "1" } }, "ReturnConsumedCapacity": "TOTAL" })
}

async fn transact(limits: &Arc<Limits>, sorts: &[&str]) -> Value {
    let items: Vec<_> = sorts
        .iter()
        .map(|sort| json!({ "Update": update(sort) }))
        .collect();
    let request = json!({ "TransactItems": items, "ReturnConsumedCapacity": "TOTAL" });
    call(limits, "TransactWriteItems", request).await
}

#[tokio::test(start_paused = true)]
async fn overlapping_transactions_conflict() {
    let (_world, limits) = limited().await;
    let check = json!({ "ConditionCheck": {
        "TableName": TABLE, "Key": key("acme#a", "1"), "ConditionExpression": "attribute_not_exists(pk)",
    } });
    let get = json!({ "TableName": TABLE, "Key": key("acme#a", "1") });
    let (done, conflict) = (json!([200, "", []]), "TransactionConflict");
    let answers = tokio::join!(
        transact(&limits, &["1", "2"]),
        transact(&limits, &["2", "3"]),
        transact(&limits, &["3"]),
        call(&limits, "TransactWriteItems", json!({ "TransactItems": [check] })),
        call(&limits, "UpdateItem", update("1")),
        call(&limits, "GetItem", get),
    );
    assert_eq!(answers.0, done);
    let cancelled = |codes: &[&str]| json!([400, "TransactionCanceledException", codes]);
    assert_eq!(answers.1, cancelled(&[conflict, "None"]));
    assert_eq!(answers.2, done);
    assert_eq!(answers.3, cancelled(&[conflict]));
    assert_eq!(answers.4, json!([400, "TransactionConflictException", []]));
    assert_eq!(answers.5, done);
    assert_eq!(transact(&limits, &["2", "3"]).await, done);
    let stops: Vec<_> = limits.stops().into_iter().collect();
    assert_eq!(stops, [(("a".to_owned(), Stop::Conflict), 3)]);
}

/// Also that simulated time passes without real time.
#[tokio::test(start_paused = true)]
async fn units_beyond_a_partitions_are_throttled() {
    let (_world, limits) = limited().await;
    let began = now();
    let thousand = join_all((0..999).map(|_| call(&limits, "UpdateItem", update("1")))).await;
    assert!(thousand.iter().all(|answer| answer[0] == 200));
    // Twice the units.
    assert_eq!(transact(&limits, &["1"]).await[2], json!(["ThrottlingError"]));
    let (last, one_more) = tokio::join!(
        call(&limits, "UpdateItem", update("1")),
        call(&limits, "UpdateItem", update("1"))
    );
    assert_eq!(
        (&last[0], &one_more[1]),
        (&json!(200), &json!("ThrottlingException"))
    );
    assert_eq!(began.elapsed(), 3 * LATENCY.call);
    sleep(Duration::from_secs(1)).await;
    assert_eq!(call(&limits, "UpdateItem", update("1")).await[0], 200);
}

/// Writes keys that `sort` names, 1,500 a second for three seconds. Returns how many of the last one are throttled.
async fn throttled(sort: impl Fn(u64) -> String) -> usize {
    let (_world, limits) = limited().await;
    let calls = (0..4_500_u64).map(|n| {
        let (limits, sort) = (&limits, sort(n));
        async move {
            sleep(Duration::from_micros(n * 667)).await;
            call(limits, "UpdateItem", update(&sort)).await
        }
    });
    let answers = join_all(calls).await;
    let is_throttled = |answer: &&Value| answer[1] == "ThrottlingException";
    answers[3_000..].iter().filter(is_throttled).count()
}

#[tokio::test(start_paused = true)]
async fn a_collection_is_split_unless_its_end_moves() {
    assert_eq!(throttled(|n| (n % 2).to_string()).await, 0);
    // In irregular order, as ids are taken before their transactions.
    assert!(throttled(|n| format!("{:06}", n ^ 0x1ff)).await > 400);
}

/// The service's retries and the SDK's run in simulated time.
#[tokio::test(start_paused = true)]
async fn concurrent_creations_end_on_the_model() {
    let (world, limits) = limited().await;
    tests::people::settle(&world.operator(ACME)).await;
    open_shop(&world.operator(ACME)).await;
    let wallet = world.wallet(7).await;
    let process = || world.through(process(limits.clone(), world.store.environment()));
    let processes: Vec<_> = std::iter::repeat_with(process).take(12).collect();
    let began = now();
    let body = json!({ "title": "Pedido", "crm_column": 31, "lead_id": 1001, "value": "213.20" });
    let answers = join_all(
        processes
            .iter()
            .map(|process| post(process, &wallet, None, &body)),
    )
    .await;
    assert!(answers.iter().all(|answer| answer.status == 200), "{answers:?}");
    assert!(began.elapsed() >= 12 * LATENCY.transaction);
    assert_eq!(records(&world).await.len(), 12);
    world.is_sound().await;
}

/// A process that met a conflict at a counter reserves ids from it, at the price of a call, for ten seconds (C-11).
#[tokio::test(start_paused = true)]
async fn contended_counters_do_not_stop_calls() {
    let (world, limits) = limited().await;
    tests::people::settle(&world.operator(ACME)).await;
    let leads = (2_001..=2_040).map(|id| plain_lead(id, "Pessoa", "de Tal", None));
    add_leads(&world.operator(ACME), leads.collect()).await;
    let process = world.through(process(limits, world.store.environment()));
    let call = async |lead: u64| {
        let data = json!({ "user": 8, "lead": lead, "leadPhone": "", "type": "INCOMING", "status": "COMPLETE",
            "duration": 1, "record": false, "service": "x" });
        let call = process.webhook(&json!({ "event": "call", "data": data }));
        let answer = call.send().await;
        assert_eq!(answer.status, 201, "{}", answer.body);
        answer
            .cost
            .calls
            .iter()
            .any(|call| call.operation == "UpdateItem")
    };
    assert!(!call(2_001).await);
    let began = now();
    join_all((2_001..=2_040).map(&call)).await;
    // One after the other, forty transactions take 600 ms.
    assert!(
        began.elapsed() < Duration::from_millis(300),
        "{:?}",
        began.elapsed()
    );
    // A busy process reserves four at a time, for a second.
    for (seconds, reserves) in [
        (0, [true, false, false, false, true]),
        (1, [true, true, false, false, false]),
        (10, [false; 5]),
    ] {
        world.clock.set(at(NOW).plus_seconds(seconds));
        for (nth, reserves) in reserves.into_iter().enumerate() {
            assert_eq!(call(2_001).await, reserves, "{seconds} {nth}");
        }
    }
    let ids: BTreeSet<_> = world.calls().await.into_iter().map(|call| call.id).collect();
    assert_eq!(ids.len(), 56);
}

/// Limits that count transactions, and those that they throttle.
#[derive(Debug)]
struct Counted {
    limits: Arc<Limits>,
    transactions: AtomicU64,
    throttled: AtomicU64,
}

impl Api for Counted {
    fn answer(self: Arc<Self>, operation: String, body: Vec<u8>) -> BoxFuture<'static, (u16, String)> {
        async move {
            let is_transaction = operation == "TransactWriteItems";
            let answer = self.limits.clone().answer(operation, body).await;
            let is_throttled = answer.1.contains("ThrottlingError");
            self.transactions
                .fetch_add(is_transaction.into(), Ordering::Relaxed);
            self.throttled.fetch_add(is_throttled.into(), Ordering::Relaxed);
            answer
        }
        .boxed()
    }
}

/// At four transactions at a time, most of them would be throttled.
#[tokio::test(start_paused = true)]
async fn an_import_finds_the_pace_of_the_table() {
    const OPPORTUNITIES: u64 = 1_000;
    let (world, limits) = limited().await;
    tests::people::settle(&world.operator(ACME)).await;
    open_shop(&world.operator(ACME)).await;
    let (transactions, throttled) = Default::default();
    let engine = Arc::new(Counted {
        limits,
        transactions,
        throttled,
    });
    let process = bulk(engine.clone(), world.store.environment());
    let before = records(&world).await.len();
    let lines = (1..=OPPORTUNITIES).map(|id| {
        let (id, text) = (10_000 + id, "a".repeat(3_000));
        let line = json!({ "kind": "opportunity", "id": id, "title": format!("Pedido {id}"), "crm_id": 3, "crm_column": 31 + id % 2,
            "user": 7, "createDate": NOW, "fields": { "Texto": text } });
        format!("{line}\n")
    });
    let source = Source::spool(lines.collect::<String>().as_bytes()).unwrap();
    let operator = Operator::new(&process, ACME.parse().unwrap());
    let began = now();
    let report = import(&operator, &source, false, &ProgressBar::hidden())
        .await
        .unwrap();
    assert_eq!((report.imported, report.refused), (OPPORTUNITIES, Vec::new()));
    assert_eq!(records(&world).await.len() as u64, before as u64 + OPPORTUNITIES);
    world.is_sound().await;
    let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    let (all, throttled) = (count(&engine.transactions), count(&engine.throttled));
    // Each record takes eight units of its partition's 1,000 a second.
    let elapsed = began.elapsed().as_secs_f64();
    assert!(
        throttled > 0 && throttled * 10 <= all,
        "{throttled} of {all} transactions are throttled"
    );
    assert!(elapsed < 4.0 * 8.0, "{elapsed} s");
}

#[expect(clippy::disallowed_methods, reason = "tokio's clock is the simulated one")]
fn now() -> Instant {
    Instant::now()
}
