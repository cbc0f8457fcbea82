//! The keys of a partition of links, some at a time, whatever is taken out of it meanwhile.

use super::Reader;
use super::error::StoreError;
use super::key::Key;
use super::table::{Page, Span, key_of};

/// Links that are read at a time: their records make one batch of gets.
pub const TOGETHER: usize = 100;

/// What is still to be read of a partition.
pub struct Links(Option<Span>);

impl Links {
    pub fn of(partition: String) -> Self {
        Self(Some(Span::head(partition, TOGETHER)))
    }

    /// The next ones, which may be none; `None` behind the last. One query.
    pub async fn next(&mut self, reader: &Reader) -> Result<Option<Vec<Key>>, StoreError> {
        let Some(span) = self.0.take() else {
            return Ok(None);
        };
        let Page { items, more } = reader.table.query(span.clone()).await?;
        let keys = items.iter().map(key_of).collect::<Result<Vec<_>, _>>()?;
        if more {
            let after = keys.last().map(|key| key.sk.clone());
            self.0 = Some(Span { after, ..span });
        }
        Ok(Some(keys))
    }
}
