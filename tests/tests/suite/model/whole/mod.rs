//! Random operations on the whole interface by users with different permissions; each response is compared
//! completely with the [reference], which implements only the contract.
//!
//! `WHOLE_OPERATIONS` and `MODEL_SEED` change length and seed. If service and reference differ, the recorded
//! operations are shrunk and printed, one per line; every run replays the files in `stored/`.

mod bench;
mod crash;
mod generate;
mod op;
mod reference;
mod setup;
mod shrink;

use serde_json::{Value, json};
use tests::{ACME, World};

use super::{Dice, from_environment};
use bench::{Bench, Command, Fault, Link};
use generate::Maker;
use op::{Ask, Op};

/// Operations of each of the two runs.
const OPERATIONS: u64 = 2_500;
/// Maximum operations on one instance, because each costs more as the instance grows.
const LIFE: u64 = 5_000;

/// A new instance of a service in this process.
async fn new() -> Bench {
    let mut bench = Bench::new(Link::Here(Box::new(World::empty().await)), ACME);
    bench.create().await.expect("the instance is created");
    bench
}

/// Executes an operation; returns the difference.
async fn difference(bench: &mut Bench, op: &Op) -> Option<String> {
    match bench.apply(op).await.err()? {
        Fault::Differs(difference) => Some(difference),
        Fault::Lost => unreachable!("the service is in this process"),
    }
}

/// The first difference when these operations run from the beginning.
async fn differs(ops: &[Op]) -> Option<String> {
    let mut bench = new().await;
    for op in ops {
        if let Some(difference) = difference(&mut bench, op).await {
            return Some(difference);
        }
    }
    None
}

/// Each instance of a run has its own seed.
async fn run(run: u64) {
    let (first, mut left) = (
        from_environment("MODEL_SEED", 20_261_121) + run,
        from_environment("WHOLE_OPERATIONS", OPERATIONS),
    );
    for seed in (first..).step_by(2) {
        let agreed = Box::pin(live(seed, left.min(LIFE))).await;
        assert!(agreed, "service and reference differ, as printed above");
        left = left.saturating_sub(LIFE);
        if left == 0 {
            return;
        }
    }
}

/// Whether service and reference agree; otherwise prints the shrunk operations.
async fn live(seed: u64, operations: u64) -> bool {
    let (dice, mut bench, mut done) = (Dice::new(seed), new().await, Vec::new());
    for _ in 0..operations {
        let maker = Maker {
            dice: &dice,
            reference: &bench.references[0],
            done: &done,
        };
        let next = maker.next();
        done.push(next);
        let last = done.last().expect("an operation");
        if let Some(difference) = difference(&mut bench, last).await {
            println!("seed {seed}, operation {}: {difference}", done.len());
            let short = shrink::shrink(done, async |ops: &[Op]| differs(ops).await.is_some()).await;
            let difference = differs(&short).await.unwrap_or_default();
            println!("{difference}\n{}", op::print(&short));
            return false;
        }
    }
    bench.command(Command::Examine).await.expect("it is examined");
    println!("seed {seed}: {operations} operations");
    true
}

#[tokio::test]
async fn first_run() {
    run(0).await;
}

#[tokio::test]
async fn second_run() {
    run(1).await;
}

/// Recordings of earlier differences.
#[tokio::test]
async fn stored_operations_no_longer_differ() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/suite/model/whole/stored");
    let mut files = 0;
    for file in std::fs::read_dir(folder).expect("the folder of recordings") {
        let path = file.expect("a file").path();
        let ops = op::parse(&std::fs::read_to_string(&path).expect("text"));
        assert!(!ops.is_empty(), "{} holds operations", path.display());
        assert_eq!(differs(&ops).await, None, "{}", path.display());
        files += 1;
    }
    assert!(files > 0, "there are recordings");
}

#[test]
fn recordings_round_trip() {
    let archive = Ask {
        by: 7,
        method: "POST".to_owned(),
        path: "/lead/archive".to_owned(),
        body: json!({ "archived": true, "id": 1001 }),
        key: Some("k1".to_owned()),
        walks: true,
    };
    let funnels = Ask {
        by: 8,
        method: "GET".to_owned(),
        path: "/crm".to_owned(),
        body: Value::Null,
        ..Ask::default()
    };
    let ops = [
        Op::Pass { seconds: 60 },
        Op::Tend { tend: true },
        Op::Issue { issue: 8 },
        Op::Revoke { revoke: 9 },
        Op::Ask(archive),
        Op::Ask(funnels),
    ];
    assert_eq!(op::parse(&op::print(&ops)), ops);
}
