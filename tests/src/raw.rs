//! The table without the service: items that requests do not change, and invalid items, in DynamoDB's JSON form.
//!
//! Works only with an engine of this process.

#![expect(
    clippy::expect_used,
    clippy::missing_panics_doc,
    clippy::must_use_candidate,
    reason = "a test that cannot be set up must fail, and say where"
)]

use database::Database;
use dynamodb::{Emulator, from_json, to_json};
use serde_json::{Value, json};
use table::Key;

use crate::world::TABLE;

/// The table of an engine of this process.
#[derive(Debug, Clone)]
pub struct RawTable(RawEngine);

#[derive(Debug, Clone)]
enum RawEngine {
    Sqlite(Database),
    Emulated(Emulator),
}

impl RawTable {
    /// The table of a database.
    pub fn of(database: &Database) -> Self {
        Self(RawEngine::Sqlite(database.clone()))
    }

    /// The table of an emulator.
    pub fn of_emulator(emulator: &Emulator) -> Self {
        Self(RawEngine::Emulated(emulator.clone()))
    }

    /// An item.
    pub fn get(&self, pk: &str, sk: &str) -> Option<Value> {
        match &self.0 {
            RawEngine::Sqlite(database) => {
                let item = database.get(&Key::new(pk, sk)).expect("the item is read");
                item.map(to_json)
            }
            RawEngine::Emulated(emulator) => {
                let request = json!({ "TableName": TABLE, "Key": key(pk, sk), "ConsistentRead": true });
                call(emulator, "GetItem", &request).get("Item").cloned()
            }
        }
    }

    /// Puts an item, replacing any other.
    pub fn put(&self, pk: &str, sk: &str, item: &Value) {
        let mut item = item.clone();
        item["pk"] = json!({ "S": pk });
        item["sk"] = json!({ "S": sk });
        match &self.0 {
            RawEngine::Sqlite(database) => {
                let written = database.put(&Key::new(pk, sk), from_json(&item));
                written.expect("the item is written");
            }
            RawEngine::Emulated(emulator) => {
                call(emulator, "PutItem", &json!({ "TableName": TABLE, "Item": item }));
            }
        }
    }

    /// Makes the copy of a lead in an opportunity's record or list entry unreadable.
    pub fn spoil_copy(&self, pk: &str, sk: &str) {
        let mut item = self.get(pk, sk).expect("an item");
        let name = if item.get("card").is_some() { "card" } else { "e" };
        let text = item[name]["S"].as_str().expect("its text");
        let copy = r#""l":{"#;
        assert!(text.contains(copy), "it has no copy of a lead: {text}");
        item[name]["S"] = text.replace(copy, r#""l":0,"spoilt":{"#).into();
        self.put(pk, sk, &item);
    }

    /// Deletes an item.
    pub fn delete(&self, pk: &str, sk: &str) {
        match &self.0 {
            RawEngine::Sqlite(database) => {
                database.delete(&Key::new(pk, sk)).expect("the item is deleted");
            }
            RawEngine::Emulated(emulator) => {
                let request = json!({ "TableName": TABLE, "Key": key(pk, sk) });
                call(emulator, "DeleteItem", &request);
            }
        }
    }

    /// Puts items with keys.
    pub fn put_all(&self, items: &[Value]) {
        for item in items {
            self.put(&text(item, "pk"), &text(item, "sk"), item);
        }
    }

    /// All items.
    pub fn items(&self) -> Vec<Value> {
        let emulator = match &self.0 {
            RawEngine::Sqlite(database) => {
                let items = database.items().expect("the items are read");
                return items.into_iter().map(to_json).collect();
            }
            RawEngine::Emulated(emulator) => emulator,
        };
        let mut request = json!({ "TableName": TABLE });
        let mut items = Vec::new();
        loop {
            let mut page = call(emulator, "Scan", &request);
            items.append(page["Items"].as_array_mut().expect("items"));
            match page.get("LastEvaluatedKey") {
                None => return items,
                Some(last) => request["ExclusiveStartKey"] = last.clone(),
            }
        }
    }
}

fn call(emulator: &Emulator, operation: &str, request: &Value) -> Value {
    let (status, answer) = emulator.answer(operation, request.to_string().as_bytes());
    assert_eq!(status, 200, "{answer}");
    serde_json::from_str(&answer).expect("the answer is JSON")
}

fn text(item: &Value, name: &str) -> String {
    item[name]["S"].as_str().unwrap_or_default().to_owned()
}

fn key(pk: &str, sk: &str) -> Value {
    json!({ "pk": { "S": pk }, "sk": { "S": sk } })
}
