//! kill -9 of `funil serve` and of the operator's commands at any moment (C-85). The whole interface across a kill is tested against
//! the model of the tests' crate (`model::whole::crash`).
//!
//! `ROUNDS` and `SEED` set the number of rounds and the random choices.

mod commands;
mod house;
mod plan;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tests::client::{Ask, Connection, Reply};

use house::{Home, House, kill_at_start};
use plan::{Whereabouts, dice, milliseconds};

const CLIENTS: usize = 8;

/// Writes with keys, by their keys, and the first response of each; `None` if it was lost.
type Written = BTreeMap<String, (Ask, Option<Reply>)>;

/// A change that the service acknowledged is there after the kill, another one is there once or not at all, and the next
/// service starts.
#[test]
fn no_acknowledged_change_is_lost() {
    let mut whereabouts = Whereabouts {
        seed: plan::seed(),
        round: 0,
    };
    let (home, chance) = (Home::new(), dice(whereabouts.seed, 0));
    let mut house = House::with_demo(&home);
    let access = house.access.clone();
    // Nobody receives its notifications, so they stay in the table (C-102).
    let notify = json!({ "kind": "automation", "id": 91, "name": "Avisar", "trigger": "opportunity", "event": "created",
        "actions": [{ "type": "notify", "url": "https://nobody.example/hook", "secret": "whsec_crash" }] });
    house.import("demo", &home.lines("automation.ndjson", &[notify]));
    let written = Mutex::new(Written::new());
    for round in 1..=plan::rounds() {
        whereabouts.round = round;
        write_until_killed(house, &written, 20 + chance.below(180), milliseconds(&chance, 40));
        while chance.below(3) == 0 {
            kill_at_start(&home, milliseconds(&chance, 400));
        }
        house = House::open(&home, Some(&access));
        house.examine("demo");
        let mut written = written.lock().unwrap();
        repeat(&house, &mut written);
        house.examine("demo");
        are_made_once(&house, &written);
    }
    println!("{} writes", written.lock().unwrap().len());
}

/// Sends all requests again: those with a response are replayed.
fn repeat(house: &House, written: &mut Written) {
    for (ask, first) in written.values_mut() {
        let again = house.ask(ask);
        match first {
            Some(first) => {
                assert_eq!(
                    (again.replayed, id(&again)),
                    (true, id(first)),
                    "{ask:?}: {again:?}"
                );
            }
            None => *first = Some(again),
        }
    }
}

/// Each request has made one record, and each opportunity one notification.
fn are_made_once(house: &House, written: &Written) {
    let export = house.export("demo");
    let records: Vec<Value> = export
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let notified = notified(&house.items());
    for key in written.keys() {
        let is_of = |record: &&Value| {
            record["title"] == **key || record["callId"] == **key && record["kind"] == "call"
        };
        let made: Vec<_> = records.iter().filter(is_of).collect();
        assert_eq!(made.len(), 1, "{key}");
        if made[0]["kind"] == "opportunity" {
            let id = made[0]["id"].as_u64().unwrap();
            let count = notified.iter().filter(|(of, _)| *of == id).count();
            assert_eq!(count, 1, "{key} is notified once");
        }
    }
}

/// Ids and versions of the opportunities whose creation is in the outbox, as the event or as its notification.
fn notified(items: &[String]) -> BTreeSet<(u64, u64)> {
    let of_item = |item: &String| {
        let item: Value = serde_json::from_str(item).unwrap();
        let key: Vec<_> = item["sk"]["S"].as_str().unwrap().split('#').collect();
        match key[..] {
            _ if item["pk"]["S"] != "demo#trigger" => None,
            ["send" | "fact", "opportunity", id, version, ..] => {
                Some((id.parse().unwrap(), version.parse().unwrap()))
            }
            _ => None,
        }
    };
    items.iter().filter_map(of_item).collect()
}

fn id(reply: &Reply) -> u64 {
    let id = reply.body["id"].as_u64();
    assert!(id.is_some(), "{reply:?}");
    id.unwrap_or_default()
}

/// Opportunities and calls of several clients, whose service is killed some time after so many responses.
fn write_until_killed(house: House, written: &Mutex<Written>, answers: u64, later: Duration) {
    let (url, access, answered) = (house.url().to_owned(), house.access.clone(), AtomicU64::new(0));
    std::thread::scope(|scope| {
        let write = || {
            let Some(mut connection) = Connection::to(&url) else {
                return;
            };
            loop {
                let key = {
                    let mut written = written.lock().unwrap();
                    let key = format!("w{}.", written.len());
                    let ask = if written.len().is_multiple_of(2) {
                        let body = json!({ "title": key, "crm_column": 31, "lead_id": 1001 });
                        access.signed(Ask::new("POST", "/crmopportunity?id=3&i=demo", &body))
                    } else {
                        let data = json!({ "user": 8, "leadPhone": "", "lead": 1001, "type": "INCOMING", "status": "COMPLETE",
                            "duration": 1, "record": false, "service": "crash", "callId": key });
                        Ask::new(
                            "POST",
                            "/voip/webhook?i=demo",
                            &json!({ "event": "call", "data": data }),
                        )
                    };
                    written.insert(key.clone(), (ask.with("idempotency-key", key.clone()), None));
                    key
                };
                let ask = written.lock().unwrap()[&key].0.clone();
                let Some(reply) = connection.send(&ask) else {
                    return;
                };
                written.lock().unwrap().get_mut(&key).unwrap().1 = Some(reply);
                answered.fetch_add(1, Ordering::Relaxed);
            }
        };
        let clients: Vec<_> = (0..CLIENTS).map(|_| scope.spawn(write)).collect();
        // A client that has ended early has failed the test.
        while answered.load(Ordering::Relaxed) < answers
            && !clients.iter().any(std::thread::ScopedJoinHandle::is_finished)
        {
            std::thread::sleep(Duration::from_millis(2));
        }
        std::thread::sleep(later);
        house.kill();
    });
}
