//! Transactions for imports with more writes than DynamoDB permits, each as one transaction of SQLite.
//!
//! The engine's own call has DynamoDB's limit of 100, and SQLite spends most of an import on single transactions. Here
//! the engine checks the conditions, 100 at a time, while no other call writes. Then it puts all items at once,
//! including the computed results of updates. Deletions are refused, and so are update expressions that this project
//! does not use.

use std::collections::{HashMap, HashSet};

use dynoxide::actions::get_item::GetItemRequest;
use dynoxide::actions::query::QueryRequest;
use dynoxide::actions::transact_write_items::{
    TransactConditionCheck, TransactPut, TransactUpdate, TransactWriteItem, TransactWriteItemsRequest,
    TransactWriteItemsResponse,
};
use dynoxide::errors::CancellationReason;
use dynoxide::types::{MAX_ITEM_SIZE, item_size};
use dynoxide::{AttributeValue, Database, DynoxideError, ImportOptions, Item};
use table::embedded::MAX_EMBEDDED_WRITES;

/// The condition that an item is absent.
const ABSENT: &str = "attribute_not_exists(pk)";
/// Maximum actions of the engine's own transaction.
pub const MAX_ENGINE_WRITES: usize = 100;

/// Executes a large transaction: checks all conditions, computes the items, and puts them at once. The caller excludes
/// all other writes.
pub fn transact(
    database: &Database,
    request: TransactWriteItemsRequest,
) -> Result<TransactWriteItemsResponse, DynoxideError> {
    let actions = request.transact_items;
    if actions.len() > MAX_EMBEDDED_WRITES {
        return Err(refused("a transaction has too many writes"));
    }
    check_conditions(database, &actions)?;
    let (mut table, mut written_keys) = (None, HashSet::new());
    let mut items = Vec::new();
    for action in actions {
        let (name, item) = match action {
            TransactWriteItem { put: Some(put), .. } => (put.table_name, put.item),
            TransactWriteItem {
                update: Some(update), ..
            } => {
                let item = updated_item(database, &update)?;
                (update.table_name, item)
            }
            TransactWriteItem {
                condition_check: Some(_),
                ..
            } => continue,
            _ => return Err(refused("a large transaction deletes nothing")),
        };
        if table.get_or_insert_with(|| name.clone()) != &name {
            return Err(refused("a large transaction writes to one table"));
        }
        let key = ["pk", "sk"].map(|part| item.get(part).map(text));
        if item_size(&item) > MAX_ITEM_SIZE || !written_keys.insert(key) {
            return Err(refused("an item has a size over 400 KB, or is written twice"));
        }
        items.push(item);
    }
    if let Some(table) = table {
        database.import_items(&table, items, ImportOptions::default())?;
    }
    Ok(TransactWriteItemsResponse::default())
}

/// Checks the conditions of all actions. The error has a reason for each action, as in DynamoDB.
fn check_conditions(database: &Database, actions: &[TransactWriteItem]) -> Result<(), DynoxideError> {
    let are_new = are_new(database, actions)?;
    let conditions: Vec<_> = actions
        .iter()
        .enumerate()
        .filter(|(_, action)| !(are_new && put_if_absent(action).is_some()))
        .filter_map(|(index, action)| Some((index, condition_check(action)?)))
        .collect();
    let mut reasons = vec![no_reason(); actions.len()];
    let mut message = None;
    // A transaction of condition checks writes nothing. All chunks are checked, to find every failed condition.
    for chunk in conditions.chunks(MAX_ENGINE_WRITES) {
        let request = TransactWriteItemsRequest {
            transact_items: chunk.iter().map(|(_, check)| check.clone()).collect(),
            ..TransactWriteItemsRequest::default()
        };
        match database.transact_write_items(request) {
            Ok(_) => {}
            Err(DynoxideError::TransactionCanceledException(text, chunk_reasons)) => {
                for ((index, _), reason) in chunk.iter().zip(chunk_reasons) {
                    reasons[*index] = reason;
                }
                message.get_or_insert(text);
            }
            Err(error) => return Err(error),
        }
    }
    match message {
        None => Ok(()),
        Some(message) => Err(DynoxideError::TransactionCanceledException(message, reasons)),
    }
}

/// The put of an action whose only condition is that the item is absent.
fn put_if_absent(action: &TransactWriteItem) -> Option<&TransactPut> {
    let put = action.put.as_ref()?;
    (put.condition_expression.as_deref() == Some(ABSENT)).then_some(put)
}

/// Whether the table has no items from the first to the last key, in any partition, of the puts that require absence.
/// The records of an import are mostly such puts with rising ids. A query is cheaper than a check of each.
fn are_new(database: &Database, actions: &[TransactWriteItem]) -> Result<bool, DynoxideError> {
    let mut ranges = HashMap::<_, (String, String)>::new();
    for put in actions.iter().filter_map(put_if_absent) {
        let key = ["pk", "sk"].map(|part| put.item.get(part).map(text).unwrap_or_default());
        let [partition, sort] = key;
        let range = ranges.entry((put.table_name.as_str(), partition));
        let (first, last) = range.or_insert_with(|| (sort.clone(), sort.clone()));
        if sort < *first {
            *first = sort;
        } else if sort > *last {
            *last = sort;
        }
    }
    for ((table, partition), (first, last)) in ranges {
        let values = [(":pk", partition), (":first", first), (":last", last)];
        let values = values.map(|(name, text)| (name.to_owned(), AttributeValue::S(text)));
        let request = QueryRequest {
            table_name: table.to_owned(),
            key_condition_expression: Some("pk = :pk AND sk BETWEEN :first AND :last".to_owned()),
            expression_attribute_values: Some(values.into()),
            limit: Some(1),
            ..QueryRequest::default()
        };
        if database.query(request)?.count > 0 {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The condition of an action as an action that only checks it; `None` without a condition.
fn condition_check(action: &TransactWriteItem) -> Option<TransactWriteItem> {
    let check = match action {
        TransactWriteItem {
            condition_check: Some(check),
            ..
        } => check.clone(),
        TransactWriteItem { put: Some(put), .. } => condition_of_put(put)?,
        TransactWriteItem {
            update: Some(update), ..
        } => condition_of_update(update)?,
        _ => return None,
    };
    Some(TransactWriteItem {
        condition_check: Some(check),
        ..TransactWriteItem::default()
    })
}

fn condition_of_put(put: &TransactPut) -> Option<TransactConditionCheck> {
    let key = put.item.iter().filter(|(name, _)| is_key(name));
    Some(TransactConditionCheck {
        table_name: put.table_name.clone(),
        key: key.map(|(name, value)| (name.clone(), value.clone())).collect(),
        condition_expression: put.condition_expression.clone()?,
        expression_attribute_names: put.expression_attribute_names.clone(),
        expression_attribute_values: put.expression_attribute_values.clone(),
        return_values_on_condition_check_failure: put.return_values_on_condition_check_failure.clone(),
    })
}

/// The condition of an update, without the names and values that only the update uses, because the engine refuses
/// unused ones.
fn condition_of_update(update: &TransactUpdate) -> Option<TransactConditionCheck> {
    let condition = update.condition_expression.clone()?;
    let used: HashSet<_> = condition
        .split(|sign: char| sign.is_whitespace() || "(),".contains(sign))
        .collect();
    let names = update.expression_attribute_names.iter().flatten();
    let names = names.filter(|(alias, _)| used.contains(alias.as_str()));
    let names: HashMap<_, _> = names.map(|(alias, name)| (alias.clone(), name.clone())).collect();
    let values = update.expression_attribute_values.iter().flatten();
    let values = values.filter(|(alias, _)| used.contains(alias.as_str()));
    let values: HashMap<_, _> = values
        .map(|(alias, value)| (alias.clone(), value.clone()))
        .collect();
    Some(TransactConditionCheck {
        table_name: update.table_name.clone(),
        key: update.key.clone(),
        condition_expression: condition,
        expression_attribute_names: (!names.is_empty()).then_some(names),
        expression_attribute_values: (!values.is_empty()).then_some(values),
        return_values_on_condition_check_failure: update.return_values_on_condition_check_failure.clone(),
    })
}

/// The item after an update. An update creates an item that does not exist.
fn updated_item(database: &Database, update: &TransactUpdate) -> Result<Item, DynoxideError> {
    let request = GetItemRequest {
        table_name: update.table_name.clone(),
        key: update.key.clone(),
        consistent_read: Some(true),
        ..GetItemRequest::default()
    };
    let mut item = database.get_item(request)?.item.unwrap_or_default();
    item.extend(update.key.clone());
    let names = update.expression_attribute_names.as_ref();
    let values = update.expression_attribute_values.as_ref();
    let applied = apply(
        &mut item,
        &update.update_expression,
        |alias| names?.get(alias).cloned(),
        |alias| values?.get(alias).cloned(),
    );
    applied
        .map(|()| item)
        .ok_or_else(|| refused("the update expression is not supported"))
}

/// Applies `ADD #a :a, #b :b SET #c = :c REMOVE #d`, with any of the clauses. `name` and `value` resolve the words that
/// begin with `#` and `:`. Returns `None` for any other expression, and for a sum that is no whole number.
fn apply(
    item: &mut Item,
    expression: &str,
    name: impl Fn(&str) -> Option<String>,
    value: impl Fn(&str) -> Option<AttributeValue>,
) -> Option<()> {
    let mut words = expression
        .split(|sign: char| sign.is_whitespace() || sign == ',')
        .filter(|word| !word.is_empty());
    let mut clause = "";
    while let Some(word) = words.next() {
        if ["ADD", "SET", "REMOVE"].contains(&word) {
            clause = word;
            continue;
        }
        let name = name(word)?;
        match clause {
            "ADD" => {
                let added = whole_number(&value(words.next()?)?)?;
                let before = item.get(&name).map_or(Some(0), whole_number)?;
                item.insert(name, AttributeValue::N(before.checked_add(added)?.to_string()));
            }
            "SET" => {
                words.next().filter(|sign| *sign == "=")?;
                item.insert(name, value(words.next()?)?);
            }
            "REMOVE" => drop(item.remove(&name)),
            _ => return None,
        }
    }
    Some(())
}

fn whole_number(value: &AttributeValue) -> Option<i128> {
    match value {
        AttributeValue::N(digits) => digits.parse().ok(),
        _ => None,
    }
}

fn text(value: &AttributeValue) -> String {
    match value {
        AttributeValue::S(text) => text.clone(),
        other => format!("{other:?}"),
    }
}

fn is_key(name: &str) -> bool {
    name == "pk" || name == "sk"
}

/// The reason of an action that did not cancel the transaction.
fn no_reason() -> CancellationReason {
    CancellationReason {
        code: "None".to_owned(),
        message: None,
        item: None,
    }
}

/// DynamoDB's response to a transaction that it never accepts.
fn refused(reason: &str) -> DynoxideError {
    DynoxideError::ValidationException(reason.to_owned())
}

#[cfg(test)]
mod tests;
