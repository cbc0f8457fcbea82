//! Kinds of record to which other records refer. A request prefetches the first records of a kind, which are all that
//! most instances have. Other records are read if a returned record refers to them.

use std::collections::{BTreeMap, BTreeSet};

use serde::de::DeserializeOwned;

use super::Reader;
use super::budget::ReadBudget;
use super::key::{Key, Keys};
use crate::funnel::Funnel;
use crate::ids::{FunnelId, TagId};
use crate::labels::Tag;
use table::{KeyRange, MAX_AHEAD, StoreError, item};

/// A kind of record to which other records refer.
pub trait Referred: DeserializeOwned {
    type Id: Ord + Copy;
    const KIND: &'static str;
    fn id(&self) -> Self::Id;
    fn partition(keys: Keys<'_>) -> String;
    fn key(keys: Keys<'_>, id: Self::Id) -> Key;
}

impl Referred for Funnel {
    type Id = FunnelId;
    const KIND: &'static str = "funnel";

    fn id(&self) -> FunnelId {
        self.id
    }

    fn partition(keys: Keys<'_>) -> String {
        keys.funnels()
    }

    fn key(keys: Keys<'_>, id: FunnelId) -> Key {
        keys.funnel(id)
    }
}

impl Referred for Tag {
    type Id = TagId;
    const KIND: &'static str = "tag";

    fn id(&self) -> TagId {
        self.id
    }

    fn partition(keys: Keys<'_>) -> String {
        keys.tags()
    }

    fn key(keys: Keys<'_>, id: TagId) -> Key {
        keys.tag(id)
    }
}

impl Reader {
    /// The readable records among the first [`MAX_AHEAD`] by id. One query. Unreadable records are not logged here,
    /// because perhaps no returned record refers to them.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be read.
    pub async fn expected<T: Referred>(&self) -> Result<BTreeMap<T::Id, T>, StoreError> {
        let span = KeyRange::head(T::partition(self.keys()), MAX_AHEAD);
        let items = self.table.query(span).await?.items.into_iter();
        let records = items.filter_map(|item| item::decode::<T>(T::KIND, item).ok());
        Ok(records.map(|record| (record.id(), record)).collect())
    }

    /// Adds the existing, readable records with these ids to `known`. No call if all are known, else one batch of gets
    /// within the budget.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be read.
    pub(crate) async fn with_referred<T: Referred>(
        &self,
        mut known: BTreeMap<T::Id, T>,
        ids: impl IntoIterator<Item = T::Id>,
        budget: &ReadBudget,
    ) -> Result<BTreeMap<T::Id, T>, StoreError> {
        let unknown: BTreeSet<_> = ids.into_iter().filter(|id| !known.contains_key(id)).collect();
        let keys = unknown.into_iter().map(|id| T::key(self.keys(), id));
        let found = budget.get_items(&self.table, keys.collect()).await?.into_iter();
        let found = found.filter_map(|item| table::readable(item, |item| item::decode::<T>(T::KIND, item)));
        known.extend(found.map(|record| (record.id(), record)));
        Ok(known)
    }
}
