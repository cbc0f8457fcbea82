//! The format of the table's items, which the item `#format` names (C-88). A build reads one format and refuses a table
//! with another, because it would misread the items.

use serde::{Deserialize, Serialize};

use super::{Store, key};
use table::item::{self, Item};
use table::{KeyRange, ReadTable, StoreError};

/// The number of the format that this build reads and writes.
const FORMAT: u32 = 11;

/// The item `#format`.
#[derive(Debug, Serialize, Deserialize)]
struct TableFormat {
    format: u32,
}

/// The item `#format` of a table with this build's format.
pub fn mark() -> Result<Item, StoreError> {
    item::encode("format", &TableFormat { format: FORMAT })
}

/// Whether `#format` names this build's format; `false` for a table with neither the item nor an instance. One get; a
/// query too if there is no item.
///
/// # Errors
/// [`StoreError::Format`] for a table with another format, or with an instance and without the item.
pub async fn is_marked(table: &ReadTable) -> Result<bool, StoreError> {
    let found = if let Some(item) = table.get(&key::format()).await? {
        match item::decode("format", item)? {
            TableFormat { format: FORMAT } => return Ok(true),
            TableFormat { format } => format!("has format {format}"),
        }
    } else {
        let instances = table.query(KeyRange::head(key::instances(), 1)).await?;
        if instances.items.is_empty() {
            return Ok(false);
        }
        "names no format".to_owned()
    };
    Err(StoreError::Format(format!(
        "the table {found}, and this build reads format {FORMAT} only; export its instances with the build that wrote \
         it, and import them into a new table with this build"
    )))
}

impl Store {
    /// Rejects a table that this build cannot read. An empty table is accepted.
    ///
    /// # Errors
    /// [`StoreError::Format`] for another format; other errors if the table cannot be reached.
    pub async fn check_format(&self) -> Result<(), StoreError> {
        is_marked(self.table.reads()).await.map(drop)
    }
}
