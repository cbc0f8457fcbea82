//! Funnels, which only the operator changes.

use std::collections::{BTreeMap, BTreeSet};

use super::Reader;
use super::budget::ReadBudget;
use crate::funnel::Funnel;
use crate::ids::FunnelId;
use table::StoreError;
use table::item::{self, Item};
use table::{KeyRange, MAX_AHEAD, PAGE};

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

    /// The readable ones of the first funnels, which are all that most instances have. One query of at most 50. An
    /// unreadable one is no finding yet: nothing may need it.
    ///
    /// # Errors
    /// [`StoreError`] where they cannot be read.
    pub async fn expected_funnels(&self) -> Result<BTreeMap<FunnelId, Funnel>, StoreError> {
        let span = KeyRange::head(self.keys().funnels(), MAX_AHEAD);
        let items = self.table.query(span).await?.items.into_iter();
        let funnels = items.filter_map(|item| item::decode(KIND, item).ok());
        Ok(funnels.map(|funnel: Funnel| (funnel.id, funnel)).collect())
    }

    /// `known` with those of these funnels that exist and are readable. No call where all are known, else one batch of gets
    /// within the budget.
    ///
    /// # Errors
    /// [`StoreError`] where they cannot be read.
    pub(crate) async fn with_funnels(
        &self,
        mut known: BTreeMap<FunnelId, Funnel>,
        ids: impl IntoIterator<Item = FunnelId>,
        budget: &ReadBudget,
    ) -> Result<BTreeMap<FunnelId, Funnel>, StoreError> {
        let unknown: BTreeSet<_> = ids.into_iter().filter(|id| !known.contains_key(id)).collect();
        let keys = unknown.into_iter().map(|id| self.keys().funnel(id));
        let found = budget.get_many(&self.table, keys.collect()).await?.into_values();
        let found = found.filter_map(|item| table::readable(item, |item| item::decode(KIND, item)));
        known.extend(found.map(|funnel: Funnel| (funnel.id, funnel)));
        Ok(known)
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
