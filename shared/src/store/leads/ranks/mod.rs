//! Numbers of leads by ranges of ids. They locate a far page of a list (C-20). Requests for far pages, imports
//! and repairs of the doctor count complete blocks.
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
use crate::store::derived::Contribution;
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

/// Number of entries of a block.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Count {
    entries: i64,
    /// Entries of leads with access lists.
    restricted: i64,
}

impl Count {
    fn add(&mut self, other: Self) {
        self.entries += other.entries;
        self.restricted += other.restricted;
    }
}

/// Counts by archived flag and block.
type BlockCounts = BTreeMap<(bool, u64), Count>;

/// The attribute of a rank with the number of a block's entries, or of its `restricted` entries.
fn attribute(archived: bool, block: u64, restricted: bool) -> String {
    let mut name = "n.".to_owned();
    name.extend(archived.then_some(ARCHIVED));
    name.push_str(&(block % BLOCKS).to_string());
    name.extend(restricted.then_some(RESTRICTED));
    name
}

/// The leads that the number in an attribute of a rank counts.
struct ParsedAttribute {
    archived: bool,
    /// Index of the block within the rank.
    block: u64,
    restricted: bool,
}

impl ParsedAttribute {
    /// Parses a name from [`attribute`]; `None` for other attributes.
    fn of(name: &str) -> Option<Self> {
        let without_prefix = name.strip_prefix("n.")?;
        let without_archived = without_prefix.strip_prefix(ARCHIVED);
        let rest = without_archived.unwrap_or(without_prefix);
        let without_restricted = rest.strip_suffix(RESTRICTED);
        Some(Self {
            archived: without_archived.is_some(),
            block: without_restricted.unwrap_or(rest).parse().ok()?,
            restricted: without_restricted.is_some(),
        })
    }
}

/// The lead's contributions to the ranks of its lists: of all leads, and of its owner's.
pub fn contributions(keys: Keys<'_>, lead: &Lead) -> BTreeMap<Key, Contribution> {
    let block = lead.id.get() / BLOCK;
    let mut numbers = BTreeMap::from([(attribute(lead.archived, block, false), 1)]);
    if !LeadClass::of(lead).lists.is_open() {
        numbers.insert(attribute(lead.archived, block, true), 1);
    }
    let lists = [None].into_iter().chain(lead.owner.map(Some));
    let contribution = Contribution {
        numbers,
        attributes: Item::new(),
        is_sharded: true,
    };
    lists
        .map(|list| (keys.lead_rank(list, block / BLOCKS), contribution.clone()))
        .collect()
}

/// Removes the additions of a new lead to ranks from its transaction, unless its id is reserved. Concurrent requests
/// may have taken ids after a reserved one, so its block may be counted already.
pub fn leave_to_count(transaction: &mut Transaction, keys: Keys<'_>, lead: &Lead, id: Sequence) {
    if !id.is_reserved() {
        for rank in contributions(keys, lead).keys() {
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

/// The marks of a rank, which are 0 if it is not counted.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
struct Rank {
    /// Number of its counted blocks.
    counted: u64,
    /// Number of the first rank that it covers.
    covered: u64,
    /// The versions of its item and shards.
    versions: BTreeMap<Key, u64>,
}

impl ListRanks {
    /// Decodes all ranks of a list, with their shards, and adds up the numbers of a rank's items.
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
                let Some(parsed) = ParsedAttribute::of(name) else {
                    continue;
                };
                let block = number * BLOCKS + parsed.block;
                let count = ranks.counts.entry((parsed.archived, block)).or_default();
                let by = item::signed(KIND, item, name)?;
                if parsed.restricted {
                    count.restricted += by;
                } else {
                    count.entries += by;
                }
            }
        }
        Ok(ranks)
    }

    /// The counted ranks by number, from the first id to the first gap. The covered ranks between them are omitted. A
    /// rank that is not counted completely is the last.
    fn counted_ranks(&self) -> Vec<(u64, &Rank)> {
        let mut counted = Vec::new();
        // The first rank that none of these counts or covers.
        let mut next = 0;
        for (number, rank) in self.ranks.iter().filter(|(_, rank)| rank.counted > 0) {
            if rank.covered > next {
                break;
            }
            counted.push((*number, rank));
            if rank.counted < BLOCKS {
                break;
            }
            next = number + 1;
        }
        counted
    }

    /// The first block that is not counted.
    fn first_uncounted(&self) -> u64 {
        let ranks = self.counted_ranks();
        let last = ranks.last();
        last.map_or(0, |(number, rank)| number * BLOCKS + rank.counted.min(BLOCKS))
    }
}

/// The ranks of the lists that a viewer sees.
#[derive(Debug)]
pub struct ReachedRanks(Vec<(RankedList, ListRanks)>);

impl Reader {
    /// The ranks of the lists of these owners, some 30 KB of each list for a million leads. One query per list and MB.
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

    /// The ranks of a list. One query for each MB.
    pub async fn list_ranks(&self, list: RankedList) -> Result<ListRanks, StoreError> {
        let items = self.table.query_all(self.keys().list_ranks(list)).await?;
        ListRanks::read(&items)
    }
}

impl ReachedRanks {
    /// The sums of all lists' block counts, of the archived leads or of the others.
    pub fn locator(&self, viewer: &Viewer, archived: bool) -> PageLocator {
        let mut counts = BTreeMap::<u64, Count>::new();
        for (_, ranks) in &self.0 {
            for ((_, block), count) in ranks.counts.range((archived, 0)..=(archived, u64::MAX)) {
                counts.entry(*block).or_default().add(*count);
            }
        }
        let uncounted = self.0.iter().map(|(_, ranks)| ranks.first_uncounted());
        PageLocator {
            first_uncounted: uncounted.min().unwrap_or(0),
            sees_all: self.0.iter().all(|(owner, _)| viewer.passes_access_lists(*owner)),
            counts,
        }
    }
}

/// The block counts of all visible lists. They locate a far page without reading the entries before it.
#[derive(Debug)]
pub struct PageLocator {
    /// The first block that is not counted in all of these lists.
    first_uncounted: u64,
    /// Whether access lists hide no lead from the viewer.
    sees_all: bool,
    counts: BTreeMap<u64, Count>,
}

/// A step in locating a page.
#[derive(Debug, PartialEq, Eq)]
pub enum LocatorStep {
    /// The page is located: its scan begins after this id, or at the first id for `None`.
    ScanAfter(Option<String>),
    /// The counts do not state how many of these leads the viewer sees, so the leads must be read.
    Read {
        /// The exclusive lower bound of their ids.
        after: Option<String>,
        /// The inclusive upper bound of their ids.
        through: String,
    },
}

impl PageLocator {
    /// Returns the next step to the page, from `block` on. Subtracts the entries of the blocks before that step from
    /// `skip`, the number of visible leads before the page. For [`LocatorStep::Read`], sets `block` to the first block
    /// after these leads; the caller subtracts the ones that the viewer sees from `skip`.
    pub fn next_step(&self, block: &mut u64, skip: &mut u64) -> LocatorStep {
        let end = self.first_uncounted.max(*block);
        for (at, count) in self.counts.range(*block..end) {
            // If `skip` is 0, the page begins here, and its scan checks each lead.
            if !self.sees_all && count.restricted > 0 && *skip > 0 {
                let last = self.last_near_restricted(*at);
                *block = last + 1;
                return LocatorStep::Read {
                    after: last_id_before(*at),
                    through: key::number(*block * BLOCK - 1),
                };
            }
            let entries = u64::try_from(count.entries).unwrap_or(0);
            if entries > *skip {
                return LocatorStep::ScanAfter(last_id_before(*at));
            }
            *skip -= entries;
        }
        LocatorStep::ScanAfter(last_id_before(end))
    }

    /// The last of the blocks with access lists that are read together with `first`, each at most [`NEAR`] blocks after
    /// the one before.
    fn last_near_restricted(&self, first: u64) -> u64 {
        let mut last = first;
        let blocks = self.counts.range(first..self.first_uncounted);
        for (block, _) in blocks.filter(|(_, count)| count.restricted > 0) {
            if *block > last + NEAR {
                break;
            }
            last = *block;
        }
        last
    }
}

/// The sort key of the last id before a block; `None` before the first.
fn last_id_before(block: u64) -> Option<String> {
    let last = (block * BLOCK).checked_sub(1);
    last.map(key::number)
}

#[cfg(test)]
mod tests;
