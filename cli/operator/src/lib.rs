//! The operator's work on the table, outside the HTTP interface (C-80): instances, settings, credentials, import,
//! export and the doctor.
//!
//! Invariants: writes of imports depend on the versions that they read, so they are safe during live traffic. A record
//! and its derived items change in one transaction. Of a credential, only the hash is stored.

mod batch;
mod conditions;
mod content;
mod counts;
mod credentials;
mod details;
mod directory;
mod doctor;
pub mod export;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
pub mod import;
mod inactive;
pub mod kinds;
mod lifecycle;
mod line;
mod pages;
pub mod progress;
mod queue;
mod rehearsal;
mod removal;
mod taken;
mod user_lists;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use shared::directory::DirectoryHead;
use shared::environment::Environment;
use shared::ids::{FunnelId, UserId};
use shared::instance::InstanceName;
use shared::settings::SettingError;
use shared::store::unscoped::format;
use shared::store::unscoped::key::{self, Keys};
use shared::store::{Reader, Store, Writer};
use shared::time::Timestamp;
use table::StoreError;
use table::item;
use table::unknown::Raw;
use table::{CommitError, Condition, Transaction};
use table::{KeyRange, Policy, ReadTable, Table};

pub use credentials::{CredentialEntry, Issued};
pub use doctor::{Diagnosis, Difference, Progress};
pub use kinds::CallLine;
pub use lifecycle::Erased;
pub use pages::{EventPages, RecordPages};
pub use queue::{Waiting, Work};
pub use rehearsal::rehearse;
pub use removal::{Dependent, Removable, Removal, Removed};
pub use taken::TakenIds;

/// Errors of the operator's commands. The texts include the next step.
#[derive(Debug, thiserror::Error)]
pub enum OperatorError {
    /// The instance does not exist.
    #[error("there is no instance {0}; create it with: funil instance create {0}")]
    NoInstance(InstanceName),
    /// The instance exists already.
    #[error("instance {0} exists already; see it with: funil instance show {0}")]
    InstanceExists(InstanceName),
    /// The instance is being deleted.
    #[error("instance {0} is being deleted; finish it with: funil instance delete {0}")]
    BeingDeleted(InstanceName),
    /// The user of a new credential does not exist.
    #[error("there is no user {1} in instance {0}; add it with: funil user add --instance {0}")]
    NoUser(InstanceName, UserId),
    /// The user of a new credential is inactive.
    #[error("user {1} of instance {0} is inactive; import it with \"active\": true first")]
    InactiveUser(InstanceName, UserId),
    /// The user of a new credential has the maximum number of valid ones.
    #[error(
        "user {1} of instance {0} has {limit} valid credentials, and no user may have more; revoke one first, see funil key list and funil token list",
        limit = credentials::MAX_CREDENTIALS
    )]
    ManyCredentials(InstanceName, UserId),
    /// No credential of this kind has this id.
    #[error(
        "there is no {kind} {id} in instance {instance}; see them with: funil {kind} list --instance {instance}"
    )]
    NoCredential {
        /// The instance.
        instance: InstanceName,
        /// `key` or `token`.
        kind: &'static str,
        /// The id of the command.
        id: String,
    },
    /// The credential was revoked earlier.
    #[error("{kind} {id} was revoked already, on {at}")]
    RevokedAlready {
        /// `key` or `token`.
        kind: &'static str,
        /// The credential's id.
        id: String,
        /// The time of the revocation.
        at: Timestamp,
    },
    /// No record of this kind has this id.
    #[error(
        "there is no {kind} {id} in instance {instance}; see its records with: funil export --instance {instance}"
    )]
    NoRecord {
        /// The instance.
        instance: InstanceName,
        /// The kind of record.
        kind: &'static str,
        /// The id of the command.
        id: String,
    },
    /// The column is one of several funnels.
    #[error("column {0} is in funnels {1}; name one of them with --funnel")]
    ManyFunnels(u64, String),
    /// The column is the last one of its funnel.
    #[error(
        "column {0} is the only one of funnel {1}; remove the funnel with: funil remove --kind funnel {1}"
    )]
    LastColumn(u64, FunnelId),
    /// A setting does not exist or does not accept the value.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// The directory or the list of names would approach the size limit of an item.
    #[error("the instance's {0} would take more than {limit} KB of one item; use fewer or shorter names", limit = directory::MAX_BYTES / 1000)]
    TooLarge(&'static str),
    /// The directory would have too many departments or groups.
    #[error(
        "an instance has at most {departments} departments and {groups} groups, fewer if their ids have more than 7 digits",
        departments = shared::store::unscoped::directory::MAX_DEPARTMENTS,
        groups = shared::store::unscoped::directory::MAX_GROUPS
    )]
    DirectoryFull,
    /// The table failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The outcome of importing a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It is written.
    Written,
    /// The table had the same record; nothing was written.
    Unchanged,
    /// It was not written, for this reason.
    Refused(String),
}

/// An instance in the operator's list.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InstanceEntry {
    /// Its name.
    pub name: InstanceName,
    /// The time of creation.
    pub create_date: Timestamp,
    /// The time of the suspension.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspended: Option<Timestamp>,
    /// The time at which its deletion began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deleting: Option<Timestamp>,
}

/// Creates the table if there is none and waits until it can be used. Returns `true` if it was created.
///
/// # Errors
/// [`StoreError`] if it can neither be found nor created.
pub async fn ensure_table(store: &Store) -> Result<bool, StoreError> {
    store.table().ensure().await
}

/// All instances by name.
///
/// # Errors
/// [`StoreError`] if they cannot be read.
pub async fn instances(store: &Store) -> Result<Vec<InstanceEntry>, StoreError> {
    let range = KeyRange::whole(key::instances());
    let items = store.table().reads().query_all(range).await?;
    let entries = items.into_iter().map(|item| item::decode("instance", item));
    entries.collect()
}

/// Operates one instance.
#[derive(Debug, Clone)]
pub struct Operator {
    writer: Writer,
    /// Notes of a lenient operator, whose pages omit unreadable records.
    unreadable: Option<Arc<Mutex<UnreadableRecords>>>,
    /// Whether an import lists what replaced records lose.
    is_rehearsing: bool,
}

/// Unreadable records that pages omitted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UnreadableRecords {
    /// Their number.
    pub count: u64,
    /// The keys of the first thousand, each with its fault.
    pub items: Vec<String>,
}

impl Operator {
    /// An operator of one instance, which need not exist yet.
    #[must_use]
    pub fn new(store: &Store, instance: InstanceName) -> Self {
        Self {
            writer: store.unscoped(instance),
            unreadable: None,
            is_rehearsing: false,
        }
    }

    /// The same operator. Its pages omit and note unreadable records.
    #[must_use]
    pub fn lenient(&self) -> Self {
        Self {
            unreadable: Some(Arc::default()),
            ..self.clone()
        }
    }

    /// The same operator, of which an import warns of what replaced records lose.
    #[must_use]
    pub fn rehearsing(&self) -> Self {
        Self {
            is_rehearsing: true,
            ..self.clone()
        }
    }

    pub(crate) fn is_rehearsing(&self) -> bool {
        self.is_rehearsing
    }

    /// The unreadable records that pages have omitted so far.
    #[must_use]
    pub fn unreadable(&self) -> UnreadableRecords {
        match &self.unreadable {
            Some(unreadable) => unreadable.lock().unwrap_or_else(PoisonError::into_inner).clone(),
            None => UnreadableRecords::default(),
        }
    }

    /// The instance that is operated.
    #[must_use]
    pub fn instance(&self) -> &InstanceName {
        self.reader().instance()
    }

    fn reader(&self) -> &Reader {
        self.writer.reader()
    }

    fn keys(&self) -> Keys<'_> {
        self.reader().unscoped_keys()
    }

    fn table(&self) -> &Table {
        self.writer.table()
    }

    fn reads(&self) -> &ReadTable {
        self.table().reads()
    }

    fn environment(&self) -> &Environment {
        self.reader().environment()
    }

    fn now(&self) -> Timestamp {
        self.environment().now()
    }

    /// Creates the instance, with default settings and no users.
    ///
    /// # Errors
    /// [`OperatorError::InstanceExists`] if there is one, [`OperatorError::Store`] if the table fails.
    pub async fn create_instance(&self) -> Result<InstanceEntry, OperatorError> {
        let entry = InstanceEntry {
            name: self.instance().clone(),
            create_date: self.now(),
            suspended: None,
            deleting: None,
        };
        // The table's first instance may be created concurrently.
        let mut retry = self.table().retry(Policy::CONFLICT, "creating an instance");
        loop {
            let mut transaction = self.new_instance(&entry)?;
            if !format::is_marked(self.reads()).await? {
                transaction.put(key::format(), format::mark()?, Condition::Absent);
            }
            match self.table().commit(transaction).await {
                Ok(()) => return Ok(entry),
                // Another process has created the table's first instance, and with it the format.
                Err(CommitError::Refused(found)) if found.contains_key(&key::format()) => {
                    retry.again().await?
                }
                Err(CommitError::Refused(found)) => {
                    let instance = self.instance().clone();
                    let deleted = found.values().any(lifecycle::is_being_deleted);
                    return Err(if deleted {
                        OperatorError::BeingDeleted(instance)
                    } else {
                        OperatorError::InstanceExists(instance)
                    });
                }
                Err(CommitError::Store(error)) => return Err(error.into()),
            };
        }
    }

    /// The writes that create the instance.
    fn new_instance(&self, entry: &InstanceEntry) -> Result<Transaction, StoreError> {
        let mut transaction = Transaction::default();
        transaction.put(
            key::instance(self.instance()),
            item::encode("instance", entry)?,
            Condition::Absent,
        );
        let directory = shared::store::unscoped::directory::StoredDirectory {
            directory: DirectoryHead::default(),
            later: BTreeMap::new(),
            version: 1,
            raw: Raw::default(),
        };
        transaction.put(
            self.keys().directory(),
            shared::store::unscoped::directory::encode(&directory),
            Condition::Absent,
        );
        Ok(transaction)
    }

    /// The instance's entry in the operator's list. One get.
    ///
    /// # Errors
    /// [`OperatorError::NoInstance`], or [`OperatorError::Store`] if the table fails.
    pub async fn entry(&self) -> Result<InstanceEntry, OperatorError> {
        let item = self.reads().get(&key::instance(self.instance())).await?;
        let item = item.ok_or_else(|| OperatorError::NoInstance(self.instance().clone()))?;
        Ok(item::decode("instance", item)?)
    }
}
