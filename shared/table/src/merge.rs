//! Concurrent reads of several lists, merged by sort key.

use std::collections::VecDeque;

use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};

use crate::client::ReadTable;
use crate::error::StoreError;
use crate::item::Item;
use crate::key::key_of;
use crate::pages::{KeyRange, PAGE, Page, Pages};
use crate::readable::readable;

/// An entry of merged lists.
pub trait ListEntry: Sized {
    /// Orders the entries of one item. An item may be in two lists if it moves between them during the read.
    type Version: Ord;

    /// The entry of an item.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] if it cannot be decoded.
    fn read(item: Item) -> Result<Self, StoreError>;

    /// The version of the entry. Of two entries with the same sort key, the one with the greater version is kept.
    fn version(&self) -> Self::Version;
}

impl ListEntry for Item {
    type Version = ();

    fn read(item: Item) -> Result<Self, StoreError> {
        Ok(item)
    }

    fn version(&self) {}
}

/// Several lists, merged by sort key.
#[derive(Debug)]
pub struct MergeScan<T> {
    lists: Vec<MergedList<T>>,
    concurrency: usize,
}

/// The unread rest of a list, and entries read but not taken.
#[derive(Debug)]
struct MergedList<T> {
    pages: Pages,
    buffer: VecDeque<(String, T)>,
}

impl<T> MergedList<T> {
    /// Whether this list must be read before the next entry is known.
    fn is_due(&self) -> bool {
        self.buffer.is_empty() && self.pages.rest().is_some()
    }
}

impl<T: ListEntry> MergedList<T> {
    /// Adds the readable entries of a page to the buffer. Returns the number of its items.
    fn buffer_page(&mut self, page: Page) -> Result<usize, StoreError> {
        let items = page.items.len();
        for item in page.items {
            let sort_key = key_of(&item)?.sk;
            if let Some(entry) = readable(item, T::read) {
                self.buffer.push_back((sort_key, entry));
            }
        }
        Ok(items)
    }
}

impl<T: ListEntry> MergeScan<T> {
    /// Merges several lists. At most `concurrency` of them are read concurrently.
    pub fn new(ranges: impl IntoIterator<Item = KeyRange>, concurrency: usize) -> Self {
        let lists = ranges.into_iter().map(|range| MergedList {
            pages: Pages::of(range),
            buffer: VecDeque::new(),
        });
        Self {
            lists: lists.collect(),
            concurrency,
        }
    }

    /// The unread rest of the first list.
    #[must_use]
    pub fn first_rest(&self) -> Option<&KeyRange> {
        self.lists.first()?.pages.rest()
    }

    /// Whether there may be entries that were not taken.
    #[must_use]
    pub fn has_more(&self) -> bool {
        let mut lists = self.lists.iter();
        lists.any(|list| !list.buffer.is_empty() || list.pages.rest().is_some())
    }

    /// Whether a list must be read before the next entry is known.
    pub fn is_due(&self) -> bool {
        self.lists.iter().any(MergedList::is_due)
    }

    /// Reads all due lists with `read`, at most `limit(index)` entries of each. Returns the number of items read.
    ///
    /// # Errors
    /// [`StoreError`] if a read fails.
    pub async fn fill<F>(
        &mut self,
        limit: impl Fn(usize) -> usize,
        read: impl Fn(KeyRange) -> F,
    ) -> Result<usize, StoreError>
    where
        F: Future<Output = Result<Page, StoreError>>,
    {
        let read = &read;
        let mut reads = Vec::new();
        for (index, list) in self
            .lists
            .iter_mut()
            .enumerate()
            .filter(|(_, list)| list.is_due())
        {
            list.pages.limit(limit(index));
            reads.push(async move {
                match list.pages.next_with(read).await? {
                    Some(page) => list.buffer_page(page),
                    None => Ok(0),
                }
            });
        }
        let reads = stream::iter(reads).buffer_unordered(self.concurrency);
        reads.try_fold(0, async |sum, items| Ok(sum + items)).await
    }

    /// Takes over a page that was read by other means, if there is only one list and its unread rest is `range`.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] if an entry cannot be decoded.
    pub fn begin_with(&mut self, range: &KeyRange, page: Page) -> Result<(), StoreError> {
        match self.lists.as_mut_slice() {
            [list] if list.pages.rest() == Some(range) => {
                list.pages.advance(&page)?;
                list.buffer_page(page).map(drop)
            }
            _ => Ok(()),
        }
    }

    /// The entries that were read and not taken.
    pub fn buffered(&self) -> impl Iterator<Item = &T> {
        let entries = self.lists.iter().flat_map(|list| &list.buffer);
        entries.map(|(_, entry)| entry)
    }

    /// Takes the next entry that was read, with its sort key. Of equal sort keys in several lists, takes all and
    /// returns the latest version. While a list [is due](Self::is_due), an unread entry may come first.
    #[expect(
        clippy::should_implement_trait,
        reason = "its end is only an end until the next read"
    )]
    pub fn next(&mut self) -> Option<(String, T)> {
        let heads = self.lists.iter().filter_map(|list| list.buffer.front());
        let first = heads.map(|(key, _)| key).min()?.clone();
        let lists = self.lists.iter_mut();
        let versions = lists.filter_map(|list| list.buffer.pop_front_if(|(key, _)| *key == first));
        versions.max_by_key(|(_, entry)| entry.version())
    }
}

impl MergeScan<Item> {
    /// Returns the next items, possibly none, with one query of each list that must be read. Returns `None` after the
    /// last items.
    ///
    /// # Errors
    /// [`StoreError`] if a read fails.
    pub async fn next_page(&mut self, table: &ReadTable) -> Result<Option<Vec<Item>>, StoreError> {
        if !self.has_more() {
            return Ok(None);
        }
        self.fill(|_| PAGE, |range| table.query(range)).await?;
        let mut items = Vec::new();
        while !self.is_due()
            && let Some((_, item)) = self.next()
        {
            items.push(item);
        }
        Ok(Some(items))
    }
}
