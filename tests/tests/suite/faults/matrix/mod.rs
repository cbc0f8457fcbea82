//! Every operation of the interface × every call that it makes × every fault of the call.
//!
//! The response is correct or the one internal error, without additional headers. The table is as before or
//! as after, or, for requests with several targets, consistent by the doctor. A repeated request is then
//! handled correctly by the same process, and with an `Idempotency-Key` nothing is done twice (C-4, C-10,
//! C-12, C-24, C-84).
//!
//! With `--nocapture` it prints a table of the results.

mod ask;
mod asks;
mod moment;
mod outcome;
mod stage;
mod table;
mod trial;

use std::collections::BTreeSet;

use futures_util::{StreamExt as _, stream};
use tests::template::routes;

use ask::Ask;
use asks::asks;
use stage::Stage;
use trial::Trial;

#[tokio::test]
async fn every_route_is_covered() {
    let (_, cast) = Stage::set().await;
    let asks = asks(&cast);
    let asked: BTreeSet<_> = asks
        .iter()
        .map(|ask| (ask.method.to_owned(), ask.route.to_owned()))
        .collect();
    let all = routes().into_iter().filter(|route| route.method != "ANY");
    let all: BTreeSet<_> = all.map(|route| (route.method, route.path)).collect();
    assert_eq!(asked, all);
}

/// Concurrent uses, because most of the time is spent waiting for retries. More would cause timeouts of calls
/// on the single thread.
const TOGETHER: usize = 16;

#[tokio::test]
async fn every_call_with_every_fault() {
    let (stage, cast) = Stage::set().await;
    let asks = asks(&cast);
    let trials = asks.iter().map(async |ask: &Ask| {
        let mut trial = Trial::of(ask, &cast, stage.again().await).await;
        trial.run().await;
        trial
    });
    let trials: Vec<_> = stream::iter(trials).buffered(TOGETHER).collect().await;
    println!("{}", table::of(&trials));
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
}
