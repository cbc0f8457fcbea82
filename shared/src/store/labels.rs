//! Tags and loss reasons, which only the operator changes.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;

use super::Reader;
use crate::ids::TagId;
use crate::labels::{LossReason, Tag};
use table::item;
use table::{KeyRange, PAGE, StoreError};

impl Reader {
    /// All readable tags by id. One query for each MB of them, about 10,000 tags.
    ///
    /// # Errors
    /// [`StoreError`] where they cannot be read.
    pub async fn tags(&self) -> Result<Vec<Tag>, StoreError> {
        self.labels("tag", self.keys().tags()).await
    }

    /// The tags among these that exist. One batch of gets, no call for none.
    ///
    /// # Errors
    /// [`StoreError`] where they cannot be read.
    pub async fn tags_of(
        &self,
        ids: impl IntoIterator<Item = TagId>,
    ) -> Result<BTreeMap<TagId, Tag>, StoreError> {
        let keys = ids.into_iter().map(|id| self.keys().tag(id));
        let found = self.table.get_many(keys).await?.into_values();
        let found = found.map(|item| item::decode("tag", item).map(|tag: Tag| (tag.id, tag)));
        found.collect()
    }

    /// All readable loss reasons by id. One query for each MB of them, about 10,000 reasons.
    ///
    /// # Errors
    /// [`StoreError`] where they cannot be read.
    pub async fn loss_reasons(&self) -> Result<Vec<LossReason>, StoreError> {
        self.labels("loss reason", self.keys().loss_reasons()).await
    }

    async fn labels<T: DeserializeOwned>(
        &self,
        kind: &'static str,
        partition: String,
    ) -> Result<Vec<T>, StoreError> {
        let items = self.table.query_all(KeyRange::head(partition, PAGE)).await?;
        let labels = items.into_iter();
        let labels = labels.filter_map(|item| table::readable(item, |item| item::decode(kind, item)));
        Ok(labels.collect())
    }
}
