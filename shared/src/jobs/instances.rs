//! Common rules of background jobs (C-87): they begin at a random instance, process many in parallel, and a
//! failure of one instance does not affect others.
//!
//! The list of instances contains whether an instance is suspended or being deleted, so skipping such instances costs
//! no read (C-104).

use crate::instance::InstanceName;
use crate::store::Store;
use crate::store::calendars;
use crate::store::key;
use crate::time::{Zone, uses_directory};
use table::StoreError;
use table::{KeyRange, key_of};

/// Attribute of the entry of an instance that is suspended.
const SUSPENDED: &str = "suspended";
/// Attribute of the entry of an instance that is being deleted.
const DELETING: &str = "deleting";

/// Concurrent instances of a job.
pub const INSTANCES: usize = 16;

impl Store {
    /// The names of the instances that are neither suspended nor being deleted, starting with a random one. They are
    /// taken from the keys, so an unreadable item does not stop a job.
    pub(crate) async fn open_instances_in_turn(&self) -> Result<Vec<InstanceName>, StoreError> {
        self.instances_without(&[SUSPENDED, DELETING]).await
    }

    /// Like [`open_instances_in_turn`](Self::open_instances_in_turn), with suspended instances, because their erasures
    /// continue.
    pub(crate) async fn instances_in_turn(&self) -> Result<Vec<InstanceName>, StoreError> {
        self.instances_without(&[DELETING]).await
    }

    /// Requires the time zones of all instances and calendars (C-109). One get and one query for each instance.
    ///
    /// # Errors
    /// [`StoreError::Format`] for a zone that does not exist, with the instance; others if the table fails.
    pub async fn check_time_zones(&self) -> Result<(), StoreError> {
        // The zones of the build are those of every record.
        if !uses_directory() {
            return Ok(());
        }
        for name in self.instances_in_turn().await? {
            let reader = self.reader(name.clone());
            let settings = reader.directory().await?.map(|head| head.settings);
            let of_instance = settings.as_ref().and_then(|settings| settings.timezone());
            let calendars = KeyRange::whole(reader.keys().calendars());
            let items = self.table.reads().query_all(calendars).await?;
            let of_calendars = items
                .iter()
                .map(calendars::zone_name)
                .collect::<Result<Vec<_>, _>>()?;
            let of_calendars = of_calendars.iter().map(String::as_str);
            if let Some(zone) = of_instance
                .into_iter()
                .chain(of_calendars)
                .find(|zone| Zone::parse(zone).is_none())
            {
                let lacks =
                    format!("FUNIL_TZDATA lacks the time zone {zone}, which the instance {name} uses");
                return Err(StoreError::Format(lacks));
            }
        }
        Ok(())
    }

    async fn instances_without(&self, marks: &[&str]) -> Result<Vec<InstanceName>, StoreError> {
        let items = self
            .table
            .reads()
            .query_all(KeyRange::whole(key::instances()))
            .await?;
        let mut names = Vec::with_capacity(items.len());
        for item in items
            .iter()
            .filter(|item| !marks.iter().any(|mark| item.contains_key(*mark)))
        {
            let key = key_of(item)?;
            if let Some(name) = InstanceName::parse(&key.sk) {
                names.push(name);
            } else {
                tracing::warn!(item = %key, "the key of an instance's item is not an instance name");
            }
        }
        let first = self.environment.below(names.len() as u64);
        names.rotate_left(usize::try_from(first).unwrap_or(0));
        Ok(names)
    }
}

/// Logs the instance that a job failed for. Of an unreadable item only its kind is logged, because the rest
/// may be personal data.
pub fn log_failure(instance: &InstanceName, job: &'static str, error: &StoreError) {
    let instance = instance.as_str();
    match error {
        StoreError::Corrupt { key, .. } => tracing::warn!(instance, job, unreadable = key, "a job failed"),
        cause => tracing::warn!(instance, job, %cause, "a job failed"),
    }
}

/// Results of the parts of a job. A failed part does not stop the others.
#[derive(Debug, Default)]
pub struct JobOutcome {
    done: u64,
    failed: Option<StoreError>,
}

impl JobOutcome {
    /// Adds a count, or keeps the error.
    pub fn note(&mut self, outcome: Result<u64, StoreError>) {
        match outcome {
            Ok(done) => self.done += done,
            Err(cause) => self.failed = Some(cause),
        }
    }

    /// The sum of the counts, if nothing failed.
    ///
    /// # Errors
    /// The last error.
    pub fn result(self) -> Result<u64, StoreError> {
        self.failed.map_or(Ok(self.done), Err)
    }
}
