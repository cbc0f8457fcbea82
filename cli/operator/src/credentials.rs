//! Issue, list and revocation of credentials by the operator (C-3). A credential is two items: one that a request finds
//! by hash, and one in the operator's list. A revocation marks both.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::directory::DIRECTORY;
use super::{Operator, OperatorError};
use shared::credential::{CredentialHash, CredentialKind, Secret};
use shared::directory::Membership;
use shared::ids::UserId;
use shared::instance::InstanceName;
use shared::people::User;
use shared::settings::Rate;
use shared::store::unscoped::credentials::Credential;
use shared::store::unscoped::key;
use shared::store::unscoped::key::Key;
use shared::time::Timestamp;
use table::KeyRange;
use table::StoreError;
use table::item::{self, Item};
use table::{Condition, Policy, Transaction};

/// Characters of a credential's public id.
const ID_LENGTH: usize = 12;
/// The optional attributes of a stored credential and of its entry. A write removes those for which it has no value.
const OPTIONAL_ATTRIBUTES: [&str; 5] = [
    "label",
    "expires",
    "revoked",
    "requestsPerMinute",
    // In the credential itself.
    "requests_per_minute",
];
/// Maximum valid credentials of one user, because one transaction changes the user's membership in all of them.
pub(super) const MAX_CREDENTIALS: usize = 50;

/// A credential in the operator's list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CredentialEntry {
    /// The public id, as revocations and the log name it.
    pub id: String,
    /// Key or token.
    pub kind: CredentialKind,
    /// The user of its requests.
    pub user: UserId,
    /// The operator's label.
    #[serde(default)]
    pub label: Option<String>,
    /// The time of issue.
    pub create_date: Timestamp,
    /// The end of its validity; `None` for no expiry.
    #[serde(default)]
    pub expires: Option<Timestamp>,
    /// The time of the revocation.
    #[serde(default)]
    pub revoked: Option<Timestamp>,
    /// The key's own limit (C-9).
    #[serde(default)]
    pub requests_per_minute: Option<Rate>,
}

/// An entry as it is stored: with the hash by which a revocation finds the credential.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredEntry {
    #[serde(flatten)]
    pub(super) entry: CredentialEntry,
    pub(super) hash: CredentialHash,
}

impl StoredEntry {
    /// The credential that belongs to an entry without a revocation. It carries no membership.
    pub(super) fn credential(&self, instance: &InstanceName) -> Credential {
        Credential {
            id: self.entry.id.clone(),
            kind: self.entry.kind,
            instance: instance.clone(),
            user: self.entry.user,
            expires: self.entry.expires,
            requests_per_minute: self.entry.requests_per_minute,
            membership: None,
            revoked: None,
        }
    }

    /// The credential that belongs to an entry revoked at `at`.
    fn revoked_credential(&self, instance: &InstanceName, at: Timestamp) -> Credential {
        Credential {
            expires: Some(Timestamp::EPOCH),
            revoked: Some(at),
            ..self.credential(instance)
        }
    }

    /// Whether it may still authenticate a request. A credential stays valid for one more day, because clocks differ.
    fn is_valid(&self, now: Timestamp) -> bool {
        let expires = self.entry.expires;
        self.entry.revoked.is_none() && expires.is_none_or(|expires| now < expires.plus_days(1))
    }
}

/// The valid credentials of all users at a version of the directory. Issuing a credential raises the version.
#[derive(Debug, Default)]
pub(super) struct Keyring {
    version: u64,
    hashes: BTreeMap<UserId, Vec<CredentialHash>>,
}

impl Keyring {
    /// Reads the credentials, unless they are already of this version.
    pub(super) async fn load(&mut self, operator: &Operator, version: u64) -> Result<(), StoreError> {
        if self.version == version {
            return Ok(());
        }
        let now = operator.now();
        let mut hashes: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for stored in operator.stored_entries().await? {
            if stored.is_valid(now) {
                hashes.entry(stored.entry.user).or_default().push(stored.hash);
            }
        }
        *self = Self { version, hashes };
        Ok(())
    }

    /// Adopts the directory's version after a write that raised it by one and issued no credential.
    pub(super) fn follow_version(&mut self) {
        self.version += 1;
    }

    /// The number of valid credentials of a user.
    fn count(&self, user: UserId) -> usize {
        self.hashes.get(&user).map_or(0, Vec::len)
    }

    /// The keys of a user's credentials that carry its membership.
    pub(super) fn of(&self, user: UserId) -> impl Iterator<Item = Key> {
        let hashes = self.hashes.get(&user).into_iter().flatten();
        hashes.map(key::credential)
    }

    /// The keys of all credentials that carry their users' memberships.
    pub(super) fn all(&self) -> impl Iterator<Item = (UserId, Key)> {
        let users = self.hashes.keys();
        users.flat_map(|user| self.of(*user).map(|key| (*user, key)))
    }
}

/// A new credential. Its text is not stored.
#[derive(Debug)]
pub struct Issued {
    /// The entry in the operator's list.
    pub entry: CredentialEntry,
    /// The credential itself.
    pub secret: Secret,
}

impl Operator {
    /// Issues a credential for an active user, valid for some days or without expiry.
    ///
    /// # Errors
    /// [`OperatorError::NoInstance`], [`OperatorError::NoUser`], [`OperatorError::InactiveUser`],
    /// [`OperatorError::ManyCredentials`], or [`OperatorError::Store`] if the table fails.
    pub async fn issue(
        &self,
        kind: CredentialKind,
        user: UserId,
        label: Option<String>,
        days: Option<u32>,
    ) -> Result<Issued, OperatorError> {
        self.issue_entry(kind, user, label, days, None).await
    }

    /// Issues a key with a limit of its own (C-9), or without one.
    ///
    /// # Errors
    /// Those of [`issue`](Self::issue).
    pub async fn issue_key(
        &self,
        user: UserId,
        label: Option<String>,
        days: Option<u32>,
        limit: Option<Rate>,
    ) -> Result<Issued, OperatorError> {
        self.issue_entry(CredentialKind::Key, user, label, days, limit)
            .await
    }

    /// Issues a credential: valid for `days` or without expiry, with a limit of its own or without one.
    async fn issue_entry(
        &self,
        kind: CredentialKind,
        user: UserId,
        label: Option<String>,
        days: Option<u32>,
        limit: Option<Rate>,
    ) -> Result<Issued, OperatorError> {
        let now = self.now();
        let secret = Secret::issue(kind, self.environment());
        let mut id = self.environment().token();
        id.truncate(ID_LENGTH);
        let entry = CredentialEntry {
            id,
            kind,
            user,
            label,
            create_date: now,
            expires: days.map(|days| now.plus_days(days)),
            revoked: None,
            requests_per_minute: limit,
        };
        let stored = StoredEntry {
            entry,
            hash: secret.hash(),
        };
        let mut retry = self.table().retry(Policy::CONFLICT, DIRECTORY);
        loop {
            let transaction = self.issue_writes(&stored).await?;
            if self.table().try_commit(transaction).await? {
                let entry = stored.entry;
                return Ok(Issued { entry, secret });
            }
            // Random ids and hashes do not collide, so the directory changed. The next attempt reads it again.
            retry.again().await?;
        }
    }

    /// The writes that issue a credential. They depend on the directory's version, so that its membership is current.
    async fn issue_writes(&self, entry: &StoredEntry) -> Result<Transaction, OperatorError> {
        let (directory, user) = (self.stored_directory().await?, entry.entry.user);
        let record = self.reads().get(&self.keys().user(user)).await?;
        let record = record.ok_or_else(|| OperatorError::NoUser(self.instance().clone(), user))?;
        let membership = Membership::from(&item::decode::<User>("user", record)?);
        if membership.inactive {
            return Err(OperatorError::InactiveUser(self.instance().clone(), user));
        }
        let mut keyring = Keyring::default();
        keyring.load(self, directory.version).await?;
        if keyring.count(user) >= MAX_CREDENTIALS {
            return Err(OperatorError::ManyCredentials(self.instance().clone(), user));
        }
        let credential = Credential {
            membership: Some(membership),
            ..entry.credential(self.instance())
        };
        let mut transaction = Transaction::default();
        self.raise_version(&mut transaction, directory.version);
        transaction.put(
            key::credential(&entry.hash),
            item::encode("credential", &credential)?,
            Condition::Absent,
        );
        transaction.put(
            self.keys().credential(entry.entry.kind, &entry.entry.id),
            item::encode("credential entry", entry)?,
            Condition::Absent,
        );
        Ok(transaction)
    }

    /// All credentials of a kind by time of issue, including revoked and expired ones.
    ///
    /// # Errors
    /// [`OperatorError::NoInstance`], or [`OperatorError::Store`] if the table fails.
    pub async fn credentials(&self, kind: CredentialKind) -> Result<Vec<CredentialEntry>, OperatorError> {
        self.directory_head().await?;
        let stored = self.stored_entries().await?;
        let mut entries: Vec<_> = stored.into_iter().map(|stored| stored.entry).collect();
        entries.retain(|entry| entry.kind == kind);
        entries.sort_by(|a, b| (a.create_date, &a.id).cmp(&(b.create_date, &b.id)));
        Ok(entries)
    }

    /// The hashes of all credentials in the list that have a readable entry.
    pub(super) async fn listed_hashes(&self) -> Result<Vec<CredentialHash>, StoreError> {
        let stored = self.decoded_entries().await?;
        Ok(stored.flatten().map(|stored| stored.hash).collect())
    }

    async fn stored_entries(&self) -> Result<Vec<StoredEntry>, StoreError> {
        self.decoded_entries().await?.collect()
    }

    /// All entries in the list, with an error for each that cannot be decoded.
    async fn decoded_entries(
        &self,
    ) -> Result<impl Iterator<Item = Result<StoredEntry, StoreError>>, StoreError> {
        let span = KeyRange::whole(self.keys().credentials());
        let items = self.reads().query_all(span).await?.into_iter();
        Ok(items.map(|item| item::decode("credential entry", item)))
    }

    /// Revokes a credential: the next request with it is refused.
    ///
    /// # Errors
    /// [`OperatorError::NoInstance`], [`OperatorError::NoCredential`], [`OperatorError::RevokedAlready`], or
    /// [`OperatorError::Store`] if the table fails.
    pub async fn revoke(&self, kind: CredentialKind, id: &str) -> Result<CredentialEntry, OperatorError> {
        let mut stored = self.unrevoked_entry(kind, id).await?;
        let at = self.now();
        stored.entry.revoked = Some(at);
        let mut transaction = Transaction::default();
        let void = item::encode("credential", &stored.revoked_credential(self.instance(), at))?;
        transaction.put(key::credential(&stored.hash), void, Condition::Always);
        self.commit_with_entry(transaction, stored).await
    }

    /// Sets or removes a key's own limit (C-9), from the next request on.
    ///
    /// # Errors
    /// [`OperatorError::NoInstance`], [`OperatorError::NoCredential`], [`OperatorError::RevokedAlready`], or
    /// [`OperatorError::Store`] if the table fails.
    pub async fn limit_key(&self, id: &str, limit: Option<Rate>) -> Result<CredentialEntry, OperatorError> {
        let mut stored = self.unrevoked_entry(CredentialKind::Key, id).await?;
        stored.entry.requests_per_minute = limit;
        let credential = item::encode("credential", &stored.credential(self.instance()))?;
        let mut transaction = Transaction::default();
        // A concurrent revocation stays.
        transaction.set(
            key::credential(&stored.hash),
            credential,
            &OPTIONAL_ATTRIBUTES,
            Condition::Exactly {
                has: Item::from([("id".to_owned(), item::s(&*stored.entry.id))]),
                lacks: vec!["revoked"],
            },
        );
        self.commit_with_entry(transaction, stored).await
    }

    /// The entry of a credential that is not revoked; otherwise an error.
    async fn unrevoked_entry(&self, kind: CredentialKind, id: &str) -> Result<StoredEntry, OperatorError> {
        self.directory_head().await?;
        // Other texts are not looked up, because DynamoDB rejects keys of some lengths and characters.
        let is_well_formed = id.len() == ID_LENGTH && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        let item = if is_well_formed {
            self.reads().get(&self.keys().credential(kind, id)).await?
        } else {
            None
        };
        let item = item.ok_or_else(|| self.no_credential(kind, id))?;
        let stored: StoredEntry = item::decode("credential entry", item)?;
        match stored.entry.revoked {
            None => Ok(stored),
            Some(at) => {
                let (kind, id) = (kind.name(), id.to_owned());
                Err(OperatorError::RevokedAlready { kind, id, at })
            }
        }
    }

    /// Adds the changed entry of a credential to a transaction that changes the credential, and commits both.
    async fn commit_with_entry(
        &self,
        mut transaction: Transaction,
        stored: StoredEntry,
    ) -> Result<CredentialEntry, OperatorError> {
        let item = item::encode("credential entry", &stored)?;
        let entry = stored.entry;
        let key = self.keys().credential(entry.kind, &entry.id);
        transaction.set(key, item, &OPTIONAL_ATTRIBUTES, Condition::Present);
        if !self.table().try_commit(transaction).await? {
            // A condition failed. The entry is read again only to find out why: this returns an error if another
            // process has revoked the credential, or deleted it or the instance.
            self.unrevoked_entry(entry.kind, &entry.id).await?;
            // Otherwise the condition on the credential itself failed: it is missing, or differs from its entry.
            return Err(self.no_credential(entry.kind, &entry.id));
        }
        Ok(entry)
    }

    fn no_credential(&self, kind: CredentialKind, id: &str) -> OperatorError {
        OperatorError::NoCredential {
            instance: self.instance().clone(),
            kind: kind.name(),
            id: id.to_owned(),
        }
    }
}
