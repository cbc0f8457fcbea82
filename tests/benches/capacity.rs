//! The cost of every use of every endpoint, as a Markdown table: DynamoDB calls, sequential round trips,
//! units and the minimum of units. All values are exact and independent of the machine. Exits with 1 if a
//! target is missed.
//!
//! `cargo bench -p tests --bench capacity` measures all; arguments select groups of endpoints, in any case:
//! `cargo bench -p tests --bench capacity -- boards columns`.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a benchmark says what it measured, and what it found wanting"
)]

use std::process::ExitCode;

use tests::bench::row::table;
use tests::bench::uses::{Group, Scale};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let named: Vec<_> = std::env::args()
        .skip(1)
        .filter(|name| !name.starts_with('-'))
        .collect();
    let mut rows = Vec::new();
    for group in Group::ALL {
        let name = format!("{group:?}");
        if named.is_empty() || named.iter().any(|named| named.eq_ignore_ascii_case(&name)) {
            rows.extend(group.measure(Scale::Full).await);
        }
    }
    println!("{}", table(&rows));
    let misses: Vec<_> = rows.iter().flat_map(tests::bench::row::Row::misses).collect();
    for miss in &misses {
        eprintln!("missed: {miss}");
    }
    if misses.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
