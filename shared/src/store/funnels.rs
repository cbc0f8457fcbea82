//! Funnels, which only the operator changes.

use std::sync::Arc;

use super::list_pages::{EntryFilter, Growth, ListRequest, PagedList, PrefetchedList};
use super::{Reader, Writer};
use crate::funnel::Funnel;
use crate::ids::FunnelId;
use crate::viewer::Viewer;
use table::KeyRange;
use table::StoreError;
use table::item::{self, Item};

const KIND: &str = "funnel";

impl Reader {
    /// A funnel by id. One get.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be read.
    pub async fn funnel(&self, id: FunnelId) -> Result<Option<Funnel>, StoreError> {
        let item = self.table.get(&self.keys().funnel(id)).await?;
        item.map(|item| item::decode(KIND, item)).transpose()
    }

    /// All funnels by id, for changes that depend on every funnel. One query per MB.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be read.
    pub async fn every_funnel(&self) -> Result<Vec<Funnel>, StoreError> {
        let items = self.funnel_items().await?.into_iter();
        items.map(|item| item::decode(KIND, item)).collect()
    }

    /// All readable funnels by id. One query per MB.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be read.
    pub async fn funnels(&self) -> Result<Vec<Funnel>, StoreError> {
        let items = self.funnel_items().await?.into_iter();
        let funnels = items.filter_map(|item| table::readable(item, |item| item::decode(KIND, item)));
        Ok(funnels.collect())
    }

    /// Prefetches funnels by id. At most two calls, in parallel.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be read.
    pub async fn begin_funnels(&self, request: &ListRequest) -> Result<PrefetchedList, StoreError> {
        let list = PagedList::from(self.keys().funnels());
        self.begin_list(list.filtered(visible(|_| true)), request).await
    }

    async fn funnel_items(&self) -> Result<Vec<Item>, StoreError> {
        let span = KeyRange::whole(self.keys().funnels());
        self.table.query_all(span).await
    }
}

impl Writer {
    /// The readable funnels of the page that the viewer sees, by id. One query per MB after the prefetched ones. With
    /// `limit`, stores the cursor of the next page.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be read.
    pub async fn finish_funnels(
        &self,
        viewer: &Viewer,
        request: &ListRequest,
        start: PrefetchedList,
    ) -> Result<Vec<Funnel>, StoreError> {
        let decode = |item: Item| item::decode::<Funnel>(KIND, item);
        let owned_viewer = viewer.clone();
        // An unreadable funnel passes the filter, and is then logged and omitted.
        let is_visible = move |item: &Item| match decode(item.clone()) {
            Ok(funnel) => owned_viewer.sees_funnel(&funnel.access),
            Err(_) => true,
        };
        let start = start.filtered(visible(is_visible));
        let items = self
            .finish_list(viewer, request, start, Growth::Anywhere)
            .await?
            .into_iter();
        Ok(items.filter_map(|item| table::readable(item, decode)).collect())
    }
}

/// The filter of the funnels that a viewer sees. A prefetch, which has no viewer yet, uses it with all funnels.
fn visible(sees: impl Fn(&Item) -> bool + Send + Sync + 'static) -> EntryFilter {
    EntryFilter {
        name: "visible",
        admits: Arc::new(sees),
    }
}
