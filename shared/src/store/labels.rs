//! Tags and loss reasons, which only the operator changes.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;

use super::budget::ReadBudget;
use super::list_pages::{Growth, ListRequest, PrefetchedList};
use super::{Reader, Writer};
use crate::ids::TagId;
use crate::labels::Tag;
use crate::viewer::Viewer;
use table::StoreError;
use table::item;

impl Reader {
    /// Prefetches tags by id. At most two calls, in parallel.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be read.
    pub async fn begin_tags(&self, request: &ListRequest) -> Result<PrefetchedList, StoreError> {
        self.begin_list(self.keys().tags(), request).await
    }

    /// Prefetches loss reasons by id. At most two calls, in parallel.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be read.
    pub async fn begin_loss_reasons(&self, request: &ListRequest) -> Result<PrefetchedList, StoreError> {
        self.begin_list(self.keys().loss_reasons(), request).await
    }

    /// Adds the existing, readable tags with these ids to `known`. No call if all are known, else one batch of gets
    /// within the read budget.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be read.
    pub async fn with_tags(
        &self,
        known: BTreeMap<TagId, Tag>,
        ids: impl IntoIterator<Item = TagId>,
        viewer: &Viewer,
    ) -> Result<BTreeMap<TagId, Tag>, StoreError> {
        self.with_referred(known, ids, &ReadBudget::of(viewer)).await
    }
}

impl Writer {
    /// The readable tags or loss reasons of the page, by id. One query per MB after the prefetched ones. With `limit`,
    /// stores the cursor of the next page.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be read.
    pub async fn finish_labels<T: DeserializeOwned>(
        &self,
        viewer: &Viewer,
        request: &ListRequest,
        start: PrefetchedList,
    ) -> Result<Vec<T>, StoreError> {
        let items = self.finish_list(viewer, request, start, Growth::Anywhere).await?;
        let labels = items.into_iter();
        let labels = labels.filter_map(|item| table::readable(item, |item| item::decode("label", item)));
        Ok(labels.collect())
    }
}
