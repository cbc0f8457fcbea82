//! kill -9 while calls are being recorded: nothing acknowledged is lost, nothing is half there.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use serde_json::Value;

use crate::running::{Running, ask, funil};

const ROUNDS: u64 = 4;
const CALLERS: u64 = 4;
const NUMBERS: u64 = 50;

#[test]
fn nothing_acknowledged_is_lost() {
    let home = tempfile::tempdir().unwrap();
    let acknowledged = Mutex::new(BTreeSet::new());
    let next = AtomicU64::new(0);
    for round in 0..ROUNDS {
        let mut running = Running::start(home.path(), &[]);
        let url = running.url.clone();
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..CALLERS {
                scope.spawn(|| {
                    while !stop.load(Ordering::Relaxed) {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        if let Some((201, body)) = call(&url, number) {
                            let id = serde_json::from_str::<Value>(&body).unwrap()["id"]
                                .as_u64()
                                .unwrap();
                            assert!(acknowledged.lock().unwrap().insert(id), "call {id} twice");
                        }
                    }
                });
            }
            while (acknowledged.lock().unwrap().len() as u64) < (round + 1) * 60 {
                std::thread::sleep(Duration::from_millis(5));
            }
            // Somewhere in the middle of the calls that follow.
            std::thread::sleep(Duration::from_millis(37 * round));
            running.kill();
            stop.store(true, Ordering::Relaxed);
        });
    }
    let mut acknowledged = acknowledged.into_inner().unwrap();
    println!("{} calls acknowledged over {ROUNDS} rounds", acknowledged.len());
    let running = Running::start(home.path(), &[]);
    // Once more from every number, whichever were cut off: each has its one lead then.
    for number in 0..NUMBERS {
        let (status, body) = call(&running.url, number).unwrap();
        assert_eq!(status, 201, "{body}");
        acknowledged.insert(
            serde_json::from_str::<Value>(&body).unwrap()["id"]
                .as_u64()
                .unwrap(),
        );
    }
    check(&export(&running), &acknowledged);
    examine(&running);
}

/// What is derived from the records is all there and right (C-84).
fn examine(running: &Running) {
    let endpoint = running.after("DynamoDB API on ").trim_end_matches(',').to_owned();
    let output = funil(&["--endpoint", &endpoint, "doctor", "--instance", "demo", "--json"]);
    let found = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{found}");
}

/// Every call comes from one of the numbers of which nobody knew, in one of the two forms of a mobile.
fn call(url: &str, number: u64) -> Option<(u16, String)> {
    let ninth = if number.is_multiple_of(2) { "9" } else { "" };
    let phone = format!("5541{ninth}888800{:02}", number % NUMBERS);
    let body = format!(
        r#"{{"event":"call","data":{{"user":8,"leadPhone":"{phone}","type":"INCOMING","status":"COMPLETE","duration":1,"record":false,"service":"crash"}}}}"#
    );
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
