//! Tags and loss reasons, which only the operator changes.

use std::collections::BTreeMap;

use super::Reader;
use super::budget::ReadBudget;
use super::key::Keys;
use super::lists::Listed;
use crate::ids::TagId;
use crate::labels::{LossReason, Tag};
use crate::viewer::Viewer;
use table::StoreError;
use table::item::{self, Item};

impl Reader {
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

impl Listed for Tag {
    type Of = ();

    fn partition(keys: Keys<'_>, (): ()) -> String {
        keys.tags()
    }

    fn read(item: Item) -> Result<Self, StoreError> {
        item::decode("tag", item)
    }
}

impl Listed for LossReason {
    type Of = ();

    fn partition(keys: Keys<'_>, (): ()) -> String {
        keys.loss_reasons()
    }

    fn read(item: Item) -> Result<Self, StoreError> {
        item::decode("loss reason", item)
    }
}
