//! Credentials as the operator issues, lists and revokes them (C-3). A credential is two items: the one that a request
//! finds by hash, and the one in the operator's list, which outlives a revocation.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::directory::{ATTEMPTS, contention};
use super::{Operator, OperatorError};
use crate::credential::{CredentialHash, Kind, Secret};
use crate::id::UserId;
use crate::instance::InstanceName;
use crate::settings::Rate;
use crate::store::credentials::Credential;
use crate::store::error::StoreError;
use crate::store::key::Key;
use crate::store::table::{PAGE, Span};
use crate::store::transaction::{CommitError, Condition, Transaction};
use crate::store::{item, key};
use crate::time::Timestamp;

/// Characters of a credential's public id.
const ID: usize = 12;
/// What a stored credential or its entry may lack.
const MAY_LACK: [&str; 5] = [
    "label",
    "expires",
    "revoked",
    "requestsPerMinute",
    // In the credential itself.
    "requests_per_minute",
];
/// The most valid credentials of one user: where it stands changes in all of them by one transaction.
pub(super) const MAX_CREDENTIALS: usize = 50;

/// A credential in the operator's list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CredentialEntry {
    /// The public id, by which it is revoked and the log names it.
    pub id: String,
    /// Key or token.
    pub kind: Kind,
    /// As whom its requests act.
    pub user: UserId,
    /// What the operator calls it.
    #[serde(default)]
    pub label: Option<String>,
    /// When it was issued.
    pub create_date: Timestamp,
    /// Until when it is valid; `None` for always.
    #[serde(default)]
    pub expires: Option<Timestamp>,
    /// When it was revoked.
    #[serde(default)]
    pub revoked: Option<Timestamp>,
    /// The key's own limit (C-9).
    #[serde(default)]
    pub requests_per_minute: Option<Rate>,
}

/// An entry as it is stored, with the hash by which a revocation finds the credential.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Listed {
    #[serde(flatten)]
    pub(super) entry: CredentialEntry,
    pub(super) hash: CredentialHash,
}

impl Listed {
    /// What a request finds by the hash while the entry is not revoked.
    pub(super) fn credential(&self, instance: &InstanceName) -> Credential {
        Credential {
            id: self.entry.id.clone(),
            kind: self.entry.kind,
            instance: instance.clone(),
            user: self.entry.user,
            expires: self.entry.expires,
            requests_per_minute: self.entry.requests_per_minute,
            standing: None,
        }
    }

    /// Whether a request may still be let in by it: one that expired a day ago opens nothing by any clock.
    fn is_valid(&self, now: Timestamp) -> bool {
        let expires = self.entry.expires;
        self.entry.revoked.is_none() && expires.is_none_or(|expires| now < expires.plus_days(1))
    }
}

/// The valid credentials of all users, as they were under a version of the directory: later issued ones moved it on.
#[derive(Debug, Default)]
pub(super) struct Keyring {
    version: u64,
    hashes: BTreeMap<UserId, Vec<CredentialHash>>,
}

impl Keyring {
    /// Reads them, unless they are known under this version.
    pub(super) async fn at(&mut self, operator: &Operator, version: u64) -> Result<(), StoreError> {
        if self.version == version {
            return Ok(());
        }
        let now = operator.now();
        let mut hashes: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for listed in operator.all_listed().await? {
            if listed.is_valid(now) {
                hashes.entry(listed.entry.user).or_default().push(listed.hash);
            }
        }
        *self = Self { version, hashes };
        Ok(())
    }

    /// The directory's version moved on by a write that issued none.
    pub(super) fn moved_on(&mut self) {
        self.version += 1;
    }

    /// How many credentials of a user are valid.
    fn count(&self, user: UserId) -> usize {
        self.hashes.get(&user).map_or(0, Vec::len)
    }

    /// The keys of a user's credentials that carry where it stands: of those of the first format, which had no limit, not all.
    pub(super) fn of(&self, user: UserId) -> impl Iterator<Item = Key> {
        let hashes = self.hashes.get(&user).into_iter().flatten();
        hashes.take(MAX_CREDENTIALS).map(key::credential)
    }

    /// The keys of all users' credentials that carry where their users stand.
    pub(super) fn all(&self) -> impl Iterator<Item = (UserId, Key)> {
        let users = self.hashes.keys();
        users.flat_map(|user| self.of(*user).map(|key| (*user, key)))
    }
}

/// A new credential: the only moment its text exists outside the caller's requests.
#[derive(Debug)]
pub struct Issued {
    /// The entry in the operator's list.
    pub entry: CredentialEntry,
    /// The credential itself.
    pub secret: Secret,
}

impl Operator {
    /// Issues a credential for an active user, valid for so many days, or always.
    ///
    /// # Errors
    /// [`OperatorError::NoInstance`], [`OperatorError::NoUser`], [`OperatorError::InactiveUser`],
    /// [`OperatorError::ManyCredentials`], or [`OperatorError::Store`] where the table fails.
    pub async fn issue(
        &self,
        kind: Kind,
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
        self.issue_entry(Kind::Key, user, label, days, limit).await
    }

    async fn issue_entry(
        &self,
        kind: Kind,
        user: UserId,
        label: Option<String>,
        days: Option<u32>,
        limit: Option<Rate>,
    ) -> Result<Issued, OperatorError> {
        let now = self.now();
        let secret = Secret::issue(kind, &self.table().ambient);
        let mut id = self.table().ambient.token();
        id.truncate(ID);
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
        let listed = Listed {
            entry,
            hash: secret.hash(),
        };
        for attempt in 0..ATTEMPTS {
            let transaction = self.issuing(&listed).await?;
            match self.table().commit(transaction).await {
                Ok(()) => {
                    let entry = listed.entry;
                    return Ok(Issued { entry, secret });
                }
                // Random ids and hashes do not meet, so the directory moved on.
                Err(CommitError::Refused(_)) => self.table().pause(attempt).await,
                Err(CommitError::Store(error)) => return Err(error.into()),
            }
        }
        Err(contention())
    }

    /// The writes that issue a credential, on condition that its user is as it was read.
    async fn issuing(&self, listed: &Listed) -> Result<Transaction, OperatorError> {
        let (stored, user) = (self.stored_directory().await?, listed.entry.user);
        let mut credential = listed.credential(self.instance());
        let standing = self.0.standing(&stored, &credential).await?;
        let standing = standing.ok_or_else(|| OperatorError::NoUser(self.instance().clone(), user))?;
        if standing.inactive {
            return Err(OperatorError::InactiveUser(self.instance().clone(), user));
        }
        let mut transaction = Transaction::default();
        if stored.standings.is_none() {
            let mut keyring = Keyring::default();
            keyring.at(self, stored.version).await?;
            if keyring.count(user) >= MAX_CREDENTIALS {
                return Err(OperatorError::ManyCredentials(self.instance().clone(), user));
            }
            credential.standing = Some(standing);
            self.move_on(&mut transaction, stored.version);
        }
        transaction.put(
            key::credential(&listed.hash),
            item::encode("credential", &credential)?,
            Condition::Absent,
        );
        transaction.put(
            self.keys().credential(listed.entry.kind, &listed.entry.id),
            item::encode("credential entry", listed)?,
            Condition::Absent,
        );
        Ok(transaction)
    }

    /// All credentials of a kind, revoked and expired ones too, by the time of their issue.
    ///
    /// # Errors
    /// [`OperatorError::NoInstance`], or [`OperatorError::Store`] where the table fails.
    pub async fn credentials(&self, kind: Kind) -> Result<Vec<CredentialEntry>, OperatorError> {
        self.directory().await?;
        let listed = self.all_listed().await?;
        let mut entries: Vec<_> = listed.into_iter().map(|listed| listed.entry).collect();
        entries.retain(|entry| entry.kind == kind);
        entries.sort_by(|a, b| (a.create_date, &a.id).cmp(&(b.create_date, &b.id)));
        Ok(entries)
    }

    async fn all_listed(&self) -> Result<Vec<Listed>, StoreError> {
        let span = Span::head(self.keys().credentials(), PAGE);
        let items = self.table().query_all(span).await?.into_iter();
        items.map(|item| item::decode("credential entry", item)).collect()
    }

    /// Revokes a credential: the next request with it is refused.
    ///
    /// # Errors
    /// [`OperatorError::NoInstance`], [`OperatorError::NoCredential`], [`OperatorError::RevokedAlready`], or
    /// [`OperatorError::Store`] where the table fails.
    pub async fn revoke(&self, kind: Kind, id: &str) -> Result<CredentialEntry, OperatorError> {
        let mut listed = self.listed(kind, id).await?;
        listed.entry.revoked = Some(self.now());
        let mut transaction = Transaction::default();
        transaction.delete(key::credential(&listed.hash), Condition::Always);
        self.replace_entry(transaction, listed).await
    }

    /// Gives a key a limit of its own, or takes it away (C-9). It holds from the next request.
    ///
    /// # Errors
    /// [`OperatorError::NoInstance`], [`OperatorError::NoCredential`], [`OperatorError::RevokedAlready`], or
    /// [`OperatorError::Store`] where the table fails.
    pub async fn limit_key(&self, id: &str, limit: Option<Rate>) -> Result<CredentialEntry, OperatorError> {
        let mut listed = self.listed(Kind::Key, id).await?;
        listed.entry.requests_per_minute = limit;
        let credential = item::encode("credential", &listed.credential(self.instance()))?;
        let mut transaction = Transaction::default();
        // A key that is revoked meanwhile stays so.
        transaction.set(
            key::credential(&listed.hash),
            credential,
            &MAY_LACK,
            Condition::Present,
        );
        self.replace_entry(transaction, listed).await
    }

    /// The entry of a credential that is not revoked.
    async fn listed(&self, kind: Kind, id: &str) -> Result<Listed, OperatorError> {
        self.directory().await?;
        // What is no id is not asked for: DynamoDB refuses keys of any length and character.
        let formed = id.len() == ID && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        let item = if formed {
            self.table().get(&self.keys().credential(kind, id)).await?
        } else {
            None
        };
        let item = item.ok_or_else(|| self.no_credential(kind, id))?;
        let listed: Listed = item::decode("credential entry", item)?;
        match listed.entry.revoked {
            None => Ok(listed),
            Some(at) => {
                let (kind, id) = (kind.name(), id.to_owned());
                Err(OperatorError::RevokedAlready { kind, id, at })
            }
        }
    }

    /// Puts an entry in the place of what is stored, together with what else is written.
    async fn replace_entry(
        &self,
        mut transaction: Transaction,
        listed: Listed,
    ) -> Result<CredentialEntry, OperatorError> {
        let item = item::encode("credential entry", &listed)?;
        let entry = listed.entry;
        let key = self.keys().credential(entry.kind, &entry.id);
        transaction.set(key, item, &MAY_LACK, Condition::Present);
        match self.table().commit(transaction).await {
            Ok(()) => Ok(entry),
            Err(CommitError::Refused(_)) => Err(self.no_credential(entry.kind, &entry.id)),
            Err(CommitError::Store(error)) => Err(error.into()),
        }
    }

    fn no_credential(&self, kind: Kind, id: &str) -> OperatorError {
        OperatorError::NoCredential {
            instance: self.instance().clone(),
            kind: kind.name(),
            id: id.to_owned(),
        }
    }
}
