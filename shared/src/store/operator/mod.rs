//! What the operator does with the table, outside the HTTP interface (C-80): instances, settings, credentials,
//! import, export and the doctor.
//!
//! What must stay true: every import write is safe beside live traffic, because it depends on the versions it read; a
//! record and all that is derived from it change in one transaction; of a credential only the hash is ever stored.

mod automations;
mod batch;
mod calendars;
mod calls;
mod companies;
mod credentials;
mod directory;
mod doctor;
mod events;
mod export;
mod first_format;
mod former_totals;
mod funnels;
mod leads;
mod meetings;
mod migrate;
mod opportunities;
mod provision;
mod reports;
mod split;
mod tickets;
mod user_lists;
mod users;

use std::collections::BTreeMap;

use std::sync::{Arc, Mutex, PoisonError};

use super::error::StoreError;
use super::format::{Format, TableFormat};
use super::item;
use super::key::{self, Keys};
use super::table::{ATTEMPTS, PAGE, Span, Table};
use super::transaction::{CommitError, Condition, Transaction};
use super::unknown::Raw;
use super::{Reader, Store};
use crate::directory::Directory;
use crate::id::UserId;
use crate::instance::InstanceName;
use crate::settings::SettingError;
use crate::time::Timestamp;

pub use calendars::CalendarLine;
pub use calls::CallLine;
pub use credentials::{CredentialEntry, Issued};
pub use doctor::{Diagnosis, Difference, Progress};
pub use export::{EventPages, Pages};
pub use leads::LeadLine;
pub use meetings::MeetingLine;
pub use migrate::Migration;
pub use opportunities::OpportunityLine;
pub use reports::ReportLine;
pub use tickets::TicketLine;

/// Why the operator's wish was not done. The texts are for the operator and say what to do next.
#[derive(Debug, thiserror::Error)]
pub enum OperatorError {
    /// There is no such instance.
    #[error("there is no instance {0}; create it with: funil instance create {0}")]
    NoInstance(InstanceName),
    /// The instance to be created is there.
    #[error("instance {0} exists already; see it with: funil instance show {0}")]
    InstanceExists(InstanceName),
    /// A credential was asked for a user that does not exist.
    #[error("there is no user {1} in instance {0}; import it first: funil import --instance {0} FILE")]
    NoUser(InstanceName, UserId),
    /// A credential was asked for a user whose credentials would not be valid.
    #[error("user {1} of instance {0} is inactive; import it with \"active\": true first")]
    InactiveUser(InstanceName, UserId),
    /// A credential was asked for a user that has as many valid ones as one can have.
    #[error(
        "user {1} of instance {0} has {limit} valid credentials, and no user may have more; revoke one first, see funil key list and funil token list",
        limit = credentials::MAX_CREDENTIALS
    )]
    ManyCredentials(InstanceName, UserId),
    /// The directory in the first format and the users' records disagree, so it is not known what to migrate.
    #[error(
        "where users of instance {0} stand is not what their records say; run: funil doctor --instance {0} --repair"
    )]
    Disagreement(InstanceName),
    /// No credential of this kind has this id.
    #[error(
        "there is no {kind} {id} in instance {instance}; see them with: funil {kind} list --instance {instance}"
    )]
    NoCredential {
        /// The instance that was looked into.
        instance: InstanceName,
        /// `key` or `token`.
        kind: &'static str,
        /// The id that was given.
        id: String,
    },
    /// The credential is void already.
    #[error("{kind} {id} was revoked already, on {at}")]
    RevokedAlready {
        /// `key` or `token`.
        kind: &'static str,
        /// The credential's id.
        id: String,
        /// Since when.
        at: Timestamp,
    },
    /// A setting does not exist or does not accept the value.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// The directory or the list of names would come near the most that one item holds.
    #[error("the instance's {0} would take more than {limit} KB of one item; use fewer or shorter names", limit = directory::MOST_BYTES / 1000)]
    TooLarge(&'static str),
    /// The table failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What became of a record that was to be imported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It is written.
    Written,
    /// The table held the same; nothing was written.
    Unchanged,
    /// It was not written, and this is why.
    Refused(String),
}

/// An instance in the operator's list.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InstanceEntry {
    /// Its name.
    pub name: InstanceName,
    /// When it was created.
    pub create_date: Timestamp,
}

impl Store {
    /// The operator's hand on one instance, which need not exist yet.
    #[must_use]
    pub fn operator(&self, instance: InstanceName) -> Operator {
        Operator(self.reader(instance), Mode::default())
    }

    /// All instances by name.
    ///
    /// # Errors
    /// [`StoreError`] where they cannot be read.
    pub async fn instances(&self) -> Result<Vec<InstanceEntry>, StoreError> {
        let items = self.table.query_all(Span::head(key::instances(), PAGE)).await?;
        items
            .into_iter()
            .map(|item| item::decode("instance", item))
            .collect()
    }
}

/// The operator's hand on one instance.
#[derive(Debug, Clone)]
pub struct Operator(Reader, Mode);

/// How the operator's hand does what it does, and what it could not read.
#[derive(Debug, Clone, Default)]
struct Mode {
    /// Records that are imported are judged and not written.
    judging: bool,
    /// Where pages note records that cannot be read and leave them out; else they fail.
    unreadable: Option<Arc<Mutex<Unreadable>>>,
}

/// Records that were left out of pages because they cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Unreadable {
    /// How many.
    pub count: u64,
    /// The keys of the first thousand, each with what is wrong.
    pub items: Vec<String>,
}

impl Operator {
    /// The same hand, which judges opportunities, meetings, tickets and files that are imported and writes none of them.
    #[must_use]
    pub fn judging(&self) -> Self {
        let mode = Mode {
            judging: true,
            ..self.1.clone()
        };
        Self(self.0.clone(), mode)
    }

    /// The same hand, of which pages leave out what cannot be read, and note it.
    #[must_use]
    pub fn lenient(&self) -> Self {
        let mode = Mode {
            unreadable: Some(Arc::default()),
            ..self.1.clone()
        };
        Self(self.0.clone(), mode)
    }

    /// The records that pages left out so far because they cannot be read.
    #[must_use]
    pub fn unreadable(&self) -> Unreadable {
        let unreadable = self.1.unreadable.as_ref().map(|noted| noted.lock());
        let unreadable = unreadable.map(|noted| noted.unwrap_or_else(PoisonError::into_inner).clone());
        unreadable.unwrap_or_default()
    }

    /// The instance that is operated.
    #[must_use]
    pub fn instance(&self) -> &InstanceName {
        &self.0.instance
    }

    fn keys(&self) -> Keys<'_> {
        self.0.keys()
    }

    fn table(&self) -> &Table {
        &self.0.table
    }

    fn now(&self) -> Timestamp {
        self.table().ambient.now()
    }

    /// Creates the instance, with default settings and nobody in it.
    ///
    /// # Errors
    /// [`OperatorError::InstanceExists`] where there is one, [`OperatorError::Store`] where the table fails.
    pub async fn create_instance(&self) -> Result<InstanceEntry, OperatorError> {
        let entry = InstanceEntry {
            name: self.instance().clone(),
            create_date: self.now(),
        };
        // Another may create the table's first instance at the same time.
        for _ in 0..ATTEMPTS {
            let found = self.table().found_format().await?;
            let written = found.as_ref().map_or(Format::CURRENT, TableFormat::written);
            let mut transaction = self.new_instance(&entry, written)?;
            if found.is_none() {
                let format = TableFormat::settled(Format::CURRENT).encode()?;
                transaction.put(key::format(), format, Condition::Absent);
            }
            match self.table().commit(transaction).await {
                Ok(()) => return Ok(entry),
                Err(CommitError::Refused(found)) if found.contains_key(&key::format()) => {}
                Err(CommitError::Refused(_)) => {
                    return Err(OperatorError::InstanceExists(self.instance().clone()));
                }
                Err(CommitError::Store(error)) => return Err(error.into()),
            }
        }
        Err(StoreError::Contention("creating an instance").into())
    }

    fn new_instance(&self, entry: &InstanceEntry, format: Format) -> Result<Transaction, StoreError> {
        let mut transaction = Transaction::default();
        transaction.put(
            key::instance(self.instance()),
            item::encode("instance", entry)?,
            Condition::Absent,
        );
        let directory = super::directory::Stored {
            directory: Directory::default(),
            standings: (format < Format::SPLIT).then(BTreeMap::new),
            version: 1,
            raw: Raw::default(),
        };
        transaction.put(
            self.keys().directory(),
            super::directory::encode(&directory),
            Condition::Absent,
        );
        Ok(transaction)
    }

    /// The instance in the operator's list. One get.
    ///
    /// # Errors
    /// [`OperatorError::NoInstance`], or [`OperatorError::Store`] where the table fails.
    pub async fn entry(&self) -> Result<InstanceEntry, OperatorError> {
        let item = self.table().get(&key::instance(self.instance())).await?;
        let item = item.ok_or_else(|| OperatorError::NoInstance(self.instance().clone()))?;
        Ok(item::decode("instance", item)?)
    }

    /// Settings, departments and groups.
    ///
    /// # Errors
    /// [`OperatorError::NoInstance`], or [`OperatorError::Store`] where the table fails.
    pub async fn directory(&self) -> Result<Directory, OperatorError> {
        let directory = self.0.directory().await?;
        directory.ok_or_else(|| OperatorError::NoInstance(self.instance().clone()))
    }
}

/// The times of creation and change that a record gets from a line, which may leave out either: then the stored record's
/// stays, and a new one's are now, or the time of its creation.
fn dates(
    told: (Option<Timestamp>, Option<Timestamp>),
    stored: Option<(Timestamp, Timestamp)>,
    now: Timestamp,
) -> (Timestamp, Timestamp) {
    let (created, updated) = stored.unzip();
    let create_date = told.0.or(created).unwrap_or(now);
    (create_date, told.1.or(updated).unwrap_or(create_date))
}
