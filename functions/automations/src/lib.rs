//! Automations: what no client calls and the table's stream sets off (C-76).
//!
//! | Event | Duty |
//! | --- | --- |
//! | a trigger came into the outbox | its automations are carried out, its notifications tried ([`run`]) |
//! | any other change of the table | nothing |
//!
//! The stream delivers a record once or more, and gives up one that keeps failing. Neither matters: what was done is not
//! done again, and what is left in the outbox `maintenance` goes on with. So the stream is what makes it quick, and nothing
//! depends on it.
//!
//! Nothing runs after the handler has returned, and the next batch waits for this one. So all actions of a batch come first,
//! and then its notifications for two seconds at most: a receiver that takes longer is left to `maintenance`, and is not
//! asked from here for a minute (C-87).

mod event;

use futures_util::future::join_all;
use shared::jobs::webhook_client::WebhookClient;
use shared::store::Store;
use shared::telemetry::{self, Observed};

pub use event::{Batch, Failures};

/// Runs the triggers of a batch's records in parallel and returns those that failed, so that the stream brings them once more.
/// A record that cannot be read sets nothing off, and never fails. One line in the log sums the batch up.
pub async fn run(store: &Store, webhook_client: &WebhookClient, batch: Batch) -> Failures {
    let records = batch.records().count();
    let (failures, observed) = telemetry::observe(carry_out(store, webhook_client, batch)).await;
    log(records, failures.count(), &observed);
    failures
}

async fn carry_out(store: &Store, webhook_client: &WebhookClient, batch: Batch) -> Failures {
    let mut calls: Vec<_> = batch
        .records()
        .map(|(_, instance, call)| (instance, call))
        .collect();
    calls.sort_unstable();
    calls.dedup();
    let runs = batch.records().map(async |(record, instance, call)| {
        let outcome = store.run_trigger(&instance, call).await;
        let cause = outcome.err()?;
        tracing::warn!(instance = instance.as_str(), call = call.get(), %cause, "a trigger is run again");
        Some(record)
    });
    let failures = Failures::of(join_all(runs).await.into_iter().flatten());
    store.deliver_at_once(&calls, webhook_client).await;
    failures
}

/// One line a batch, which is its metrics too.
fn log(records: usize, failed: usize, observed: &Observed) {
    let Observed {
        milliseconds,
        cost,
        counters,
    } = observed;
    tracing::info!(
        target: telemetry::BATCH,
        records,
        failed,
        triggers = counters.triggers,
        actions_left_out = counters.actions_left_out,
        notifications = counters.notifications,
        notifications_put_off = counters.notifications_put_off,
        notifications_given_up = counters.notifications_given_up,
        milliseconds,
        calls = cost.calls.len(),
        round_trips = cost.round_trips,
        read_units = cost.read_units(),
        write_units = cost.write_units(),
        "batch"
    );
}
