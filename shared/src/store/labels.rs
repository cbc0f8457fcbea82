//! Tags and loss reasons, which only the operator changes.

use std::collections::{BTreeMap, BTreeSet};

use serde::de::DeserializeOwned;

use super::Reader;
use crate::ids::TagId;
use crate::labels::{LossReason, Tag};
use table::item;
use table::{KeyRange, MAX_AHEAD, PAGE, StoreError};

impl Reader {
    /// All readable tags by id. One query for each MB of them, about 10,000 tags.
    ///
    /// # Errors
    /// [`StoreError`] where they cannot be read.
    pub async fn tags(&self) -> Result<Vec<Tag>, StoreError> {
        self.labels("tag", self.keys().tags()).await
    }

    /// The first tags, which are all that most instances have. One query of at most 50.
    ///
    /// # Errors
    /// [`StoreError`] where they cannot be read.
    pub async fn expected_tags(&self) -> Result<BTreeMap<TagId, Tag>, StoreError> {
        let span = KeyRange::head(self.keys().tags(), MAX_AHEAD);
        let items = self.table.query(span).await?.items.into_iter();
        let tags = items.map(|item| item::decode("tag", item).map(|tag: Tag| (tag.id, tag)));
        tags.collect()
    }

    /// `known` with those of these tags that exist. No call where all are known, else one batch of gets.
    ///
    /// # Errors
    /// [`StoreError`] where they cannot be read.
    pub async fn with_tags(
        &self,
        mut known: BTreeMap<TagId, Tag>,
        ids: impl IntoIterator<Item = TagId>,
    ) -> Result<BTreeMap<TagId, Tag>, StoreError> {
        let unknown: BTreeSet<_> = ids.into_iter().filter(|id| !known.contains_key(id)).collect();
        known.extend(self.tags_of(unknown).await?);
        Ok(known)
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
