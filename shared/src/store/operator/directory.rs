//! The directory: the operator's changes of it, one after the other by its version.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Operator, OperatorError};
use crate::directory::Directory;
use crate::id::UserId;
use crate::store::directory::{Stored, decode_raw, encode};
use crate::store::error::StoreError;
use crate::store::item::{self, Item};
use crate::store::transaction::{CommitError, Condition, Transaction};

/// The most that an item of the directory or of users' names may take, well below DynamoDB's 400 KB for an item.
pub const MOST_BYTES: usize = 350_000;
/// Attempts to change the directory while others change it too.
pub(super) const ATTEMPTS: u32 = 12;

impl Operator {
    /// Changes the directory, decided anew where another changed it meanwhile; answers whether anything changed.
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
            let mut next = stored.clone();
            edit(&mut next.directory)?;
            if next.directory == stored.directory {
                return Ok(false);
            }
            if item::bytes(&encode(&next)) > MOST_BYTES {
                return Err(OperatorError::TooLarge("directory"));
            }
            let mut transaction = Transaction::default();
            self.put_next(&mut transaction, next);
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
        Ok(decode_raw(&item)?)
    }

    /// Puts a directory in the place of the one that was read.
    pub(super) fn put_next(&self, transaction: &mut Transaction, mut stored: Stored) {
        let read = Condition::Version(stored.version);
        stored.version += 1;
        transaction.put(self.keys().directory(), encode(&stored), read);
    }

    /// Moves the directory's version on from the one that was read: so whatever else rests on users follows one after the
    /// other.
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
        let names = self.0.finish_names(self.0.begin_names().await?).await?;
        Ok(names.iter().map(|(id, _)| id).collect())
    }
}

pub(super) fn contention() -> OperatorError {
    StoreError::Contention("a change of the directory").into()
}
