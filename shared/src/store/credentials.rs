//! Stored credentials, by hash: instance, user and membership of the user.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::directory::{self, StoredDirectory};
use super::key::{self, Keys};
use super::{Reader, Store};
use crate::credential::{CredentialHash, CredentialKind};
use crate::directory::Membership;
use crate::ids::UserId;
use crate::instance::InstanceName;
use crate::settings::Rate;
use crate::time::Timestamp;
use table::item::{self, Item};
use table::{Key, StoreError};

/// A stored credential.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Credential {
    /// Public id, used for revocation and in the log.
    pub id: String,
    pub kind: CredentialKind,
    pub instance: InstanceName,
    pub user: UserId,
    #[serde(default)]
    pub expires: Option<Timestamp>,
    /// Rate limit of this key, which overrides the instance's (C-9).
    #[serde(default)]
    pub requests_per_minute: Option<Rate>,
    /// Membership of the user, copied from the user's record. If it is absent, the user's record is read.
    #[serde(default, rename = "standing")]
    pub membership: Option<Membership>,
    /// Time of the revocation. A revoked credential stays stored, so that the log distinguishes it from an unknown one.
    /// Its expiry is in the past, so builds that do not read this field refuse it too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked: Option<Timestamp>,
}

/// The existing credentials by hash, expired and revoked ones included; unknown ones are absent.
pub type FoundCredentials = HashMap<CredentialHash, Credential>;

impl Store {
    /// The instance of the first existing credential among these, valid or not. It is the instance of a request without
    /// `i`. No call if this process knows it, because a credential never changes its instance.
    pub(crate) async fn own_instance(
        &self,
        hashes: &[CredentialHash],
    ) -> Result<Option<InstanceName>, StoreError> {
        let cached = hashes.iter().find_map(|hash| self.hints.instances.get(hash));
        if cached.is_some() {
            return Ok(cached);
        }
        let keys = hashes.iter().map(key::credential);
        let mut found = self.table.reads().get_many(keys).await?;
        for hash in hashes {
            if let Some(item) = found.remove(&key::credential(hash)) {
                let credential: Credential = item::decode("credential", item)?;
                let instance = credential.instance;
                self.hints.instances.put(hash.clone(), instance.clone());
                return Ok(Some(instance));
            }
        }
        Ok(None)
    }

    /// Reads credentials and the head of the instance's directory in one batch. Units: one per credential, and one per
    /// started 4 KB of the head, of which there are at most two.
    pub(crate) async fn presented(
        &self,
        instance: &InstanceName,
        hashes: &[CredentialHash],
    ) -> Result<(FoundCredentials, Option<StoredDirectory>), StoreError> {
        let directory = Keys::of(instance).directory();
        let keys = hashes.iter().map(key::credential).chain([directory.clone()]);
        let mut items = self.table.reads().get_many(keys).await?;
        let found = take_credentials(hashes, &mut items)?;
        let directory = items.get(&directory).map(directory::decode).transpose()?;
        Ok((found, directory))
    }

    /// Reads further credentials. One batch of gets.
    pub(crate) async fn credentials(
        &self,
        hashes: &[CredentialHash],
    ) -> Result<FoundCredentials, StoreError> {
        let keys = hashes.iter().map(key::credential);
        let mut items = self.table.reads().get_many(keys).await?;
        take_credentials(hashes, &mut items)
    }
}

/// Takes the credentials with these hashes out of `items` and decodes them.
fn take_credentials(
    hashes: &[CredentialHash],
    items: &mut HashMap<Key, Item>,
) -> Result<FoundCredentials, StoreError> {
    let mut found = FoundCredentials::new();
    for hash in hashes {
        if let Some(item) = items.remove(&key::credential(hash)) {
            found.insert(hash.clone(), item::decode("credential", item)?);
        }
    }
    Ok(found)
}

impl Reader {
    /// The current membership of a credential's user; `None` if the user is deleted. No call, or one get if a repair
    /// removed the membership from the credential.
    pub(crate) async fn membership(&self, credential: &Credential) -> Result<Option<Membership>, StoreError> {
        if credential.membership.is_some() {
            return Ok(credential.membership);
        }
        let user = self.user(credential.user).await?;
        Ok(user.map(|user| Membership::from(&user)))
    }
}
