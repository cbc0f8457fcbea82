//! Maintenance: what no client calls and the clock does.
//!
//! | Every | Duty |
//! | --- | --- |
//! | minute | copies of changed leads are brought up to date, and what is left of deleted ones is erased ([`tend`]) |
//! | minute | reports that are due, mostly every six hours, are refreshed ([`tend`]) |
//! | minute | triggers and notifications that are due are gone on with, where `automations` did not end them ([`automate`]) |
//!
//! No response waits for it: while a copy is stale, readers take the lead itself, and nothing of a deleted lead is shown
//! from the first moment (C-24). Maintenance only saves them that work.

use shared::jobs::webhook_client::WebhookClient;
use shared::store::{Store, StoreError};
use shared::telemetry::{self, Observed};

/// One round of the clock: [`tend`] and [`automate`] side by side, and one line in the log that says what they came to.
///
/// # Errors
/// [`StoreError`] where the table fails one of them; the other was done all the same.
pub async fn round(store: &Store, webhook_client: &WebhookClient) -> Result<(), StoreError> {
    // Boxed, because it is large.
    let both = Box::pin(async { tokio::join!(tend(store), automate(store, webhook_client)) });
    let ((tended, automated), observed) = telemetry::observe(both).await;
    let failed = u8::from(tended.is_err()) + u8::from(automated.is_err());
    log(failed, &observed);
    tended.and(automated)
}

/// Does all that is due, for all instances. What fails or is cut off is done the next time.
///
/// # Errors
/// [`StoreError`] where the table fails.
pub async fn tend(store: &Store) -> Result<(), StoreError> {
    // Side by side: neither waits for the other, which may take all the time there is.
    let (copies, reports) = tokio::join!(copy(store), refresh(store));
    copies.and(reports)
}

/// Brings copies of changed leads up to date, and erases what is left of deleted ones.
///
/// # Errors
/// [`StoreError`] where the table fails.
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
/// [`StoreError`] where the table fails.
pub async fn refresh(store: &Store) -> Result<(), StoreError> {
    let reports = store.refresh_reports().await?;
    if reports > 0 {
        tracing::info!(reports, "reports refreshed");
    }
    Ok(())
}

/// Goes on with what automations still have to do, for all instances (C-76), and then with their notifications. What fails
/// or is cut off is done the next time.
///
/// # Errors
/// [`StoreError`] where the table fails.
pub async fn automate(store: &Store, webhook_client: &WebhookClient) -> Result<(), StoreError> {
    let acted = act(store).await;
    acted.and(deliver(store, webhook_client).await)
}

/// Carries out what automations still have to do. No receiver is waited for.
///
/// # Errors
/// [`StoreError`] where the table fails.
pub async fn act(store: &Store) -> Result<(), StoreError> {
    store.run_triggers().await.map(drop)
}

/// Delivers the notifications that are due. Begins new ones for 40 s at most, and each takes 10 s at most.
///
/// # Errors
/// [`StoreError`] where the table fails.
pub async fn deliver(store: &Store, webhook_client: &WebhookClient) -> Result<(), StoreError> {
    store.deliver_notifications(webhook_client).await.map(drop)
}

/// One line a round, which is its metrics too.
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
