//! Breakdown of a request's units by call and item, with the minimum that would suffice.
//!
//! Every billed unit is attributed to an item and recomputed by DynamoDB's published rules; any difference
//! fails the measurement.

#![expect(
    clippy::expect_used,
    clippy::missing_panics_doc,
    reason = "a measurement that meets what nobody thought of must stop, and say where"
)]

use std::collections::BTreeMap;

use serde_json::Value;
use shared::store::Cost;

use super::item;
use super::wire::Exchange;

/// Kinds of items that check the caller and its limits.
const CHECKING: [&str; 3] = ["credential", "directory", "rate"];

/// The items that a response is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Made<'k> {
    /// None, as for a write.
    OfNothing,
    /// Items of this kind, one for each shown record.
    Of(&'k str),
    /// This number of items of this kind, all of which must be read.
    From(&'k str, usize),
}

/// The breakdown of a request's units.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Bill {
    /// Read units for checking the caller.
    pub checking: f64,
    /// Read units for items that lead to or decide the response but are not in it.
    pub finding: f64,
    /// Read units for items of the response's kind.
    pub answered: f64,
    /// Minimum read units for the response's items: each list in one query, or each item by a get.
    pub least_read: f64,
    /// Number and bytes of the response's items.
    pub shown: (usize, usize),
    /// Number of written items.
    pub written: usize,
    /// Number of items checked by conditions.
    pub checked: usize,
    /// Minimum write units for both, each item written alone.
    pub least_write: f64,
    /// Whether a transaction wrote them.
    pub in_transaction: bool,
}

/// An item that was read, or a key without an item.
struct Read {
    kind: String,
    partition: String,
    sort: String,
    bytes: usize,
    is_got: bool,
    exists: bool,
}

impl Bill {
    /// Sums the calls of a request whose response contains lists of these lengths.
    #[must_use]
    pub fn of(cost: &Cost, exchanges: &[Exchange], made: Made<'_>, lists: &[usize]) -> Self {
        let mut bill = Self::default();
        let mut answered = Vec::new();
        for exchange in exchanges {
            bill.add_written(exchange);
            for (units, read) in reads(exchange) {
                let kind = read.first().map(|read| read.kind.clone()).unwrap_or_default();
                match made {
                    Made::Of(own) | Made::From(own, _) if own == kind => {
                        bill.answered += units;
                        answered.extend(read);
                    }
                    _ if CHECKING.contains(&kind.as_str()) => bill.checking += units,
                    _ => bill.finding += units,
                }
            }
        }
        let read = bill.checking + bill.finding + bill.answered;
        assert!(
            (read - cost.read_units()).abs() < f64::EPSILON,
            "{read}: {cost:?}"
        );
        match made {
            Made::OfNothing => {}
            Made::Of(_) => bill.judge_shown(answered, lists),
            Made::From(_, count) => bill.judge_looked_through(answered, count),
        }
        bill
    }

    fn add_written(&mut self, exchange: &Exchange) {
        if exchange.written.is_empty() {
            return;
        }
        let least = exchange
            .written
            .iter()
            .map(|written| item::write_units(written.bytes));
        let least: f64 = least.sum();
        let is_transaction = exchange.operation == "TransactWriteItems";
        let expected = if is_transaction { 2.0 * least } else { least };
        is_billed(exchange, expected);
        let checked = exchange.written.iter().filter(|written| written.is_check).count();
        self.checked += checked;
        self.written += exchange.written.len() - checked;
        self.least_write += least;
        self.in_transaction |= is_transaction;
    }

    /// The minimum assumes the smallest of the read items.
    fn judge_shown(&mut self, mut read: Vec<Read>, lists: &[usize]) {
        read.retain(|read| read.exists);
        read.sort_by_key(|read| read.bytes);
        let mut rest = read.as_slice();
        for count in lists.iter().filter(|count| **count > 0) {
            let (list, others) = rest.split_at_checked(*count).expect("what is answered was read");
            rest = others;
            self.least_read += least(list.iter());
            let bytes: usize = list.iter().map(|read| read.bytes).sum();
            self.shown = (self.shown.0 + count, self.shown.1 + bytes);
        }
    }

    /// The minimum reads each item once, with one query for each partition.
    fn judge_looked_through(&mut self, mut read: Vec<Read>, count: usize) {
        read.retain(|read| read.exists);
        let mut partitions: BTreeMap<_, BTreeMap<_, _>> = BTreeMap::new();
        for read in &read {
            let partition = partitions.entry(&read.partition).or_default();
            partition.insert(&read.sort, read);
        }
        let distinct: usize = partitions.values().map(BTreeMap::len).sum();
        assert_eq!(distinct, count, "what was within reach was read");
        for partition in partitions.values() {
            self.least_read += least(partition.values().copied());
            let bytes: usize = partition.values().map(|read| read.bytes).sum();
            self.shown = (self.shown.0 + partition.len(), self.shown.1 + bytes);
        }
    }
}

/// Minimum units for the items of one list: in one query, or each alone if they are read by key.
fn least<'r>(list: impl Iterator<Item = &'r Read> + Clone) -> f64 {
    let (got, queried): (Vec<_>, Vec<_>) = list.partition(|read| read.is_got);
    let got = got.iter().map(|read| item::read_units(read.bytes)).sum::<f64>();
    let bytes: usize = queried.iter().map(|read| read.bytes).sum();
    got + if queried.is_empty() {
        0.0
    } else {
        item::read_units(bytes)
    }
}

/// The items of a call with units: of a batch one by one, of a query together.
fn reads(exchange: &Exchange) -> Vec<(f64, Vec<Read>)> {
    let Exchange { request, answer, .. } = exchange;
    match exchange.operation.as_str() {
        "GetItem" => {
            let read = read(&request["Key"], answer.get("Item"), true);
            is_billed(exchange, item::read_units(read.bytes));
            vec![(item::read_units(read.bytes), vec![read])]
        }
        "BatchGetItem" => {
            let (table, asked) = only(&request["RequestItems"]);
            let items = answer["Responses"][table].as_array().expect("items");
            let keys = asked["Keys"].as_array().expect("keys").iter();
            let reads = keys.map(|key| {
                let found = items
                    .iter()
                    .find(|item| item["pk"] == key["pk"] && item["sk"] == key["sk"]);
                let read = read(key, found, true);
                (item::read_units(read.bytes), vec![read])
            });
            let reads: Vec<_> = reads.collect();
            is_billed(exchange, reads.iter().map(|(units, _)| units).sum());
            reads
        }
        "Query" => {
            let partition = &request["ExpressionAttributeValues"][":pk"];
            let items = answer["Items"].as_array().expect("items");
            let read: Vec<_> = items.iter().map(|item| read(item, Some(item), false)).collect();
            let units = item::read_units(read.iter().map(|read| read.bytes).sum());
            is_billed(exchange, units);
            // Without an item, only the partition determines the kind.
            let key = serde_json::json!({ "pk": partition, "sk": { "S": "" } });
            let read = if read.is_empty() {
                vec![self::read(&key, None, false)]
            } else {
                read
            };
            vec![(units, read)]
        }
        _ => Vec::new(),
    }
}

fn read(key: &Value, item: Option<&Value>, is_got: bool) -> Read {
    let text = |name: &str| key[name]["S"].as_str().expect("a key").to_owned();
    let (partition, sort) = (text("pk"), text("sk"));
    Read {
        kind: kind(&partition, &sort),
        bytes: item.map_or(0, item::bytes),
        exists: item.is_some(),
        partition,
        sort,
        is_got,
    }
}

/// The kind of an item as in docs/access-patterns.md: the part of the partition key after the instance.
fn kind(partition: &str, sort: &str) -> String {
    let kind = partition.split('#').nth(1).expect("a kind");
    if sort == "names" { sort } else { kind }.to_owned()
}

fn only(object: &Value) -> (&String, &Value) {
    let entries = object.as_object().and_then(|object| object.iter().next());
    entries.expect("one table")
}

/// Compares the billed units with the rules.
fn is_billed(exchange: &Exchange, expected: f64) {
    let capacity = &exchange.answer["ConsumedCapacity"];
    let capacity = capacity.get(0).unwrap_or(capacity);
    let billed = capacity["CapacityUnits"].as_f64().expect("units");
    let Exchange {
        operation, request, ..
    } = exchange;
    assert!(
        (billed - expected).abs() < f64::EPSILON,
        "{billed}, not {expected}: {operation} {request}"
    );
}
