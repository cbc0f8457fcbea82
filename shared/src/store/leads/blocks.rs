//! Numbers of leads by ranges of ids. They locate a far page of a list (C-20).
//!
//! A block is a total of the leads with 1,000 neighbouring ids, archived or not. It counts them by owner, and apart
//! those with access lists.

use std::collections::BTreeMap;

use super::class::LeadClass;
use crate::ids::UserId;
use crate::lead::Lead;
use crate::store::Reader;
use crate::store::derived::{Contribution, RESTRICTED};
use crate::store::key::{self, Key, Keys};
use crate::viewer::Viewer;
use crate::visibility::AccessLists;
use table::item::{self, Item};
use table::{KeyRange, StoreError, key_of};

/// Number of ids of a block. A page skips at most this number of entries.
const BLOCK: u64 = 1000;
const KIND: &str = "lead block";
/// In place of an owner's id, for leads without owner.
const NOBODY: &str = "0";

/// The lead's contribution to its block.
pub fn contribution(keys: Keys<'_>, lead: &Lead) -> (Key, Contribution) {
    let owner = lead
        .owner
        .map_or_else(|| NOBODY.to_owned(), |owner| owner.to_string());
    let class = if LeadClass::of(lead).lists.is_open() {
        owner
    } else {
        key::class([&owner, RESTRICTED])
    };
    let contribution = Contribution {
        numbers: BTreeMap::from([(format!("n.{class}"), 1)]),
        attributes: Item::new(),
        is_sharded: true,
    };
    (
        keys.lead_block(lead.archived, lead.id.get() / BLOCK),
        contribution,
    )
}

/// The leads that a number of a block counts: their owner, and whether they have access lists. `None` for another
/// attribute.
fn counted(name: &str) -> Option<(Option<UserId>, bool)> {
    let mut parts = key::class_parts(name.strip_prefix("n.")?);
    let owner = parts.next()?;
    let owner = match owner {
        NOBODY => None,
        owner => Some(UserId::new(owner.parse().ok()?)?),
    };
    Some((owner, parts.next().is_some()))
}

/// Number of leads of a block that a viewer sees.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Seen {
    /// Those that the viewer certainly sees.
    leads: i64,
    /// Those with access lists, of which the viewer may see some.
    unclear: i64,
}

/// The blocks of a list, as a viewer sees them. They locate a far page without reading the entries before it.
#[derive(Debug)]
pub struct PageLocator(BTreeMap<u64, Seen>);

/// A step in locating a page.
#[derive(Debug, PartialEq, Eq)]
pub enum LocatorStep {
    /// The page is located: its scan begins after this id, or at the first id for `None`.
    ScanAfter(Option<String>),
    /// The counts do not state how many of these leads the viewer sees, so the leads must be read. There are leads
    /// before the page.
    Read {
        /// The exclusive lower bound of their ids.
        after: Option<String>,
        /// The inclusive upper bound of their ids.
        through: String,
    },
}

impl Reader {
    /// The blocks of all leads, archived or not: for each 1,000 ids some 50 bytes, and 8 for each owner among them. One
    /// query for each MB.
    pub(super) async fn page_locator(
        &self,
        viewer: &Viewer,
        archived: bool,
    ) -> Result<PageLocator, StoreError> {
        let blocks = KeyRange::whole(self.keys().lead_blocks(archived));
        PageLocator::of(viewer, &self.table.query_all(blocks).await?)
    }
}

impl PageLocator {
    /// Adds up what the viewer sees of blocks and their shards.
    fn of(viewer: &Viewer, items: &[Item]) -> Result<Self, StoreError> {
        let mut blocks = BTreeMap::<_, Seen>::new();
        for item in items {
            let key = key_of(item)?;
            let Some(block) = key::numbered_block(&key.sk) else {
                continue;
            };
            let seen = blocks.entry(block).or_default();
            for name in item.keys() {
                let Some((owner, is_restricted)) = counted(name) else {
                    continue;
                };
                let lists = AccessLists::default();
                if !(LeadClass { owner, lists }).is_seen_by(viewer) {
                    continue;
                }
                let leads = item::signed(KIND, item, name)?;
                if is_restricted && !viewer.passes_access_lists(owner) {
                    seen.unclear += leads;
                } else {
                    seen.leads += leads;
                }
            }
        }
        Ok(Self(blocks))
    }

    /// Returns the next step to the page, from `block` on. Subtracts the leads of the blocks before that step from
    /// `skip`, the number of visible leads before the page. For [`LocatorStep::Read`], sets `block` to the first block
    /// after these leads; the caller subtracts the ones that the viewer sees from `skip`.
    pub fn next_step(&self, block: &mut u64, skip: &mut u64) -> LocatorStep {
        for (at, seen) in self.0.range(*block..) {
            // If `skip` is 0, the page begins here, and its scan checks each lead.
            if seen.unclear > 0 && *skip > 0 {
                *block = self.end_of_unclear(*at);
                return LocatorStep::Read {
                    after: last_id_before(*at),
                    through: key::number(*block * BLOCK - 1),
                };
            }
            let leads = u64::try_from(seen.leads).unwrap_or(0);
            if leads > *skip {
                return LocatorStep::ScanAfter(last_id_before(*at));
            }
            *skip -= leads;
        }
        let end = self.0.last_key_value().map_or(0, |(last, _)| last + 1);
        LocatorStep::ScanAfter(last_id_before(end.max(*block)))
    }

    /// The first block after `first` whose counts are clear. The unclear ones are read together.
    fn end_of_unclear(&self, first: u64) -> u64 {
        let blocks = self.0.range(first..).zip(first..);
        let unclear = blocks.take_while(|((block, seen), expected)| *block == expected && seen.unclear > 0);
        first + unclear.count() as u64
    }
}

/// The sort key of the last id before a block; `None` before the first.
fn last_id_before(block: u64) -> Option<String> {
    let last = (block * BLOCK).checked_sub(1);
    last.map(key::number)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks with these leads, of which so many are unclear.
    fn locator(blocks: &[(u64, i64, i64)]) -> PageLocator {
        let seen = |(block, leads, unclear): &(u64, i64, i64)| {
            let (leads, unclear) = (*leads, *unclear);
            (*block, Seen { leads, unclear })
        };
        PageLocator(blocks.iter().map(seen).collect())
    }

    fn first(locator: &PageLocator, mut skip: u64) -> (LocatorStep, u64, u64) {
        let mut block = 0;
        let step = locator.next_step(&mut block, &mut skip);
        (step, block, skip)
    }

    #[test]
    fn clear_blocks_are_passed_at_once() {
        let locator = locator(&[(0, 3, 0), (2, 4, 0), (4, 2, 0)]);
        for (skip, block, left) in [(0, 0, 0), (2, 0, 2), (3, 2, 0), (6, 2, 3), (8, 4, 1), (20, 5, 11)] {
            let step = LocatorStep::ScanAfter(last_id_before(block));
            assert_eq!(first(&locator, skip), (step, 0, left), "{skip}");
        }
    }

    #[test]
    fn unclear_neighbours_are_read_together() {
        let locator = locator(&[(0, 9, 0), (1, 8, 1), (2, 8, 1), (4, 8, 1), (5, 9, 0)]);
        let read = |from, to| LocatorStep::Read {
            after: last_id_before(from),
            through: key::number(to * BLOCK - 1),
        };
        let (step, mut block, mut skip) = first(&locator, 100);
        assert_eq!((step, block, skip), (read(1, 3), 3, 91));
        assert_eq!(locator.next_step(&mut block, &mut skip), read(4, 5));
        let step = locator.next_step(&mut block, &mut skip);
        assert_eq!((step, skip), (LocatorStep::ScanAfter(last_id_before(6)), 82));
        assert_eq!(first(&locator, 9).0, LocatorStep::ScanAfter(last_id_before(1)));
    }

    #[test]
    fn names_of_numbers_are_parsed_back() {
        let user = UserId::new(8);
        for (name, expected) in [
            ("n.0", Some((None, false))),
            ("n.0#restricted", Some((None, true))),
            ("n.8", Some((user, false))),
            ("n.8#restricted", Some((user, true))),
            ("n", None),
            ("v", None),
            ("n.x", None),
        ] {
            assert_eq!(counted(name), expected, "{name}");
        }
    }
}
