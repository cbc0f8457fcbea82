//! What the jobs have in common that no request waits for (C-87): they begin at a random instance, do many instances side
//! by side, and what fails for one of them fails for no other.

use super::Store;
use super::error::StoreError;
use super::key;
use super::table::{PAGE, Span, key_of};
use crate::instance::InstanceName;

/// Instances that a job does side by side.
pub const INSTANCES: usize = 16;

impl Store {
    /// The names of all instances, beginning with a random one. They are read from the keys, so an entry that cannot be
    /// read stops no job.
    pub(super) async fn instances_in_turn(&self) -> Result<Vec<InstanceName>, StoreError> {
        let items = self.table.query_all(Span::head(key::instances(), PAGE)).await?;
        let mut names = Vec::with_capacity(items.len());
        for item in &items {
            let key = key_of(item)?;
            if let Some(name) = InstanceName::parse(&key.sk) {
                names.push(name);
            } else {
                tracing::warn!(item = %key, "the key of an instance names none");
            }
        }
        let first = self.table.ambient.below(names.len() as u64);
        names.rotate_left(usize::try_from(first).unwrap_or(0));
        Ok(names)
    }
}

/// Logs which instance a job failed for. Of what cannot be read only the kind is told: the rest may be a person's.
pub fn log_failure(instance: &InstanceName, job: &'static str, error: &StoreError) {
    let instance = instance.as_str();
    match error {
        StoreError::Corrupt { key, .. } => tracing::warn!(instance, job, unreadable = key, "a job failed"),
        cause => tracing::warn!(instance, job, %cause, "a job failed"),
    }
}

/// What was done, and why not all: what cannot be done does not hold up the rest.
#[derive(Debug, Default)]
pub struct Tally {
    done: u64,
    failed: Option<StoreError>,
}

impl Tally {
    /// Counts what was done, or keeps why it was not.
    pub fn note(&mut self, outcome: Result<u64, StoreError>) {
        match outcome {
            Ok(done) => self.done += done,
            Err(cause) => self.failed = Some(cause),
        }
    }

    /// # Errors
    /// The last that was noted.
    pub fn result(self) -> Result<u64, StoreError> {
        self.failed.map_or(Ok(self.done), Err)
    }
}
