//! Batches of gets, queries both ways, and scans.

use table::{Item, Key, KeyRange, Order, Page, Selection};

use super::{Cases, texts};

/// Sort keys in the order of their bytes.
const SORTS: [&str; 8] = ["#", "1", "10", "2", "B", "a", "b~", "é"];
/// Bytes of an item of which 20 fit into a page.
const LARGE: usize = 50_000;

pub async fn check(cases: &mut Cases<'_>) {
    let partition = cases.key().pk;
    for sort in SORTS.iter().rev() {
        let key = Key::new(&partition, *sort);
        cases.store(&key, texts([("t", sort)])).await;
    }
    gets(cases, &partition).await;
    ranges(cases, &partition).await;
    let nowhere = KeyRange::whole(format!("{partition}#"));
    let page = query(cases, nowhere, Order::Ascending).await;
    cases.expect(
        "query: an empty partition",
        (sorts(&page), page.more),
        (vec![], false),
    );
    megabytes(cases).await;
    scans(cases, &partition).await;
}

/// Queries from and up to sort keys, whether these are there or not.
async fn ranges(cases: &mut Cases<'_>, partition: &str) {
    for (after, through, expected) in [
        (None, None, &SORTS[..]),
        (Some("1"), None, &SORTS[2..]),
        (Some("0"), None, &SORTS[1..]),
        (None, Some("2"), &SORTS[..4]),
        (None, Some("3"), &SORTS[..4]),
        (Some("1"), Some("B"), &SORTS[2..5]),
        (Some("b"), Some("b~"), &SORTS[6..7]),
        (Some("z"), None, &SORTS[7..]),
    ] {
        let range = KeyRange {
            after: after.map(str::to_owned),
            through: through.map(str::to_owned),
            ..KeyRange::whole(partition.to_owned())
        };
        for order in [Order::Ascending, Order::Descending] {
            let case = format!("query: after {after:?} through {through:?}, {order:?}");
            let mut expected: Vec<_> = expected.iter().map(|sort| (*sort).to_owned()).collect();
            if order == Order::Descending {
                expected.reverse();
            }
            let page = query(cases, range.clone(), order).await;
            cases.expect(&case, sorts(&page), expected.clone());
            cases.expect(&case, page.more, false);
            limited(cases, &case, (&range, order), &expected).await;
        }
    }
}

/// A range whose items are these, in pages with fewer and with more.
async fn limited(cases: &mut Cases<'_>, case: &str, (range, order): (&KeyRange, Order), expected: &[String]) {
    for limit in [1, 2, 5] {
        let limited = KeyRange {
            limit,
            ..range.clone()
        };
        let page = query(cases, limited, order).await;
        cases.expect(case, sorts(&page), expected.iter().take(limit).cloned().collect());
        // A page that ends with the last item may say either.
        if limit != expected.len() {
            cases.expect(case, page.more, limit < expected.len());
        }
    }
}

/// Gets of one and of several keys, some absent, and of more than one batch.
async fn gets(cases: &mut Cases<'_>, partition: &str) {
    for count in [1, 2, SORTS.len()] {
        let there = SORTS[..count].iter().map(|sort| Key::new(partition, *sort));
        let absent = (0..60 * (count - 1)).map(|at| Key::new(partition, format!("absent {at}")));
        let found = cases.get_many(there.chain(absent)).await.expect("items are read");
        let found: std::collections::BTreeMap<_, _> = found.into_iter().collect();
        let found: Vec<_> = found.into_values().map(|item| item["t"].clone()).collect();
        let expected = SORTS[..count].iter().map(|sort| table::item::s(*sort));
        cases.expect(&format!("get: {count} keys"), found, expected.collect());
    }
    let absent = cases
        .get(&Key::new(partition, "absent"))
        .await
        .expect("an item is read");
    cases.expect("get: an absent item", absent, None);
}

/// Pages end at 1 MB.
async fn megabytes(cases: &mut Cases<'_>) {
    let partition = cases.key().pk;
    let text = "x".repeat(LARGE);
    for at in 0..25 {
        let key = Key::new(&partition, format!("{at:02}"));
        cases.store(&key, texts([("t", &text)])).await;
    }
    for order in [Order::Ascending, Order::Descending] {
        let whole = KeyRange {
            limit: usize::MAX,
            ..KeyRange::whole(partition.clone())
        };
        let page = query(cases, whole.clone(), order).await;
        let case = format!("query: 1 MB, {order:?}");
        cases.expect(&case, (page.items.len(), page.more), (20, true));
        let last = page
            .items
            .last()
            .map(|item| table::key_of(item).expect("a key").sk);
        let rest = match order {
            Order::Ascending => KeyRange { after: last, ..whole },
            Order::Descending => KeyRange { limit: 3, ..whole },
        };
        let page = query(cases, rest, order).await;
        let expected = if order == Order::Ascending {
            (5, false)
        } else {
            (3, true)
        };
        cases.expect(&case, (page.items.len(), page.more), expected);
    }
    let all = cases.query_all(KeyRange::whole(partition.clone())).await;
    cases.expect(
        "query: all of several pages",
        all.expect("items are read").len(),
        25,
    );
    let keys = (0..25).map(|at| Key::new(&partition, format!("{at:02}")));
    let found = cases.get_items(keys).await.expect("items are read");
    cases.expect("get: a batch of 1.25 MB", found.len(), 25);
}

/// A scan returns the selected items of all pages.
async fn scans(cases: &mut Cases<'_>, partition: &str) {
    let selection = |prefix: &str, value| Selection {
        prefix: prefix.to_owned(),
        other_prefix: "case#",
        attribute: ("t", value),
    };
    let all = scanned(cases, &selection(partition, "nothing")).await;
    cases.expect("scan: a prefix", all, SORTS.len());
    let some = scanned(cases, &selection("nowhere", "é")).await;
    cases.expect("scan: a prefix with a value", some, 1);
}

async fn scanned(cases: &Cases<'_>, wanted: &Selection<'_>) -> usize {
    let (mut found, mut after) = (0, None);
    loop {
        let page = cases.table.scan(wanted, after.as_ref()).await.expect("a page");
        found += page.items.len();
        match page.next {
            Some(next) => after = Some(next),
            None => return found,
        }
    }
}

async fn query(cases: &Cases<'_>, range: KeyRange, order: Order) -> Page {
    let page = cases.table.engine().query(range, order).await;
    page.expect("a range is read")
}

fn sorts(page: &Page) -> Vec<String> {
    let sort = |item: &Item| table::key_of(item).expect("a key").sk;
    page.items.iter().map(sort).collect()
}
