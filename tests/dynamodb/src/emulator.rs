//! dynoxide, an implementation of DynamoDB, by DynamoDB's JSON protocol.

use std::fmt;
use std::sync::Arc;

use dynoxide::{Database, DynoxideError};
use futures_util::future::{self, BoxFuture};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::http::Api;

const UNKNOWN: &str = r#"{"__type":"com.amazon.coral.service#UnknownOperationException"}"#;

/// An implementation of DynamoDB in this process. Clones share it.
#[derive(Clone)]
pub struct Emulator(Database);

/// Calls the method of an operation with its typed request; `None` for an unknown operation.
macro_rules! call {
    ($database:expr, $operation:ident, $body:ident; $($name:literal => $method:ident,)+) => {
        match $operation {
            $($name => Some(parse($body).and_then(|request| write(&$database.$method(request)?))),)+
            _ => None,
        }
    };
}

impl Emulator {
    /// An emulator without tables, in memory.
    #[must_use]
    pub fn new() -> Self {
        Self(Database::memory().expect("the emulator starts"))
    }

    /// Executes one call and returns status and body.
    #[must_use]
    pub fn answer(&self, operation: &str, body: &[u8]) -> (u16, String) {
        let answered = call! { self.0, operation, body;
            "BatchGetItem" => batch_get_item,
            "BatchWriteItem" => batch_write_item,
            "CreateTable" => create_table,
            "DeleteItem" => delete_item,
            "DescribeTable" => describe_table,
            "GetItem" => get_item,
            "ListTables" => list_tables,
            "PutItem" => put_item,
            "Query" => query,
            "Scan" => scan,
            "TransactWriteItems" => transact_write_items,
            "UpdateItem" => update_item,
            "UpdateTimeToLive" => update_time_to_live,
        };
        match answered {
            Some(Ok(answer)) => (200, answer),
            Some(Err(error)) => (error.status_code(), error.to_json()),
            None => (400, UNKNOWN.to_owned()),
        }
    }
}

impl Default for Emulator {
    fn default() -> Self {
        Self::new()
    }
}

impl Api for Emulator {
    fn answer(self: Arc<Self>, operation: String, body: Vec<u8>) -> BoxFuture<'static, (u16, String)> {
        Box::pin(future::ready(Self::answer(&self, &operation, &body)))
    }
}

impl fmt::Debug for Emulator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Emulator")
    }
}

/// Marks of validation errors in the texts of dynoxide's parsers.
const VALIDATION_MARKS: [&str; 2] = ["VALIDATION:", "VALIDATION_REQUEST:"];

/// Parses a request. The error is of the sort that DynamoDB would report.
fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, DynoxideError> {
    serde_json::from_slice(body).map_err(|cause| {
        let text = cause.to_string();
        let mut marked = VALIDATION_MARKS.iter().filter_map(|mark| text.split_once(mark));
        match marked.next() {
            Some((_, text)) => DynoxideError::ValidationException(text.to_owned()),
            None => DynoxideError::SerializationException(text),
        }
    })
}

fn write(answer: &impl Serialize) -> Result<String, DynoxideError> {
    serde_json::to_string(answer).map_err(|cause| DynoxideError::InternalServerError(cause.to_string()))
}
