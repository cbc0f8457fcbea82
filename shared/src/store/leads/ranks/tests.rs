//! The way to a far page.

use proptest::prelude::*;

use super::*;

/// Blocks with these entries, of which so many have access lists.
fn way(sees_all: bool, counted: u64, blocks: &[(u64, i64, i64)]) -> Way {
    let counts = blocks.iter().map(|(block, entries, restricted)| {
        let count = Count {
            entries: *entries,
            restricted: *restricted,
        };
        (*block, count)
    });
    Way {
        counted,
        sees_all,
        counts: counts.collect(),
    }
}

fn first(way: &Way, mut skip: u64) -> (SkipStep, u64, u64) {
    let mut block = 0;
    let leg = way.next(&mut block, &mut skip);
    (leg, block, skip)
}

#[test]
fn counted_blocks_are_passed_at_once() {
    let way = way(true, 5, &[(0, 3, 3), (2, 4, 0), (4, 2, 0), (7, 9, 0)]);
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
            first(&way, skip),
            (SkipStep::Last(before(block)), 0, left),
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
    let way = way(false, 20, &blocks);
    let (leg, mut block, mut skip) = first(&way, 100);
    assert_eq!(leg, SkipStep::Unclear(before(1), key::number(5 * BLOCK - 1)));
    assert_eq!((block, skip), (5, 91));
    let next = way.next(&mut block, &mut skip);
    assert_eq!(next, SkipStep::Unclear(before(11), key::number(12 * BLOCK - 1)));
    assert_eq!(
        (way.next(&mut block, &mut skip), skip),
        (SkipStep::Last(before(20)), 73)
    );
    assert_eq!(first(&way, 9).0, SkipStep::Last(before(1)));
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
        assert_eq!(ranks.counted(), counted, "{ranks:?}");
    }
}

proptest! {
    #[test]
    fn numbers_are_parsed_back(archived in any::<bool>(), block in 0..BLOCKS, restricted in any::<bool>()) {
        prop_assert_eq!(named(&name(archived, block, restricted)), Some((archived, block, restricted)));
    }
}
