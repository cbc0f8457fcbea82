//! kill -9 while calls are being recorded and opportunities made and changed: nothing acknowledged is lost, nothing is half
//! there.

mod bookings;
mod sales;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::ScopedJoinHandle;
use std::time::Duration;

use serde_json::{Value, json};

use crate::running::{Running, ask, funil};
use sales::Sales;

const ROUNDS: u64 = 4;
const CALLERS: u64 = 4;
const SELLERS: usize = 3;
const NUMBERS: u64 = 50;

#[test]
fn nothing_acknowledged_is_lost() {
    let home = tempfile::tempdir().unwrap();
    let calls = Calls::default();
    let mut sales = None;
    for round in 0..ROUNDS {
        let mut running = Running::start(home.path(), &[]);
        let sales = sales.get_or_insert_with(|| Sales::open(&running));
        cut_off(&mut running, round, &calls, sales);
    }
    let mut acknowledged = calls.acknowledged.into_inner().unwrap();
    let sales = sales.unwrap();
    println!(
        "{} calls and {} changes of opportunities acknowledged over {ROUNDS} rounds",
        acknowledged.len(),
        sales.acknowledged()
    );
    let running = Running::start(home.path(), &[]);
    // Once more from every number, whichever were cut off: each has its one lead then.
    for number in 0..NUMBERS {
        let (status, body) = call(&running.url, number).unwrap();
        assert_eq!(status, 201, "{body}");
        acknowledged.insert(id(&body));
    }
    check(&export(&running), &acknowledged);
    sales.check(&running, &|| export(&running));
    sales.check_leads(&running);
    examine(&running);
}

/// The calls so far.
#[derive(Default)]
struct Calls {
    /// The ids of those that were acknowledged.
    acknowledged: Mutex<BTreeSet<u64>>,
    next: AtomicU64,
}

impl Calls {
    fn keep_calling(&self, url: &str, stop: &AtomicBool) {
        while !stop.load(Ordering::Relaxed) {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if let Some((201, body)) = call(url, number) {
                let id = id(&body);
                assert!(self.acknowledged.lock().unwrap().insert(id), "call {id} twice");
            }
        }
    }
}

/// A round: calls and sales, and in the middle of them kill -9.
fn cut_off(running: &mut Running, round: u64, calls: &Calls, sales: &Sales) {
    let url = running.url.clone();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (url, stop) = (&url, &stop);
        for _ in 0..CALLERS {
            scope.spawn(move || calls.keep_calling(url, stop));
        }
        let sell = |seller| scope.spawn(move || sales.sell(url, &format!("crash-{round}.{seller}"), stop));
        let sellers: Vec<_> = (0..SELLERS).map(sell).collect();
        let few = || {
            let called = calls.acknowledged.lock().unwrap().len() as u64;
            called < (round + 1) * 60 || sales.acknowledged() < (round + 1) * 40
        };
        // A seller who is gone has failed the test.
        while few() && !sellers.iter().any(ScopedJoinHandle::is_finished) {
            std::thread::sleep(Duration::from_millis(5));
        }
        // Somewhere in the middle of what follows.
        std::thread::sleep(Duration::from_millis(37 * round));
        running.kill();
        stop.store(true, Ordering::Relaxed);
    });
}

fn id(body: &str) -> u64 {
    serde_json::from_str::<Value>(body).unwrap()["id"]
        .as_u64()
        .unwrap()
}

/// What is derived from the records is all there and right (C-84).
fn examine(running: &Running) {
    let endpoint = running.after("DynamoDB API on ").trim_end_matches(',').to_owned();
    let output = funil(&["--endpoint", &endpoint, "doctor", "--instance", "demo", "--json"]);
    let found = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{found}");
}

/// Calls come from numbers of which nobody knew, each in one of the two forms of a mobile; every fifth is for a lead with
/// opportunities, whose copies of it are behind then.
fn call(url: &str, number: u64) -> Option<(u16, String)> {
    let ninth = if number.is_multiple_of(2) { "9" } else { "" };
    let phone = format!("5541{ninth}888800{:02}", number % NUMBERS);
    let mut data = json!({ "user": 8, "leadPhone": phone, "type": "INCOMING", "status": "COMPLETE", "duration": 1,
        "record": false, "service": "crash" });
    // Not the first one from a number, which makes its lead.
    if number >= NUMBERS && number.is_multiple_of(5) {
        data["lead"] = json!(sales::LEADS[usize::try_from(number / 5 % 2).unwrap()]);
    }
    let body = json!({ "event": "call", "data": data }).to_string();
    ask(url, "POST", "/voip/webhook?i=demo", &[], &body)
}

fn export(running: &Running) -> Vec<Value> {
    let endpoint = running.after("DynamoDB API on ").trim_end_matches(',').to_owned();
    let output = funil(&["--endpoint", &endpoint, "export", "--instance", "demo"]);
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn check(records: &[Value], acknowledged: &BTreeSet<u64>) {
    let of = |kind: &'static str| records.iter().filter(move |record| record["kind"] == kind);
    let calls: BTreeMap<_, _> = of("call")
        .map(|call| (call["id"].as_u64().unwrap(), call["lead"].as_u64()))
        .collect();
    let missing: Vec<_> = acknowledged.iter().filter(|id| !calls.contains_key(id)).collect();
    assert!(missing.is_empty(), "lost: {missing:?}");
    let events: BTreeMap<_, _> = of("event")
        .map(|event| (event["call"].as_u64().unwrap(), event["lead"].as_u64()))
        .collect();
    assert_eq!(
        calls, events,
        "every call has its lead and its event, or is not there at all"
    );
    let mut lines = BTreeSet::new();
    for lead in of("lead").filter(|lead| lead["acquisition_channel"] == "VoIP") {
        let phone = lead["phone"].as_str().unwrap();
        assert!(
            lines.insert(phone[phone.len() - 8..].to_owned()),
            "two leads for {phone}"
        );
    }
    assert_eq!(lines.len() as u64, NUMBERS);
}
