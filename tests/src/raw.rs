//! The table without the service: items that requests do not change, and invalid items.
//!
//! Works only with a test's own engine, because calls are not signed.

#![expect(
    clippy::expect_used,
    clippy::missing_panics_doc,
    clippy::must_use_candidate,
    reason = "a test that cannot be set up must fail, and say where"
)]

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use database::Database;
use serde_json::{Value, json};
use shared::directory::Directory;
use shared::store::embedded::EmbeddedEngine as _;

/// The single table of an engine.
#[derive(Debug, Clone)]
pub struct RawTable {
    engine: CalledEngine,
    name: String,
}

#[derive(Debug, Clone)]
enum CalledEngine {
    /// In this process.
    Embedded(Database),
    /// At this address.
    Served(String),
}

impl RawTable {
    /// The table of the engine at `http://…`.
    pub fn at(endpoint: &str) -> Self {
        let address = endpoint.trim_start_matches("http://").to_owned();
        Self::on(CalledEngine::Served(address))
    }

    /// The table of an engine in this process.
    pub fn of(database: &Database) -> Self {
        Self::on(CalledEngine::Embedded(database.clone()))
    }

    fn on(engine: CalledEngine) -> Self {
        let name = String::new();
        let mut table = Self { engine, name };
        let tables = table.call("ListTables", &json!({}));
        let name = tables["TableNames"][0].as_str();
        name.expect("a table").clone_into(&mut table.name);
        table
    }

    /// An item.
    pub fn get(&self, pk: &str, sk: &str) -> Option<Value> {
        let request = json!({ "TableName": self.name, "Key": key(pk, sk), "ConsistentRead": true });
        self.call("GetItem", &request).get("Item").cloned()
    }

    /// Puts an item, replacing any other.
    pub fn put(&self, pk: &str, sk: &str, item: &Value) {
        let mut item = item.clone();
        item["pk"] = json!({ "S": pk });
        item["sk"] = json!({ "S": sk });
        self.call("PutItem", &json!({ "TableName": self.name, "Item": item }));
    }

    /// Makes the copy of a lead in an opportunity's record or list entry unreadable.
    pub fn spoil_copy(&self, pk: &str, sk: &str, lead: u64) {
        let mut item = self.get(pk, sk).expect("an item");
        let card = item["card"]["S"].as_str().expect("its text");
        let spoilt = card.replace(&format!(r#""l":{{"id":{lead}"#), r#""l":{"id":0"#);
        assert_ne!(spoilt, card, "it has no copy of lead {lead}");
        item["card"]["S"] = spoilt.into();
        self.put(pk, sk, &item);
    }

    /// Deletes an item.
    pub fn delete(&self, pk: &str, sk: &str) {
        let request = json!({ "TableName": self.name, "Key": key(pk, sk) });
        self.call("DeleteItem", &request);
    }

    /// Puts items with keys, 25 at a time.
    pub fn put_all(&self, items: &[Value]) {
        for items in items.chunks(25) {
            let puts = items.iter().map(|item| json!({ "PutRequest": { "Item": item } }));
            let puts: Vec<_> = puts.collect();
            self.call("BatchWriteItem", &json!({ "RequestItems": { &self.name: puts } }));
        }
    }

    /// All items.
    pub fn items(&self) -> Vec<Value> {
        let mut request = json!({ "TableName": self.name });
        let mut items = Vec::new();
        loop {
            let mut page = self.call("Scan", &request);
            items.append(page["Items"].as_array_mut().expect("items"));
            match page.get("LastEvaluatedKey") {
                None => return items,
                Some(last) => request["ExclusiveStartKey"] = last.clone(),
            }
        }
    }

    /// Converts the users and the directory of an instance to the first format: all memberships and all names in one item
    /// each.
    pub fn to_first_format(&self, instance: &str, directory: &Directory) {
        let (mut users, mut names) = (json!({}), json!({}));
        for item in self.items() {
            let (pk, sk) = (text(&item, "pk"), text(&item, "sk"));
            if pk == format!("{instance}#user") {
                let (id, number) = (item["id"]["N"].as_str().expect("an id"), |name: &str| {
                    let digits = item[name]["N"].as_str().unwrap_or("0");
                    digits.parse::<u64>().expect("a number")
                });
                let flag = |name: &str| u64::from(item[name]["BOOL"] == true);
                let inactive = 1 - flag("active");
                users[id] = json!([
                    number("department"),
                    number("group"),
                    flag("admin") + 2 * inactive
                ]);
                names[id] = [text(&item, "name"), text(&item, "lastName")].join(" ").into();
            } else if ["names", "members", "department", "group"]
                .iter()
                .any(|list| pk == format!("{instance}#{list}"))
            {
                self.delete(&pk, &sk);
            } else if pk.starts_with("#credential#") && text(&item, "instance") == instance {
                let mut item = item.clone();
                item.as_object_mut().expect("an item").remove("standing");
                self.put(&pk, &sk, &item);
            }
        }
        let pk = format!("{instance}#directory");
        let head = self.get(&pk, "directory").expect("a directory");
        let mut directory = json!(directory);
        directory["users"] = users;
        let directory = json!({ "directory": { "S": directory.to_string() }, "v": head["v"] });
        self.put(&pk, "directory", &directory);
        self.put(&pk, "names", &json!({ "names": { "S": names.to_string() } }));
    }

    fn call(&self, operation: &str, request: &Value) -> Value {
        let body = request.to_string();
        let answer = match &self.engine {
            CalledEngine::Embedded(database) => {
                let (status, answer) = database.answer(operation, body.as_bytes());
                assert_eq!(status, 200, "{answer}");
                answer
            }
            CalledEngine::Served(address) => post(address, operation, &body),
        };
        serde_json::from_str(&answer).expect("the answer is JSON")
    }
}

/// Calls an engine on its port.
fn post(address: &str, operation: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("the engine listens");
    write!(
        stream,
        "POST / HTTP/1.0\r\nhost: {address}\r\nx-amz-target: DynamoDB_20120810.{operation}\r\n\
         content-type: application/x-amz-json-1.0\r\n\
         authorization: AWS4-HMAC-SHA256 Credential=local/20261121/us-east-1/dynamodb/aws4_request, \
         SignedHeaders=host, Signature=00\r\nx-amz-date: 20261121T000000Z\r\n\
         content-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
    .expect("the engine reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("the engine answers");
    let (head, body) = answer.split_once("\r\n\r\n").expect("an answer");
    assert!(head.contains(" 200 "), "{answer}");
    body.to_owned()
}

fn text(item: &Value, name: &str) -> String {
    item[name]["S"].as_str().unwrap_or_default().to_owned()
}

fn key(pk: &str, sk: &str) -> Value {
    json!({ "pk": { "S": pk }, "sk": { "S": sk } })
}
