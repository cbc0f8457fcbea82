//! Changes of the directory by operators, ordered by its version.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Operator, OperatorError};
use shared::directory::Directory;
use shared::ids::UserId;
use shared::store::unscoped::directory::{StoredDirectory, decode_raw, encode};
use table::item::{self, Item};
use table::{Condition, Policy, Transaction};

/// Maximum bytes of the item of the directory or of users' names, well below DynamoDB's 400 KB for an item.
pub const MAX_BYTES: usize = 350_000;
/// The name of a change of the directory in errors.
pub(super) const DIRECTORY: &str = "a change of the directory";

impl Operator {
    /// Changes the directory, and decides again if another write was faster. Returns whether anything changed.
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

    /// Sets one setting; `null` restores its default (C-83). Returns whether anything changed.
    ///
    /// # Errors
    /// [`OperatorError::Setting`] for an unknown name or a bad value, [`OperatorError::NoInstance`], or
    /// [`OperatorError::Store`] if the table fails.
    pub async fn set_setting(&self, name: &str, value: &Value) -> Result<bool, OperatorError> {
        self.try_edit(|directory| Ok(directory.settings.set(name, value)?))
            .await
    }

    async fn try_edit(
        &self,
        edit: impl Fn(&mut Directory) -> Result<(), OperatorError>,
    ) -> Result<bool, OperatorError> {
        let mut retry = self.table().retry(Policy::CONFLICT, DIRECTORY);
        loop {
            let stored = self.stored_directory().await?;
            let mut next = stored.clone();
            edit(&mut next.directory)?;
            if next.directory == stored.directory {
                return Ok(false);
            }
            if item::bytes(&encode(&next)) > MAX_BYTES {
                return Err(OperatorError::TooLarge("directory"));
            }
            let mut transaction = Transaction::default();
            self.put_next(&mut transaction, next);
            if self.table().try_commit(transaction).await? {
                return Ok(true);
            }
            retry.again().await?;
        }
    }

    pub(super) async fn stored_directory(&self) -> Result<StoredDirectory, OperatorError> {
        match self.reads().get(&self.keys().directory()).await? {
            Some(item) => Ok(decode_raw(&item)?),
            None => Err(self.missing().await),
        }
    }

    /// Replaces the directory that was read.
    pub(super) fn put_next(&self, transaction: &mut Transaction, mut stored: StoredDirectory) {
        let read = Condition::Version(stored.version);
        stored.version += 1;
        transaction.put(self.keys().directory(), encode(&stored), read);
    }

    /// Raises the directory's version from the one that was read, which orders all writes that depend on users.
    pub(super) fn move_on(&self, transaction: &mut Transaction, version: u64) {
        let read = Condition::Version(version);
        transaction.update(self.keys().directory(), "v", 1, Item::new(), read);
    }

    /// The ids of all users. One query for each MB of their names, about 30,000 users.
    ///
    /// # Errors
    /// [`OperatorError::NoInstance`], or [`OperatorError::Store`] where the table fails.
    pub async fn user_ids(&self) -> Result<BTreeSet<UserId>, OperatorError> {
        if let Some(standings) = self.stored_directory().await?.standings {
            return Ok(standings.into_keys().collect());
        }
        let names = self
            .0
            .reader()
            .finish_names(self.0.reader().begin_names().await?)
            .await?;
        Ok(names.iter().map(|(id, _)| id).collect())
    }
}
