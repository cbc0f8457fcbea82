//! Reads by connections of their own, and transactions without the protocol, compared with the engine's protocol.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use serde_json::{Value, json};
use table::embedded::{DirectRead, DirectlyWritten, EmbeddedEngine, WriteAction, WriteRequest};
use table::meter::{Cost, Meter};
use table::{
    AttributeValue, CommitError, Condition, Item, Jitter, Key, KeyRange, Page, StoreError, Table, Transaction,
};

use crate::Database;
use crate::testing::{call, table};

/// The engine without direct reads.
#[derive(Debug)]
struct Protocol(Database);

impl EmbeddedEngine for Protocol {
    fn answer(&self, operation: &str, body: &[u8]) -> (u16, String) {
        self.0.answer(operation, body)
    }
}

fn range(after: Option<&str>, through: Option<&str>, limit: usize) -> KeyRange {
    KeyRange {
        partition: "p".to_owned(),
        after: after.map(str::to_owned),
        through: through.map(str::to_owned),
        limit,
    }
}

/// The sort keys of items that together exceed a batch, and a page of a query several times.
fn large() -> Vec<String> {
    (10..58).map(|number| number.to_string()).collect()
}

type Read = Result<(Vec<Item>, bool), String>;

fn page(read: Result<Page, StoreError>) -> Read {
    read.map(|page| (page.items, page.more))
        .map_err(|cause| cause.to_string())
}

fn items<T: IntoIterator<Item = Item>>(read: Result<T, StoreError>) -> Read {
    page(read.map(|items| Page {
        items: items.into_iter().collect(),
        more: false,
    }))
}

/// The results of all sorts of reads, with their costs.
async fn results(table: Table) -> (Vec<Read>, Cost) {
    let meter = Meter::default();
    let reads = table.reads();
    let work = async {
        let mut results = Vec::new();
        for partition in ["p", "binary", "large", "none"] {
            let key = |sort: &str| Key::new(partition, sort);
            results.push(items(reads.get(&key("1")).await));
            for keys in [["1", "2", "9"].map(str::to_owned).to_vec(), large()] {
                let found = reads.get_many(keys.iter().map(|sort| key(sort))).await;
                let found = found.map(BTreeMap::from_iter);
                results.push(items(found.map(BTreeMap::into_values)));
            }
            results.push(items(
                reads.query_all(KeyRange::whole(partition.to_owned())).await,
            ));
        }
        for span in [
            range(None, None, 2),
            range(Some("1"), None, 2),
            range(None, Some("2"), 9),
            range(Some("1"), Some("3"), 2),
            KeyRange::whole("large".to_owned()),
        ] {
            results.push(page(reads.query(span.clone()).await));
            results.push(page(reads.query_last(span).await));
        }
        results
    };
    (meter.measure(work).await, meter.cost())
}

fn put(database: &Database, partition: &str, sort: &str, value: &Value) {
    let item = json!({ "pk": { "S": partition }, "sk": { "S": sort }, "a \"value\"": value });
    let put = json!({ "TableName": "funil", "Item": item });
    assert_eq!(call(database, "PutItem", &put).0, 200);
}

/// Items, ends of pages, errors, calls and units of direct reads are those of the protocol.
#[tokio::test]
async fn direct_reads_equal_the_protocol() {
    let database = table();
    for (partition, sort, value) in [
        (
            "p",
            "1",
            json!({ "M": { "list": { "L": [{ "N": "7" }, { "BOOL": true }] } } }),
        ),
        ("p", "2", json!({ "S": "x".repeat(9_000) })),
        ("p", "3", json!({ "NULL": true })),
        ("p", "4", json!({ "SS": ["a"] })),
        ("p", "5", json!({ "NS": ["-1.5e3", "2"] })),
        ("p", "6", json!({ "S": "\"\\\n\u{1}ção😀" })),
        ("binary", "1", json!({ "B": "eA==" })),
    ] {
        put(&database, partition, sort, &value);
    }
    for sort in large() {
        put(&database, "large", &sort, &json!({ "S": "x".repeat(390_000) }));
    }
    for name in ["funil", "absent"] {
        let jitter = || Jitter::new(|_| 0);
        let (direct, protocol) = (Arc::new(database.clone()), Arc::new(Protocol(database.clone())));
        let direct = results(Table::embedded(direct, name.to_owned(), jitter())).await;
        let protocol = results(Table::embedded(protocol, name.to_owned(), jitter())).await;
        assert_eq!(direct, protocol);
    }
    // Otherwise the protocol would be compared with itself.
    let one = DirectRead::Range {
        range: range(None, None, 1),
        is_descending: false,
    };
    assert!(database.read("funil", one).is_some_and(|found| found.more));
}

/// A transaction that puts, deletes, sets, adds and checks. `version` is the one that the item to set must have.
fn mixed(version: u64) -> Transaction {
    let key = |sort: &str| Key::new("p", sort);
    let value = |name: &str, value| Item::from([(name.to_owned(), value)]);
    let mut mixed = Transaction::default();
    let list = vec![
        AttributeValue::N("7".to_owned()),
        AttributeValue::Bool(true),
        AttributeValue::Null(true),
    ];
    let map = value("list", AttributeValue::L(list));
    mixed.put(
        key("new"),
        value("map", AttributeValue::M(map)),
        Condition::Absent,
    );
    mixed.delete(key("1"), Condition::Present);
    let text = value("text", AttributeValue::Ss(vec!["a".to_owned()]));
    mixed.set(key("2"), text, &["v"], Condition::Version(version));
    mixed.check(key("3"), Condition::Present);
    let expiry = value("ttl", AttributeValue::N("9".to_owned()));
    mixed.update(key("sum"), "n", 5, expiry, Condition::Always);
    mixed
}

/// An error's text, or the refused items.
type Outcome = Result<(), Result<String, BTreeMap<Key, Item>>>;

/// The outcomes of transactions, the items after them, and their costs.
async fn written(table: Table) -> (Vec<Outcome>, Vec<Item>, Cost) {
    let meter = Meter::default();
    let mut outcomes = Vec::new();
    let work = async {
        let mut prepared = Transaction::default();
        for sort in ["1", "2", "3", "4"] {
            let version = Item::from([("v".to_owned(), AttributeValue::N("6".to_owned()))]);
            prepared.put(Key::new("p", sort), version, Condition::Always);
        }
        let mut too_large = Transaction::default();
        let text = Item::from([("text".to_owned(), AttributeValue::S("x".repeat(500_000)))]);
        too_large.put(Key::new("p", "large"), text, Condition::Always);
        let mut large = Transaction::default();
        for sort in 100..220 {
            large.put(Key::new("p", sort.to_string()), Item::new(), Condition::Absent);
        }
        let twice = [large.clone(), large];
        let transactions = [prepared, too_large, mixed(7), mixed(6), mixed(6)].into_iter();
        for transaction in transactions.chain(twice) {
            let outcome = table.commit(transaction).await.map_err(|error| match error {
                CommitError::Refused(items) => Err(items),
                CommitError::Store(cause) => Ok(cause.to_string()),
            });
            outcomes.push(outcome);
        }
        table.reads().query_all(KeyRange::whole("p".to_owned())).await
    };
    let items = meter.measure(work).await.unwrap();
    (outcomes, items, meter.cost())
}

/// Outcomes, written items, calls and units of direct transactions are those of the protocol.
#[tokio::test]
async fn direct_transactions_equal_the_protocol() {
    let direct: Arc<dyn EmbeddedEngine> = Arc::new(table());
    let jitter = || Jitter::new(|_| 0);
    let protocol = Arc::new(Protocol(table()));
    let protocol = written(Table::embedded(protocol, "funil".to_owned(), jitter())).await;
    assert_eq!(
        protocol.0.iter().filter(|outcome| outcome.is_ok()).count(),
        3,
        "{:?}",
        protocol.0
    );
    let on_thread = Table::embedded_on_thread(Arc::new(table()), "funil".to_owned(), jitter());
    assert_eq!(written(on_thread).await, protocol);
    assert_eq!(
        written(Table::embedded(Arc::clone(&direct), "funil".to_owned(), jitter())).await,
        protocol
    );
    // Otherwise the protocol would be compared with itself.
    let check = WriteRequest {
        action: WriteAction::Check(Key::new("p", "new").attributes()),
        condition: Some("attribute_exists(pk)".to_owned()),
        names: HashMap::new(),
        values: Item::new(),
    };
    let checked = direct.write("funil", vec![check]);
    assert!(matches!(checked, DirectlyWritten::All { .. }), "{checked:?}");
}
