//! Calls and leads: endpoints 1, 2 and 19.

use std::sync::Arc;

use serde_json::{Value, json};
use shared::store::fault::Fault;
use tests::World;

use super::{SDK_ATTEMPTS, always, first};

/// A call meets conflicts as such only where it is a transaction; those are tried below.
const FAULTS: [Fault; 3] = [Fault::Throttled, Fault::FailedBefore, Fault::FailedAfter];

fn call(phone: &str) -> Value {
    json!({ "event": "call", "data": { "user": 8, "leadPhone": phone, "type": "INCOMING", "status": "COMPLETE",
        "duration": 65, "record": true, "service": "acme-voip" } })
}

/// A fault that passes is not seen.
#[tokio::test]
async fn one_bad_attempt_is_retried() {
    for operation in ["BatchGetItem", "GetItem", "Query", "TransactWriteItems"] {
        for fault in FAULTS {
            let world = World::new().await;
            let wallet = world.wallet(7).await;
            let world = world.with_faults(first(operation, fault, 1));
            let answer = world.webhook(&call("+55 11 97326-3471")).send().await;
            answer.is(201, &json!({ "msg": "created", "id": 1 }));
            let world = world.with_faults(first(operation, fault, 1));
            for uri in ["/leads?i=acme", "/leads/1001?i=acme"] {
                assert_eq!(
                    world.get(uri).with(&wallet).send().await.status,
                    200,
                    "{operation} {fault:?}"
                );
            }
            assert_eq!(
                (world.calls().await.len(), world.events().await.len()),
                (1, 1),
                "{operation} {fault:?}"
            );
        }
    }
}

/// A read that keeps failing is a 500 that tells nothing.
#[tokio::test]
async fn a_table_that_does_not_answer() {
    let world = World::new().await;
    let wallet = world.wallet(7).await;
    let mut world = world;
    for operation in ["BatchGetItem", "GetItem", "Query"] {
        world = world.with_faults(always(operation, Fault::FailedBefore));
        for uri in ["/leads?i=acme", "/leads/1001?i=acme"] {
            let answer = world.get(uri).with(&wallet).send().await;
            let unused = uri.contains("1001") && operation == "Query"
                || uri.ends_with("leads?i=acme") && operation == "GetItem";
            if unused {
                assert_eq!(answer.status, 200);
            } else {
                answer.is(500, &json!({ "error": "Internal error" }));
            }
        }
    }
    world = world.with_faults(always("GetItem", Fault::Throttled));
    let failed = json!({ "msg": "failed_voip_webhook", "err": "storage" });
    world.webhook(&call("x")).send().await.is(500, &failed);
}

/// C-74: where the lead cannot be looked up, the call is stored without it.
#[tokio::test]
async fn a_lookup_that_fails_loses_no_call() {
    let world = World::new()
        .await
        .with_faults(always("Query", Fault::FailedBefore));
    world
        .webhook(&call("+55 11 97326-3471"))
        .send()
        .await
        .is(201, &json!({ "msg": "created", "id": 1 }));
    let world = world.with_faults(Arc::new(|_| None));
    let calls = world.calls().await;
    assert_eq!((calls.len(), calls[0].lead), (1, None));
    assert!(world.events().await.is_empty());
}

/// C-74, C-75: where the write with the lead keeps failing before it is carried out, the call is stored without it; where
/// it was carried out and nobody heard, it is recognised. Either way there is one call.
#[tokio::test]
async fn a_write_of_unknown_outcome_is_done_once() {
    for (phone, leads) in [("+55 11 97326-3471", 8), ("+55 41 98888-0001", 9)] {
        for (fault, linked) in [(Fault::FailedBefore, false), (Fault::FailedAfter, true)] {
            let world = World::new()
                .await
                .with_faults(first("TransactWriteItems", fault, SDK_ATTEMPTS));
            world
                .webhook(&call(phone))
                .send()
                .await
                .is(201, &json!({ "msg": "created", "id": 1 }));
            let (calls, events) = (world.calls().await, world.events().await);
            assert_eq!(
                (calls.len(), calls[0].lead.is_some()),
                (1, linked),
                "{phone} {fault:?}"
            );
            assert_eq!(
                events.len(),
                usize::from(linked),
                "call and event together or not at all"
            );
            assert_eq!(world.leads().await.len(), if linked { leads } else { 8 });
            world.is_sound().await;
        }
    }
}

/// C-75: a call that has no lead is recognised as well, where it was carried out and nobody heard.
#[tokio::test]
async fn a_call_without_a_lead_of_unknown_outcome() {
    let failed = json!({ "msg": "failed_voip_webhook", "err": "storage" });
    let created = json!({ "msg": "created", "id": 1 });
    for (fault, status, body, calls) in [
        (Fault::FailedAfter, 201, &created, 1),
        (Fault::FailedBefore, 500, &failed, 0),
    ] {
        let plan = first("TransactWriteItems", fault, SDK_ATTEMPTS);
        let world = World::new().await.with_faults(plan);
        world.webhook(&call("anonymous")).send().await.is(status, body);
        assert_eq!(world.calls().await.len(), calls, "{fault:?}");
        world.is_sound().await;
    }
}

/// C-10: whatever becomes of the first request, the second with the same key finds what it did, or does it.
#[tokio::test]
async fn a_key_survives_every_fault() {
    for phone in ["+55 11 97326-3471", "+55 41 98888-0001", "anonymous"] {
        for operation in ["BatchGetItem", "GetItem", "Query", "TransactWriteItems"] {
            for fault in [FAULTS[0], FAULTS[1], FAULTS[2], Fault::Conflict] {
                for times in [1, SDK_ATTEMPTS, 2 * SDK_ATTEMPTS] {
                    let case = format!("{phone} {operation} {fault:?} {times}");
                    let world = World::new().await.with_faults(first(operation, fault, times));
                    let send = async || {
                        let keyed = world.webhook(&call(phone)).header("idempotency-key", "k");
                        keyed.send().await
                    };
                    let answer = send().await;
                    assert!(
                        [201, 500].contains(&answer.status.as_u16()),
                        "{case}: {}",
                        answer.body
                    );
                    let world = world.beside();
                    let again = world
                        .webhook(&call(phone))
                        .header("idempotency-key", "k")
                        .send()
                        .await;
                    again.is(201, &json!({ "msg": "created", "id": 1 }));
                    let replayed = again.headers.get("idempotent-replayed").is_some();
                    assert!(replayed || answer.status == 500, "{case}");
                    assert_eq!(world.calls().await.len(), 1, "{case}");
                    assert!(world.events().await.len() <= 1, "{case}");
                    world.is_sound().await;
                }
            }
        }
    }
}

/// Where nothing can be written the answer says so, and nothing is there.
#[tokio::test]
async fn a_table_that_takes_no_writes() {
    for fault in [Fault::Throttled, Fault::FailedBefore, Fault::Conflict] {
        let world = World::new()
            .await
            .with_faults(always("TransactWriteItems", fault));
        let failed = json!({ "msg": "failed_voip_webhook", "err": "storage" });
        world
            .webhook(&call("+55 11 97326-3471"))
            .send()
            .await
            .is(500, &failed);
        let world = world.with_faults(Arc::new(|_| None));
        assert_eq!((world.calls().await.len(), world.events().await.len()), (0, 0));
    }
}
