//! Reads and transactions without DynamoDB's JSON protocol, in the types of the engine. `funil serve` and most tests use
//! them; the tests below require the same results and costs as through the SDK.

use std::collections::HashMap;
use std::sync::RwLock;

use dynoxide::Database;
use dynoxide::actions::batch_get_item::{BatchGetItemRequest, KeysAndAttributes};
use dynoxide::actions::query::QueryRequest;
use dynoxide::actions::transact_write_items::{
    TransactConditionCheck, TransactDelete, TransactPut, TransactUpdate, TransactWriteItem,
    TransactWriteItemsRequest,
};
use dynoxide::types::{AttributeValue, ConsumedCapacity, Item as EngineItem};
use table::embedded::{Action, DirectRead, DirectlyRead, DirectlyWritten, WriteRequest};
use table::{AttributeValue as TableValue, Item};

use crate::operations;

const TOTAL: &str = "TOTAL";

/// Executes a read. `None` if it fails, is incomplete, or contains values that this project does not write.
pub fn read(database: &Database, table: &str, read: DirectRead) -> Option<DirectlyRead> {
    match read {
        DirectRead::Keys(keys) => get(database, table, keys),
        DirectRead::Range {
            condition,
            values,
            limit,
            is_descending,
        } => {
            let request = QueryRequest {
                table_name: table.to_owned(),
                key_condition_expression: Some(condition.to_owned()),
                expression_attribute_values: Some(to_engine(values)?),
                scan_index_forward: !is_descending,
                limit: Some(limit),
                consistent_read: Some(true),
                return_consumed_capacity: Some(TOTAL.to_owned()),
                ..QueryRequest::default()
            };
            let found = database.query(request).ok()?;
            Some(DirectlyRead {
                items: from_engine(found.items.unwrap_or_default())?,
                more: found.last_evaluated_key.is_some(),
                units: units(found.consumed_capacity.as_slice()),
            })
        }
    }
}

fn get(database: &Database, table: &str, keys: Vec<Item>) -> Option<DirectlyRead> {
    let keys = KeysAndAttributes {
        keys: keys.into_iter().map(to_engine).collect::<Option<_>>()?,
        consistent_read: Some(true),
        ..KeysAndAttributes::default()
    };
    let request = BatchGetItemRequest {
        request_items: HashMap::from([(table.to_owned(), keys)]),
        return_consumed_capacity: Some(TOTAL.to_owned()),
    };
    let mut found = database.batch_get_item(request).ok()?;
    if !found.unprocessed_keys.is_empty() {
        return None;
    }
    Some(DirectlyRead {
        items: from_engine(found.responses.remove(table).unwrap_or_default())?,
        more: false,
        units: units(found.consumed_capacity.as_deref().unwrap_or_default()),
    })
}

fn units(capacity: &[ConsumedCapacity]) -> f64 {
    capacity.iter().map(|capacity| capacity.capacity_units).sum()
}

/// Executes a transaction.
pub fn write(
    database: &Database,
    writing: &RwLock<()>,
    table: &str,
    writes: Vec<WriteRequest>,
) -> DirectlyWritten {
    let items: Option<Vec<_>> = writes.into_iter().map(|write| to_action(table, write)).collect();
    let Some(transact_items) = items else {
        return DirectlyWritten::Nothing;
    };
    let request = TransactWriteItemsRequest {
        transact_items,
        return_consumed_capacity: Some(TOTAL.to_owned()),
        ..TransactWriteItemsRequest::default()
    };
    match operations::transact(database, writing, request) {
        Ok(done) => DirectlyWritten::All {
            units: units(done.consumed_capacity.as_deref().unwrap_or_default()),
        },
        // The engine's own failures are the errors with status 500.
        Err(error) if error.status_code() < 500 => DirectlyWritten::Nothing,
        Err(error) => DirectlyWritten::Unknown(error.to_string()),
    }
}

fn to_action(table: &str, write: WriteRequest) -> Option<TransactWriteItem> {
    /// The engine has a separate type for each action, all with these fields.
    macro_rules! action {
        ($action:ident, $condition:expr; $($field:ident: $value:expr),+) => {
            $action {
                table_name: table.to_owned(),
                $($field: $value,)+
                condition_expression: $condition,
                expression_attribute_names: (!write.names.is_empty()).then_some(write.names),
                expression_attribute_values: match write.values {
                    values if values.is_empty() => None,
                    values => Some(to_engine(values)?),
                },
                return_values_on_condition_check_failure: None,
            }
        };
    }
    let condition = write.condition;
    let mut action = TransactWriteItem::default();
    match write.action {
        Action::Put(item) => {
            action.put = Some(action!(TransactPut, condition; item: to_engine(item)?));
        }
        Action::Update { key, expression } => {
            let update =
                action!(TransactUpdate, condition; key: to_engine(key)?, update_expression: expression);
            action.update = Some(update);
        }
        Action::Delete(key) => {
            action.delete = Some(action!(TransactDelete, condition; key: to_engine(key)?));
        }
        Action::Check(key) => {
            action.condition_check = Some(action!(TransactConditionCheck, condition?; key: to_engine(key)?));
        }
    }
    Some(action)
}

fn to_engine(item: Item) -> Option<EngineItem> {
    let values = item
        .into_iter()
        .map(|(name, value)| Some((name, to_engine_value(value)?)));
    values.collect()
}

fn to_engine_value(value: TableValue) -> Option<AttributeValue> {
    Some(match value {
        TableValue::S(text) => AttributeValue::S(text),
        TableValue::N(digits) => AttributeValue::N(digits),
        TableValue::Bool(flag) => AttributeValue::BOOL(flag),
        TableValue::Null(is_null) => AttributeValue::NULL(is_null),
        TableValue::L(list) => {
            AttributeValue::L(list.into_iter().map(to_engine_value).collect::<Option<_>>()?)
        }
        TableValue::M(item) => AttributeValue::M(to_engine(item)?),
        TableValue::Ss(texts) => AttributeValue::SS(texts),
        TableValue::Ns(numbers) => AttributeValue::NS(numbers),
        _ => return None,
    })
}

fn from_engine(items: Vec<EngineItem>) -> Option<Vec<Item>> {
    items.into_iter().map(map).collect()
}

fn map(item: EngineItem) -> Option<Item> {
    let values = item
        .into_iter()
        .map(|(name, value)| Some((name, to_table(value)?)));
    values.collect()
}

fn to_table(value: AttributeValue) -> Option<TableValue> {
    Some(match value {
        AttributeValue::S(text) => TableValue::S(text),
        AttributeValue::N(digits) => TableValue::N(digits),
        AttributeValue::BOOL(flag) => TableValue::Bool(flag),
        AttributeValue::NULL(is_null) => TableValue::Null(is_null),
        AttributeValue::L(list) => TableValue::L(list.into_iter().map(to_table).collect::<Option<_>>()?),
        AttributeValue::M(item) => TableValue::M(map(item)?),
        AttributeValue::SS(texts) => TableValue::Ss(texts),
        AttributeValue::NS(numbers) => TableValue::Ns(numbers),
        AttributeValue::B(_) | AttributeValue::BS(_) => return None,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use serde_json::json;
    use table::embedded::EmbeddedEngine;
    use table::meter::{Cost, Meter};
    use table::{CommitError, Condition, Jitter, Key, KeyRange, Page, StoreError, Table, Transaction};

    use super::*;
    use crate::testing::{call, table};

    /// The engine without direct reads.
    #[derive(Debug)]
    struct Protocol(crate::Database);

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
            for partition in ["p", "binary", "none"] {
                let key = |sort| Key::new(partition, sort);
                results.push(items(reads.get(&key("1")).await));
                let found = reads.get_many([key("1"), key("2"), key("9")]).await;
                let found = found.map(BTreeMap::from_iter);
                results.push(items(found.map(BTreeMap::into_values)));
                results.push(items(
                    reads.query_all(KeyRange::whole(partition.to_owned())).await,
                ));
            }
            for span in [
                range(None, None, 2),
                range(Some("1"), None, 2),
                range(None, Some("2"), 9),
                range(Some("1"), Some("3"), 2),
            ] {
                results.push(page(reads.query(span.clone()).await));
                results.push(page(reads.query_last(span).await));
            }
            results
        };
        (meter.measure(work).await, meter.cost())
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
            ("binary", "1", json!({ "B": "eA==" })),
        ] {
            let item = json!({ "pk": { "S": partition }, "sk": { "S": sort }, "value": value });
            let put = json!({ "TableName": "funil", "Item": item });
            assert_eq!(call(&database, "PutItem", &put).0, 200);
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
            condition: "pk = :pk",
            values: Item::from([(":pk".to_owned(), TableValue::S("p".to_owned()))]),
            limit: 1,
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
            TableValue::N("7".to_owned()),
            TableValue::Bool(true),
            TableValue::Null(true),
        ];
        let map = value("list", TableValue::L(list));
        mixed.put(key("new"), value("map", TableValue::M(map)), Condition::Absent);
        mixed.delete(key("1"), Condition::Present);
        let text = value("text", TableValue::Ss(vec!["a".to_owned()]));
        mixed.set(key("2"), text, &["v"], Condition::Version(version));
        mixed.check(key("3"), Condition::Present);
        let expiry = value("ttl", TableValue::N("9".to_owned()));
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
                let version = Item::from([("v".to_owned(), TableValue::N("6".to_owned()))]);
                prepared.put(Key::new("p", sort), version, Condition::Always);
            }
            let mut too_large = Transaction::default();
            let text = Item::from([("text".to_owned(), TableValue::S("x".repeat(500_000)))]);
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
            action: Action::Check(Key::new("p", "new").attributes()),
            condition: Some("attribute_exists(pk)".to_owned()),
            names: HashMap::new(),
            values: Item::new(),
        };
        let checked = direct.write("funil", vec![check]);
        assert!(matches!(checked, DirectlyWritten::All { .. }), "{checked:?}");
    }
}
