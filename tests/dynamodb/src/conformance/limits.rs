//! Limits of items and transactions, concurrent writers, and expiry.

use futures_util::future::join_all;
use table::{Condition, Item, Key, KeyRange, Transaction, Update};

use super::{Cases, Outcome, has_failed, numbers, put, texts};

/// DynamoDB's maximum bytes of an item, with its names and its key.
const MAX_ITEM: usize = 409_600;

pub async fn check(cases: &mut Cases<'_>) {
    items(cases).await;
    transactions(cases).await;
    writers(cases).await;
    // Readers compare the expiry with the clock themselves.
    let key = cases.key();
    cases.store(&key, numbers([("ttl", 1)])).await;
    let stored = cases.stored(&key).await;
    cases.expect("expiry: get", stored, Some(numbers([("ttl", 1)])));
    let page = cases
        .query(KeyRange::whole(key.pk.clone()))
        .await
        .expect("a query");
    cases.expect("expiry: query", page.items.len(), 1);
    let created = cases.table.ensure().await.expect("the table is there");
    cases.expect("the table is there", created, false);
}

/// An item up to 400 KB.
async fn items(cases: &mut Cases<'_>) {
    for (case, spare, is_refused) in [
        ("items: 400 KB", 100, false),
        ("items: more than 400 KB", 0, true),
    ] {
        let key = cases.key();
        let item = texts([("t", &"x".repeat(MAX_ITEM - spare))]);
        let outcome = cases.commit(put(&key, item.clone(), Condition::Always)).await;
        let expected = if is_refused {
            Outcome::Oversize
        } else {
            Outcome::Done
        };
        cases.expect(case, outcome, expected);
        let stored = cases.stored(&key).await;
        cases.expect(case, stored.is_none(), is_refused);
        let done = cases.table.put(&key, item.clone()).await;
        cases.expect(case, has_failed(&done), is_refused);
        // Also what an item becomes.
        let (grown, half) = (cases.key(), MAX_ITEM / 2);
        cases.store(&grown, texts([("a", &"x".repeat(half))])).await;
        let mut transaction = Transaction::default();
        let rest = texts([("b", &"x".repeat(half - spare))]);
        transaction.set(grown.clone(), rest, &[], Condition::Always);
        let outcome = cases.commit(transaction).await;
        let expected = if is_refused {
            Outcome::Oversize
        } else {
            Outcome::Done
        };
        cases.expect(&format!("{case}, grown"), outcome, expected);
    }
}

/// A transaction has at least 100 writes, and happens entirely or not at all.
async fn transactions(cases: &mut Cases<'_>) {
    let partition = cases.key().pk;
    let of = |count: usize, condition: Condition| {
        let mut transaction = Transaction::default();
        for at in 0..count {
            let key = Key::new(&partition, format!("{at:04}"));
            transaction.put(key, numbers([("a", 1)]), condition.clone());
        }
        transaction
    };
    let max = cases.table.max_writes();
    let outcome = cases.commit(of(max + 1, Condition::Always)).await;
    if max == table::MAX_WRITES {
        cases.expect("transactions: one more than the limit", outcome, Outcome::Failed);
    }
    let outcome = cases.commit(of(table::MAX_WRITES, Condition::Always)).await;
    cases.expect("transactions: 100 writes", outcome, Outcome::Done);
    let count = async |cases: &Cases<'_>| {
        let all = cases.query_all(KeyRange::whole(partition.clone())).await;
        all.expect("the items").len()
    };
    let stored = count(cases).await;
    cases.expect("transactions: 100 writes", stored >= table::MAX_WRITES, true);
    let mut transaction = of(50, Condition::Present);
    transaction.put(Key::new(&partition, "new"), Item::new(), Condition::Always);
    transaction.put(Key::new(&partition, "0000"), Item::new(), Condition::Absent);
    let outcome = cases.commit(transaction).await;
    let first = Key::new(&partition, "0000");
    cases.expect(
        "transactions: one refused write",
        outcome,
        Outcome::refused(&first, Some(numbers([("a", 1)]))),
    );
    let after = count(cases).await;
    cases.expect("transactions: one refused write", after, stored);
}

/// Concurrent writers lose no write, and one of them takes what only one may have.
async fn writers(cases: &mut Cases<'_>) {
    const WRITERS: u32 = 8;
    let (sum, taken) = (cases.key(), cases.key());
    let add = |_| async {
        let mut transaction = Transaction::default();
        transaction.update(sum.clone(), "a", 1, Item::new(), Condition::Always);
        let committed = cases.commit(transaction).await;
        let update = Update::Add { names: &["a"], by: 1 };
        let added = cases.table.engine().update(&sum, update).await;
        (committed, has_failed(&added))
    };
    let added = join_all((0..WRITERS).map(add)).await;
    let take = |_| cases.commit(put(&taken, Item::new(), Condition::Absent));
    let takers = join_all((0..WRITERS).map(take)).await;
    for (committed, failed) in added {
        cases.expect("writers: additions", committed, Outcome::Done);
        cases.expect("writers: additions", failed, false);
    }
    let stored = cases.stored(&sum).await;
    cases.expect(
        "writers: additions",
        stored,
        Some(numbers([("a", 2 * i64::from(WRITERS))])),
    );
    let winners = takers.iter().filter(|taker| **taker == Outcome::Done).count();
    cases.expect("writers: one takes", winners, 1);
    let losers = takers
        .into_iter()
        .filter(|taker| *taker == Outcome::refused(&taken, Some(Item::new())));
    cases.expect("writers: one takes", losers.count(), WRITERS as usize - 1);
}
