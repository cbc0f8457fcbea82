//! Credentials as they are stored: by hash, each saying which user of which instance it opens, and where that user stands.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::Store;
use super::directory::{self, Stored};
use super::key::{self, Keys};
use crate::credential::{CredentialHash, Kind};
use crate::directory::Membership;
use crate::ids::UserId;
use crate::instance::InstanceName;
use crate::settings::Rate;
use crate::time::Timestamp;
use table::{StoreError, item};

/// A credential's instance and user, and its expiry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Credential {
    /// The credential's public id, by which the operator revokes it and the log names it.
    pub id: String,
    pub kind: Kind,
    pub instance: InstanceName,
    pub user: UserId,
    #[serde(default)]
    pub expires: Option<Timestamp>,
    /// The limit of this key alone, which goes before the instance's (C-9).
    #[serde(default)]
    pub requests_per_minute: Option<Rate>,
    /// Where the user stands, as the user's record says it. Without it the record is read: so it is with what the first
    /// format left.
    #[serde(default)]
    pub standing: Option<Membership>,
}

/// The credentials that were found, by hash; unknown and revoked ones are not among them.
pub type Found = HashMap<CredentialHash, Credential>;

impl Store {
    /// The instance that one of these credentials belongs to, good or not any more: whoever names none means this one. No
    /// call where this process knows it, because a credential never changes its instance.
    pub(crate) async fn own_instance(
        &self,
        hashes: &[CredentialHash],
    ) -> Result<Option<InstanceName>, StoreError> {
        let known = hashes.iter().find_map(|hash| self.hints.instances.get(hash));
        if known.is_some() {
            return Ok(known);
        }
        let found = self.table.get_many(hashes.iter().map(key::credential)).await?;
        let first = hashes
            .iter()
            .find_map(|hash| Some((hash, found.get(&key::credential(hash))?)));
        let Some((hash, item)) = first else {
            return Ok(None);
        };
        let credential: Credential = item::decode("credential", item.clone())?;
        self.hints
            .instances
            .put(hash.clone(), credential.instance.clone());
        Ok(Some(credential.instance))
    }

    /// Reads credentials and the directory of the instance that a request names, in one batch. Units: one for each
    /// credential, one for each started 4 KB of the directory, which does not grow with the users.
    pub(crate) async fn presented(
        &self,
        instance: &InstanceName,
        hashes: &[CredentialHash],
    ) -> Result<(Found, Option<Stored>), StoreError> {
        let directory = Keys(instance).directory();
        let keys = hashes.iter().map(key::credential).chain([directory.clone()]);
        let mut items = self.table.get_many(keys).await?;
        let found = hashes.iter().filter_map(|hash| {
            let item = items.remove(&key::credential(hash))?;
            Some(item::decode("credential", item).map(|credential| (hash.clone(), credential)))
        });
        let found = found.collect::<Result<_, _>>()?;
        let directory = items.get(&directory).map(directory::decode).transpose()?;
        Ok((found, directory))
    }
}
