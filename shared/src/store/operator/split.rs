//! From the first format of the directory to the second: users' standings leave the directory's item for their credentials,
//! the members of departments and the names in parts.
//!
//! Nobody reads what is written first before the last write, which takes the standings out of the directory. Each write
//! depends on the directory's version, so where a user changes meanwhile, or the step was interrupted, all is compared again.

use super::credentials::Keyring;
use super::directory::{ATTEMPTS, contention};
use super::user_lists::UserLists;
use super::users::carrying;
use super::{Operator, OperatorError};
use crate::id::UserId;
use crate::store::credentials::Credential;
use crate::store::directory::{Standings, Stored};
use crate::store::error::StoreError;
use crate::store::item;
use crate::store::key::Key;
use crate::store::transaction::{CommitError, Condition, Transaction};

/// Items in one transaction: of names, which are the largest, less than 4 MB.
const BATCH: usize = 40;

impl Operator {
    /// Brings the directory to the second format; returns how many items changed. None where it has it already.
    ///
    /// # Errors
    /// [`OperatorError::Disagreement`] where it is not known where a user stands, [`OperatorError::NoInstance`], or
    /// [`OperatorError::Store`] where the table fails; what was written by then changes no answer.
    pub async fn split_directory(&self) -> Result<u64, OperatorError> {
        let mut changed = 0;
        for attempt in 0..ATTEMPTS {
            let mut stored = self.stored_directory().await?;
            let Some(standings) = stored.standings.take() else {
                return Ok(changed);
            };
            let lists = UserLists::of_records(self).await?;
            let unchanged = self.stored_directory().await?.version == stored.version;
            if unchanged && lists.standings != standings {
                return Err(OperatorError::Disagreement(self.instance().clone()));
            }
            if unchanged && self.try_split(stored, &standings, &lists, &mut changed).await? {
                return Ok(changed);
            }
            self.table().pause(attempt).await;
        }
        Err(contention())
    }

    /// Writes all, at last the directory without standings; `false` where it changed meanwhile.
    async fn try_split(
        &self,
        stored: Stored,
        standings: &Standings,
        lists: &UserLists,
        changed: &mut u64,
    ) -> Result<bool, StoreError> {
        let mut writes = Vec::new();
        for differing in lists.differing(self).await? {
            let mut transaction = Transaction::default();
            differing.repair(&mut transaction);
            writes.push(transaction);
        }
        let mut keyring = Keyring::default();
        keyring.at(self, stored.version).await?;
        let held: Vec<_> = keyring.all().collect();
        for some in held.chunks(BATCH) {
            writes.extend(self.carry(some, standings).await?);
        }
        for some in writes.chunks(BATCH) {
            let mut transaction = Transaction::default();
            some.iter().cloned().for_each(|write| transaction.merge(write));
            let unmoved = Condition::Version(stored.version);
            transaction.check(self.keys().directory(), unmoved);
            if !self.happened(transaction).await? {
                return Ok(false);
            }
            *changed += some.len() as u64;
        }
        let mut last = Transaction::default();
        last.delete(self.keys().names(), Condition::Always);
        self.put_next(&mut last, stored);
        *changed += 2;
        self.happened(last).await
    }

    /// The writes after which credentials carry where their users stand.
    async fn carry(
        &self,
        held: &[(UserId, Key)],
        standings: &Standings,
    ) -> Result<Vec<Transaction>, StoreError> {
        let found = self
            .table()
            .get_many(held.iter().map(|(_, key)| key.clone()))
            .await?;
        let mut writes = Vec::new();
        for (user, key) in held {
            let Some((item, standing)) = found.get(key).zip(standings.get(user)) else {
                continue;
            };
            let credential: Credential = item::decode("credential", item.clone())?;
            if credential.user == *user && credential.standing != Some(*standing) {
                let own = Condition::Number {
                    name: "user",
                    value: user.get(),
                };
                let mut transaction = Transaction::default();
                transaction.set(key.clone(), carrying(*standing)?, &[], own);
                writes.push(transaction);
            }
        }
        Ok(writes)
    }

    async fn happened(&self, transaction: Transaction) -> Result<bool, StoreError> {
        match self.table().commit(transaction).await {
            Ok(()) => Ok(true),
            Err(CommitError::Refused(_)) => Ok(false),
            Err(CommitError::Store(error)) => Err(error),
        }
    }
}
