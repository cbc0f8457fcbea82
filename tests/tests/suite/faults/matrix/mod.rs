//! Every operation of the interface × every call that it makes × every fault of the call.
//!
//! The response is correct or the one internal error, without additional headers. The table is as before or
//! as after, or, for requests with several targets, consistent by the doctor. A repeated request is then
//! handled correctly by the same process, and with an `Idempotency-Key` nothing is done twice (C-4, C-10,
//! C-12, C-24, C-84).

mod ask;
mod asks;
mod moment;
mod outcome;
mod stage;
mod trial;

use std::collections::BTreeSet;

use tests::template::routes;

use asks::asks;
use moment::variants;
use stage::Stage;
use trial::Trial;

/// The operations of requests.
const OPERATIONS: [&str; 6] = [
    "BatchGetItem",
    "GetItem",
    "PutItem",
    "Query",
    "TransactWriteItems",
    "UpdateItem",
];

#[tokio::test]
async fn every_route_is_covered() {
    let (_, cast) = Stage::set().await;
    let asks = asks(&cast);
    let asked: BTreeSet<_> = asks
        .iter()
        .map(|ask| (ask.method.clone(), ask.route.clone()))
        .collect();
    let all = routes().into_iter();
    let all: BTreeSet<_> = all.map(|route| (route.method, route.path)).collect();
    assert_eq!(asked, all);
}

/// In simulated time, because calls are repeated for seconds.
#[tokio::test(start_paused = true)]
async fn every_call_with_every_fault() {
    let (stage, cast) = Stage::set().await;
    let asks = asks(&cast);
    let mut trials = Vec::new();
    for (turn, ask) in asks.iter().enumerate() {
        let mut trial = Trial::of(ask, &cast, stage.again().await).await;
        trial.run(turn).await;
        trials.push(trial);
    }
    let breaches: Vec<_> = trials.iter().flat_map(|trial| &trial.breaches).collect();
    assert!(
        breaches.is_empty(),
        "{} breaches:\n{}",
        breaches.len(),
        breaches
            .iter()
            .map(|breach| breach.as_str())
            .collect::<Vec<_>>()
            .join("\n")
    );
    let tried = trials.iter().flat_map(|trial| &trial.tried);
    let tried: BTreeSet<_> = tried
        .map(|moment| (moment.operation.as_str(), moment.fault))
        .collect();
    for operation in OPERATIONS {
        for fault in variants(operation) {
            assert!(
                tried.contains(&(operation, fault)),
                "{operation} never got {fault:?}"
            );
        }
    }
}
