//! The engine by the calls of the table: conditions, changes, ranges, units, and several databases on one directory.

use std::collections::BTreeMap;
use std::path::Path;

use table::item::{n, s};
use table::meter::Meter;
use table::{
    AttributeValue, CommitError, Condition, Engine as _, Item, Key, KeyRange, Order, Selection, StoreError,
    Transaction, Update,
};

use crate::{Database, DatabaseError, Sync};

mod files;

const NOW: i64 = 1_600_000_000;

fn key(sk: &str) -> Key {
    Key::new("p", sk)
}

fn item<const N: usize>(attributes: [(&str, AttributeValue); N]) -> Item {
    attributes.map(|(name, value)| (name.to_owned(), value)).into()
}

fn put(key: Key, item: Item, condition: Condition) -> Transaction {
    let mut put = Transaction::default();
    put.put(key, item, condition);
    put
}

/// The items of a refusal.
async fn refused(database: &Database, transaction: Transaction) -> BTreeMap<Key, Item> {
    match database.transact(transaction).await {
        Err(CommitError::Refused(items)) => items,
        other => panic!("{other:?}"),
    }
}

/// The item that each condition judges.
fn judged() -> Item {
    item([
        ("v", n(3)),
        ("text", s("x")),
        ("half", n("0.5")),
        ("list", AttributeValue::L(vec![n(1)])),
    ])
}

/// Each condition, and whether it holds for [`judged`] and for no item.
fn conditions() -> Vec<(Condition, bool, bool)> {
    let number = |name, value| Condition::Number { name, value };
    let text = |name, value: &str| Condition::AbsentOrText {
        name,
        value: value.to_owned(),
    };
    let up_to = |name, value| Condition::AbsentOrUpTo { name, value };
    let exactly = |has, lacks: &[&'static str]| Condition::Exactly {
        has,
        lacks: lacks.to_vec(),
    };
    let list = AttributeValue::L(vec![n("1.0")]);
    vec![
        (Condition::Always, true, true),
        (Condition::Absent, false, true),
        (Condition::Present, true, false),
        (Condition::Version(3), true, false),
        (Condition::Version(4), false, false),
        (number("v", 3), true, false),
        (number("v", 0), false, true),
        (number("text", 0), false, true),
        (number("none", 0), true, true),
        (number("none", 1), false, false),
        (text("text", "x"), true, true),
        (text("text", "y"), false, true),
        (text("v", "3"), false, true),
        (text("none", "x"), false, true),
        (up_to("v", 3), true, true),
        (up_to("v", 2), false, true),
        (up_to("half", 0), false, true),
        (up_to("half", 1), true, true),
        (up_to("text", 9), false, true),
        (up_to("none", 9), false, true),
        (
            exactly(item([("v", n("3.0")), ("list", list)]), &["none"]),
            true,
            false,
        ),
        (exactly(item([("v", n(3))]), &["text"]), false, false),
        (exactly(item([("v", s("3"))]), &[]), false, false),
        (exactly(Item::new(), &["none"]), true, true),
    ]
}

#[tokio::test]
async fn conditions_decide_about_items() {
    let database = Database::temporary().unwrap();
    database.put(&key("there"), judged()).unwrap();
    let there = database.get(&key("there")).unwrap().unwrap();
    for (condition, on_item, on_none) in conditions() {
        for (sk, holds, current) in [("there", on_item, there.clone()), ("none", on_none, Item::new())] {
            let mut check = put(key("other"), Item::new(), Condition::Always);
            check.check(key(sk), condition.clone());
            if holds {
                assert!(database.transact(check).await.is_ok(), "{condition:?} {sk}");
            } else {
                assert_eq!(
                    refused(&database, check).await,
                    [(key(sk), current)].into(),
                    "{condition:?}"
                );
            }
        }
    }
}

#[tokio::test]
async fn a_refused_transaction_writes_nothing_and_names_each_item() {
    let database = Database::temporary().unwrap();
    database.put(&key("a"), item([("v", n(1))])).unwrap();
    let mut both = put(key("a"), Item::new(), Condition::Absent);
    both.update(key("b"), "n", 1, Item::new(), Condition::Present);
    both.put(key("c"), Item::new(), Condition::Absent);
    let before = database.items().unwrap();
    assert_eq!(
        refused(&database, both).await,
        [(key("a"), before[0].clone()), (key("b"), Item::new())].into()
    );
    assert_eq!(database.items().unwrap(), before);
}

#[tokio::test]
async fn changes_write_what_dynamodb_writes() {
    let database = Database::temporary().unwrap();
    for sk in ["put", "delete", "check", "set", "add"] {
        database
            .put(&key(sk), item([("n", n(5)), ("old", s("x")), ("gone", s("x"))]))
            .unwrap();
    }
    let mut all = put(key("put"), item([("new", n("1e2"))]), Condition::Present);
    all.delete(key("delete"), Condition::Present);
    all.delete(key("none"), Condition::Absent);
    all.check(key("check"), Condition::Present);
    for sk in ["set", "set-new"] {
        all.set(key(sk), item([("n", n(6))]), &["gone"], Condition::Always);
    }
    for sk in ["add", "add-new"] {
        all.update(key(sk), "n", -7, item([("old", s("y"))]), Condition::Always);
    }
    database.transact(all).await.unwrap();
    let stored = |sk: &str, attributes| key(sk).complete(attributes);
    let expected = [
        stored("add", item([("n", n(-2)), ("old", s("y")), ("gone", s("x"))])),
        stored("add-new", item([("n", n(-7)), ("old", s("y"))])),
        stored("check", item([("n", n(5)), ("old", s("x")), ("gone", s("x"))])),
        stored("put", item([("new", n(100))])),
        stored("set", item([("n", n(6)), ("old", s("x"))])),
        stored("set-new", item([("n", n(6))])),
    ];
    assert_eq!(database.items().unwrap(), expected);
}

#[tokio::test]
async fn what_can_never_be_written_is_refused() {
    let database = Database::temporary().unwrap();
    database.put(&key("text"), item([("n", s("x"))])).unwrap();
    let large = put(
        key("large"),
        item([("t", s("x".repeat(410_000)))]),
        Condition::Always,
    );
    let mut addition = put(key("a"), Item::new(), Condition::Always);
    addition.update(key("text"), "n", 1, Item::new(), Condition::Always);
    let empty = put(key(""), Item::new(), Condition::Always);
    for (transaction, is_oversize) in [(large, true), (addition, false), (empty, false)] {
        match database.transact(transaction).await {
            Err(CommitError::Store(error @ StoreError::Refused { .. })) => {
                assert_eq!(error.is_oversize(), is_oversize, "{error}");
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(database.items().unwrap().len(), 1);
}

#[tokio::test]
async fn updates_return_their_numbers() {
    let database = Database::temporary().unwrap();
    let (key, names) = (key("counter"), ["a", "b"]);
    let below = |limit| Update::AddBelow {
        name: "a",
        by: 2,
        limit,
        until: NOW,
    };
    for (update, numbers) in [
        (Update::Add { names: &names, by: 2 }, Some(vec![2, 2])),
        (Update::Add { names: &["a"], by: 1 }, Some(vec![3])),
        (below(4), Some(vec![5])),
        (below(5), None),
        (Update::Raise { name: "b", to: 2 }, None),
        (Update::Raise { name: "b", to: 3 }, Some(vec![3])),
        (Update::Raise { name: "c", to: 0 }, Some(vec![0])),
    ] {
        assert_eq!(
            database.update(&key, update.clone()).await.unwrap(),
            numbers,
            "{update:?}"
        );
    }
    let expected = item([("a", n(5)), ("b", n(3)), ("c", n(0)), ("ttl", n(NOW))]);
    assert_eq!(database.get(&key).unwrap(), Some(key.complete(expected)));
    assert_eq!(
        database.update(&key, Update::Put(Item::new())).await.unwrap(),
        Some(vec![])
    );
    assert_eq!(database.get(&key).unwrap(), Some(key.complete(Item::new())));
}

#[tokio::test]
async fn ranges_are_read_in_both_orders() {
    let database = Database::temporary().unwrap();
    for sk in ["1", "2", "3", "4"] {
        database.put(&key(sk), Item::new()).unwrap();
        database.put(&Key::new("q", sk), Item::new()).unwrap();
    }
    let sort_keys = |after: Option<&str>, through: Option<&str>, limit, order| {
        let range = KeyRange {
            partition: "p".to_owned(),
            after: after.map(str::to_owned),
            through: through.map(str::to_owned),
            limit,
        };
        let database = database.clone();
        async move {
            let page = database.query(range, order).await.unwrap();
            let keys = page.items.iter().map(|item| item["sk"].as_s().unwrap().as_str());
            (keys.collect::<String>(), page.more)
        }
    };
    for (after, through, limit, ascending, descending) in [
        (None, None, 9, ("1234", false), ("4321", false)),
        (None, None, 3, ("123", true), ("432", true)),
        (Some("1"), Some("3"), 9, ("23", false), ("32", false)),
        (Some("1"), None, 1, ("2", true), ("4", true)),
        (None, Some("0"), 9, ("", false), ("", false)),
    ] {
        for (order, (keys, more)) in [(Order::Ascending, ascending), (Order::Descending, descending)] {
            let read = sort_keys(after, through, limit, order).await;
            assert_eq!(read, (keys.to_owned(), more), "{after:?} {through:?} {limit}");
        }
    }
}

/// A page ends before the item that would exceed 1 MB.
#[tokio::test]
async fn a_page_has_at_most_a_megabyte() {
    let database = Database::temporary().unwrap();
    for sk in ["1", "2", "3"] {
        database
            .put(&key(sk), item([("t", s("x".repeat(400_000)))]))
            .unwrap();
    }
    let page = database
        .query(KeyRange::whole("p".to_owned()), Order::Ascending)
        .await
        .unwrap();
    assert_eq!((page.items.len(), page.more), (2, true));
}

#[tokio::test]
async fn calls_cost_what_dynamodb_bills() {
    let database = Database::temporary().unwrap();
    // 5 KB with the names and the key.
    let five = || item([("t", s("x".repeat(5 * 1024 - 4 - 1 - 5 - 1)))]);
    let meter = Meter::default();
    let work = async {
        database.update(&key("large"), Update::Put(five())).await.unwrap();
        database
            .update(&key("small"), Update::Add { names: &["n"], by: 1 })
            .await
            .unwrap();
        database.get_many(&[key("large")]).await.unwrap();
        database.get_many(&[key("large"), key("none")]).await.unwrap();
        database
            .query(KeyRange::whole("p".to_owned()), Order::Ascending)
            .await
            .unwrap();
        let mut all = put(key("large"), Item::new(), Condition::Present);
        all.check(key("small"), Condition::Present);
        all.update(key("small-too"), "n", 1, Item::new(), Condition::Always);
        all.delete(key("none"), Condition::Always);
        database.transact(all).await.unwrap();
        refused(&database, put(key("small"), five(), Condition::Absent)).await;
    };
    meter.measure(work).await;
    let calls = meter.cost().calls;
    let calls = calls
        .iter()
        .map(|call| (call.operation, call.read_units, call.write_units));
    assert_eq!(
        calls.collect::<Vec<_>>(),
        [
            ("PutItem", 0.0, 5.0),
            ("UpdateItem", 0.0, 1.0),
            ("GetItem", 2.0, 0.0),
            ("BatchGetItem", 3.0, 0.0),
            ("Query", 2.0, 0.0),
            ("TransactWriteItems", 0.0, 10.0 + 2.0 + 2.0 + 2.0),
            ("TransactWriteItems", 0.0, 0.0),
        ]
    );
}

#[tokio::test]
async fn a_scan_selects_by_prefix_and_attribute() {
    let database = Database::temporary().unwrap();
    let mut many = Transaction::default();
    for number in 0..1500 {
        many.put(
            Key::new("acme#lead", format!("{number:04}")),
            Item::new(),
            Condition::Always,
        );
    }
    many.put(
        Key::new("#user#1", "1"),
        item([("instance", s("acme"))]),
        Condition::Always,
    );
    many.put(
        Key::new("#user#2", "1"),
        item([("instance", s("other"))]),
        Condition::Always,
    );
    many.put(Key::new("other#lead", "1"), Item::new(), Condition::Always);
    database.transact(many).await.unwrap();
    let wanted = Selection {
        prefix: "acme#".to_owned(),
        other_prefix: "#user#",
        attribute: ("instance", "acme"),
    };
    let (mut pages, mut after) = (Vec::new(), None);
    loop {
        let page = database.scan(&wanted, after.as_ref()).await.unwrap();
        pages.push(page.items.len());
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(pages, [999, 502]);
}
