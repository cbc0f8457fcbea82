//! A doctor beside opportunities that come, move, and change their values, and beside a lead that changes under them.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use serde_json::{Value, json};
use shared::id::{CompanyId, LeadId};
use shared::lead::Lead;
use shared::opportunity::Opportunity;
use shared::store::operator::{Operator, OpportunityLine};
use shared::time::Timestamp;

use super::assert_clean;
use super::boards::{bench, opportunity, runtime};
use super::storm::mended;
use crate::support::Bench;

/// More than one query reads, so that a count takes a while.
const OPPORTUNITIES: u64 = 1100;

/// An opportunity as a round finds it. Those of user 8 come and stay; those of user 7 are now here, now there, and never
/// worth the same.
fn line(id: u64, round: u64) -> OpportunityLine {
    let moves = id.is_multiple_of(2);
    let gained = moves && (id + round).is_multiple_of(3);
    let but = json!({
        "user": if moves { 7 } else { 8 },
        "createDate": if moves { "2026-09-04T09:30:00.000Z" } else { "2026-09-05T09:30:00.000Z" },
        "crm_column": 31 + (id / 2 + round / 2) % 2,
        "value": id + round,
        "status": if gained { "gain" } else { "open" },
        "archived": u64::from(id.is_multiple_of(7)),
        "lead_id": if id.is_multiple_of(4) { 2 } else { 1 },
    });
    let opportunity: Opportunity = serde_json::from_value(opportunity(id, &but)).unwrap();
    opportunity.into()
}

/// Opportunities from both ends move, and new ones come.
async fn move_opportunities(operator: &Operator, next: &AtomicU64, stop: &AtomicBool) {
    for round in 1_u64.. {
        let moved = [4, 6, 8, OPPORTUNITIES - 4, OPPORTUNITIES - 2, OPPORTUNITIES];
        let new = next.fetch_add(1, Ordering::Relaxed);
        for id in moved.into_iter().chain([new]) {
            if stop.load(Ordering::Relaxed) {
                return;
            }
            let lines = vec![line(id, round)];
            operator.import_opportunities(lines, true).await.unwrap();
        }
    }
}

/// A lead of many opportunities changes, and the copies follow.
async fn change_lead(operator: &Operator, stop: &AtomicBool) {
    let time = Timestamp::parse("2026-01-01T00:00:00Z").unwrap();
    for round in 0_u64.. {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        let lead = Lead {
            city: Some(format!("City {round}")),
            company: CompanyId::new(2),
            ..Lead::new(LeadId::new(2).unwrap(), time)
        };
        operator.import_leads(vec![lead.into()], true).await.unwrap();
        operator.refresh_copies().await.unwrap();
    }
}

/// What the totals of all columns add up to, and what the opportunities do.
fn sums(bench: &Bench) -> [(u64, u64); 2] {
    let part = |item: &Value, name: &str| item[name]["N"].as_str().unwrap_or("0").parse::<u64>().unwrap();
    let number = |item: &Value, name: &str| part(item, name) + part(item, &format!("{name}.restricted"));
    let totals = ["acme#board-total#3#0", "acme#board-total#3#1"].map(|pk| bench.partition(pk));
    let totals = totals
        .iter()
        .flatten()
        .map(|total| (number(total, "n"), number(total, "c")));
    let cents = |record: &Value| {
        let card: Value = serde_json::from_str(record["card"]["S"].as_str().unwrap()).unwrap();
        card["o"]["value"]
            .as_str()
            .unwrap()
            .replace('.', "")
            .parse::<u64>()
            .unwrap()
    };
    let records = bench.partition("acme#opportunity");
    let add = |(n, c): (u64, u64), (count, cents)| (n + count, c + cents);
    [
        totals.fold((0, 0), add),
        records.iter().map(|record| (1, cents(record))).fold((0, 0), add),
    ]
}

/// The doctor repairs the totals that were damaged before, each once, and nothing else: all others, all entries and all
/// copies without a notice are right at every moment.
#[test]
fn a_doctor_amid_a_storm_of_opportunities() {
    let bench = bench();
    let runtime = runtime();
    let operator = runtime.block_on(bench.operator());
    for first in (4..=OPPORTUNITIES).step_by(500) {
        let lines = (first..(first + 500).min(OPPORTUNITIES + 1))
            .map(|id| line(id, 0))
            .collect();
        runtime
            .block_on(operator.import_opportunities(lines, false))
            .unwrap();
    }
    let damaged = [
        ("acme#board-rank#3#31#0", "2912195#0", "n.8#open"),
        ("acme#board-total#3#0", "31#7#gain", "n"),
        ("acme#board-total#3#0", "31#8#open", "c"),
        ("acme#board-total#3#0", "32#8#open", "n"),
    ];
    for (pk, sk, name) in damaged {
        bench.set(pk, sk, name, &json!({ "N": "50000" }));
    }
    let (stop, next) = (AtomicBool::new(false), AtomicU64::new(OPPORTUNITIES + 1));
    let mut repaired = Vec::new();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            runtime.block_on(async {
                tokio::join!(
                    move_opportunities(&operator, &next, &stop),
                    change_lead(&operator, &stop)
                );
            });
        });
        (0..3).for_each(|_| repaired.extend(mended(&bench)));
        stop.store(true, Ordering::Relaxed);
    });
    println!("{repaired:?} were repaired amid {next:?} opportunities");
    repaired.extend(mended(&bench));
    repaired.sort();
    assert_eq!(repaired, damaged.map(|(pk, sk, _)| format!("{pk} {sk}")));
    assert_clean(&bench);
    let [totals, records] = sums(&bench);
    assert_eq!(totals, records);
}
