//! A doctor during many concurrent writes.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use operator::Operator;
use operator::kinds::{Dated, Leads, Opportunities};
use serde_json::{Value, json};
use shared::ids::{CompanyId, LeadId, UserId};
use shared::lead::Lead;
use shared::opportunity::Opportunity;
use shared::time::Timestamp;
use tokio::runtime::{Builder, Runtime};

use super::{assert_clean, bench, repair};
use crate::support::Bench;

/// `funil serve` on the bench's engine.
struct Service {
    child: Child,
    address: String,
}

impl Service {
    fn start(bench: &Bench) -> Self {
        let mut serve = bench.command("serve --port 0 --empty");
        let mut child = serve
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap())
            .lines()
            .map(Result::unwrap);
        let ready = lines.find(|line| line.starts_with("listening on "));
        let address = ready.unwrap().split("http://").nth(1).unwrap().to_owned();
        Self { child, address }
    }

    /// A call from one of many numbers.
    fn call(&self, number: u64) {
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
        assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Ids of leads and opportunities. There are more of each than one query reads, so that a count takes a while.
const FIRST: u64 = 101;
const LAST: u64 = 1110;

/// A lead in a round.
fn lead(id: u64, round: u64) -> Dated<Lead> {
    let time = Timestamp::parse("2026-01-01T00:00:00Z").unwrap();
    let lead = Lead {
        owner: UserId::new(7 + (id + round) % 2),
        phone: Some(format!("55119870{id:05}")),
        archived: id.is_multiple_of(3),
        ..Lead::new(LeadId::new(id).unwrap(), time)
    };
    lead.into()
}

/// An opportunity in a round. The column changes every second round and the value in every round. The status changes
/// only for user 7.
fn opportunity(id: u64, round: u64) -> Dated<Opportunity> {
    let moves = id.is_multiple_of(2);
    let gained = moves && (id + round).is_multiple_of(3);
    let date = if moves {
        "2026-09-04T09:30:00.000Z"
    } else {
        "2026-09-05T09:30:00.000Z"
    };
    let line = json!({
        "id": id, "title": "Pedido", "crm_id": 3, "crm_column": 31 + (id / 2 + round / 2) % 2,
        "user": if moves { 7 } else { 8 }, "status": if gained { "gain" } else { "open" }, "value": id + round,
        "archived": u64::from(id.is_multiple_of(7)), "lead_id": if id.is_multiple_of(4) { 2 } else { 1 },
        "createDate": date, "updateDate": date,
    });
    serde_json::from_value::<Opportunity>(line).unwrap().into()
}

/// Imports leads and opportunities at both ends of the ids, new opportunities, and a lead with many opportunities,
/// which get copies of the lead.
async fn write(operator: &Operator, stop: &AtomicBool) {
    let time = Timestamp::parse("2026-01-01T00:00:00Z").unwrap();
    for round in 1_u64.. {
        for id in (0..6).flat_map(|at| [FIRST + at, LAST - at]) {
            if stop.load(Ordering::Relaxed) {
                return;
            }
            operator.import::<Leads>(&[lead(id, round)], true).await.unwrap();
            let opportunities = [opportunity(id, round)];
            operator
                .import::<Opportunities>(&opportunities, true)
                .await
                .unwrap();
        }
        let new = [opportunity(LAST + round, round)];
        operator.import::<Opportunities>(&new, true).await.unwrap();
        let changed = Lead {
            city: Some(format!("City {round}")),
            company: CompanyId::new(2),
            ..Lead::new(LeadId::new(2).unwrap(), time)
        };
        operator.import::<Leads>(&[changed.into()], true).await.unwrap();
        operator.refresh_copies().await.unwrap();
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Calls from new and known numbers.
fn record_calls(service: &Service, next: &AtomicU64, stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        let number = next.fetch_add(1, Ordering::Relaxed);
        service.call(if number.is_multiple_of(4) {
            number % 50
        } else {
            number
        });
    }
}

/// Repairs under load, and returns the repaired items. Only findings that ask for another run may remain.
fn mended(bench: &Bench) -> Vec<String> {
    let seen = repair(bench).document();
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

/// Sums of the totals in some partitions, including the shares of restricted records.
fn sums(bench: &Bench, partitions: [&str; 2], name: &str) -> u64 {
    let is_part = |part: &str| part == name || part.starts_with(&format!("{name}."));
    let totals = partitions.into_iter().flat_map(|pk| bench.partition(pk));
    // Users' totals of a board count the same as those of columns.
    let totals = totals.filter(|total| !total["sk"]["S"].as_str().unwrap().starts_with("user#"));
    let numbers = totals.map(|total| {
        let parts = total
            .as_object()
            .unwrap()
            .iter()
            .filter(|(part, _)| is_part(part));
        let numbers = parts.map(|(_, number)| number["N"].as_str().unwrap().parse::<u64>().unwrap());
        numbers.sum::<u64>()
    });
    numbers.sum()
}

/// Adds leads and their opportunities.
fn stock(runtime: &Runtime, operator: &Operator) {
    for first in (FIRST..LAST).step_by(505) {
        let ids = || first..first + 505;
        let leads: Vec<_> = ids().map(|id| lead(id, 0)).collect();
        runtime.block_on(operator.import::<Leads>(&leads, false)).unwrap();
        let opportunities: Vec<_> = ids().map(|id| opportunity(id, 0)).collect();
        let import = operator.import::<Opportunities>(&opportunities, false);
        runtime.block_on(import).unwrap();
    }
}

/// Damaged totals: partition key, sort key, number.
const DAMAGED: [(&str, &str, &str); 7] = [
    ("acme#board-rank#3#31#0", "2912195#0", "n.8#open"),
    ("acme#board-total#3#0", "column#31#-", "n.gain"),
    ("acme#board-total#3#0", "column#32#-", "n.open"),
    ("acme#board-total#3#0", "user#8#3#-", "c.31#open"),
    ("acme#lead-total#0", "none.0", "n"),
    ("acme#lead-total#0", "none.1", "n"),
    ("acme#lead-total#0", "none.5", "n"),
];

/// Compares the sums of totals with the records.
fn assert_totals(bench: &Bench) {
    let leads = ["acme#lead-total#0", "acme#lead-total#1"];
    assert_eq!(sums(bench, leads, "n"), bench.partition("acme#lead").len() as u64);
    let cents = |record: &Value| {
        let card: Value = serde_json::from_str(record["card"]["S"].as_str().unwrap()).unwrap();
        let value = card["o"]["value"].as_str().unwrap().replace('.', "");
        value.parse::<u64>().unwrap()
    };
    let boards = ["acme#board-total#3#0", "acme#board-total#3#1"];
    let opportunities = bench.partition("acme#opportunity");
    let stored = (opportunities.len() as u64, opportunities.iter().map(cents).sum());
    assert_eq!((sums(bench, boards, "n"), sums(bench, boards, "c")), stored);
}

/// The doctor repairs the totals that were damaged before, each once, and nothing else, because all other totals, all
/// entries and all copies without a marker are right at every moment.
#[test]
fn a_doctor_amid_a_storm_changes_nothing_that_is_right() {
    let bench = bench();
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let operator = runtime.block_on(bench.operator());
    stock(&runtime, &operator);
    let service = Service::start(&bench);
    (0..60).for_each(|number| service.call(number));
    for (pk, sk, name) in DAMAGED {
        bench.set(pk, sk, name, &json!({ "N": "50000" }));
    }
    let (stop, next) = (AtomicBool::new(false), AtomicU64::new(60));
    let mut repaired = Vec::new();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| record_calls(&service, &next, &stop));
        }
        scope.spawn(|| runtime.block_on(write(&operator, &stop)));
        (0..2).for_each(|_| repaired.extend(mended(&bench)));
        stop.store(true, Ordering::Relaxed);
    });
    println!("{repaired:?} were repaired amid {next:?} calls");
    repaired.extend(mended(&bench));
    repaired.sort();
    assert_eq!(repaired, DAMAGED.map(|(pk, sk, _)| format!("{pk} {sk}")));
    assert_clean(&bench);
    assert_totals(&bench);
}
