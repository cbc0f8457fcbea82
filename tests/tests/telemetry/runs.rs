//! Lines of functions without client routes, and the metrics of alarms.

use std::sync::Arc;

use dynamodb::faults::Fault;
use operator::kinds::Automations;
use serde_json::{Value, json};
use shared::automation::Automation;
use shared::jobs::webhook_client::WebhookClient;
use shared::store::Store;
use tests::world::over_sdk;
use tests::{ACME, World};

use crate::emf::metrics;
use crate::function::{Written, info, of_function};

/// A webhook client that resolves no host.
fn nobody() -> WebhookClient {
    WebhookClient::plain(|_, _| Vec::new(), |_| false)
}

/// A world with a call of lead 1001, and a notification to a receiver.
async fn called() -> World {
    let world = World::new().await;
    let automation = json!({ "id": 4, "name": "Ligou", "trigger": "leadPhoneCall", "event": "received", "active": true,
        "filters": {}, "actions": [
            { "type": "notify", "url": "https://erp.example/sigilo", "secret": "segredo-do-receptor-0123456789" },
            { "type": "setOwner", "user": 4711 },
            { "type": "addPoints", "points": 5 },
        ] });
    let automation: Automation = serde_json::from_value(automation).expect("an automation");
    let operator = world.operator(ACME);
    operator
        .import::<Automations>(&[automation], false)
        .await
        .expect("an automation");
    let call = json!({ "event": "call", "data": { "user": 8, "leadPhone": "", "lead": 1001, "type": "INCOMING",
        "status": "COMPLETE", "duration": 65, "record": true, "service": "acme-voip" } });
    assert_eq!(world.webhook(&call).send().await.status, 201);
    world
}

async fn bring(store: &Store) -> Value {
    let keys = json!({ "pk": { "S": "acme#trigger" }, "sk": { "S": "call#000000000000001" } });
    let record = json!({ "eventName": "INSERT", "dynamodb": { "Keys": keys, "SequenceNumber": "111" } });
    let batch = serde_json::from_value(json!({ "Records": [record, "garbage"] })).expect("a batch");
    json!(automations::run(store, &nobody(), batch).await)
}

/// The last line without duration and cost, which are checked to be present and equal to the metrics.
fn last(written: &Written) -> (Value, Vec<crate::emf::Metric>) {
    let mut line = written.take().pop().expect("a line");
    let mut found = metrics(&line);
    for name in ["calls", "read_units", "write_units"] {
        let (dimensions, metric, _, value) = found.remove(0);
        let spent = line[name].as_f64().expect("a number");
        assert_eq!((dimensions.len(), metric.as_str()), (1, name));
        assert!((spent - value).abs() < f64::EPSILON, "{name}: {line}");
        assert!(name == "write_units" || spent > 0.0, "{name}: {line}");
    }
    let line = line.as_object_mut().expect("an object");
    for name in [
        "calls",
        "read_units",
        "write_units",
        "round_trips",
        "milliseconds",
        "_aws",
        "timestamp",
        "version",
    ] {
        assert!(line.remove(name).is_some(), "{name}");
    }
    (json!(line), found)
}

#[tokio::test]
async fn batches_log_one_line_with_metrics() {
    let world = called().await;
    let written = info();
    bring(&world.store).await;
    let (line, found) = last(&written);
    assert_eq!(
        line,
        json!({ "level": "INFO", "target": "batch", "function": "funil-test", "message": "batch", "records": 1,
            "failed": 0, "triggers": 1, "actions_left_out": 1, "notifications": 0, "notifications_put_off": 1,
            "notifications_given_up": 0 })
    );
    assert_eq!(
        found,
        [
            of_function("failed", 0),
            of_function("actions_left_out", 1),
            of_function("notifications_given_up", 0),
        ]
    );
}

#[tokio::test]
async fn failed_batches_are_reported() {
    let _sdk = over_sdk();
    let world = called().await;
    let written = info();
    let broken = |operation: &str| (operation == "TransactWriteItems").then_some(Fault::FailedBefore);
    let failed = bring(&world.faulty(Arc::new(broken))).await;
    assert_eq!(
        failed,
        json!({ "batchItemFailures": [{ "itemIdentifier": "111" }] })
    );
    let line = written.take().pop().expect("a line");
    assert_eq!(
        (&line["target"], &line["failed"], &line["triggers"]),
        (&json!("batch"), &json!(1), &json!(0))
    );
}

/// A notification that no receiver accepts is given up once, and counted in the metric of an alarm.
#[tokio::test]
async fn rounds_log_one_line_with_metrics() {
    let world = called().await;
    let written = info();
    let mut rounds = Vec::new();
    for _ in 0..11 {
        maintenance::round(&world.store, &nobody())
            .await
            .expect("a round");
        let (mut line, found) = last(&written);
        let line = line.as_object_mut().expect("an object");
        let first = ["level", "target", "function", "message"].map(|name| line.remove(name));
        assert_eq!(
            first,
            ["INFO", "round", "funil-test", "round"].map(|text| Some(json!(text)))
        );
        let value = |name: &str| line[name].as_f64().expect("a number");
        let names = [
            "failed",
            "actions_left_out",
            "notifications_given_up",
            "outbox",
            "erasures",
            "oldest_erasure_seconds",
        ];
        let mut metrics = names.map(|name| of_function(name, value(name)));
        metrics[5].2 = "Seconds".to_owned();
        assert_eq!(found, metrics);
        rounds.push(json!(line));
        world.clock.set(world.clock.get().plus_seconds(60_000));
    }
    let round = |copies, outbox, triggers, left_out, put_off, given_up| {
        json!({ "failed": 0, "copies": copies, "erasures": 0, "oldest_erasure_seconds": 0, "reports": 0, "outbox": outbox, "triggers": triggers,
            "actions_left_out": left_out, "notifications": 0, "notifications_put_off": put_off,
            "notifications_given_up": given_up })
    };
    let retried = round(0, 1, 0, 0, 1, 0);
    assert_eq!(rounds[0], round(1, 1, 1, 1, 1, 0));
    // The trigger changed the lead, possibly after the refresh.
    rounds[1]["copies"] = json!(0);
    assert_eq!(&rounds[1..9], [(); 8].map(|()| retried.clone()));
    assert_eq!(rounds[9], round(0, 1, 0, 0, 0, 1));
    assert_eq!(rounds[10], round(0, 0, 0, 0, 0, 0));
}

/// The metric remains while anything of a deleted lead remains.
#[tokio::test]
async fn rounds_report_pending_erasures() {
    let world = World::new().await;
    let wallet = world.wallet(7).await;
    let uri = format!("/leads/1001?i=acme&apitoken={}", wallet.key);
    assert_eq!(world.call("DELETE", &uri).send().await.status, 200);
    let written = info();
    for (erasures, oldest) in [(1, 0), (1, 60), (0, 0)] {
        maintenance::round(&world.store, &nobody())
            .await
            .expect("a round");
        let (line, _) = last(&written);
        assert_eq!(
            (&line["erasures"], &line["oldest_erasure_seconds"]),
            (&json!(erasures), &json!(oldest))
        );
        world.clock.set(world.clock.get().plus_seconds(60));
    }
}

#[tokio::test]
async fn failed_rounds_are_reported() {
    let _sdk = over_sdk();
    let world = called().await;
    let written = info();
    let store = world.faulty(Arc::new(|_| Some(Fault::FailedBefore)));
    assert!(maintenance::round(&store, &nobody()).await.is_err());
    let line = written.take().pop().expect("a line");
    assert_eq!((&line["target"], &line["failed"]), (&json!("round"), &json!(2)));
}
