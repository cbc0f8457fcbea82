//! Transactions without DynamoDB's JSON protocol, in the types of the engine.

use std::sync::RwLock;

use dynoxide::Database;
use dynoxide::actions::transact_write_items::{
    TransactConditionCheck, TransactDelete, TransactPut, TransactUpdate, TransactWriteItem,
    TransactWriteItemsRequest,
};
use dynoxide::types::{AttributeValue, ConsumedCapacity, Item as EngineItem};
use table::embedded::{DirectlyWritten, WriteAction, WriteRequest};
use table::{AttributeValue as TableValue, Item};

use crate::operations;

const TOTAL: &str = "TOTAL";

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
        WriteAction::Put(item) => {
            action.put = Some(action!(TransactPut, condition; item: to_engine(item)?));
        }
        WriteAction::Update { key, expression } => {
            let update =
                action!(TransactUpdate, condition; key: to_engine(key)?, update_expression: expression);
            action.update = Some(update);
        }
        WriteAction::Delete(key) => {
            action.delete = Some(action!(TransactDelete, condition; key: to_engine(key)?));
        }
        WriteAction::Check(key) => {
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
