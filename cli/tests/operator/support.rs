//! An engine, the command, and access to the raw table.

use std::io::{self, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

use dynamodb::Served;
use operator::Operator;
use operator::kinds::Kind;
use serde_json::{Value, json};
use shared::environment::Environment;
use shared::instance::InstanceName;
use shared::store::{Location, Store};

/// The names of the kinds, in the order of an export.
pub fn kinds() -> Vec<&'static str> {
    Kind::ALL.iter().map(|kind| kind.name()).collect()
}

pub struct Bench {
    engine: Served,
}

/// Result of a command.
#[derive(Debug)]
pub struct Ended {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Ended {
    /// The JSON document on standard output.
    #[track_caller]
    pub fn document(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|cause| panic!("{cause}: {self:?}"))
    }

    /// Requires success.
    #[track_caller]
    pub fn done(self) -> Self {
        assert_eq!(self.code, 0, "{self:?}");
        self
    }
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Bench {
    pub fn new() -> Self {
        Self {
            engine: Served::start(),
        }
    }

    /// An engine with instance `acme`.
    pub fn with_instance() -> Self {
        let bench = Self::new();
        bench.funil("instance create acme").done();
        bench
    }

    /// An engine with instance `acme` and the sample.
    pub fn with_sample() -> Self {
        let bench = Self::with_instance();
        bench.import(&sample()).done();
        bench
    }

    pub fn command(&self, arguments: &str) -> Command {
        command(&self.engine.endpoint(), arguments)
    }

    pub fn funil(&self, arguments: &str) -> Ended {
        self.ended(self.command(arguments).output().unwrap())
    }

    /// The end of a command, whose suggestions name its endpoint.
    fn ended(&self, output: Output) -> Ended {
        let typed = format!("funil --endpoint {} ", self.engine.endpoint());
        let Ended { code, out, err } = output.into();
        let [out, err] = [out, err].map(|text| text.replace(&typed, "funil "));
        Ended { code, out, err }
    }

    /// Runs the command with this standard input.
    pub fn funil_reading(&self, arguments: &str, input: &[u8]) -> Ended {
        let mut command = self.command(arguments);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // A command that fails before reading closes the pipe.
        let _ = child.stdin.take().unwrap().write_all(input);
        self.ended(child.wait_with_output().unwrap())
    }

    pub fn import(&self, lines: &str) -> Ended {
        self.funil_reading("import --instance acme - --json", lines.as_bytes())
    }

    pub fn import_overwriting(&self, lines: &str) -> Ended {
        self.funil_reading("import --instance acme - --json --overwrite", lines.as_bytes())
    }

    pub fn export(&self) -> String {
        self.funil("export --instance acme").done().out
    }

    /// The engine's DynamoDB API.
    pub fn endpoint(&self) -> String {
        self.engine.endpoint()
    }

    /// The operator on the engine's table.
    pub async fn operator(&self) -> Operator {
        operator(self.engine.endpoint()).await
    }

    /// As [`operator`](Self::operator), but another writer puts or deletes an item just before the first transaction.
    pub async fn operator_overtaken(&self, operation: &'static str, request: Value) -> Operator {
        let endpoint = self.engine.endpoint();
        let overtake = move |endpoint: &str| drop(call_table(endpoint, operation, &request));
        operator(overtaken(endpoint, overtake)).await
    }

    /// As [`operator`](Self::operator), but calls `overtake` with the endpoint just before the first transaction.
    pub async fn operator_late(&self, overtake: impl FnOnce(&str) + Send + 'static) -> Operator {
        operator(overtaken(self.engine.endpoint(), overtake)).await
    }

    /// One DynamoDB call, without the command.
    pub fn table(&self, operation: &str, request: &Value) -> Value {
        call_table(&self.engine.endpoint(), operation, request)
    }

    /// All items.
    pub fn items(&self) -> Vec<Value> {
        let mut request = json!({ "TableName": "funil" });
        let mut items = Vec::new();
        loop {
            let page = self.table("Scan", &request);
            items.extend(page["Items"].as_array().unwrap().clone());
            match page.get("LastEvaluatedKey") {
                None => return items,
                Some(last) => request["ExclusiveStartKey"] = last.clone(),
            }
        }
    }

    /// Items of one partition.
    pub fn partition(&self, pk: &str) -> Vec<Value> {
        let mut items = self.items();
        items.retain(|item| item["pk"]["S"] == pk);
        items
    }

    /// One item.
    pub fn item(&self, pk: &str, sk: &str) -> Option<Value> {
        let mut items = self.partition(pk);
        items.retain(|item| item["sk"]["S"] == sk);
        items.pop()
    }

    /// Puts an item, without the command.
    pub fn put(&self, pk: &str, sk: &str, item: &Value) {
        let mut item = item.clone();
        item["pk"] = json!({ "S": pk });
        item["sk"] = json!({ "S": sk });
        self.table("PutItem", &json!({ "TableName": "funil", "Item": item }));
    }

    /// Deletes an item, without the command.
    pub fn delete(&self, pk: &str, sk: &str) {
        let key = json!({ "pk": { "S": pk }, "sk": { "S": sk } });
        self.table("DeleteItem", &json!({ "TableName": "funil", "Key": key }));
    }

    /// Sets an attribute of an existing item.
    pub fn set(&self, pk: &str, sk: &str, name: &str, value: &Value) {
        let request = json!({
            "TableName": "funil",
            "Key": { "pk": { "S": pk }, "sk": { "S": sk } },
            "UpdateExpression": "SET #n = :v",
            "ConditionExpression": "attribute_exists(pk)",
            "ExpressionAttributeNames": { "#n": name },
            "ExpressionAttributeValues": { ":v": value },
        });
        self.table("UpdateItem", &request);
    }

    /// The JSON in a text attribute of an item.
    pub fn json(&self, pk: &str, sk: &str, name: &str) -> Value {
        let item = self.item(pk, sk).unwrap();
        serde_json::from_str(item[name]["S"].as_str().unwrap()).unwrap()
    }

    /// Edits the JSON in a text attribute of an item.
    pub fn edit_json(&self, pk: &str, sk: &str, name: &str, edit: impl FnOnce(&mut Value)) {
        let mut value = self.json(pk, sk, name);
        edit(&mut value);
        self.set(pk, sk, name, &json!({ "S": value.to_string() }));
    }
}

/// The command on the engine at an endpoint.
pub fn command(endpoint: &str, arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_funil"));
    command
        .args(arguments.split_whitespace())
        .args(["--endpoint", endpoint])
        .env_remove("TABLE_NAME")
        .stdin(Stdio::null());
    command
}

async fn operator(endpoint: String) -> Operator {
    let location = Location {
        table: "funil".to_owned(),
        endpoint: Some(endpoint),
    };
    let store = Store::connect(location, Environment::system()).await;
    Operator::new(&store, InstanceName::parse("acme").unwrap())
}

fn call_table(endpoint: &str, operation: &str, request: &Value) -> Value {
    let (address, body) = (address(endpoint), request.to_string());
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "POST / HTTP/1.0\r\nhost: {address}\r\nx-amz-target: DynamoDB_20120810.{operation}\r\n\
         content-type: application/x-amz-json-1.0\r\n\
         authorization: AWS4-HMAC-SHA256 Credential=local/20261121/us-east-1/dynamodb/aws4_request, \
         SignedHeaders=host, Signature=00\r\nx-amz-date: 20261121T000000Z\r\n\
         content-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.contains(" 200 "), "{answer}");
    serde_json::from_str(body).unwrap()
}

fn address(endpoint: &str) -> &str {
    endpoint.strip_prefix("http://").unwrap()
}

/// Starts a proxy for an endpoint. The proxy calls `overtake` with the endpoint before the first transaction.
pub fn overtaken(endpoint: String, overtake: impl FnOnce(&str) + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let own = format!("http://{}", listener.local_addr().unwrap());
    let overtake = Arc::new(Mutex::new(Some(overtake)));
    thread::spawn(move || {
        for client in listener.incoming() {
            let (mut client, mut engine) = (client.unwrap(), TcpStream::connect(address(&endpoint)).unwrap());
            let (mut answers, mut back) = (engine.try_clone().unwrap(), client.try_clone().unwrap());
            thread::spawn(move || io::copy(&mut answers, &mut back));
            let (endpoint, overtake) = (endpoint.clone(), Arc::clone(&overtake));
            thread::spawn(move || {
                let mut part = vec![0; 1 << 20];
                while let Ok(length @ 1..) = client.read(&mut part) {
                    let transacts = String::from_utf8_lossy(&part[..length]).contains("TransactWriteItems");
                    if let Some(overtake) = overtake.lock().unwrap().take_if(|_| transacts) {
                        overtake(&endpoint);
                    }
                    engine.write_all(&part[..length]).unwrap();
                }
            });
        }
    });
    own
}

/// The lines of the sample.
pub fn sample() -> String {
    let whole = include_str!("../../../tests/vectors/sample-instance.ndjson");
    let known = |line: &&str| {
        let record: Value = serde_json::from_str(line).unwrap();
        record["kind"]
            .as_str()
            .is_some_and(|kind| Kind::named(kind).is_some())
    };
    let lines: Vec<_> = whole.lines().filter(known).collect();
    lines.join("\n") + "\n"
}

/// Users 7 and 8, owners of records.
pub const USERS: &str = concat!(
    r#"{"kind":"user","id":7,"name":"Ana","admin":true}"#,
    "\n",
    r#"{"kind":"user","id":8,"name":"Bruno"}"#,
    "\n",
);

pub fn call(id: u64, lead: Option<u64>) -> String {
    let lead = lead.map_or(String::new(), |lead| format!(r#","lead":{lead}"#));
    format!(
        r#"{{"kind":"call","id":{id},"user":8,"leadPhone":"5511987001122","type":"INCOMING","status":"COMPLETE","duration":65,"record":true,"service":"x","createDate":"2026-06-01T10:00:00.000Z"{lead}}}"#
    ) + "\n"
}

pub fn event(id: u64, lead: u64, call: u64) -> String {
    format!(
        r#"{{"kind":"event","id":{id},"lead":{lead},"name":"voip.call_incoming","operator":8,"status":"COMPLETE","duration":65,"service":"x","call":{call},"createDate":"2026-06-01T10:00:00.000Z"}}"#
    ) + "\n"
}
