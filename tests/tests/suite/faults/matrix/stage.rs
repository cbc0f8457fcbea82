//! The sample world of the requests, and its table as a value.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use dynamodb::{Api, Emulator};
use futures_util::future::{BoxFuture, ready};
use operator::kinds::Automations;
use serde_json::{Value, json};
use shared::automation::Automation;
use shared::settings::Rate;
use tests::bookings::{FREE, booking, open_calendars};
use tests::forms::add_form;
use tests::labels::{add_loss_reasons, add_tags};
use tests::people::settle;
use tests::raw::RawTable;
use tests::reports::{add_reports, report};
use tests::sales::{add_opportunities, open_shop, plain_opportunity};
use tests::tickets::{add_files, add_tickets, file, ticket};
use tests::{ACME, Wallet, World};

/// Events for which automations wait, so that every write that raises one has its entry in the outbox (C-102).
const EVENTS: [(&str, &str); 7] = [
    ("leadPhoneCall", "received"),
    ("lead", "created"),
    ("lead", "updated"),
    ("opportunity", "created"),
    ("opportunity", "updated"),
    ("meeting", "booked"),
    ("meeting", "moved"),
];

/// Data that the requests need.
#[derive(Debug, Clone)]
pub struct Cast {
    /// An admin.
    pub admin: Wallet,
    /// A seller who sees only the own leads and opportunities.
    pub seller: Wallet,
    /// The admin with a key that has its own limit.
    pub limited: Wallet,
    /// The response to the booking of the meeting.
    pub booked: Value,
}

/// The items that differ from the table before the request, by key: partition key, space, sort key. Each is
/// canonical text, or `None` if it was deleted.
pub type Items = BTreeMap<String, Option<String>>;

/// The items except the counters of ids.
pub fn without_counters(items: &Items) -> Items {
    let items = items.iter().filter(|(key, _)| !key.contains("#counter "));
    items.map(|(key, item)| (key.clone(), item.clone())).collect()
}

/// An emulator that records the keys of all items in calls that may write.
#[derive(Debug)]
struct Recorder {
    emulator: Emulator,
    written: Mutex<BTreeSet<(String, String)>>,
}

impl Api for Recorder {
    fn answer(self: Arc<Self>, operation: String, body: Vec<u8>) -> BoxFuture<'static, (u16, String)> {
        if !matches!(operation.as_str(), "BatchGetItem" | "GetItem" | "Query" | "Scan") {
            let request = serde_json::from_slice(&body).expect("the request is JSON");
            record(&request, &mut self.written.lock().expect("no panic"));
        }
        let answer = self.emulator.answer(&operation, &body);
        Box::pin(ready(answer))
    }
}

fn record(request: &Value, keys: &mut BTreeSet<(String, String)>) {
    let key = |name: &str| Some(request.get(name)?.get("S")?.as_str()?.to_owned());
    if let (Some(pk), Some(sk)) = (key("pk"), key("sk")) {
        keys.insert((pk, sk));
        return;
    }
    match request {
        Value::Object(members) => members.values().for_each(|value| record(value, keys)),
        Value::Array(values) => values.iter().for_each(|value| record(value, keys)),
        _ => {}
    }
}

/// A world on its own engine.
pub struct Stage {
    pub world: World,
    table: RawTable,
    recorder: Arc<Recorder>,
    /// The table before each request.
    base: Arc<BTreeMap<String, Value>>,
}

impl Stage {
    /// `acme` with records of every kind.
    pub async fn set() -> (Self, Cast) {
        let (world, table, recorder) = empty().await;
        let operator = world.operator(ACME);
        settle(&operator).await;
        open_shop(&operator).await;
        open_calendars(&operator).await;
        add_form(&operator, &Value::Null).await;
        let opportunities = (1..=3).map(|id| plain_opportunity(id, 7, u32::try_from(id).expect("small")));
        add_opportunities(&operator, opportunities.collect()).await;
        add_tickets(&operator, [ticket(&Value::Null)]).await;
        add_files(&operator, [file(&Value::Null)]).await;
        let columns = json!({ "entity": "opportunities", "groupBy": "column" });
        add_reports(&operator, [report(1, &Value::Null), report(2, &columns)]).await;
        add_tags(&operator, 1..=3).await;
        add_loss_reasons(&operator, 1..=3).await;
        let automation = |(id, (trigger, event))| -> Automation {
            let line = json!({ "id": id, "name": "Ligou", "trigger": trigger, "event": event,
                "actions": [{ "type": "addPoints", "points": 1 }] });
            serde_json::from_value(line).expect("an automation")
        };
        let automations: Vec<_> = (1..).zip(EVENTS).map(automation).collect();
        operator
            .import::<Automations>(&automations, false)
            .await
            .expect("the automations can be written");
        let (admin, seller, limited) = (
            world.wallet(7).await,
            world.wallet(8).await,
            world.wallet(7).await,
        );
        operator
            .limit_key(&limited.key_id, Rate::new(100_000))
            .await
            .expect("the key can be limited");
        let booked = world
            .call("POST", "/calendarmeeting?i=acme")
            .json(&booking(FREE[0], &json!({})));
        let booked = booked.send().await.body["data"].clone();
        world.store.refresh_reports().await.expect("they are refreshed");
        world.is_sound().await;
        recorder.written.lock().expect("no panic").clear();
        let base = Arc::new(keyed(table.items()));
        let cast = Cast {
            admin,
            seller,
            limited,
            booked,
        };
        let stage = Self {
            world,
            table,
            recorder,
            base,
        };
        (stage, cast)
    }

    /// The same on another engine.
    pub async fn again(&self) -> Self {
        let (world, table, recorder) = empty().await;
        table.put_all(&self.base.values().cloned().collect::<Vec<_>>());
        recorder.written.lock().expect("no panic").clear();
        Self {
            world,
            table,
            recorder,
            base: Arc::clone(&self.base),
        }
    }

    /// The current items that differ.
    pub fn items(&self) -> Items {
        let mut items = Items::new();
        for (pk, sk) in self.recorder.written.lock().expect("no panic").iter() {
            let key = format!("{pk} {sk}");
            let (is, was) = (self.table.get(pk, sk), self.base.get(&key));
            let (is, was) = (is.as_ref().map(told), was.map(told));
            if is != was && is_compared(&key) {
                items.insert(key, is);
            }
        }
        items
    }

    /// Whether the whole table is as before.
    pub fn is_restored(&self) -> bool {
        let told = |items: &BTreeMap<String, Value>| -> BTreeMap<_, _> {
            let items = items.iter().filter(|(key, _)| is_compared(key));
            items.map(|(key, item)| (key.clone(), told(item))).collect()
        };
        told(&keyed(self.table.items())) == told(&self.base)
    }

    /// Restores the written items.
    pub fn restore(&self) {
        for (pk, sk) in std::mem::take(&mut *self.recorder.written.lock().expect("no panic")) {
            match self.base.get(&format!("{pk} {sk}")) {
                Some(item) => self.table.put(&pk, &sk, item),
                None => self.table.delete(&pk, &sk),
            }
        }
    }
}

async fn empty() -> (World, RawTable, Arc<Recorder>) {
    let emulator = Emulator::new();
    let recorder = Arc::new(Recorder {
        emulator: emulator.clone(),
        written: Mutex::default(),
    });
    let world = World::emulated(&emulator, recorder.clone()).await;
    let table = world.raw();
    (world, table, recorder)
}

fn keyed(items: Vec<Value>) -> BTreeMap<String, Value> {
    let items = items.into_iter();
    items
        .map(|item| (format!("{} {}", part(&item, "pk"), part(&item, "sk")), item))
        .collect()
}

fn part<'i>(item: &'i Value, name: &str) -> &'i str {
    item[name]["S"].as_str().expect("a key")
}

/// The used part of a limit depends on processes.
fn is_compared(key: &str) -> bool {
    !key.contains("#rate#")
}

/// An item as canonical text without nonces, which are random.
fn told(item: &Value) -> String {
    let mut item = item.clone();
    for nonce in ["nonce", "set"] {
        if item.get(nonce).is_some() {
            item[nonce] = Value::Null;
        }
    }
    canonical(&item)
}

/// A value as text with sorted members.
fn canonical(value: &Value) -> String {
    let mut text = String::new();
    write(value, &mut text);
    text
}

fn write(value: &Value, text: &mut String) {
    match value {
        Value::Object(members) => {
            let members: BTreeMap<_, _> = members.iter().collect();
            for (name, value) in members {
                text.push_str(name);
                text.push(':');
                write(value, text);
            }
            text.push(';');
        }
        Value::Array(values) => {
            for value in values {
                write(value, text);
            }
            text.push('.');
        }
        Value::String(plain) => {
            text.push_str(plain);
            text.push(',');
        }
        other => text.push_str(&other.to_string()),
    }
}
