//! Every operation of the interface × every call that it makes × every fault that the call can meet.
//!
//! The answer is right or the one honest failure, with no header more than in good moments. The table is as before or as
//! after, or the doctor finds nothing wrong with what a request for several things left. The same request is then answered
//! as it should be, by the same process, and with an `Idempotency-Key` nothing is done twice (C-4, C-10, C-12, C-24, C-84).
//!
//! With `--nocapture` it prints a table of what came of each.

mod asks;
mod moment;
mod stage;
mod table;
mod trial;

use std::collections::BTreeSet;

use futures_util::{StreamExt as _, stream};
use tests::template::routes;

use asks::{Ask, asks};
use stage::Stage;
use trial::Trial;

/// A route that nobody asks for here would be one whose bad moments nobody knows.
#[tokio::test]
async fn every_route_is_asked() {
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

/// So many uses are tried side by side, because most of the time is spent in waiting for the next attempt. With more, time
/// would run out for calls while others have the one thread.
const TOGETHER: usize = 16;

#[tokio::test]
async fn every_call_meets_every_fault() {
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
