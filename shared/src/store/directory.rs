//! The directory's item.

use super::error::StoreError;
use super::item::{self, Item};
use super::{Reader, item::n};
use crate::directory::Directory;

const KIND: &str = "directory";

/// A directory as it is stored, with the version that a write of it must find.
#[derive(Debug, Clone)]
pub struct Stored {
    pub directory: Directory,
    pub version: u64,
}

impl Reader {
    /// The instance's directory; `None` where there is no such instance. One get.
    ///
    /// # Errors
    /// [`StoreError`] where it cannot be read.
    pub async fn directory(&self) -> Result<Option<Directory>, StoreError> {
        let item = self.table.get(&self.keys().directory()).await?;
        Ok(item.map(decode).transpose()?.map(|stored| stored.directory))
    }
}

pub fn decode(mut item: Item) -> Result<Stored, StoreError> {
    let version = item::number(KIND, &item, "v")?;
    item.remove("v");
    Ok(Stored {
        directory: item::decode(KIND, item)?,
        version,
    })
}

pub fn encode(stored: &Stored) -> Result<Item, StoreError> {
    let mut item = item::encode(KIND, &stored.directory)?;
    item.insert("v".to_owned(), n(stored.version));
    Ok(item)
}
