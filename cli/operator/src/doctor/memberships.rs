//! Compares the memberships in credentials with their users' records.
//!
//! A credential without a membership is right, because requests then read the user's record; a repair adds the
//! membership. A repair copies department and group, but never reactivates a user or makes one an admin: the report then
//! asks for an import of the user.

use super::check::{Check, Inconsistency};
use super::{Doctor, Result};
use crate::Operator;
use crate::credentials::Keyring;
use crate::kinds::users::membership_attributes;
use shared::directory::Membership;
use shared::ids::UserId;
use shared::people::User;
use shared::store::unscoped::credentials::Credential;
use shared::store::unscoped::directory::decode_raw;
use table::item::{self, Item};
use table::{Condition, Key, StoreError, Transaction};

/// Credentials that are read together.
const BATCH: usize = 100;

impl Doctor<'_> {
    /// Compares the memberships in valid credentials with the users' records, and reports or repairs differences.
    pub(super) async fn check_memberships(&mut self) -> Result<()> {
        let operator = self.operator;
        let stored = operator.stored_directory().await?;
        let mut keyring = Keyring::default();
        keyring.load(operator, stored.version).await?;
        // The user of each credential, and the key of the item with its membership.
        let credentials: Vec<_> = keyring.all().collect();
        for batch in credentials.chunks(BATCH) {
            let user_keys = batch.iter().map(|(user, _)| operator.keys().user(*user));
            let keys = user_keys.chain(batch.iter().map(|(_, key)| key.clone()));
            let found = operator.reads().get_many(keys).await?;
            for (user, key) in batch {
                let record = found.get(&operator.keys().user(*user));
                // Other checks report missing and unreadable items.
                let Ok(Some((credential, recorded))) = decode_both(*user, found.get(key), record) else {
                    continue;
                };
                // A missing membership is no fault, but a repair adds it.
                let needs_check = match credential.membership {
                    Some(copied) => copied != recorded,
                    None => self.repair,
                };
                if needs_check {
                    // Reports name a credential by its entry in the list of credentials, which has another key.
                    let entry = operator.keys().credential(credential.kind, &credential.id);
                    let directory_key = operator.keys().directory();
                    let check_again = async |directory: &Item| check(operator, directory, *user, key).await;
                    // The batch may be out of date. This reads the credential and the user's record again while the
                    // directory stays unchanged, and then reports or repairs.
                    self.recheck(&entry, &directory_key, check_again).await?;
                }
            }
        }
        Ok(())
    }
}

/// A user's credential and the membership in the user's record. `None` if one of them is missing or the credential is
/// of another user, which other checks report.
fn decode_both(
    user: UserId,
    credential: Option<&Item>,
    record: Option<&Item>,
) -> Result<Option<(Credential, Membership)>, StoreError> {
    let (Some(credential), Some(record)) = (credential, record) else {
        return Ok(None);
    };
    let credential: Credential = item::decode("credential", credential.clone())?;
    let record: User = item::decode("user", record.clone())?;
    Ok((credential.user == user).then(|| (credential, Membership::from(&record))))
}

/// Checks a credential. Under one version of the directory, users and credentials are consistent.
async fn check(operator: &Operator, directory: &Item, user: UserId, key: &Key) -> Result<Check> {
    let record = operator.keys().user(user);
    let found = operator.reads().get_many([record.clone(), key.clone()]).await?;
    let Some((credential, recorded)) = decode_both(user, found.get(key), found.get(&record))? else {
        return Ok(Check::Fine);
    };
    if credential.membership == Some(recorded) {
        return Ok(Check::Fine);
    }
    let mut fix = Transaction::default();
    let own = Condition::Number {
        name: "user",
        value: user.get(),
    };
    fix.set(key.clone(), membership_attributes(recorded)?, &[], own);
    operator.raise_version(&mut fix, decode_raw(directory)?.version);
    let Some(copied) = credential.membership else {
        // A missing membership is no fault, so nothing is reported.
        return Ok(Check::Inconsistency(Inconsistency {
            findings: Vec::new(),
            fix: Some(fix),
        }));
    };
    let entry = operator.keys().credential(credential.kind, &credential.id);
    let reason = format!("differs from the record of user {user}");
    let reactivates = copied.inactive && !recorded.inactive;
    let adds_admin = recorded.admin && !copied.admin;
    if reactivates || adds_admin {
        let reason = format!("{reason}, which lets it do more: import the user again");
        return Ok(Check::wrong(&entry, reason, None));
    }
    Ok(Check::wrong(&entry, reason, fix))
}
