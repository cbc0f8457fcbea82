//! Migrates the directory from the first format to the second. Users' memberships move from the directory's item to
//! their credentials and to the members of departments. Users' names move to several items.
//!
//! No reader uses the new items before the last write, which removes the memberships from the directory. Each write
//! depends on the directory's version. If a user changes during the migration, or it was interrupted, everything is
//! compared again.

use super::credentials::Keyring;
use super::directory::DIRECTORY;
use super::kinds::users::membership_attributes;
use super::user_lists::UserLists;
use super::{Operator, OperatorError};
use shared::ids::UserId;
use shared::store::unscoped::credentials::Credential;
use shared::store::unscoped::directory::{Standings, StoredDirectory};
use table::item;
use table::{Condition, Key, Policy, StoreError, Transaction};

/// Items in one transaction. Those of names are the largest, together less than 4 MB.
const BATCH: usize = 40;

impl Operator {
    /// Migrates the directory to the second format. Returns the number of changed items, 0 if it has that format
    /// already.
    ///
    /// # Errors
    /// [`OperatorError::Disagreement`] if a user's membership is ambiguous, [`OperatorError::NoInstance`], or
    /// [`OperatorError::Store`] if the table fails; the items written before change no response.
    pub async fn split_directory(&self) -> Result<u64, OperatorError> {
        let mut changed = 0;
        let mut retry = self.table().retry(Policy::CONFLICT, DIRECTORY);
        loop {
            let mut stored = self.stored_directory().await?;
            let Some(standings) = stored.standings.take() else {
                return Ok(changed);
            };
            let lists = UserLists::of_records(self).await?;
            // Only an unchanged version makes the lists and the directory comparable.
            let is_unchanged = self.stored_directory().await?.version == stored.version;
            if is_unchanged && lists.standings != standings {
                return Err(OperatorError::Disagreement(self.instance().clone()));
            }
            if is_unchanged && self.try_split(stored, &standings, &lists, &mut changed).await? {
                return Ok(changed);
            }
            retry.again().await?;
        }
    }

    /// Writes all new items, then `stored`, the directory without memberships. Adds the number of changed items to
    /// `changed`. Returns `false` if the directory changed concurrently.
    async fn try_split(
        &self,
        stored: StoredDirectory,
        standings: &Standings,
        lists: &UserLists,
        changed: &mut u64,
    ) -> Result<bool, StoreError> {
        let mut writes = Vec::new();
        for differing in lists.differing_items(self).await? {
            let mut transaction = Transaction::default();
            differing.fix(&mut transaction);
            writes.push(transaction);
        }
        let mut keyring = Keyring::default();
        keyring.load(self, stored.version).await?;
        let credentials: Vec<_> = keyring.all().collect();
        for batch in credentials.chunks(BATCH) {
            writes.extend(self.membership_writes(batch, standings).await?);
        }
        for batch in writes.chunks(BATCH) {
            let mut transaction = Transaction::default();
            for write in batch {
                transaction.merge(write.clone());
            }
            let unchanged = Condition::Version(stored.version);
            transaction.check(self.keys().directory(), unchanged);
            if !self.table().try_commit(transaction).await? {
                return Ok(false);
            }
            *changed += batch.len() as u64;
        }
        // The last write, of the directory without memberships and of the former names.
        let mut last = Transaction::default();
        last.delete(self.keys().names(), Condition::Always);
        self.put_next(&mut last, stored);
        *changed += 2;
        self.table().try_commit(last).await
    }

    /// The writes that add their users' memberships to credentials.
    async fn membership_writes(
        &self,
        credentials: &[(UserId, Key)],
        standings: &Standings,
    ) -> Result<Vec<Transaction>, StoreError> {
        let found = self
            .reads()
            .get_many(credentials.iter().map(|(_, key)| key.clone()))
            .await?;
        let mut writes = Vec::new();
        for (user, key) in credentials {
            let Some((item, standing)) = found.get(key).zip(standings.get(user)) else {
                continue;
            };
            let credential: Credential = item::decode("credential", item.clone())?;
            if credential.user == *user && credential.membership != Some(*standing) {
                let own = Condition::Number {
                    name: "user",
                    value: user.get(),
                };
                let mut transaction = Transaction::default();
                transaction.set(key.clone(), membership_attributes(*standing)?, &[], own);
                writes.push(transaction);
            }
        }
        Ok(writes)
    }
}
