//! One table of cases for the whole vocabulary of an engine: what DynamoDB answers to each condition, change, update and
//! read. An engine passes if it differs in its known deviations alone.

mod changes;
mod conditions;
mod limits;
mod pages;
mod units;

use std::collections::BTreeMap;
use std::fmt::Debug;

use table::item::{n, s};
use table::{CommitError, Condition, Item, Key, StoreError, Table, Transaction};

/// A case in which an engine differs from DynamoDB, and why it may.
pub type Deviation = (&'static str, &'static str);

/// Runs all cases on an empty table, and requires that exactly these deviate.
pub async fn check(table: &Table, deviations: &[Deviation]) {
    let mut cases = Cases {
        table,
        partitions: 0,
        differences: BTreeMap::new(),
    };
    conditions::check(&mut cases).await;
    changes::check(&mut cases).await;
    changes::updates(&mut cases).await;
    pages::check(&mut cases).await;
    units::check(&mut cases).await;
    limits::check(&mut cases).await;
    let known: Vec<_> = deviations.iter().map(|(case, _)| *case).collect();
    let is_known = |case: &str| known.contains(&case);
    let (known_ones, others): (Vec<_>, Vec<_>) =
        cases.differences.iter().partition(|(case, _)| is_known(case));
    assert!(others.is_empty(), "differences from DynamoDB: {others:#?}");
    let gone: Vec<_> = known
        .into_iter()
        .filter(|case| known_ones.iter().all(|(met, _)| met != case))
        .collect();
    assert!(gone.is_empty(), "these no longer deviate: {gone:?}");
}

struct Cases<'t> {
    table: &'t Table,
    partitions: u32,
    /// The differences by case.
    differences: BTreeMap<String, Vec<String>>,
}

impl Cases<'_> {
    /// A key in a partition of its own.
    fn key(&mut self) -> Key {
        self.partitions += 1;
        Key::new(format!("case#{:04}", self.partitions), "1")
    }

    /// Requires a result of a case.
    #[expect(clippy::needless_pass_by_value, reason = "callers compare new values")]
    fn expect<T: PartialEq + Debug>(&mut self, case: &str, is: T, expected: T) {
        if is != expected {
            let difference = format!("{is:?} in place of {expected:?}");
            let differences = self.differences.entry(case.to_owned()).or_default();
            differences.push(difference);
        }
    }

    /// Stores an item unconditionally.
    async fn store(&self, key: &Key, item: Item) {
        self.table.put(key, item).await.expect("an item is stored");
    }

    /// The stored item without its key.
    async fn stored(&self, key: &Key) -> Option<Item> {
        let item = self.get(key).await.expect("an item is read");
        item.map(|item| keyless(key, item))
    }

    async fn commit(&self, transaction: Transaction) -> Outcome {
        Outcome::of(self.table.commit(transaction).await)
    }
}

impl std::ops::Deref for Cases<'_> {
    type Target = table::ReadTable;

    fn deref(&self) -> &Self::Target {
        self.table.reads()
    }
}

/// The outcome of a transaction.
#[derive(Debug, Clone, PartialEq)]
enum Outcome {
    Done,
    /// The items of the failed conditions.
    Refused(BTreeMap<Key, Item>),
    /// An item or the transaction would be too large.
    Oversize,
    /// Another error.
    Failed,
}

impl Outcome {
    fn of(result: Result<(), CommitError>) -> Self {
        match result {
            Ok(()) => Self::Done,
            Err(CommitError::Refused(items)) => Self::Refused(items),
            Err(CommitError::Store(error)) if error.is_oversize() => Self::Oversize,
            Err(CommitError::Store(_)) => Self::Failed,
        }
    }

    /// A refusal by the condition of one item, which is this.
    fn refused(key: &Key, item: Option<Item>) -> Self {
        let item = item.map(|item| key.complete(item)).unwrap_or_default();
        Self::Refused(BTreeMap::from([(key.clone(), item)]))
    }
}

fn keyless(key: &Key, mut item: Item) -> Item {
    assert_eq!(item.remove("pk"), Some(s(&key.pk)));
    assert_eq!(item.remove("sk"), Some(s(&key.sk)));
    item
}

/// An item of numbers.
fn numbers<const COUNT: usize>(numbers: [(&str, i64); COUNT]) -> Item {
    numbers
        .into_iter()
        .map(|(name, value)| (name.to_owned(), n(value)))
        .collect()
}

/// An item of texts.
fn texts<const COUNT: usize>(texts: [(&str, &str); COUNT]) -> Item {
    texts
        .into_iter()
        .map(|(name, value)| (name.to_owned(), s(value)))
        .collect()
}

/// A transaction with one put.
fn put(key: &Key, item: Item, condition: Condition) -> Transaction {
    let mut transaction = Transaction::default();
    transaction.put(key.clone(), item, condition);
    transaction
}

/// Whether a call failed.
fn has_failed<T>(result: &Result<T, StoreError>) -> bool {
    result.is_err()
}
