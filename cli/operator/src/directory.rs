//! Changes of the directory by operators, ordered by its version.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Operator, OperatorError};
use shared::directory::{Directory, DirectoryHead};
use shared::ids::UserId;
use shared::store::unscoped::directory::{StoredDirectory, decode_raw, encode, has_room};
use table::item::{self, Item};
use table::{Condition, Policy, Transaction};

/// Maximum bytes of an item of the directory or of users' names, well below DynamoDB's 400 KB.
pub const MAX_BYTES: usize = 350_000;
/// The name of a change of the directory in errors.
pub(super) const DIRECTORY: &str = "a change of the directory";

impl Operator {
    /// Changes the directory, and calls `edit` again if another write was faster. Returns whether anything changed.
    /// Replaces an unreadable department or group.
    ///
    /// # Errors
    /// [`OperatorError::NoInstance`], [`OperatorError::DirectoryFull`], [`OperatorError::TooLarge`], or
    /// [`OperatorError::Store`] if the table fails.
    pub async fn put_directory(&self, edit: impl Fn(&mut Directory)) -> Result<bool, OperatorError> {
        let mut retry = self.table().retry(Policy::CONFLICT, DIRECTORY);
        loop {
            let stored = self.stored_directory().await?;
            let before = self.stored_details().await?;
            let old = Directory::of_parts(stored.directory.clone(), before.details.clone());
            let mut next = old.clone();
            edit(&mut next);
            if next == old {
                return Ok(false);
            }
            if !has_room(&next.clone().split().0) {
                return Err(OperatorError::DirectoryFull);
            }
            let transaction = self.directory_changes(stored, &before, next)?;
            if self.table().try_commit(transaction).await? {
                return Ok(true);
            }
            retry.again().await?;
        }
    }

    /// Sets one setting; `null` restores its default (C-83). Returns whether anything changed.
    ///
    /// # Errors
    /// [`OperatorError::Setting`] for an unknown name or a bad value, [`OperatorError::NoInstance`], or
    /// [`OperatorError::Store`] if the table fails.
    pub async fn set_setting(&self, name: &str, value: &Value) -> Result<bool, OperatorError> {
        let mut retry = self.table().retry(Policy::CONFLICT, DIRECTORY);
        loop {
            let stored = self.stored_directory().await?;
            let mut next = stored.clone();
            next.directory.settings.set(name, value)?;
            if next.directory == stored.directory {
                return Ok(false);
            }
            let mut transaction = Transaction::default();
            self.put_checked(&mut transaction, next)?;
            if self.table().try_commit(transaction).await? {
                return Ok(true);
            }
            retry.again().await?;
        }
    }

    /// Settings, departments and groups. Departments and groups with unreadable details have their ids as names, and a
    /// lenient operator notes the items.
    ///
    /// # Errors
    /// [`OperatorError::NoInstance`], [`OperatorError::BeingDeleted`], or [`OperatorError::Store`] if the table fails,
    /// or an item cannot be read and the operator is not lenient.
    pub async fn directory(&self) -> Result<Directory, OperatorError> {
        let stored = self.stored_directory().await?;
        let found = self.stored_details().await?;
        self.note_unreadable(found.unreadable)?;
        Ok(Directory::of_parts(stored.directory, found.details))
    }

    /// The part of the directory that decides access. One get.
    ///
    /// # Errors
    /// [`OperatorError::NoInstance`], [`OperatorError::BeingDeleted`], or [`OperatorError::Store`] if the table fails.
    pub async fn directory_head(&self) -> Result<DirectoryHead, OperatorError> {
        Ok(self.stored_directory().await?.directory)
    }

    pub(super) async fn stored_directory(&self) -> Result<StoredDirectory, OperatorError> {
        match self.reads().get(&self.keys().directory()).await? {
            Some(item) => Ok(decode_raw(&item)?),
            None => Err(self.missing_directory().await),
        }
    }

    /// Replaces the directory that was read, unless its item would be too large.
    pub(super) fn put_checked(
        &self,
        transaction: &mut Transaction,
        next: StoredDirectory,
    ) -> Result<(), OperatorError> {
        if item::bytes(&encode(&next)) > MAX_BYTES {
            return Err(OperatorError::TooLarge("directory"));
        }
        self.put_next(transaction, next);
        Ok(())
    }

    /// Replaces the directory that was read.
    pub(super) fn put_next(&self, transaction: &mut Transaction, mut stored: StoredDirectory) {
        let read = Condition::Version(stored.version);
        stored.version += 1;
        transaction.put(self.keys().directory(), encode(&stored), read);
    }

    /// Raises the directory's version on condition of the one that was read. The version orders all writes that depend
    /// on users.
    pub(super) fn raise_version(&self, transaction: &mut Transaction, version: u64) {
        let read = Condition::Version(version);
        transaction.update(self.keys().directory(), "v", 1, Item::new(), read);
    }

    /// The ids of all users. One query for each MB of their names, about 30,000 users.
    ///
    /// # Errors
    /// [`OperatorError::NoInstance`], or [`OperatorError::Store`] if the table fails.
    pub async fn user_ids(&self) -> Result<BTreeSet<UserId>, OperatorError> {
        let names = self
            .reader()
            .finish_names(self.reader().begin_names().await?)
            .await?;
        Ok(names.iter().map(|(id, _)| id).collect())
    }
}
