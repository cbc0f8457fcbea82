//! Credentials as they are stored: by hash, each saying which user of which instance it opens.

use serde::{Deserialize, Serialize};

use super::directory;
use super::error::StoreError;
use super::key::{self, Keys};
use super::{Store, item};
use crate::credential::{CredentialHash, Kind};
use crate::directory::Directory;
use crate::id::UserId;
use crate::instance::InstanceName;
use crate::time::Timestamp;

/// What a credential opens, and until when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Credential {
    /// The credential's public id, by which the operator revokes it and the log names it.
    pub id: String,
    pub kind: Kind,
    pub instance: InstanceName,
    pub user: UserId,
    #[serde(default)]
    pub expires: Option<Timestamp>,
}

/// What was found for the credentials that a request presents.
#[derive(Debug)]
pub struct Presented {
    /// In the order of the hashes; `None` for an unknown or revoked credential.
    pub credentials: Vec<Option<Credential>>,
    /// The directory of the instance that the request names.
    pub directory: Option<Directory>,
}

impl Store {
    /// Reads credentials and the directory of the instance that a request names, in one batch. Units: one for each
    /// credential, one for each started 4 KB of the directory.
    pub(crate) async fn presented(
        &self,
        instance: &InstanceName,
        hashes: &[CredentialHash],
    ) -> Result<Presented, StoreError> {
        let directory = Keys(instance).directory();
        let keys = hashes.iter().map(key::credential).chain([directory.clone()]);
        let mut found = self.table.get_many(keys).await?;
        let credentials = hashes.iter().map(|hash| {
            let item = found.get(&key::credential(hash)).cloned();
            item.map(|item| item::decode("credential", item)).transpose()
        });
        Ok(Presented {
            credentials: credentials.collect::<Result<_, _>>()?,
            directory: found
                .remove(&directory)
                .map(directory::decode)
                .transpose()?
                .map(|stored| stored.directory),
        })
    }
}
