//! The directory's item.
//!
//! Every request reads it, so it is one text, which is read several times faster than hundreds of attributes.

use super::Reader;
use super::error::StoreError;
use super::item::{self, Item, n, s};
use super::unknown::Raw;
use crate::directory::Directory;

const KIND: &str = "directory";
/// The attribute that holds all of it.
const DIRECTORY: &str = "directory";

/// A directory as it is stored, with the version that a write of it must find.
#[derive(Debug, Clone)]
pub struct Stored {
    pub directory: Directory,
    pub version: u64,
    pub raw: Raw,
}

impl Reader {
    /// The instance's directory; `None` where there is no such instance. One get.
    ///
    /// # Errors
    /// [`StoreError`] where it cannot be read.
    pub async fn directory(&self) -> Result<Option<Directory>, StoreError> {
        let item = self.table.get(&self.keys().directory()).await?;
        Ok(item
            .as_ref()
            .map(decode)
            .transpose()?
            .map(|stored| stored.directory))
    }
}

/// The directory that an item holds, to be written again.
pub fn decode_raw(item: &Item) -> Result<Stored, StoreError> {
    let raw = Raw::of(item);
    Ok(Stored { raw, ..decode(item)? })
}

pub fn decode(item: &Item) -> Result<Stored, StoreError> {
    Ok(Stored {
        version: item::number(KIND, item, "v")?,
        directory: item::need_json(KIND, item, DIRECTORY)?,
        raw: Raw::default(),
    })
}

pub fn encode(stored: &Stored) -> Item {
    let recode = |raw: &Item| Some(encode_known(&decode(raw).ok()?));
    stored.raw.carry(encode_known(stored), recode)
}

fn encode_known(stored: &Stored) -> Item {
    let text = serde_json::json!(stored.directory).to_string();
    Item::from([
        (DIRECTORY.to_owned(), s(text)),
        ("v".to_owned(), n(stored.version)),
    ])
}
