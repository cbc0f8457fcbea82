//! Each change of a transaction and each update, of an absent item and of one that is there.

use table::item::{n, s};
use table::{AttributeValue, Condition, Item, Key, Transaction, Update};

use super::{Cases, Outcome, numbers, texts};

/// A change, and the item that it leaves: of none, and of [`before`].
type Row = (
    &'static str,
    fn(&mut Transaction, Key),
    Option<Item>,
    Option<Item>,
);

fn before() -> Item {
    Item::from([
        ("a".to_owned(), n(10)),
        ("b".to_owned(), s("old")),
        ("c".to_owned(), s("kept")),
    ])
}

/// [`before`] with other attributes.
fn with(changes: Item, gone: &[&str]) -> Item {
    let mut item = before();
    item.extend(changes);
    item.retain(|name, _| !gone.contains(&name.as_str()));
    item
}

/// Changes that replace attributes or the item.
fn replacements() -> Vec<Row> {
    let new = || texts([("b", "new")]);
    vec![
        (
            "put",
            |transaction, key| transaction.put(key, texts([("b", "new")]), Condition::Always),
            Some(new()),
            Some(new()),
        ),
        (
            "delete",
            |transaction, key| transaction.delete(key, Condition::Always),
            None,
            None,
        ),
        (
            "set",
            |transaction, key| transaction.set(key, texts([("b", "new")]), &["a", "z"], Condition::Always),
            Some(new()),
            Some(with(new(), &["a"])),
        ),
        (
            "set nothing",
            |transaction, key| transaction.set(key, Item::new(), &["a"], Condition::Always),
            Some(Item::new()),
            Some(Item::new()),
        ),
    ]
}

/// Changes that add to numbers.
fn additions() -> Vec<Row> {
    vec![
        (
            "add",
            |transaction, key| transaction.update(key, "a", 5, Item::new(), Condition::Always),
            Some(numbers([("a", 5)])),
            Some(with(numbers([("a", 15)]), &[])),
        ),
        (
            "add twice, and less than nothing",
            |transaction, key| {
                transaction.update(key.clone(), "a", -7, Item::new(), Condition::Always);
                transaction.update(key.clone(), "a", -7, Item::new(), Condition::Always);
                transaction.update(key, "d", 1, Item::new(), Condition::Always);
            },
            Some(numbers([("a", -14), ("d", 1)])),
            Some(with(numbers([("a", -4), ("d", 1)]), &[])),
        ),
        (
            "add and set",
            |transaction, key| transaction.update(key, "a", 1, texts([("b", "new")]), Condition::Always),
            Some(Item::from([("a".to_owned(), n(1)), ("b".to_owned(), s("new"))])),
            Some(with(
                Item::from([("a".to_owned(), n(11)), ("b".to_owned(), s("new"))]),
                &[],
            )),
        ),
    ]
}

/// Values of every type that items have.
fn values() -> Item {
    let list = AttributeValue::L(vec![s("a"), n(1), AttributeValue::L(vec![])]);
    let map = AttributeValue::M(Item::from([("e".to_owned(), s("")), ("á".to_owned(), n(-1))]));
    [
        s(""),
        s("ação \u{0} 🦀"),
        n(0),
        n("-12345678901234567890123456789012345678"),
        n("0.000001"),
        AttributeValue::Bool(false),
        AttributeValue::Null(true),
        list,
        map,
    ]
    .into_iter()
    .enumerate()
    .map(|(at, value)| (format!("a{at}"), value))
    .collect()
}

pub async fn check(cases: &mut Cases<'_>) {
    for (name, change, of_none, of_one) in replacements().into_iter().chain(additions()) {
        for (state, item, after) in [("absent", None, of_none), ("present", Some(before()), of_one)] {
            let (key, case) = (cases.key(), format!("change: {name}, {state}"));
            if let Some(item) = item.clone() {
                cases.store(&key, item).await;
            }
            let mut transaction = Transaction::default();
            change(&mut transaction, key.clone());
            // Beside a refused write, nothing changes.
            let other = cases.key();
            transaction.check(other.clone(), Condition::Present);
            let outcome = cases.commit(transaction).await;
            cases.expect(&case, outcome, Outcome::refused(&other, None));
            let stored = cases.stored(&key).await;
            cases.expect(&case, stored, item);
            let mut transaction = Transaction::default();
            change(&mut transaction, key.clone());
            let outcome = cases.commit(transaction).await;
            cases.expect(&case, outcome, Outcome::Done);
            let stored = cases.stored(&key).await;
            cases.expect(&case, stored, after);
        }
    }
    let key = cases.key();
    cases.store(&key, before()).await;
    let mut transaction = Transaction::default();
    transaction.update(key.clone(), "b", 1, Item::new(), Condition::Always);
    let outcome = cases.commit(transaction).await;
    cases.expect("change: add to a text", outcome, Outcome::Failed);
    let stored = cases.stored(&key).await;
    cases.expect("change: add to a text", stored, Some(before()));
    cases.store(&key, values()).await;
    let stored = cases.stored(&key).await;
    cases.expect("values", stored, Some(values()));
    cases
        .store(&key, Item::from([("a".to_owned(), n("007.50"))]))
        .await;
    let stored = cases.stored(&key).await;
    let normal = Item::from([("a".to_owned(), n("7.5"))]);
    cases.expect("values: one form of each number", stored, Some(normal));
}

/// The result of an update.
#[derive(Debug, Clone, PartialEq)]
enum Updated {
    /// The new values of its attributes.
    Now(Vec<u64>),
    /// Its condition is not fulfilled.
    Not,
    Failed,
}

fn add(by: u64) -> Update<'static> {
    Update::Add {
        names: &["a", "d"],
        by,
    }
}

fn below(limit: u64) -> Update<'static> {
    Update::AddBelow {
        name: "a",
        by: 3,
        limit,
        until: 99,
    }
}

fn raise(to: u64) -> Update<'static> {
    Update::Raise { name: "a", to }
}

/// Each write of one item outside a transaction: its result, and the item afterwards.
pub async fn updates(cases: &mut Cases<'_>) {
    updates_of_one(cases).await;
    updates_of_none(cases).await;
    updates_of_text(cases).await;
}

/// Updates of [`before`].
async fn updates_of_one(cases: &mut Cases<'_>) {
    let of_below = |a| Some(with(numbers([("a", a), ("ttl", 99)]), &[]));
    for (name, update, result, after) in [
        (
            "put",
            Update::Put(texts([("z", "1")])),
            Updated::Now(vec![]),
            Some(texts([("z", "1")])),
        ),
        (
            "add",
            add(5),
            Updated::Now(vec![15, 5]),
            Some(with(numbers([("a", 15), ("d", 5)]), &[])),
        ),
        (
            "add below, below",
            below(11),
            Updated::Now(vec![13]),
            of_below(13),
        ),
        ("add below, at the limit", below(10), Updated::Not, Some(before())),
        (
            "raise",
            raise(12),
            Updated::Now(vec![12]),
            Some(with(numbers([("a", 12)]), &[])),
        ),
        ("raise, equal", raise(10), Updated::Not, Some(before())),
        ("raise, greater", raise(9), Updated::Not, Some(before())),
    ] {
        update_of(cases, name, (Some(before()), update), result, after).await;
    }
}

/// Updates of an absent item.
async fn updates_of_none(cases: &mut Cases<'_>) {
    for (name, update, result, after) in [
        (
            "put",
            Update::Put(texts([("z", "1")])),
            vec![],
            texts([("z", "1")]),
        ),
        ("add", add(5), vec![5, 5], numbers([("a", 5), ("d", 5)])),
        ("add below", below(1), vec![3], numbers([("a", 3), ("ttl", 99)])),
        ("raise", raise(1), vec![1], numbers([("a", 1)])),
    ] {
        let name = format!("{name}, absent");
        update_of(cases, &name, (None, update), Updated::Now(result), Some(after)).await;
    }
}

/// Updates of an item with a text in place of the number.
async fn updates_of_text(cases: &mut Cases<'_>) {
    let text = || Some(texts([("a", "5")]));
    for (name, update, result) in [
        ("add to a text", add(1), Updated::Failed),
        ("add below, of a text", below(100), Updated::Not),
        ("raise a text", raise(100), Updated::Not),
    ] {
        update_of(cases, name, (text(), update), result, text()).await;
    }
}

async fn update_of(
    cases: &mut Cases<'_>,
    name: &str,
    (item, update): (Option<Item>, Update<'_>),
    result: Updated,
    after: Option<Item>,
) {
    let (key, case) = (cases.key(), format!("update: {name}"));
    if let Some(item) = item {
        cases.store(&key, item).await;
    }
    let done = cases.table.engine().update(&key, update).await;
    let done = match done {
        Ok(Some(values)) => Updated::Now(values),
        Ok(None) => Updated::Not,
        Err(_) => Updated::Failed,
    };
    cases.expect(&case, &done, &result);
    let stored = cases.stored(&key).await;
    cases.expect(&case, stored, after);
}
