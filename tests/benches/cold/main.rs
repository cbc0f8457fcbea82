//! Start and memory of each built function, compared with the same endpoint on Node.js.
//!
//! `tests/cold-start.sh` builds both and runs this. Each round starts every function once, then the same
//! endpoint on Node.js, each in its own process with one event under a Runtime API, and with its table
//! through TLS, all on this machine. Both make the same reads and writes and return the same responses, which
//! is verified ([`ground`]). Times depend on the machine; the target is their ratio.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a benchmark that meets what cannot be must stop, says what it measured, and looks at the system's clock"
)]

mod data;
mod figures;
mod ground;
mod program;
mod tls;
mod work;

use std::process::ExitCode;

use figures::{Figures, Row};
use ground::Twins;
use program::{Made, Program};
use work::{ALL, Work};

/// Starts of each program, for the medians.
const ROUNDS: usize = 21;
/// Events after the first, for the memory.
const EVENTS: u64 = 200;

#[tokio::main]
async fn main() -> ExitCode {
    let Some(made) = Made::named() else {
        println!(
            "start and memory of the functions: tests/cold-start.sh builds what is measured, and runs this"
        );
        return ExitCode::SUCCESS;
    };
    if made.node.is_none() {
        println!("without Node.js the functions are measured alone");
    }
    let twins = Twins::new(&made).await;
    let mut rows = Vec::new();
    for work in &ALL {
        rows.push(starts(&made, work, &twins).await);
    }
    if made.node.is_some() {
        twins.alike();
    }
    for row in &mut rows {
        row.rust.memory.1 = memory(&made, row.work, &twins).await;
    }
    figures::print(&rows, ROUNDS, EVENTS);
    let missed = figures::missed(&rows);
    for missed in &missed {
        println!("\nmissed: {missed}");
    }
    ExitCode::from(u8::from(!missed.is_empty()))
}

/// Starts both in turn. A first round is discarded: it loads the programs into the page cache.
async fn starts<'w>(made: &Made, work: &'w Work, twins: &Twins) -> Row<'w> {
    let function = Program::function(made, work);
    let other = Program::node(made, work);
    let with_size = |program: &Program| Figures {
        size: program.size(),
        ..Figures::default()
    };
    let (mut rust, mut node) = (with_size(&function), other.as_ref().map(with_size));
    for round in 0..=ROUNDS {
        let started = function.start(made, work, &twins.rust).await;
        let compared = match &other {
            Some(program) => Some(program.start(made, work, &twins.node).await),
            None => None,
        };
        if let Some(compared) = &compared {
            twins.same(work.what, &started.answer, &compared.answer);
        }
        if round > 0 {
            rust.note(started.start);
            node.iter_mut()
                .zip(&compared)
                .for_each(|(node, compared)| node.note(compared.start));
        }
    }
    Row { work, rust, node }
}

/// Peak memory of a function after repeated large responses.
async fn memory(made: &Made, work: &Work, twins: &Twins) -> u64 {
    let started = Program::function(made, work).start(made, work, &twins.rust).await;
    started.go_on(work, &twins.rust, EVENTS).await
}
