//! Reads without DynamoDB's JSON protocol, in the types of the engine. `funil serve` and most tests read so; the test
//! below requires the same results and costs as through the SDK.

use std::collections::HashMap;

use dynoxide::Database;
use dynoxide::actions::batch_get_item::{BatchGetItemRequest, KeysAndAttributes};
use dynoxide::actions::query::QueryRequest;
use dynoxide::types::{AttributeValue, ConsumedCapacity, Item as EngineItem};
use table::embedded::{DirectRead, DirectlyRead};
use table::{AttributeValue as TableValue, Item};

const TOTAL: &str = "TOTAL";

/// Executes a read. `None` if it fails, is incomplete, or contains values that this project does not write.
pub fn read(database: &Database, table: &str, read: &DirectRead<'_>) -> Option<DirectlyRead> {
    match *read {
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

fn get(database: &Database, table: &str, keys: &[Item]) -> Option<DirectlyRead> {
    let keys = KeysAndAttributes {
        keys: keys.iter().map(to_engine).collect::<Option<_>>()?,
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

/// Keys and values of conditions, which are texts.
fn to_engine(item: &Item) -> Option<EngineItem> {
    let values = item.iter().map(|(name, value)| match value {
        TableValue::S(text) => Some((name.clone(), AttributeValue::S(text.clone()))),
        _ => None,
    });
    values.collect()
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
    use table::{Jitter, Key, KeyRange, Page, StoreError, Table};

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
            values: &Item::from([(":pk".to_owned(), TableValue::S("p".to_owned()))]),
            limit: 1,
            is_descending: false,
        };
        assert!(database.read("funil", &one).is_some_and(|found| found.more));
    }
}
