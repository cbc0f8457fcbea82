//! Tags and loss reasons, which only the operator changes.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;

use super::Reader;
use super::budget::ReadBudget;
use crate::ids::TagId;
use crate::labels::{LossReason, Tag};
use crate::viewer::Viewer;
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

    /// `known` with those of these tags that exist and are readable. No call where all are known, else one batch of gets
    /// within the read budget.
    ///
    /// # Errors
    /// [`StoreError`] where they cannot be read.
    pub async fn with_tags(
        &self,
        known: BTreeMap<TagId, Tag>,
        ids: impl IntoIterator<Item = TagId>,
        viewer: &Viewer,
    ) -> Result<BTreeMap<TagId, Tag>, StoreError> {
        self.with_referred(known, ids, &ReadBudget::of(viewer)).await
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
