//! An engine with an empty table, for tests.

use serde_json::{Value, json};
use table::embedded::EmbeddedEngine as _;

use crate::Database;

/// One call: status and body.
pub fn call(database: &Database, operation: &str, body: &Value) -> (u16, Value) {
    let (status, answer) = database.answer(operation, body.to_string().as_bytes());
    (status, serde_json::from_str(&answer).unwrap())
}

/// An engine with an empty table `funil`.
pub fn table() -> Database {
    let database = Database::temporary().unwrap();
    let attribute = |name| json!({ "AttributeName": name, "AttributeType": "S" });
    let element = |name, kind| json!({ "AttributeName": name, "KeyType": kind });
    let table = json!({
        "TableName": "funil", "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [attribute("pk"), attribute("sk")],
        "KeySchema": [element("pk", "HASH"), element("sk", "RANGE")],
    });
    assert_eq!(call(&database, "CreateTable", &table).0, 200);
    database
}
