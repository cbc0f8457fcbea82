//! Funnels, which only the operator changes.

use super::Reader;
use crate::funnel::Funnel;
use crate::ids::FunnelId;
use table::StoreError;
use table::item;
use table::{KeyRange, PAGE};

impl Reader {
    /// A funnel by id. One get.
    ///
    /// # Errors
    /// [`StoreError`] where it cannot be read.
    pub async fn funnel(&self, id: FunnelId) -> Result<Option<Funnel>, StoreError> {
        let item = self.table.get(&self.keys().funnel(id)).await?;
        item.map(|item| item::decode("funnel", item)).transpose()
    }

    /// All readable funnels by id. One query for each MB of them.
    ///
    /// # Errors
    /// [`StoreError`] where they cannot be read.
    pub async fn funnels(&self) -> Result<Vec<Funnel>, StoreError> {
        let items = self
            .table
            .query_all(KeyRange::head(self.keys().funnels(), PAGE))
            .await?;
        let funnels = items.into_iter();
        let funnels = funnels.filter_map(|item| table::readable(item, |item| item::decode("funnel", item)));
        Ok(funnels.collect())
    }
}
