//! DynamoDB's JSON protocol for the database's typed calls.
//!
//! The engine's own HTTP server requires a TCP port, which would also be open to browsers, and cannot require a key.

use std::sync::{PoisonError, RwLock};

use dynoxide::actions::transact_write_items::{TransactWriteItemsRequest, TransactWriteItemsResponse};
use dynoxide::{Database, DynoxideError};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::large;

const UNKNOWN: &str = r#"{"__type":"com.amazon.coral.service#UnknownOperationException"}"#;

/// Calls the method of an operation with its typed request; `None` for an unknown operation.
macro_rules! call {
    ($database:ident, $operation:ident, $body:ident; $($name:literal => $method:ident,)+) => {
        match $operation {
            $($name => Some(parse($body).and_then(|request| write(&$database.$method(request)?))),)+
            _ => None,
        }
    };
}

/// Executes one call and returns status and body. A large transaction write-locks `writing`, and other calls read-lock
/// it.
pub fn answer(database: &Database, writing: &RwLock<()>, operation: &str, body: &[u8]) -> (u16, String) {
    let answered = if operation == "TransactWriteItems" {
        let parsed = parse::<TransactWriteItemsRequest>(body);
        Some(parsed.and_then(|request| write(&transact(database, writing, request)?)))
    } else {
        let _shared = writing.read().unwrap_or_else(PoisonError::into_inner);
        call_operation(database, operation, body)
    };
    match answered {
        Some(Ok(answer)) => (200, answer),
        Some(Err(error)) => (error.status_code(), error.to_json()),
        None => (400, UNKNOWN.to_owned()),
    }
}

/// Executes a transaction, in the engine or as a large one, with the lock that it needs.
pub fn transact(
    database: &Database,
    writing: &RwLock<()>,
    request: TransactWriteItemsRequest,
) -> Result<TransactWriteItemsResponse, DynoxideError> {
    if request.transact_items.len() > large::MAX_ENGINE_WRITES {
        let _exclusive = writing.write().unwrap_or_else(PoisonError::into_inner);
        return large::transact(database, request);
    }
    let _shared = writing.read().unwrap_or_else(PoisonError::into_inner);
    database.transact_write_items(request)
}

/// Calls any other operation; `None` for an unknown one.
fn call_operation(
    database: &Database,
    operation: &str,
    body: &[u8],
) -> Option<Result<String, DynoxideError>> {
    call! { database, operation, body;
        "BatchExecuteStatement" => batch_execute_statement,
        "BatchGetItem" => batch_get_item,
        "BatchWriteItem" => batch_write_item,
        "CreateTable" => create_table,
        "DeleteItem" => delete_item,
        "DeleteTable" => delete_table,
        "DescribeStream" => describe_stream,
        "DescribeTable" => describe_table,
        "DescribeTimeToLive" => describe_time_to_live,
        "ExecuteStatement" => execute_statement,
        "ExecuteTransaction" => execute_transaction,
        "GetItem" => get_item,
        "GetRecords" => get_records,
        "GetShardIterator" => get_shard_iterator,
        "ListStreams" => list_streams,
        "ListTables" => list_tables,
        "ListTagsOfResource" => list_tags_of_resource,
        "PutItem" => put_item,
        "Query" => query,
        "Scan" => scan,
        "TagResource" => tag_resource,
        "TransactGetItems" => transact_get_items,
        "UntagResource" => untag_resource,
        "UpdateItem" => update_item,
        "UpdateTable" => update_table,
        "UpdateTimeToLive" => update_time_to_live,
    }
}

/// Marks in messages of the engine's parsers, anywhere in the text, for errors that DynamoDB reports as validation
/// errors.
const VALIDATION_MARKS: [&str; 2] = ["VALIDATION:", "VALIDATION_REQUEST:"];

/// Parses a request. The error is of the sort that DynamoDB would report.
fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, DynoxideError> {
    serde_json::from_slice(body).map_err(|cause| {
        let text = cause.to_string();
        let mut marked = VALIDATION_MARKS.iter().filter_map(|mark| text.split_once(mark));
        if let Some((_, text)) = marked.next() {
            return DynoxideError::ValidationException(text.to_owned());
        }
        DynoxideError::SerializationException(text)
    })
}

fn write(answer: &impl Serialize) -> Result<String, DynoxideError> {
    serde_json::to_string(answer).map_err(|cause| DynoxideError::InternalServerError(cause.to_string()))
}
