//! Maintenance: what no client calls and the clock does.
//!
//! | Every | Duty |
//! | --- | --- |
//! | minute | copies of changed leads are brought up to date, and what is left of deleted ones is erased ([`tend`]) |
//! | minute | reports that are due, mostly every six hours, are refreshed ([`tend`]) |
//! | minute | triggers and notifications that are due are gone on with, where `automations` did not end them ([`automate`]) |
//!
//! Nothing that a client sees waits for it: while a copy is behind, readers take the lead itself, and nothing of a deleted
//! lead is shown from the first moment (C-24). It only ends that they have to see to it.

use shared::courier::Courier;
use shared::store::{Store, StoreError};
use shared::telemetry::{self, Observed};

/// One round of the clock: [`tend`] and [`automate`] side by side, and one line in the log that says what they came to.
///
/// # Errors
/// [`StoreError`] where the table fails one of them; the other was done all the same.
pub async fn round(store: &Store, courier: &Courier) -> Result<(), StoreError> {
    // Boxed, because it is large.
    let both = Box::pin(async { tokio::join!(tend(store), automate(store, courier)) });
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
pub async fn automate(store: &Store, courier: &Courier) -> Result<(), StoreError> {
    let acted = act(store).await;
    acted.and(deliver(store, courier).await)
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
pub async fn deliver(store: &Store, courier: &Courier) -> Result<(), StoreError> {
    store.deliver_notifications(courier).await.map(drop)
}

/// One line a round, which is its metrics too.
fn log(failed: u8, observed: &Observed) {
    let Observed {
        milliseconds,
        cost,
        deeds,
    } = observed;
    tracing::info!(
        target: telemetry::ROUND,
        failed,
        copies = deeds.copies,
        erasures = deeds.erasures,
        oldest_erasure_seconds = deeds.oldest_erasure_seconds,
        reports = deeds.reports,
        outbox = deeds.outbox,
        triggers = deeds.triggers,
        actions_left_out = deeds.actions_left_out,
        notifications = deeds.notifications,
        notifications_put_off = deeds.notifications_put_off,
        notifications_given_up = deeds.notifications_given_up,
        milliseconds,
        calls = cost.calls.len(),
        round_trips = cost.round_trips,
        read_units = cost.read_units(),
        write_units = cost.write_units(),
        "round"
    );
}
