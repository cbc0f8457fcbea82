//! Tags and loss reasons, which only the operator changes.

use std::collections::{BTreeMap, BTreeSet};

use serde::de::DeserializeOwned;

use super::Reader;
use super::budget::ReadBudget;
use crate::ids::TagId;
use crate::labels::{LossReason, Tag};
use crate::viewer::Viewer;
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

    /// The readable ones of the first tags, which are all that most instances have. One query of at most 50. An unreadable
    /// one is no finding yet: no shown lead may have it.
    ///
    /// # Errors
    /// [`StoreError`] where they cannot be read.
    pub async fn expected_tags(&self) -> Result<BTreeMap<TagId, Tag>, StoreError> {
        let span = KeyRange::head(self.keys().tags(), MAX_AHEAD);
        let items = self.table.query(span).await?.items.into_iter();
        let tags = items.filter_map(|item| item::decode("tag", item).ok());
        Ok(tags.map(|tag: Tag| (tag.id, tag)).collect())
    }

    /// `known` with those of these tags that exist and are readable. No call where all are known, else one batch of gets
    /// within the read budget.
    ///
    /// # Errors
    /// [`StoreError`] where they cannot be read.
    pub async fn with_tags(
        &self,
        mut known: BTreeMap<TagId, Tag>,
        ids: impl IntoIterator<Item = TagId>,
        viewer: &Viewer,
    ) -> Result<BTreeMap<TagId, Tag>, StoreError> {
        let unknown: BTreeSet<_> = ids.into_iter().filter(|id| !known.contains_key(id)).collect();
        let keys = unknown.into_iter().map(|id| self.keys().tag(id));
        let budget = ReadBudget::of(viewer);
        let found = budget.get_many(&self.table, keys.collect()).await?.into_values();
        let found = found.filter_map(|item| table::readable(item, |item| item::decode("tag", item)));
        known.extend(found.map(|tag: Tag| (tag.id, tag)));
        Ok(known)
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
