//! Numbers of leads by ranges of ids. They locate a far page of a list (C-20).
//!
//! A list, of all leads or of an owner's leads, has an item for each 64 blocks of 256 ids, called a rank. It contains
//! the number of entries of each block and the number of counted blocks. Only the numbers of counted blocks equal the
//! entries of the list.
//!
//! - A transaction that adds or removes an entry changes the block's number and increments the rank's version. A new
//!   lead with the next id does neither, because its block is not complete and only complete blocks are counted. So new
//!   leads cost nothing.
//! - [`Writer::count_next_rank`] reads a rank, then the entries, and adds the difference on condition of the versions.
//!   The difference contains additions before the count. Additions after it change the counted number. A concurrent
//!   addition fails the count's condition. So a race may leave a block uncounted, but never makes a number wrong.
//! - The counted blocks begin at the first id, without a gap. A list needs no rank for ranges without entries. A
//!   counted rank contains the number of the first rank that it covers; the ranks between the two have 0 entries at the
//!   count.

mod count;

use std::collections::BTreeMap;

use futures_util::future::try_join_all;

use super::record::LeadClass;
use crate::ids::UserId;
use crate::lead::Lead;
use crate::store::Reader;
use crate::store::derived::Share;
use crate::store::key::{self, Key, Keys};
use crate::store::sequence::Sequence;
use crate::viewer::{OwnerScope, Viewer};
use table::item::{self, Item};
use table::{StoreError, Transaction, key_of};

/// Number of ids of a block. A page skips at most this number of entries of a list.
const BLOCK: u64 = 256;
/// Blocks of a rank. Their numbers fit into 1 KB, so that a change costs the smallest write.
const BLOCKS: u64 = 64;
/// Blocks with access lists at most this number of blocks apart are read together with the blocks between them.
const NEAR: u64 = 4;
const KIND: &str = "lead rank";
/// The attribute with the number of counted blocks.
const COUNTED: &str = "counted";
/// The attribute with the number of the first rank that a counted rank covers.
const COVERED: &str = "from";
const ARCHIVED: char = 'a';
const RESTRICTED: char = 'r';

/// A list: of an owner's leads, or of all.
pub type RankedList = Option<UserId>;

/// The entries of a block.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Count {
    entries: i64,
    /// Entries of leads with access lists.
    restricted: i64,
}

impl Count {
    fn add(&mut self, restricted: bool, by: i64) {
        if restricted {
            self.restricted += by;
        } else {
            self.entries += by;
        }
    }
}

/// Counts of archived leads or the others, by block.
type BlockCounts = BTreeMap<(bool, u64), Count>;

/// The attribute of a rank with the number of a block.
fn name(archived: bool, block: u64, restricted: bool) -> String {
    let mut name = "n.".to_owned();
    name.extend(archived.then_some(ARCHIVED));
    name.push_str(&(block % BLOCKS).to_string());
    name.extend(restricted.then_some(RESTRICTED));
    name
}

/// Archived flag, block within the rank, and restricted flag of a number's attribute; `None` for other attributes.
fn named(name: &str) -> Option<(bool, u64, bool)> {
    let rest = name.strip_prefix("n.")?;
    let archived = rest.strip_prefix(ARCHIVED);
    let rest = archived.unwrap_or(rest);
    let restricted = rest.strip_suffix(RESTRICTED);
    let block = restricted.unwrap_or(rest).parse().ok()?;
    Some((archived.is_some(), block, restricted.is_some()))
}

/// The ranks of a lead's lists, with its contributions.
pub fn shares(keys: Keys<'_>, lead: &Lead) -> BTreeMap<Key, Share> {
    let block = lead.id.get() / BLOCK;
    let mut numbers = BTreeMap::from([(name(lead.archived, block, false), 1)]);
    if !LeadClass::of(lead).lists.is_open() {
        numbers.insert(name(lead.archived, block, true), 1);
    }
    let lists = [None].into_iter().chain(lead.owner.map(Some));
    let share = |list| {
        let share = Share {
            numbers: numbers.clone(),
            attributes: Item::new(),
            spread: true,
        };
        (keys.lead_rank(list, block / BLOCKS), share)
    };
    lists.map(share).collect()
}

/// Removes the additions of a new lead to ranks from its transaction, unless its id is reserved. Concurrent requests
/// may have taken ids after a reserved one, so its block may be counted already.
pub fn leave_to_count(transaction: &mut Transaction, keys: Keys<'_>, lead: &Lead, number: Sequence) {
    if !number.is_reserved() {
        for rank in shares(keys, lead).keys() {
            transaction.omit(rank);
        }
    }
}

/// The ranks of a list, each with its shards.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct ListRanks {
    ranks: BTreeMap<u64, Rank>,
    counts: BlockCounts,
}

#[derive(Debug, Default, Clone, PartialEq, Eq)]
struct Rank {
    counted: u64,
    covered: u64,
    /// The versions of its items.
    versions: BTreeMap<Key, u64>,
}

impl ListRanks {
    /// From all items of a list.
    pub fn read(items: &[Item]) -> Result<Self, StoreError> {
        let mut ranks = Self::default();
        for item in items {
            let key = key_of(item)?;
            let Some((_, number)) = key::ranked_list(&key.sk) else {
                continue;
            };
            let rank = ranks.ranks.entry(number).or_default();
            rank.counted += item::number(KIND, item, COUNTED)?;
            rank.covered += item::number(KIND, item, COVERED)?;
            rank.versions.insert(key, item::number(KIND, item, "v")?);
            for name in item.keys() {
                if let Some((archived, block, restricted)) = named(name) {
                    let count = ranks.counts.entry((archived, number * BLOCKS + block));
                    count
                        .or_default()
                        .add(restricted, item::signed(KIND, item, name)?);
                }
            }
        }
        Ok(ranks)
    }

    /// The counted ranks by number, from the first id to the first gap.
    fn covering(&self) -> impl Iterator<Item = (u64, &Rank)> {
        let mut next = Some(0);
        let counted = self.ranks.iter().filter(|(_, rank)| rank.counted > 0);
        counted.map_while(move |(number, rank)| {
            next.filter(|next| rank.covered <= *next)?;
            next = (rank.counted >= BLOCKS).then_some(number + 1);
            Some((*number, rank))
        })
    }

    /// The first block that is not counted.
    fn counted(&self) -> u64 {
        let last = self.covering().last();
        last.map_or(0, |(number, rank)| number * BLOCKS + rank.counted.min(BLOCKS))
    }
}

/// The ranks of the lists that a viewer sees.
#[derive(Debug)]
pub struct ReachedRanks(Vec<(RankedList, ListRanks)>);

impl Reader {
    /// The ranks of the visible lists, some 30 KB of each list for a million leads. One query per list and MB.
    pub(super) async fn lead_ranks(&self, reach: &OwnerScope) -> Result<ReachedRanks, StoreError> {
        let lists: Vec<RankedList> = match reach {
            OwnerScope::Nothing => Vec::new(),
            OwnerScope::All => vec![None],
            OwnerScope::Users(owners) => owners.iter().copied().map(Some).collect(),
        };
        let ranks = lists
            .into_iter()
            .map(async |list| Ok::<_, StoreError>((list, self.list_ranks(list).await?)));
        try_join_all(ranks).await.map(ReachedRanks)
    }

    /// The ranks of a list.
    pub async fn list_ranks(&self, list: RankedList) -> Result<ListRanks, StoreError> {
        let items = self.table.query_all(self.keys().list_ranks(list)).await?;
        ListRanks::read(&items)
    }
}

impl ReachedRanks {
    /// The block counts that locate a page of the archived leads or of the others.
    pub fn way(&self, viewer: &Viewer, archived: bool) -> Way {
        let mut counts = BTreeMap::<u64, Count>::new();
        for ((_, block), count) in self
            .0
            .iter()
            .flat_map(|(_, ranks)| ranks.counts.range((archived, 0)..=(archived, u64::MAX)))
        {
            let sum = counts.entry(*block).or_default();
            sum.add(false, count.entries);
            sum.add(true, count.restricted);
        }
        let mut lists = self.0.iter();
        Way {
            counted: lists.clone().map(|(_, ranks)| ranks.counted()).min().unwrap_or(0),
            sees_all: lists.all(|(owner, _)| viewer.passes_access_lists(*owner)),
            counts,
        }
    }
}

/// The block counts of all visible lists. They locate a far page without reading the entries before it.
#[derive(Debug)]
pub struct Way {
    /// The first block that is not counted.
    counted: u64,
    /// Whether access lists hide no lead from the viewer.
    sees_all: bool,
    counts: BTreeMap<u64, Count>,
}

/// A step in locating a page.
#[derive(Debug, PartialEq, Eq)]
pub enum SkipStep {
    /// The scan for the page begins after this id; `None` for the first id.
    Last(Option<String>),
    /// The counts do not state how many of these leads the viewer sees, so they must be read. The ids are the lower bound,
    /// exclusive, and the upper bound, inclusive.
    Unclear(Option<String>, String),
}

impl Way {
    /// Returns the next step to the page, from `block` on. Subtracts the entries of the blocks before that step from `skip`.
    /// For [`SkipStep::Unclear`], sets `block` to the first block after it; the caller subtracts the leads that the viewer sees
    /// there from `skip`.
    pub fn next(&self, block: &mut u64, skip: &mut u64) -> SkipStep {
        for (at, count) in self.counts.range(*block..self.counted.max(*block)) {
            let entries = u64::try_from(count.entries).unwrap_or(0);
            // If `skip` is 0, the page begins here, and its scan checks each lead.
            if !self.sees_all && count.restricted > 0 && *skip > 0 {
                let end = self.end_of_unclear(*at);
                *block = end + 1;
                return SkipStep::Unclear(before(*at), key::number(*block * BLOCK - 1));
            }
            if entries > *skip {
                return SkipStep::Last(before(*at));
            }
            *skip -= entries;
        }
        SkipStep::Last(before(self.counted.max(*block)))
    }

    /// The last of the blocks with access lists that are read together with `block`.
    fn end_of_unclear(&self, block: u64) -> u64 {
        let blocks = self.counts.range(block..self.counted);
        let unclear = blocks
            .filter(|(_, count)| count.restricted > 0)
            .map(|(at, _)| *at);
        unclear
            .scan(block, |end, at| {
                let near = at <= *end + NEAR;
                *end = at;
                near.then_some(at)
            })
            .last()
            .unwrap_or(block)
    }
}

/// The sort key of the last id before a block; `None` before the first.
fn before(block: u64) -> Option<String> {
    let last = (block * BLOCK).checked_sub(1);
    last.map(key::number)
}

#[cfg(test)]
mod tests;
