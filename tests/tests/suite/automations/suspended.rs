//! Automations of a suspended instance wait (C-104).

use serde_json::json;

use super::stream::{FIRST, bring, record, shop};
use super::{outbox, run};
use tests::ACME;

#[tokio::test]
async fn the_outbox_of_a_suspended_instance_waits() {
    let world = shop().await;
    let operator = world.operator(ACME);
    operator.set_suspended(true).await.expect("it is suspended");
    run(&world).await;
    let batch = json!([record("100", "INSERT", "acme#trigger", FIRST)]);
    let failures = bring(&world.store, &batch).await;
    assert_eq!(failures, json!({ "batchItemFailures": [] }));
    assert_eq!(outbox(&world).await, 2);
    operator.set_suspended(false).await.expect("it is resumed");
    run(&world).await;
    assert_eq!(outbox(&world).await, 0);
}
