//! Funnels, which only the operator changes.

use super::Reader;
use super::key::Keys;
use super::lists::Listed;
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

    /// All funnels in the order of their ids, for changes that depend on every funnel. One query per MB.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be read.
    pub async fn every_funnel(&self) -> Result<Vec<Funnel>, StoreError> {
        let items = self.funnel_items().await?.into_iter();
        items.map(|item| item::decode(KIND, item)).collect()
    }

    /// All readable funnels in the order of their ids. One query per MB.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be read.
    pub async fn funnels(&self) -> Result<Vec<Funnel>, StoreError> {
        let items = self.funnel_items().await?.into_iter();
        let funnels = items.filter_map(|item| table::readable(item, |item| item::decode(KIND, item)));
        Ok(funnels.collect())
    }

    async fn funnel_items(&self) -> Result<Vec<Item>, StoreError> {
        let span = KeyRange::whole(self.keys().funnels());
        self.table.query_all(span).await
    }
}

impl Listed for Funnel {
    type Of = ();

    fn partition(keys: Keys<'_>, (): ()) -> String {
        keys.funnels()
    }

    fn read(item: Item) -> Result<Self, StoreError> {
        item::decode(KIND, item)
    }

    fn filter_name((): ()) -> Option<&'static str> {
        Some("visible")
    }

    fn is_admitted(&self, (): (), viewer: &Viewer) -> bool {
        viewer.sees_funnel(&self.access)
    }
}
