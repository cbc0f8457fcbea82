//! Batches of the table's stream, as Lambda delivers them.

use dynamodb::faults::Fault;
use serde_json::{Value, json};
use tests::World;
use tests::world::over_sdk;

use super::{MARIA, automation, call, lead_of, nobody, outbox, receive, world};
use crate::faults::always;

pub(super) fn record(number: &str, name: &str, pk: &str, sk: &str) -> Value {
    json!({ "eventID": number, "eventName": name, "eventVersion": "1.1", "eventSource": "aws:dynamodb",
        "awsRegion": "eu-central-1", "dynamodb": { "ApproximateCreationDateTime": 1_795_262_400,
            "Keys": { "pk": { "S": pk }, "sk": { "S": sk } }, "NewImage": { "pk": { "S": pk }, "v": { "N": "1" } },
            "SequenceNumber": number, "SizeBytes": 40, "StreamViewType": "NEW_AND_OLD_IMAGES" },
        "eventSourceARN": "arn:aws:dynamodb:eu-central-1:1:table/t/stream/s" })
}

pub(super) async fn shop() -> World {
    let world = world(&[automation(
        1,
        true,
        &json!([{ "type": "addPoints", "points": 5 }]),
    )])
    .await;
    for _ in 0..2 {
        receive(&world, &call("INCOMING", MARIA)).await;
    }
    world
}

pub(super) async fn bring(store: &shared::store::Store, records: &Value) -> Value {
    let batch = serde_json::from_value(json!({ "Records": records })).expect("a batch");
    json!(automations::run(store, &nobody(), batch).await)
}

pub(super) const FIRST: &str = "call#000000000000001";
const SECOND: &str = "call#000000000000002";

/// New triggers run, some of them delivered twice; other records do nothing.
#[tokio::test]
async fn a_batch_runs_its_triggers() {
    let world = shop().await;
    let records = json!([
        record("100", "REMOVE", "acme#trigger", SECOND),
        record("101", "MODIFY", "acme#trigger", SECOND),
        record("102", "INSERT", "acme#call", "000000000000002"),
        record("103", "INSERT", "acme#trigger", "notify#000000000000001#000000000000001#00"),
        { "eventName": "INSERT", "dynamodb": { "Keys": {} } },
        "garbage",
        null,
    ]);
    let none = json!({ "batchItemFailures": [] });
    assert_eq!(bring(&world.store, &records).await, none);
    assert_eq!(outbox(&world).await, 2);
    let records = json!([
        record("104", "INSERT", "acme#trigger", FIRST),
        record("105", "INSERT", "acme#trigger", FIRST),
        record("106", "INSERT", "acme#trigger", SECOND),
        record("107", "INSERT", "acme#trigger", "call#000000000004711"),
        record("108", "INSERT", "elsewhere#trigger", FIRST),
    ]);
    assert_eq!(bring(&world.store, &records).await, none);
    assert_eq!(bring(&world.store, &records).await, none);
    assert_eq!(lead_of(&world, 1001).await.points, 10.into());
    assert_eq!(outbox(&world).await, 0);
}

/// Failures are reported by sequence number, and remain in the outbox.
#[tokio::test]
async fn failed_records_are_redelivered() {
    let _sdk = over_sdk();
    let world = shop().await;
    let sick = world.faulty(always("TransactWriteItems", Fault::FailedBefore));
    let records = json!([
        record("104", "INSERT", "acme#trigger", FIRST),
        record("105", "REMOVE", "acme#trigger", FIRST),
        record("106", "INSERT", "acme#trigger", SECOND),
    ]);
    let failed = json!({ "batchItemFailures": [{ "itemIdentifier": "104" }, { "itemIdentifier": "106" }] });
    assert_eq!(bring(&sick, &records).await, failed);
    assert_eq!(lead_of(&world, 1001).await.points, 0.into());
    assert_eq!(outbox(&world).await, 2);
    super::run(&world).await;
    assert_eq!(lead_of(&world, 1001).await.points, 10.into());
}
