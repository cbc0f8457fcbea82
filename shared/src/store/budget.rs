//! The read budget of one request beyond the pages that it shows (C-86), in units and time.
//!
//! A query starts only if its maximum cost fits the rest of the budget, so a request exceeds its budget at most
//! slightly. Queries in progress reserve their maximum cost. Before a query is refused, it waits for the unused part of
//! their reservations.

use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use crate::viewer::Viewer;
use table::item::{self, Item};
use table::{Key, KeyRange, Page, Pages, ReadTable, StoreError};

/// Maximum time of the reads that [`ReadBudget::in_time`] bounds. With the reads before it, this stays below the timeouts
/// of the function (29 s) and the gateway (30 s).
pub const MAX_TIME: Duration = Duration::from_secs(15);
/// Time after which a search begins no further read, so that it answers what it has found before [`MAX_TIME`].
const MAX_SEARCH_TIME: Duration = Duration::from_secs(10);
/// Maximum read units of a query, which ends at 1 MB, with a margin because sizes are estimates.
pub const MAX_QUERY_UNITS: u32 = 270;

/// Estimated units of an item of a short query: 8 KB. With larger items, concurrent queries may exceed the budget.
const ITEM_UNITS: u32 = 2;

/// The remaining budget of one request. A budget below the cost of one query allows one query at a time.
#[derive(Debug)]
pub struct ReadBudget {
    state: Mutex<State>,
    /// Wakes the waiting queries after one has returned its unused units.
    returned: Notify,
    /// The budget at the start, in units.
    whole: f64,
    /// The beginning of a search; `None` for other requests.
    search: Option<Instant>,
    /// Whether a search did not read all that it was to read.
    is_partial: AtomicBool,
}

#[derive(Debug)]
struct State {
    /// Units that are neither used nor reserved.
    left: f64,
    /// Number of queries in progress. Each has reserved its maximum cost.
    in_progress: u32,
}

impl ReadBudget {
    /// The budget of a viewer's instance (C-83).
    pub fn of(viewer: &Viewer) -> Self {
        Self::new(viewer.directory().settings.read_budget().get())
    }

    /// The same for a search, which answers what it has read when the budget ends.
    pub fn of_search(viewer: &Viewer) -> Self {
        Self {
            search: Some(now()),
            ..Self::of(viewer)
        }
    }

    fn new(units: u32) -> Self {
        let left = f64::from(units);
        Self {
            state: Mutex::new(State { left, in_progress: 0 }),
            returned: Notify::new(),
            whole: left,
            search: None,
            is_partial: AtomicBool::new(false),
        }
    }

    /// The result of a read; for a search whose budget has ended, nothing in its place.
    ///
    /// # Errors
    /// Those of the read.
    pub fn or_end<T: Default>(&self, read: Result<T, StoreError>) -> Result<T, StoreError> {
        match read {
            Err(StoreError::OverBudget) if self.search.is_some() => {
                self.leave_out();
                Ok(T::default())
            }
            read => read,
        }
    }

    /// Whether a search did not read all that it was to read.
    pub fn is_partial(&self) -> bool {
        self.is_partial.load(Ordering::Relaxed)
    }

    /// Marks a search as one that did not read all that it was to read.
    pub fn leave_out(&self) {
        self.is_partial.store(true, Ordering::Relaxed);
    }

    /// Units that are neither used nor reserved, rounded down; 0 if more was used than the budget.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a budget is small and its rest is clamped"
    )]
    pub fn left(&self) -> u64 {
        self.state().left.max(0.0) as u64
    }

    /// Reads a part of a partition in one call.
    ///
    /// # Errors
    /// [`StoreError::OverBudget`], without a call, if the rest of the budget is below the maximum cost after all
    /// queries in progress have ended.
    pub async fn query(&self, table: &ReadTable, span: KeyRange) -> Result<Page, StoreError> {
        let items = u32::try_from(span.limit).unwrap_or(u32::MAX);
        let estimate = items.saturating_mul(ITEM_UNITS).min(MAX_QUERY_UNITS);
        // The smallest budget allows one query at a time.
        let max_units = f64::from(estimate).min(self.whole);
        self.reserve(max_units).await?;
        let page = table.query(span).await;
        // A failed query counts with its maximum.
        let used = page.as_ref().map_or(max_units, Page::units);
        self.give_back(max_units - used);
        page
    }

    /// Reads a whole key range, one call for each 1 MB.
    ///
    /// # Errors
    /// [`StoreError::OverBudget`] as for [`query`](Self::query).
    pub async fn query_all(&self, table: &ReadTable, span: KeyRange) -> Result<Vec<Item>, StoreError> {
        let (mut pages, mut items) = (Pages::of(span), Vec::new());
        while let Some(page) = pages.next_with(|span| self.query(table, span)).await? {
            items.extend(page.items);
        }
        Ok(items)
    }

    /// Takes units for reads of single items.
    ///
    /// # Errors
    /// [`StoreError::OverBudget`] if fewer units are left after all queries in progress have ended.
    pub async fn take(&self, units: f64) -> Result<(), StoreError> {
        self.reserve(units).await?;
        self.give_back(0.0);
        Ok(())
    }

    /// Gets items, each for a unit or more. Makes no call without keys.
    ///
    /// # Errors
    /// [`StoreError::OverBudget`] if they are too many; [`StoreError`] if they cannot be read.
    pub async fn get_items(&self, table: &ReadTable, keys: Vec<Key>) -> Result<Vec<Item>, StoreError> {
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let count = u32::try_from(keys.len()).unwrap_or(u32::MAX);
        self.take(count.into()).await?;
        let read = table.get_items(keys).await?;
        // One unit of each item is already taken.
        let further = read.iter().map(|item| table::read_units(item::bytes(item)) - 1.0);
        self.spend(further.sum());
        Ok(read)
    }

    /// Subtracts units that were already read, such as prefetched ones. The rest may become negative.
    pub fn spend(&self, units: f64) {
        self.state().left -= units;
    }

    /// Aborts `work` after [`MAX_TIME`].
    ///
    /// # Errors
    /// [`StoreError::OverBudget`] if it took longer, otherwise the error of `work`.
    pub async fn in_time<T>(work: impl Future<Output = Result<T, StoreError>>) -> Result<T, StoreError> {
        within(MAX_TIME, work).await
    }

    /// Takes units for a query. Waits for queries in progress while fewer units are left, and fails if none is in
    /// progress.
    async fn reserve(&self, units: f64) -> Result<(), StoreError> {
        loop {
            if self
                .search
                .is_some_and(|began| began.elapsed() >= MAX_SEARCH_TIME)
            {
                return Err(StoreError::OverBudget);
            }
            // Created before the check, so that units returned after the check are not missed.
            let returned = self.returned.notified();
            {
                let mut state = self.state();
                if state.left >= units {
                    state.left -= units;
                    state.in_progress += 1;
                    return Ok(());
                }
                if state.in_progress == 0 {
                    return Err(StoreError::OverBudget);
                }
            }
            returned.await;
        }
    }

    /// Ends a query and returns its unused units; negative if it used more than it reserved.
    fn give_back(&self, units: f64) {
        {
            let mut state = self.state();
            state.left += units;
            state.in_progress -= 1;
        }
        self.returned.notify_waiters();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "how long a request may take depends on no stored time"
)]
fn now() -> Instant {
    Instant::now()
}

async fn within<T>(
    most: Duration,
    work: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, StoreError> {
    let done = tokio::time::timeout(most, Box::pin(work)).await;
    done.unwrap_or(Err(StoreError::OverBudget))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exact_rest(budget: &ReadBudget) -> f64 {
        budget.state().left
    }

    /// A query waits for the queries in progress, and is refused after they have returned too few units.
    #[tokio::test]
    async fn queries_wait_for_returned_units() {
        let (budget, most) = (ReadBudget::new(800), f64::from(MAX_QUERY_UNITS));
        budget.reserve(most).await.unwrap();
        budget.reserve(most).await.unwrap();
        let third = async {
            budget.reserve(most).await.unwrap();
            budget.give_back(0.0);
        };
        let first = async {
            tokio::task::yield_now().await;
            budget.give_back(most - 10.0);
        };
        tokio::join!(third, first);
        budget.give_back(0.0);
        assert!(exact_rest(&budget) < most, "{}", exact_rest(&budget));
        assert!(matches!(budget.reserve(most).await, Err(StoreError::OverBudget)));
    }

    #[tokio::test]
    async fn the_smallest_budget_allows_one_query() {
        let budget = ReadBudget::new(1);
        budget.reserve(1.0).await.unwrap();
        budget.give_back(-255.0);
        assert!(matches!(budget.reserve(1.0).await, Err(StoreError::OverBudget)));
    }

    /// A function ends after 29 seconds, and the call before the search may take 8.
    #[tokio::test]
    async fn slow_reads_are_aborted() {
        let never = within(
            Duration::from_millis(5),
            std::future::pending::<Result<(), StoreError>>(),
        );
        assert!(matches!(never.await, Err(StoreError::OverBudget)));
        assert!(MAX_TIME + Duration::from_secs(8) < Duration::from_secs(29));
    }
}
