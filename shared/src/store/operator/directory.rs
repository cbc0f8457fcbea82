//! The directory and the users: the operator's changes of them, one after the other by the directory's version.
//!
//! A user is three things that change together: the record, the standing in the directory (C-82 reads it with every
//! request) and the name among all names. The last two are one item each, so an instance has as many users as they
//! hold, about ten thousand.

use serde::Serialize;
use serde_json::Value;

use super::{Operator, OperatorError, Outcome};
use crate::directory::Directory;
use crate::people::User;
use crate::store::directory::Stored;
use crate::store::error::StoreError;
use crate::store::item;
use crate::store::people::Names;
use crate::store::transaction::{CommitError, Condition, MOST_WRITES, Transaction};
use crate::store::unknown;

/// The most that the directory or the names may take as JSON, well below DynamoDB's 400 KB for an item.
pub const MOST_BYTES: usize = 350_000;
/// User records in one transaction, beside the directory and the names.
const USERS: usize = MOST_WRITES - 10;
/// Bytes of user records in one transaction, which may have 4 MB beside the two items.
const USER_BYTES: usize = 2_000_000;
/// Attempts to change the directory while others change it too.
const ATTEMPTS: u32 = 12;

impl Operator {
    /// Changes the directory, decided anew where another changed it meanwhile; answers whether anything changed. Users'
    /// standings follow their records, so they are changed by [`import_users`](Self::import_users) alone.
    ///
    /// # Errors
    /// [`OperatorError::NoInstance`], [`OperatorError::TooLarge`], or [`OperatorError::Store`] where the table fails.
    pub async fn put_directory(&self, edit: impl Fn(&mut Directory)) -> Result<bool, OperatorError> {
        self.try_edit(|directory| {
            edit(directory);
            Ok(())
        })
        .await
    }

    /// Sets one setting; `null` brings its default back (C-83). Answers whether anything changed.
    ///
    /// # Errors
    /// [`OperatorError::Setting`] for an unknown name or a bad value, [`OperatorError::NoInstance`], or
    /// [`OperatorError::Store`] where the table fails.
    pub async fn set_setting(&self, name: &str, value: &Value) -> Result<bool, OperatorError> {
        self.try_edit(|directory| Ok(directory.settings.set(name, value)?))
            .await
    }

    async fn try_edit(
        &self,
        edit: impl Fn(&mut Directory) -> Result<(), OperatorError>,
    ) -> Result<bool, OperatorError> {
        for attempt in 0..ATTEMPTS {
            let stored = self.stored_directory().await?;
            let mut directory = stored.directory.clone();
            edit(&mut directory)?;
            if directory == stored.directory {
                return Ok(false);
            }
            if json_bytes(&directory) > MOST_BYTES {
                return Err(OperatorError::TooLarge("directory"));
            }
            let mut transaction = Transaction::default();
            self.put_next(&mut transaction, directory, &stored);
            match self.table().commit(transaction).await {
                Ok(()) => return Ok(true),
                Err(CommitError::Refused(_)) => self.table().pause(attempt).await,
                Err(CommitError::Store(error)) => return Err(error.into()),
            }
        }
        Err(contention())
    }

    pub(super) async fn stored_directory(&self) -> Result<Stored, OperatorError> {
        let item = self.table().get(&self.keys().directory()).await?;
        let item = item.ok_or_else(|| OperatorError::NoInstance(self.instance().clone()))?;
        Ok(crate::store::directory::decode_raw(&item)?)
    }

    /// Puts a directory in the place of what is stored.
    pub(super) fn put_next(&self, transaction: &mut Transaction, directory: Directory, stored: &Stored) {
        let next = Stored {
            directory,
            version: stored.version + 1,
            raw: stored.raw.clone(),
        };
        let item = crate::store::directory::encode(&next);
        transaction.put(self.keys().directory(), item, Condition::Version(stored.version));
    }

    /// Writes users with their standings and names, each replacing the one of its id; of several with one id the last
    /// counts. The references are the caller's to check.
    ///
    /// # Errors
    /// [`OperatorError::NoInstance`], or [`OperatorError::Store`] where the table fails; what was written by then
    /// stays.
    pub async fn import_users(&self, users: &[User]) -> Result<Vec<Outcome>, OperatorError> {
        let mut outcomes = Vec::with_capacity(users.len());
        let mut rest = users;
        while !rest.is_empty() {
            let mut bytes = 0;
            let fitting = rest.iter().take(USERS).take_while(|user| {
                bytes += json_bytes(user);
                bytes <= USER_BYTES
            });
            let (chunk, behind) = rest.split_at(fitting.count().max(1));
            outcomes.extend(self.import_user_chunk(chunk).await?);
            rest = behind;
        }
        Ok(outcomes)
    }

    async fn import_user_chunk(&self, users: &[User]) -> Result<Vec<Outcome>, OperatorError> {
        for attempt in 0..ATTEMPTS {
            let stored = self.stored_directory().await?;
            let mut aggregate = Aggregate::new(stored.directory.clone(), self.0.names().await?);
            let keys = users.iter().map(|user| self.keys().user(user.id));
            let mut records = self.table().get_many(keys).await?;
            let mut transaction = Transaction::default();
            let mut outcomes = Vec::with_capacity(users.len());
            for user in users {
                let key = self.keys().user(user.id);
                let item = unknown::rewritten("user", records.get(&key), user)?;
                let record = records
                    .get(&key)
                    .cloned()
                    .map(|item| item::decode::<User>("user", item));
                let known = record.transpose()?.as_ref() == Some(user);
                let outcome = aggregate.take(user, known);
                if outcome == Outcome::Written {
                    records.insert(key.clone(), item.clone());
                    transaction.put(key, item, Condition::Always);
                }
                outcomes.push(outcome);
            }
            if transaction.is_empty() {
                return Ok(outcomes);
            }
            let names = aggregate.names.encode();
            transaction.set(self.keys().names(), names, &[], Condition::Always);
            self.put_next(&mut transaction, aggregate.directory, &stored);
            match self.table().commit(transaction).await {
                Ok(()) => return Ok(outcomes),
                Err(CommitError::Refused(_)) => self.table().pause(attempt).await,
                Err(CommitError::Store(error)) => return Err(error.into()),
            }
        }
        Err(contention())
    }
}

/// The two items that hold something of every user, and how large they are.
struct Aggregate {
    directory: Directory,
    names: Names,
    directory_bytes: usize,
    names_bytes: usize,
}

impl Aggregate {
    fn new(directory: Directory, names: Names) -> Self {
        Self {
            directory_bytes: json_bytes(&directory),
            names_bytes: json_bytes(&names.0),
            directory,
            names,
        }
    }

    /// Takes a user in, unless one of the items would become too large. `known` says that the record is the stored one.
    fn take(&mut self, user: &User, known: bool) -> Outcome {
        let (id, name, standing) = (user.id.to_string(), user.full_name(), user.standing());
        let old_standing = self.directory.users.get(&user.id);
        let old_name = self.names.0.get(&id);
        if known && old_standing == Some(&standing) && old_name == Some(&name) {
            return Outcome::Unchanged;
        }
        // In JSON an entry has the id in quotes, a colon and a comma beside its value.
        let entry = |value: usize| id.len() + 4 + value;
        let before = |value: Option<usize>| value.map_or(0, entry);
        let directory_bytes = self.directory_bytes + entry(json_bytes(&standing))
            - before(old_standing.map(json_bytes)).min(self.directory_bytes);
        let names_bytes = self.names_bytes + entry(json_bytes(&name))
            - before(old_name.map(json_bytes)).min(self.names_bytes);
        for (what, bytes) in [
            ("directory", directory_bytes),
            ("list of users' names", names_bytes),
        ] {
            if bytes > MOST_BYTES {
                return Outcome::Refused(OperatorError::TooLarge(what).to_string());
            }
        }
        (self.directory_bytes, self.names_bytes) = (directory_bytes, names_bytes);
        self.directory.users.insert(user.id, standing);
        self.names.0.insert(id, name);
        Outcome::Written
    }
}

fn json_bytes(value: &impl Serialize) -> usize {
    serde_json::to_vec(value).map_or(usize::MAX, |json| json.len())
}

fn contention() -> OperatorError {
    StoreError::Contention("a change of the directory").into()
}
