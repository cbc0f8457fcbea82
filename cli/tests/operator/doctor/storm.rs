//! A doctor beside everything that writes at the same time.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use shared::id::{LeadId, UserId};
use shared::lead::Lead;
use shared::store::operator::{LeadLine, Operator};
use shared::time::Timestamp;

use super::assert_clean;
use crate::support::{Bench, USERS};

/// `funil serve` on the bench's engine.
struct Service {
    child: Child,
    address: String,
}

impl Service {
    fn start(bench: &Bench) -> Self {
        let mut child = bench
            .command("serve --port 0 --empty")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let ready = lines
            .map(Result::unwrap)
            .find(|line| line.starts_with("listening on "));
        let address = ready.unwrap().split("http://").nth(1).unwrap().to_owned();
        Self { child, address }
    }

    /// A call from one of many numbers; whether it was recorded.
    fn call(&self, number: u64) -> bool {
        let phone = format!("55219870{number:05}");
        let body = format!(
            r#"{{"event":"call","data":{{"user":8,"leadPhone":"{phone}","type":"INCOMING","status":"COMPLETE","duration":1,"record":false,"service":"x"}}}}"#
        );
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(
            stream,
            "POST /voip/webhook?i=acme HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n\
             content-length: {}\r\nconnection: close\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.starts_with("HTTP/1.1 201")
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// More than one query reads, so that a count takes a while.
const LEADS: u64 = 1200;

fn lead(id: u64, owner: u64) -> LeadLine {
    let time = Timestamp::parse("2026-01-01T00:00:00Z").unwrap();
    let lead = Lead {
        owner: UserId::new(owner),
        phone: Some(format!("55119870{id:05}")),
        archived: id.is_multiple_of(3),
        ..Lead::new(LeadId::new(id).unwrap(), time)
    };
    lead.into()
}

/// Leads from both ends that an import moves from owner to owner, one at a time.
async fn move_leads(operator: &Operator, stop: &AtomicBool) {
    for round in 0_u64.. {
        for id in (1..=6).flat_map(|id| [id, LEADS + 1 - id]) {
            if stop.load(Ordering::Relaxed) {
                return;
            }
            let line = lead(id, 7 + (id + round) % 2);
            operator.import_leads(vec![line], true).await.unwrap();
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Calls from new and known numbers.
fn record_calls(service: &Service, next: &AtomicU64, stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        let number = next.fetch_add(1, Ordering::Relaxed);
        let number = if number.is_multiple_of(4) {
            number % 50
        } else {
            number
        };
        assert!(service.call(number));
    }
}

/// What a doctor repairs. What it leaves, it may leave only because too much changes around it.
pub fn mended(bench: &Bench) -> Vec<String> {
    let seen = bench.funil("doctor --instance acme --repair --json").document();
    let differences = seen["differences"].as_array().unwrap().iter();
    let repaired = differences.filter(|difference| {
        let reason = difference["reason"].as_str().unwrap();
        let repaired = difference["repaired"] == true;
        assert!(repaired || reason.ends_with("; run again"), "{difference}");
        repaired
    });
    repaired
        .map(|difference| difference["item"].as_str().unwrap().to_owned())
        .collect()
}

fn counted(bench: &Bench) -> usize {
    let totals = ["acme#lead-total#0", "acme#lead-total#1"].map(|pk| bench.partition(pk));
    let count = |total: &Value| total["n"]["N"].as_str().unwrap().parse::<usize>().unwrap();
    totals.iter().flatten().map(count).sum()
}

/// New callers, known callers and an import that moves leads, and a doctor that repairs all the while. It repairs the
/// totals that were damaged before, each once, and nothing else: all others are right at every moment.
#[test]
fn a_doctor_amid_a_storm_changes_nothing_that_is_right() {
    let bench = Bench::with_instance();
    bench.import(USERS).done();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let operator = runtime.block_on(bench.operator());
    for first in (1..=LEADS).step_by(600) {
        let lines = (first..first + 600).map(|id| lead(id, 7 + id % 2)).collect();
        runtime.block_on(operator.import_leads(lines, false)).unwrap();
    }
    let service = Service::start(&bench);
    (0..60).for_each(|number| assert!(service.call(number)));
    let damaged = [0, 1, 2, 3].map(|shard| format!("none.{shard}"));
    for class in &damaged {
        bench.set("acme#lead-total#0", class, "n", &json!({ "N": "1000" }));
    }
    let (stop, next) = (AtomicBool::new(false), AtomicU64::new(60));
    let mut repaired = Vec::new();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| record_calls(&service, &next, &stop));
        }
        scope.spawn(|| runtime.block_on(move_leads(&operator, &stop)));
        (0..3).for_each(|_| repaired.extend(mended(&bench)));
        stop.store(true, Ordering::Relaxed);
    });
    println!("{repaired:?} were repaired amid {next:?} calls");
    repaired.extend(mended(&bench));
    repaired.sort();
    assert_eq!(
        repaired,
        damaged.map(|class| format!("acme#lead-total#0 {class}"))
    );
    assert_clean(&bench);
    assert_eq!(counted(&bench), bench.partition("acme#lead").len());
}
