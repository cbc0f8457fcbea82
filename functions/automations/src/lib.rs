//! Automations, triggered by the table's stream (C-76).
//!
//! | Event | Duty |
//! | --- | --- |
//! | a new outbox entry | runs its automations and tries its notifications ([`run`]) |
//! | any other change of the table | nothing |
//!
//! The stream delivers a record at least once and drops one that keeps failing. Both are harmless: completed actions
//! are not repeated, and `maintenance` completes what remains in the outbox. The stream only makes automations fast.
//!
//! Nothing runs after the handler has returned, and the next batch waits for this one. So all actions of a batch run
//! first, then its notifications for at most two seconds. A slower receiver is left to `maintenance` and not called
//! from here for a minute (C-87).

mod event;

use std::collections::BTreeSet;

use futures_util::future::join_all;
use shared::jobs::webhook_client::WebhookClient;
use shared::store::Store;
use shared::telemetry::{self, Observed};

pub use event::{EventBatch, Failures};

/// Runs the triggers of a batch's records in parallel and returns those that failed, for redelivery. Skips unreadable
/// records, so they never fail. Writes one log line that summarises the batch.
pub async fn run(store: &Store, webhook_client: &WebhookClient, batch: EventBatch) -> Failures {
    let records = batch.records().count();
    let (failures, observed) = telemetry::observe(carry_out(store, webhook_client, batch)).await;
    log(records, failures.count(), &observed);
    failures
}

/// Runs the triggers, then delivers the notifications of all instances that are not suspended.
async fn carry_out(store: &Store, webhook_client: &WebhookClient, batch: EventBatch) -> Failures {
    let runs = batch.records().map(async |(record, instance, cause)| {
        let outcome = store.run_trigger(&instance, cause).await;
        if let Err(error) = &outcome {
            // Logged before the other runs end: the function may time out.
            tracing::warn!(instance = instance.as_str(), fact = cause.label(), cause = %error, "a trigger is run again");
        }
        (record, instance, cause, outcome)
    });
    let mut failed_records = Vec::new();
    let mut suspended = BTreeSet::new();
    // Distinct, because the stream may deliver an entry twice.
    let mut entries = BTreeSet::new();
    for (record, instance, cause, outcome) in join_all(runs).await {
        entries.insert((instance.clone(), cause));
        match outcome {
            Ok(false) => {}
            Ok(true) => {
                suspended.insert(instance);
            }
            Err(_) => failed_records.push(record),
        }
    }
    let entries: Vec<_> = entries
        .into_iter()
        .filter(|(instance, _)| !suspended.contains(instance))
        .collect();
    store.deliver_at_once(&entries, webhook_client).await;
    Failures::of(failed_records.into_iter())
}

/// Writes one log line per batch. The batch's metrics are derived from this line.
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
