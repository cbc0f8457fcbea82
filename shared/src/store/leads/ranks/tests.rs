//! Locating a far page.

use proptest::prelude::*;

use super::*;

/// Blocks with these entries, of which so many have access lists.
fn locator(sees_all: bool, counted: u64, blocks: &[(u64, i64, i64)]) -> PageLocator {
    let counts = blocks.iter().map(|(block, entries, restricted)| {
        let count = Count {
            entries: *entries,
            restricted: *restricted,
        };
        (*block, count)
    });
    PageLocator {
        first_uncounted: counted,
        sees_all,
        counts: counts.collect(),
    }
}

fn first(locator: &PageLocator, mut skip: u64) -> (LocatorStep, u64, u64) {
    let mut block = 0;
    let step = locator.next_step(&mut block, &mut skip);
    (step, block, skip)
}

#[test]
fn counted_blocks_are_passed_at_once() {
    let locator = locator(true, 5, &[(0, 3, 3), (2, 4, 0), (4, 2, 0), (7, 9, 0)]);
    for (skip, block, left) in [
        (0, 0, 0),
        (2, 0, 2),
        (3, 2, 0),
        (6, 2, 3),
        (8, 4, 1),
        (9, 5, 0),
        (20, 5, 11),
    ] {
        assert_eq!(
            first(&locator, skip),
            (LocatorStep::ScanAfter(last_id_before(block)), 0, left),
            "{skip}"
        );
    }
}

#[test]
fn blocks_with_access_lists_are_read_together() {
    let blocks = [
        (0, 9, 0),
        (1, 9, 1),
        (2, 9, 0),
        (4, 9, 1),
        (9, 9, 0),
        (11, 9, 1),
        (12, 9, 0),
    ];
    let locator = locator(false, 20, &blocks);
    let (step, mut block, mut skip) = first(&locator, 100);
    assert_eq!(
        step,
        LocatorStep::Read {
            after: last_id_before(1),
            through: key::number(5 * BLOCK - 1)
        }
    );
    assert_eq!((block, skip), (5, 91));
    let next = locator.next_step(&mut block, &mut skip);
    assert_eq!(
        next,
        LocatorStep::Read {
            after: last_id_before(11),
            through: key::number(12 * BLOCK - 1)
        }
    );
    assert_eq!(
        (locator.next_step(&mut block, &mut skip), skip),
        (LocatorStep::ScanAfter(last_id_before(20)), 73)
    );
    assert_eq!(first(&locator, 9).0, LocatorStep::ScanAfter(last_id_before(1)));
}

#[test]
fn only_blocks_without_a_gap_are_counted() {
    let rank = |counted, covered| Rank {
        counted,
        covered,
        versions: BTreeMap::new(),
    };
    for (ranks, counted) in [
        (vec![], 0),
        (vec![(0, rank(7, 0))], 7),
        (vec![(0, rank(64, 0)), (1, rank(0, 0))], 64),
        (
            vec![(0, rank(64, 0)), (3, rank(0, 0)), (9, rank(5, 1))],
            9 * 64 + 5,
        ),
        (vec![(0, rank(64, 0)), (9, rank(5, 2))], 64),
        (vec![(0, rank(0, 0)), (1, rank(64, 1))], 0),
        (vec![(4, rank(64, 0)), (5, rank(1, 5))], 5 * 64 + 1),
    ] {
        let ranks = ListRanks {
            ranks: ranks.into_iter().collect(),
            counts: BlockCounts::new(),
        };
        assert_eq!(ranks.first_uncounted(), counted, "{ranks:?}");
    }
}

proptest! {
    #[test]
    fn numbers_are_parsed_back(archived in any::<bool>(), block in 0..BLOCKS, restricted in any::<bool>()) {
        let parsed = ParsedAttribute::of(&attribute(archived, block, restricted));
        let parsed = parsed.map(|parsed| (parsed.archived, parsed.block, parsed.restricted));
        prop_assert_eq!(parsed, Some((archived, block, restricted)));
    }
}
