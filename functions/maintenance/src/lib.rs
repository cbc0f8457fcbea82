//! Maintenance: scheduled background work.
//!
//! | Every | Duty |
//! | --- | --- |
//! | minute | refreshes copies of changed leads and erases deleted ones ([`tend`]) |
//! | minute | refreshes reports that are due, mostly every six hours ([`tend`]) |
//! | minute | continues triggers and notifications that `automations` did not complete ([`automate`]) |
//!
//! No response depends on maintenance: readers of a stale copy read the lead itself, and a deleted lead is hidden at
//! once (C-24). Maintenance only saves this work.

use shared::jobs::webhook_client::WebhookClient;
use shared::store::{Store, StoreError};
use shared::telemetry::{self, Observed};

/// Performs one scheduled run: [`tend`] and [`automate`] concurrently. Writes one log line with the counts.
///
/// # Errors
/// [`StoreError`] if the table fails one of them; the other is completed.
pub async fn round(store: &Store, webhook_client: &WebhookClient) -> Result<(), StoreError> {
    // Boxed, because it is large.
    let both = Box::pin(async { tokio::join!(tend(store), automate(store, webhook_client)) });
    let ((tended, automated), observed) = telemetry::observe(both).await;
    let failed = u8::from(tended.is_err()) + u8::from(automated.is_err());
    log(failed, &observed);
    tended.and(automated)
}

/// Does all due work of all instances. Failed or interrupted work is repeated in the next run.
///
/// # Errors
/// [`StoreError`] if the table fails.
pub async fn tend(store: &Store) -> Result<(), StoreError> {
    // Concurrently, because each may take all the time available.
    let (copies, reports) = tokio::join!(copy(store), refresh(store));
    copies.and(reports)
}

/// Refreshes copies of changed leads and erases deleted ones.
///
/// # Errors
/// [`StoreError`] if the table fails.
pub async fn copy(store: &Store) -> Result<(), StoreError> {
    let leads = store.refresh_copies().await?;
    if leads > 0 {
        tracing::info!(leads, "copies brought up to date");
    }
    Ok(())
}

/// Refreshes the reports that are due.
///
/// # Errors
/// [`StoreError`] if the table fails.
pub async fn refresh(store: &Store) -> Result<(), StoreError> {
    let reports = store.refresh_reports().await?;
    if reports > 0 {
        tracing::info!(reports, "reports refreshed");
    }
    Ok(())
}

/// Continues pending automations of all instances (C-76), then their notifications. Failed or interrupted work is
/// repeated in the next run.
///
/// # Errors
/// [`StoreError`] if the table fails.
pub async fn automate(store: &Store, webhook_client: &WebhookClient) -> Result<(), StoreError> {
    let acted = act(store).await;
    acted.and(deliver(store, webhook_client).await)
}

/// Runs pending automations without waiting for receivers.
///
/// # Errors
/// [`StoreError`] if the table fails.
pub async fn act(store: &Store) -> Result<(), StoreError> {
    store.run_triggers().await.map(drop)
}

/// Delivers due notifications. Starts new ones for at most 40 s; each takes at most 10 s.
///
/// # Errors
/// [`StoreError`] if the table fails.
pub async fn deliver(store: &Store, webhook_client: &WebhookClient) -> Result<(), StoreError> {
    store.deliver_notifications(webhook_client).await.map(drop)
}

/// Writes one log line per run. The run's metrics are derived from this line.
fn log(failed: u8, observed: &Observed) {
    let Observed {
        milliseconds,
        cost,
        counters,
    } = observed;
    tracing::info!(
        target: telemetry::ROUND,
        failed,
        copies = counters.copies,
        erasures = counters.erasures,
        oldest_erasure_seconds = counters.oldest_erasure_seconds,
        reports = counters.reports,
        outbox = counters.outbox,
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
        "round"
    );
}
