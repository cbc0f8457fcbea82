//! The calls of each piece of work, and their units: those of DynamoDB's documents.

use table::meter::{Meter, TableCall};
use table::{Condition, Item, Key, KeyRange, Transaction, Update};

use super::{Cases, numbers, texts};

/// An item with this number of bytes beside its key and the attribute's name.
fn sized(bytes: usize) -> Item {
    texts([("t", &"x".repeat(bytes))])
}

/// Requires the calls of a piece of work: operation, read units, write units.
fn expect(cases: &mut Cases<'_>, case: &str, meter: &Meter, expected: &[(&'static str, f64, f64)]) {
    let calls = expected
        .iter()
        .map(|(operation, read_units, write_units)| TableCall {
            operation,
            read_units: *read_units,
            write_units: *write_units,
        });
    cases.expect(&format!("units: {case}"), meter.cost().calls, calls.collect());
}

pub async fn check(cases: &mut Cases<'_>) {
    reads(cases).await;
    let (key, large) = (cases.key(), cases.key());
    for (case, at, item, units) in [
        ("put", &key, sized(10), 1.0),
        ("put of 1.5 KB", &large, sized(1_500), 2.0),
        ("put of a smaller item", &large, sized(10), 2.0),
    ] {
        let meter = Meter::default();
        meter.measure(cases.table.put(at, item)).await.expect("a put");
        expect(cases, case, &meter, &[("PutItem", 0.0, units)]);
    }
    let update = Update::Add { names: &["a"], by: 1 };
    let meter = Meter::default();
    let added = meter.measure(cases.table.engine().update(&key, update)).await;
    added.expect("an addition");
    expect(cases, "update", &meter, &[("UpdateItem", 0.0, 1.0)]);
    transactions(cases).await;
}

async fn reads(cases: &mut Cases<'_>) {
    let partition = cases.key().pk;
    let keys: Vec<_> = (0..3).map(|at| Key::new(&partition, at.to_string())).collect();
    for (key, bytes) in keys.iter().zip([10, 5_000, 3_000]) {
        cases.store(key, sized(bytes)).await;
    }
    let absent = cases.key();
    for (case, key, units) in [
        ("get", &keys[0], 1.0),
        ("get of 5 KB", &keys[1], 2.0),
        ("get of an absent item", &absent, 1.0),
    ] {
        let meter = Meter::default();
        meter.measure(cases.get(key)).await.expect("a get");
        expect(cases, case, &meter, &[("GetItem", units, 0.0)]);
    }
    let meter = Meter::default();
    let batch = keys.iter().cloned().chain([absent.clone()]);
    meter.measure(cases.get_items(batch)).await.expect("a batch");
    expect(
        cases,
        "batch, each item by itself",
        &meter,
        &[("BatchGetItem", 5.0, 0.0)],
    );
    for (case, range, units) in [
        (
            "query, all items together",
            KeyRange::whole(partition.clone()),
            2.0,
        ),
        ("query of one item", KeyRange::head(partition, 1), 1.0),
        ("query of nothing", KeyRange::whole(absent.pk.clone()), 1.0),
    ] {
        let meter = Meter::default();
        meter.measure(cases.query(range)).await.expect("a query");
        expect(cases, case, &meter, &[("Query", units, 0.0)]);
    }
}

type Fill = fn(&mut Transaction, Key);

/// Transactions of one write: of an item of less than 1 KB, of one of 1.5 KB and of an absent one.
fn transaction_rows([small, large, absent]: [&Key; 3]) -> [(&'static str, &Key, Fill, f64); 6] {
    [
        (
            "put in a transaction",
            small,
            |transaction, key| transaction.put(key, numbers([("a", 1)]), Condition::Always),
            2.0,
        ),
        (
            "addition in a transaction",
            small,
            |transaction, key| transaction.update(key, "a", 1, Item::new(), Condition::Always),
            2.0,
        ),
        (
            "addition to 1.5 KB in a transaction",
            large,
            |transaction, key| transaction.update(key, "a", 1, Item::new(), Condition::Always),
            4.0,
        ),
        (
            "check of 1.5 KB in a transaction",
            large,
            |transaction, key| transaction.check(key, Condition::Present),
            4.0,
        ),
        (
            "deletion of 1.5 KB in a transaction",
            large,
            |transaction, key| transaction.delete(key, Condition::Always),
            4.0,
        ),
        (
            "deletion of an absent item in a transaction",
            absent,
            |transaction, key| transaction.delete(key, Condition::Always),
            2.0,
        ),
    ]
}

async fn transactions(cases: &mut Cases<'_>) {
    let (small, large, absent) = (cases.key(), cases.key(), cases.key());
    cases.store(&small, numbers([("a", 1)])).await;
    cases.store(&large, sized(1_500)).await;
    for (case, key, fill, units) in transaction_rows([&small, &large, &absent]) {
        let mut transaction = Transaction::default();
        fill(&mut transaction, key.clone());
        let meter = Meter::default();
        let committed = meter.measure(cases.table.commit(transaction)).await;
        committed.expect("a transaction");
        expect(cases, case, &meter, &[("TransactWriteItems", 0.0, units)]);
    }
}
