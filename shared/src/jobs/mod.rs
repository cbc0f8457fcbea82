//! Background jobs. They use the store and send webhooks. No client calls them.

pub mod automations;
pub mod copies;
pub mod counters;
pub(crate) mod erasure;
pub(crate) mod instances;
pub(crate) mod reports;
pub mod webhook_client;

pub use counters::{JobCounters, JobLog};

#[cfg(feature = "operator")]
impl crate::store::Writer {
    /// Does the due work of the instance that needs no receiver, as a run of `maintenance` does for all instances.
    ///
    /// # Errors
    /// [`table::StoreError`] if the table fails. The next run does the rest.
    pub async fn do_due_work(&self) -> Result<(), table::StoreError> {
        self.refresh_copies(copies::GRACE).await?;
        self.run_outbox().await?;
        self.refresh_due_reports().await
    }
}
