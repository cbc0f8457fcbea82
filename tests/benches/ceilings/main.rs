//! Requests a second that one instance sustains on a model of DynamoDB's limits ([`tests::limits`]), in simulated time:
//! 99 % within a second and no 5xx; and the kind of item that stops more.
//!
//! `cargo bench -p tests --bench ceilings` measures all kinds of work. Arguments select them by parts of their names, and
//! a number sets the milliseconds of a transaction [default: 15]: `cargo bench -p tests --bench ceilings -- 25 create`.
//! Exits with 1 if a target at 15 ms is missed.

#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a benchmark that meets what cannot be must stop, and says what it measured"
)]

mod work;

use std::process::ExitCode;
use std::sync::Mutex;
use std::time::Duration;

use tests::bench::ceiling::Ceiling;
use tests::limits::{Latency, Stop};
use tracing::subscriber::NoSubscriber;

use work::Work;

const ITEMS: &str = include_str!("../../../docs/access-patterns.md");
const CALL: Duration = Duration::from_millis(5);
const TRANSACTION: u64 = 15;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args()
        .skip(1)
        .filter(|name| !name.starts_with('-'))
        .collect();
    let (numbers, names): (Vec<_>, Vec<_>) = arguments.iter().partition(|name| name.parse::<u64>().is_ok());
    let transaction = numbers
        .first()
        .and_then(|number| number.parse().ok())
        .unwrap_or(TRANSACTION);
    let latency = Latency {
        call: CALL,
        transaction: Duration::from_millis(transaction),
    };
    // The log of a million requests would be most of the work.
    let _ = tracing::subscriber::set_global_default(NoSubscriber::new());
    let is_selected = |work: &Work| names.is_empty() || names.iter().any(|name| work.name().contains(*name));
    let selected: Vec<_> = Work::ALL.into_iter().filter(is_selected).collect();
    let ceilings = measure(&selected, latency);
    println!(
        "\nTransactions of {transaction} ms, other calls of {} ms\n",
        CALL.as_millis()
    );
    println!("| work | a second | 99 % within | stopped by |\n| --- | --- | --- | --- |");
    let mut missed = 0;
    for (work, ceiling) in selected.iter().zip(&ceilings) {
        println!("{}", row(*work, ceiling));
        if ceiling.rate < work.target() && transaction == TRANSACTION {
            eprintln!("missed: {}, target {}", work.name(), work.target());
            missed += 1;
        }
    }
    if missed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Measures each work on a thread, as many at a time as there are processors.
fn measure(selected: &[Work], latency: Latency) -> Vec<Ceiling> {
    let (next, done) = (Mutex::new(selected.iter().enumerate()), Mutex::new(Vec::new()));
    let measure = || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build();
        let runtime = runtime.expect("a runtime");
        loop {
            let taken = next.lock().expect("no thread panics").next();
            let Some((place, work)) = taken else { break };
            let ceiling = runtime.block_on(work.ceiling(latency));
            eprintln!("{}", row(*work, &ceiling));
            done.lock().expect("no thread panics").push((place, ceiling));
        }
    };
    std::thread::scope(|scope| {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        for _ in 0..processors {
            scope.spawn(measure);
        }
    });
    let mut done = done.into_inner().expect("no thread panics");
    done.sort_by_key(|(place, _)| *place);
    done.into_iter().map(|(_, ceiling)| ceiling).collect()
}

fn row(work: Work, ceiling: &Ceiling) -> String {
    let more = if ceiling.is_more { "≥ " } else { "" };
    let stop = ceiling.stop.as_ref().map_or_else(String::new, |(kind, stop)| {
        let why = match stop {
            Stop::Conflict => "conflicts",
            Stop::Writes => "write units",
            Stop::Reads => "read units",
        };
        format!("{}: {why}", named(kind))
    });
    let (rate, p99) = (ceiling.rate, ceiling.p99.as_millis());
    format!("| {} | {more}{rate} | {p99} ms | {stop} |", work.name())
}

/// The name of a kind of item in docs/access-patterns.md.
fn named(kind: &str) -> String {
    let (kind, sequence) = kind.split_once(' ').unwrap_or((kind, ""));
    let is_of = |row: &&str| {
        let key = row.split('|').nth(2).unwrap_or_default();
        let key = key.trim().trim_start_matches('`').trim_start_matches("<i>");
        let rest = key.strip_prefix('#').and_then(|key| key.strip_prefix(kind));
        rest.is_some_and(|rest| rest.starts_with(['#', '`']))
    };
    let row = ITEMS
        .lines()
        .find(is_of)
        .expect("docs/access-patterns.md has every item");
    let name = row.split('|').nth(1).unwrap_or_default().trim();
    if sequence.is_empty() {
        name.to_owned()
    } else {
        format!("{name} `{sequence}`")
    }
}
