//! Funnels, which only the operator changes.

use super::Reader;
use crate::funnel::Funnel;
use crate::ids::FunnelId;
use table::StoreError;
use table::item::{self, Item};
use table::{KeyRange, PAGE};

const KIND: &str = "funnel";

impl Reader {
    /// A funnel by id. One get.
    ///
    /// # Errors
    /// [`StoreError`] where it cannot be read.
    pub async fn funnel(&self, id: FunnelId) -> Result<Option<Funnel>, StoreError> {
        let item = self.table.get(&self.keys().funnel(id)).await?;
        item.map(|item| item::decode(KIND, item)).transpose()
    }

    /// All funnels by id, for changes that depend on each of them; fails if one is unreadable. One query for each MB of them.
    ///
    /// # Errors
    /// [`StoreError`] where they cannot be read.
    pub async fn every_funnel(&self) -> Result<Vec<Funnel>, StoreError> {
        let items = self.funnel_items().await?.into_iter();
        items.map(|item| item::decode(KIND, item)).collect()
    }

    /// All readable funnels by id. One query for each MB of them.
    ///
    /// # Errors
    /// [`StoreError`] where they cannot be read.
    pub async fn funnels(&self) -> Result<Vec<Funnel>, StoreError> {
        let items = self.funnel_items().await?.into_iter();
        let funnels = items.filter_map(|item| table::readable(item, |item| item::decode(KIND, item)));
        Ok(funnels.collect())
    }

    async fn funnel_items(&self) -> Result<Vec<Item>, StoreError> {
        let span = KeyRange::head(self.keys().funnels(), PAGE);
        self.table.query_all(span).await
    }
}
