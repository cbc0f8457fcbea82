//! Reads the records of a page from merged lists.

use crate::store::Reader;
use crate::store::budget::ReadBudget;
use table::{ListEntry, MergeScan, PAGE, StoreError};

/// A scan of lists, merged by sort key, within a read budget.
pub struct ListScan<'a, E> {
    reader: &'a Reader,
    budget: &'a ReadBudget,
    lists: MergeScan<E>,
    /// Minimum entries of each list in the next read; doubles with each.
    least: usize,
}

impl<'a, E: ListEntry> ListScan<'a, E> {
    /// Continues `lists`.
    pub fn new((reader, budget): (&'a Reader, &'a ReadBudget), lists: MergeScan<E>) -> Self {
        Self {
            reader,
            budget,
            lists,
            least: 1,
        }
    }

    /// The same scan with at least `least` entries of each list in its first read and twice as many in each further one,
    /// for a filter that may admit few of them.
    pub fn with_first_read_of(self, least: usize) -> Self {
        Self { least, ..self }
    }

    /// Skips the next `skip` entries that `admit` returns, and returns at most `limit` further ones, each with its sort
    /// key. Reduces `skip` by the skipped ones. A search whose budget ends returns those that it has found.
    pub async fn page<T>(
        &mut self,
        skip: &mut u64,
        limit: usize,
        admit: impl Fn(E) -> Option<T>,
    ) -> Result<Vec<(String, T)>, StoreError> {
        let mut page = Vec::new();
        while page.len() < limit {
            let to_skip = usize::try_from(*skip).unwrap_or(PAGE);
            // The entries that the page still needs if all are admitted.
            let needed = to_skip.saturating_add(limit - page.len());
            let filled = self.fill(needed).await.map(|()| true);
            // `false` if the budget of a search has ended.
            if !self.budget.or_end(filled)? {
                break;
            }
            let Some((sort_key, entry)) = self.lists.next() else {
                break;
            };
            match (admit(entry), *skip) {
                (None, _) => {}
                (Some(entry), 0) => page.push((sort_key, entry)),
                (Some(_), _) => *skip -= 1,
            }
        }
        Ok(page)
    }

    /// Reads the lists that are due.
    async fn fill(&mut self, needed: usize) -> Result<(), StoreError> {
        if self.lists.is_due() {
            let size = needed.max(self.least);
            self.least = self.least.saturating_mul(2).min(PAGE);
            let read = |range| self.budget.query(&self.reader.table, range);
            self.lists.fill(|_| size, read).await?;
        }
        Ok(())
    }
}
