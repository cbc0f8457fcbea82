//! Reads as on Amazon, which isolates a batch or a query per item: a part of the answer is older than the rest.

use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::BoxFuture;
use table::{CommitError, Engine, Item, Key, KeyRange, Order, Page, Scanned, Selection, StoreError};
use table::{Transaction, Update, Work, key_of};

/// Something that happens during a read.
pub type Meanwhile = Box<dyn FnOnce() -> BoxFuture<'static, ()> + Send>;

/// An engine whose read of this number is torn: another write happens between the reads of its items.
pub struct Torn {
    below: Arc<dyn Engine>,
    state: Mutex<State>,
    is_first_older: bool,
}

struct State {
    /// Reads of several items before the torn one.
    left: usize,
    meanwhile: Option<Meanwhile>,
}

impl std::fmt::Debug for Torn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Torn")
    }
}

impl Torn {
    /// Tears the read of several items after `spared` others. The first half of its items is the older one, or the
    /// second half.
    #[must_use]
    pub fn new(
        below: Arc<dyn Engine>,
        spared: usize,
        is_first_older: bool,
        meanwhile: Meanwhile,
    ) -> Arc<Self> {
        let state = State {
            left: spared,
            meanwhile: Some(meanwhile),
        };
        Arc::new(Self {
            below,
            state: Mutex::new(state),
            is_first_older,
        })
    }

    /// Whether a read was torn.
    #[must_use]
    pub fn has_torn(&self) -> bool {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.meanwhile.is_none()
    }

    /// The concurrent work for a read of several items that begins now.
    fn meanwhile(&self) -> Option<Meanwhile> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.left > 0 {
            state.left -= 1;
            return None;
        }
        state.meanwhile.take()
    }
}

impl Engine for Torn {
    fn get_many<'a>(&'a self, keys: &'a [Key]) -> Work<'a, Result<Vec<Item>, StoreError>> {
        Box::pin(async move {
            let Some(meanwhile) = (keys.len() > 1).then(|| self.meanwhile()).flatten() else {
                return self.below.get_many(keys).await;
            };
            let (first, second) = keys.split_at(keys.len() / 2);
            let (older, newer) = if self.is_first_older {
                (first, second)
            } else {
                (second, first)
            };
            let mut items = self.below.get_many(older).await?;
            meanwhile().await;
            items.extend(self.below.get_many(newer).await?);
            Ok(items)
        })
    }

    /// A query goes through its range in order, so its first items are the older ones.
    fn query(&self, range: KeyRange, order: Order) -> Work<'_, Result<Page, StoreError>> {
        Box::pin(async move {
            let Some(meanwhile) = self.meanwhile() else {
                return self.below.query(range, order).await;
            };
            let mut page = self.below.query(range.clone(), order).await?;
            page.items.truncate(page.items.len() / 2);
            meanwhile().await;
            let seen = page.items.last().map(key_of).transpose()?;
            let again = self.below.query(range.clone(), order).await?;
            for item in again.items {
                let key = key_of(&item)?;
                let is_ahead = |seen: &Key| match order {
                    Order::Ascending => key > *seen,
                    Order::Descending => key < *seen,
                };
                if page.items.len() < range.limit && seen.as_ref().is_none_or(is_ahead) {
                    page.items.push(item);
                }
            }
            Ok(Page {
                more: page.more || again.more,
                ..page
            })
        })
    }

    fn transact(&self, transaction: Transaction) -> Work<'_, Result<(), CommitError>> {
        self.below.transact(transaction)
    }

    fn update<'a>(
        &'a self,
        key: &'a Key,
        update: Update<'a>,
    ) -> Work<'a, Result<Option<Vec<u64>>, StoreError>> {
        self.below.update(key, update)
    }

    fn scan<'a>(
        &'a self,
        wanted: &'a Selection<'a>,
        after: Option<&'a Key>,
    ) -> Work<'a, Result<Scanned, StoreError>> {
        self.below.scan(wanted, after)
    }

    fn ensure(&self) -> Work<'_, Result<bool, StoreError>> {
        self.below.ensure()
    }

    fn max_writes(&self) -> usize {
        self.below.max_writes()
    }
}
