//! Counting of complete blocks.

use std::collections::BTreeMap;
use std::ops::Range;

use futures_util::future::{try_join, try_join_all};
use futures_util::stream::{StreamExt as _, TryStreamExt as _, iter};

use super::{
    BLOCK, BLOCKS, BlockCounts, COUNTED, COVERED, Count, ListRanks, RankedList, ReachedRanks, attribute,
    last_id_before,
};
use crate::ids::LeadId;
use crate::store::budget::ReadBudget;
use crate::store::key::{Counter, Key};
use crate::store::leads::record::LeadEntry;
use crate::store::{Reader, Writer};
use table::item::{self, Item, n};
use table::{Condition, KeyRange, ListEntry as _, PAGE, Pages, StoreError, Transaction, key_of, shards};

/// Minimum number of complete blocks that a request counts after reading them, because a count costs 68 write units.
const WORTH_A_COUNT: u64 = 2;
/// Maximum ranks of a list that one request counts.
const MAX_COUNTS: usize = 4;
/// Maximum read units of counting one rank: 16,384 entries of 300 bytes on average.
const MAX_COUNT_UNITS: f64 = 1200.0;
/// The operator counts only lists with at least this number of leads.
const WORTH_COUNTING: i64 = 1000;
/// Lists that are counted concurrently.
const CONCURRENCY: usize = 16;

impl Reader {
    /// Number of complete blocks. Blocks are numbered from 0, so this is also the number of the first incomplete block.
    ///
    /// A block is complete once all ids of the next block are taken too. DynamoDB makes the items of a transaction
    /// visible one after another, so an entry may appear after the counter that its transaction incremented. This delay
    /// is shorter than the time in which 256 further ids are taken, so all entries of a complete block are visible.
    pub async fn complete_blocks(&self) -> Result<u64, StoreError> {
        let counter = self.table.get(&self.keys().counter(Counter::Lead)).await?;
        let last = item::number("counter", &counter.unwrap_or_default(), "lead")?;
        let next_id = last + 1;
        let full_blocks = next_id / BLOCK;
        // The last full block is not complete yet.
        Ok(full_blocks.saturating_sub(1))
    }

    /// The counted ranks of a list whose numbers differ from its entries. Reads the list.
    #[cfg(feature = "operator")]
    pub async fn wrong_ranks(&self, list: RankedList, ranks: &ListRanks) -> Result<Vec<u64>, StoreError> {
        let mut wrong = Vec::new();
        for (number, rank) in ranks.counted_ranks() {
            let blocks = rank.covered * BLOCKS..number * BLOCKS + rank.counted;
            let entries = self.entry_counts(list, blocks.clone()).await?;
            let within = |(_, block): &&(bool, u64)| blocks.contains(block);
            // Blocks with a count or an entry; in all others both numbers are 0.
            let mut places = ranks.counts.keys().filter(within).chain(entries.keys());
            if places.any(|place| count_at(&entries, *place) != count_at(&ranks.counts, *place)) {
                wrong.push(number);
            }
        }
        Ok(wrong)
    }

    /// The partition with the entries of a list.
    fn list_partition(&self, list: RankedList, archived: bool) -> String {
        let keys = self.keys();
        list.map_or_else(
            || keys.lead_list(archived),
            |owner| keys.owner_list(archived, owner),
        )
    }

    /// Counts the readable entries of a list, archived or not, by block. Reads the entries.
    async fn entry_counts(&self, list: RankedList, blocks: Range<u64>) -> Result<BlockCounts, StoreError> {
        let count_entries = async |archived| {
            let mut counts = BlockCounts::new();
            let mut pages = Pages::of(KeyRange {
                partition: self.list_partition(list, archived),
                after: last_id_before(blocks.start),
                through: last_id_before(blocks.end),
                limit: PAGE,
            });
            while let Some(page) = pages.next_with(|range| self.table.query(range)).await? {
                let entries = page.items.into_iter();
                for entry in entries.filter_map(|item| table::readable(item, LeadEntry::read)) {
                    let count = counts.entry((archived, entry.id.get() / BLOCK)).or_default();
                    count.entries += 1;
                    count.restricted += i64::from(!entry.class.lists.is_open());
                }
            }
            Ok::<_, StoreError>(counts)
        };
        let (mut counts, archived) = try_join(count_entries(false), count_entries(true)).await?;
        counts.extend(archived);
        Ok(counts)
    }

    /// The first rank with entries of a list, archived or not, from a block on. Two queries of one item, in parallel.
    async fn first_listed_rank(&self, list: RankedList, from: u64) -> Result<Option<u64>, StoreError> {
        let first_id = async |archived| {
            let range = KeyRange {
                after: last_id_before(from),
                ..KeyRange::head(self.list_partition(list, archived), 1)
            };
            let page = self.table.query(range).await?;
            let id = page.items.first().map(key_of).transpose()?;
            Ok::<_, StoreError>(id.and_then(|key| key.sk.parse::<u64>().ok()))
        };
        let (open, archived) = try_join(first_id(false), first_id(true)).await?;
        let ids = [open, archived].into_iter().flatten();
        Ok(ids.min().map(|id| id / BLOCK / BLOCKS))
    }
}

fn count_at(counts: &BlockCounts, place: (bool, u64)) -> Count {
    counts.get(&place).copied().unwrap_or_default()
}

impl ListRanks {
    /// Whether this rank, and the ranks that it covers, are the same in both.
    #[cfg(feature = "operator")]
    pub fn agree(&self, other: &Self, number: u64) -> bool {
        let covered = self.ranks.get(&number).map_or(number, |rank| rank.covered);
        self.ranks
            .range(covered..=number)
            .eq(other.ranks.range(covered..=number))
    }

    /// The first rank with items, from a rank on.
    fn first_stored(&self, rank: u64) -> Option<u64> {
        self.ranks.range(rank..).next().map(|(number, _)| *number)
    }
}

impl Writer {
    /// Counts the next rank of a list, or further blocks of its last rank, before block `complete`. Returns the first
    /// block that is then uncounted; `None` if all were counted already or a concurrent change failed the condition.
    ///
    /// The next rank is the first one with entries or items; it covers the ranks before it. If none has any, it is the
    /// rank of the last complete block.
    ///
    /// Three sequential reads, and a transaction of 68 write units with conditions on the rank and all of its shards. The
    /// entries are read after the ranks (see [`super`]).
    pub async fn count_next_rank(&self, list: RankedList, complete: u64) -> Result<Option<u64>, StoreError> {
        let ranks = self.reader.list_ranks(list).await?;
        let uncounted = ranks.first_uncounted();
        if uncounted >= complete {
            return Ok(None);
        }
        let (next, newest) = (uncounted / BLOCKS, (complete - 1) / BLOCKS);
        let with_entries = self.reader.first_listed_rank(list, uncounted).await?;
        let with_items = ranks.first_stored(next);
        let is_begun = uncounted % BLOCKS > 0;
        let number = if is_begun {
            next
        } else {
            let occupied = with_entries.into_iter().chain(with_items).min();
            occupied.map_or(newest, |number| number.min(newest))
        };
        let blocks = uncounted.max(number * BLOCKS)..complete.min((number + 1) * BLOCKS);
        let end = blocks.end;
        let entries = self.reader.entry_counts(list, blocks.clone()).await?;
        let transaction = self.count_of_blocks(&ranks, (list, number), blocks, &entries);
        let is_counted = self.table.try_commit(transaction).await?;
        Ok(is_counted.then_some(end))
    }

    /// The writes that count `blocks` of a rank: they add the differences between `entries` and the rank's numbers, on
    /// condition that the rank and its shards are unchanged.
    fn count_of_blocks(
        &self,
        ranks: &ListRanks,
        (list, number): (RankedList, u64),
        blocks: Range<u64>,
        entries: &BlockCounts,
    ) -> Transaction {
        let key = self.keys().lead_rank(list, number);
        let rank = ranks.ranks.get(&number).cloned().unwrap_or_default();
        let unchanged = |key: &Key| {
            let version = rank.versions.get(key);
            version.map_or(Condition::Absent, |version| Condition::Version(*version))
        };
        let is_begun = blocks.start > number * BLOCKS;
        let covered = if is_begun {
            rank.covered
        } else {
            ranks.first_uncounted() / BLOCKS
        };
        let marks = Item::from([
            (COUNTED.to_owned(), n(blocks.end - number * BLOCKS)),
            (COVERED.to_owned(), n(covered)),
        ]);
        let mut transaction = Transaction::default();
        transaction.update(key.clone(), "v", 1, marks, unchanged(&key));
        for shard in shards(&key) {
            let condition = unchanged(&shard);
            transaction.check(shard, condition);
        }
        for (archived, block) in blocks.flat_map(|block| [(false, block), (true, block)]) {
            let now = count_at(entries, (archived, block));
            let before = count_at(&ranks.counts, (archived, block));
            for (by, restricted) in [
                (now.entries - before.entries, false),
                (now.restricted - before.restricted, true),
            ] {
                if by != 0 {
                    let name = attribute(archived, block, restricted);
                    transaction.update(key.clone(), &name, by, Item::new(), Condition::Always);
                }
            }
        }
        transaction
    }

    /// Counts the blocks up to this lead, which the request has read, within the read budget, so that later requests
    /// need not read them. A failure leaves them uncounted.
    pub async fn count_passed(&self, ranks: &ReachedRanks, last: LeadId, budget: &ReadBudget) {
        if let Err(cause) = self.try_count_passed(ranks, last.get() / BLOCK, budget).await {
            tracing::warn!(%cause, "leads could not be counted");
        }
    }

    /// Counts the lists of which at least [`WORTH_A_COUNT`] blocks before block `reached` are uncounted. No call if
    /// there is none.
    async fn try_count_passed(
        &self,
        ranks: &ReachedRanks,
        reached: u64,
        budget: &ReadBudget,
    ) -> Result<(), StoreError> {
        let uncounted_before = |end: u64| {
            let lists = ranks.0.iter();
            lists
                .filter(move |(_, ranks)| ranks.first_uncounted() + WORTH_A_COUNT <= end)
                .map(|(list, _)| *list)
        };
        if uncounted_before(reached).next().is_none() {
            return Ok(());
        }
        let complete = self.reader.complete_blocks().await?;
        let lists = uncounted_before(complete.min(reached)).take(CONCURRENCY);
        let counts = lists.map(|list| self.count_through(list, (reached, complete), budget));
        try_join_all(counts).await.map(drop)
    }

    /// Counts ranks of a list until block `reached` or all `complete` blocks are counted, at most [`MAX_COUNTS`] ranks.
    /// Stops without an error if the budget does not suffice or another process counts the list.
    async fn count_through(
        &self,
        list: RankedList,
        (reached, complete): (u64, u64),
        budget: &ReadBudget,
    ) -> Result<(), StoreError> {
        for _ in 0..MAX_COUNTS {
            if budget.take(MAX_COUNT_UNITS).await.is_err() {
                break;
            }
            match self.count_next_rank(list, complete).await? {
                Some(uncounted) if uncounted <= reached => {}
                _ => break,
            }
        }
        Ok(())
    }

    /// Resets the count of a rank on condition that its item is unchanged; returns `false` if it changed. Its blocks
    /// and later ones are counted again when a request needs them. No call if the rank has no item.
    #[cfg(feature = "operator")]
    pub async fn forget_rank(
        &self,
        (list, number): (RankedList, u64),
        ranks: &ListRanks,
    ) -> Result<bool, StoreError> {
        let key = self.keys().lead_rank(list, number);
        let rank = ranks.ranks.get(&number);
        let Some(version) = rank.and_then(|rank| rank.versions.get(&key)) else {
            return Ok(true);
        };
        let forgotten = Item::from([(COUNTED.to_owned(), n(0)), ("v".to_owned(), n(version + 1))]);
        let mut transaction = Transaction::default();
        transaction.set(key, forgotten, &[COVERED], Condition::Version(*version));
        self.table.try_commit(transaction).await
    }

    /// Counts all complete blocks of large lists and returns the number of counted ranks. For the operator, after every
    /// writer changes ranks.
    ///
    /// # Errors
    /// [`StoreError`] if the table fails; what was counted by then stays.
    pub async fn count_lead_ranks(&self) -> Result<u64, StoreError> {
        let complete = self.reader.complete_blocks().await?;
        if complete == 0 {
            return Ok(0);
        }
        let mut leads_by_owner = BTreeMap::<_, i64>::new();
        for archived in [false, true] {
            for (owner, count) in self.reader.lead_totals(archived).await?.by_owner() {
                *leads_by_owner.entry(owner).or_default() += count;
            }
        }
        let large = leads_by_owner
            .into_iter()
            .filter(|(_, count)| *count >= WORTH_COUNTING);
        let owner_lists = large.filter_map(|(owner, _)| owner.map(Some));
        // `None` is the list of all leads.
        let counts = [None].into_iter().chain(owner_lists).map(async |list| {
            let mut counted = 0;
            while self.count_next_rank(list, complete).await?.is_some() {
                counted += 1;
            }
            Ok::<_, StoreError>(counted)
        });
        iter(counts)
            .buffer_unordered(CONCURRENCY)
            .try_fold(0, async |all, some| Ok(all + some))
            .await
    }
}
