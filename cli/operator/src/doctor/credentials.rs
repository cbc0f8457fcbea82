//! Checks credentials. An entry that is not revoked has the item that a request finds by hash. The item of a revoked
//! entry is revoked or absent. Each item that opens the instance has an entry, so that it can be revoked.
//!
//! A repair never gives a credential more access. If item and entry differ, the right one is unknown, so the credential
//! is revoked. An item without an entry gets one, so that the operator can find its owner before revoking it.

use super::check::Check;
use super::{Doctor, Result};
use crate::Operator;
use crate::credentials::{CredentialEntry, StoredEntry};
use shared::store::unscoped::credentials::Credential;
use shared::store::unscoped::key;
use shared::store::unscoped::quarantine::as_read;
use table::item::{self, Item};
use table::{Condition, Key, StoreError, Transaction, key_of};

/// Entries with items that are read together, in one batch of gets.
const BATCH: usize = 100;

impl Doctor<'_> {
    /// Compares the entries in the operator's list with the credentials.
    pub(super) async fn check_credentials(&mut self) -> Result<()> {
        let mut pages = self.pages(self.operator.keys().credentials());
        while let Some(page) = pages.next().await? {
            for entries in page.chunks(BATCH) {
                self.count_checked("credentials", entries.len());
                self.check_entries(entries).await?;
            }
        }
        Ok(())
    }

    async fn check_entries(&mut self, entries: &[Item]) -> Result<()> {
        let operator = self.operator;
        let mut listed = Vec::with_capacity(entries.len());
        for entry in entries {
            let key = key_of(entry)?;
            match decode(entry) {
                Ok(entry) => listed.push((key, entry)),
                Err(cause) => self.report(key, cause, false),
            }
        }
        let hashes = listed.iter().map(|(_, entry)| key::credential(&entry.hash));
        let stored = operator.reads().get_many(hashes).await?;
        for (key, entry) in listed {
            let found = stored.get(&key::credential(&entry.hash));
            if fault(operator, &entry, found).is_some() {
                self.recheck(&key, &key, async |entry| check(operator, &key, entry).await)
                    .await?;
            }
        }
        Ok(())
    }

    /// Checks whether an item that opens the instance has an entry in the operator's list.
    pub(super) async fn check_credential(&mut self, at: &Key, item: &Item) -> Result<()> {
        let operator = self.operator;
        let Ok(credential) = item::decode::<Credential>("credential", item.clone()) else {
            self.report("a credential of the instance", "cannot be read", false);
            return Ok(());
        };
        let key = operator.keys().credential(credential.kind, &credential.id);
        if credential.revoked.is_some() || self.is_reported(&key) {
            return Ok(());
        }
        let check_entry = async |item: &Item| check_has_entry(operator, at, item, &key).await;
        self.recheck(&key, at, check_entry).await
    }
}

/// Checks whether the credential `item` at the key `at`, which opens the instance, has an entry at `entry_key`. A
/// repair adds one. If the list has another credential with its id, the repair deletes this credential.
async fn check_has_entry(operator: &Operator, at: &Key, item: &Item, entry_key: &Key) -> Result<Check> {
    let credential: Credential = item::decode("credential", item.clone())?;
    let hash = at.pk.trim_start_matches(key::CREDENTIAL_PREFIX);
    let mut fix = Transaction::default();
    let reason = match operator.reads().get(entry_key).await? {
        Some(entry) if decode(&entry).is_ok_and(|entry| entry.hash.as_str() != hash) => {
            fix.delete(at.clone(), Condition::Present);
            "is in the list with another secret, but this secret also opens the instance"
        }
        Some(_) => return Ok(Check::Fine),
        None => {
            let id = Item::from([("id".to_owned(), item::s(&*credential.id))]);
            let entry = CredentialEntry {
                id: credential.id,
                kind: credential.kind,
                user: credential.user,
                label: None,
                create_date: operator.now(),
                expires: credential.expires,
                revoked: None,
                requests_per_minute: credential.requests_per_minute,
            };
            let mut entry = item::encode("credential entry", &entry)?;
            entry.insert("hash".to_owned(), item::s(hash));
            fix.put(entry_key.clone(), entry, Condition::Absent);
            // Imports of its user did not update its membership, so it is removed: requests read the user's record
            // instead.
            fix.set(at.clone(), id, &["standing"], Condition::Present);
            "opens the instance and is not in the list"
        }
    };
    Ok(Check::wrong(entry_key, reason, fix))
}

fn decode(entry: &Item) -> Result<StoredEntry, StoreError> {
    item::decode("credential entry", entry.clone())
}

/// The fault of the credential that was found at an entry's hash. Reports name the entry and not the hash.
fn fault(operator: &Operator, entry: &StoredEntry, found: Option<&Item>) -> Option<&'static str> {
    if entry.entry.revoked.is_some() {
        let is_revoked = |found: &Item| {
            let credential = item::decode::<Credential>("credential", found.clone());
            credential.is_ok_and(|credential| credential.revoked.is_some())
        };
        let opens_instance = found.is_some_and(|found| !is_revoked(found));
        return opens_instance.then_some("is revoked and opens the instance all the same");
    }
    let Some(found) = found else {
        return Some("is not revoked and opens nothing");
    };
    let Ok(mut credential) = item::decode::<Credential>("credential", found.clone()) else {
        return Some("is not revoked and cannot be read");
    };
    // The membership is compared with the user's record in `memberships`.
    credential.membership = None;
    let right = entry.credential(operator.instance());
    (credential != right).then_some("opens something else than its entry states")
}

/// Checks an entry. A repair depends on the entry as it was read, and on the absence of a revocation if there was none.
async fn check(operator: &Operator, key: &Key, item: &Item) -> Result<Check> {
    let entry = decode(item)?;
    let at = key::credential(&entry.hash);
    let found = operator.reads().get(&at).await?;
    let Some(reason) = fault(operator, &entry, found.as_ref()) else {
        return Ok(Check::Fine);
    };
    let mut fix = Transaction::default();
    fix.delete(at, Condition::Always);
    if entry.entry.revoked.is_some() {
        fix.check(key.clone(), as_read(item));
    } else {
        let mut revoked = item.clone();
        revoked.insert("revoked".to_owned(), item::s(operator.now().to_string()));
        let has = item.clone();
        let lacks = vec!["revoked"];
        fix.put(key.clone(), revoked, Condition::Exactly { has, lacks });
    }
    Ok(Check::wrong(key, reason, fix))
}
