//! Start and memory of each built function, and the start of some endpoints on Node.js for comparison.
//!
//! `tests/cold-start.sh` builds both and runs this. Each round starts every function once, then the same
//! endpoint on Node.js, each in its own process with one event under a Runtime API, and with one table
//! through TLS, all on this machine. The endpoints that are compared only read: both sides make the same reads and return
//! the same responses, which is verified ([`ground`]). Times depend on the machine; the target is their ratio.

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
use ground::Ground;
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
    let ground = Ground::new(&made).await;
    let mut rows = Vec::new();
    for work in &ALL {
        rows.push(starts(&made, work, &ground).await);
    }
    for row in &mut rows {
        row.rust.memory.1 = memory(&made, row.work, &ground).await;
    }
    figures::print(&rows, ROUNDS, EVENTS);
    let missed = figures::missed(&rows);
    for missed in &missed {
        println!("\nmissed: {missed}");
    }
    ExitCode::from(u8::from(!missed.is_empty()))
}

/// Starts all programs in turn. A first round is discarded: it loads the programs into the page cache and writes the compile caches.
async fn starts<'w>(made: &Made, work: &'w Work, ground: &Ground) -> Row<'w> {
    let function = Program::function(made, work);
    let others = Program::on_node(made, work);
    let with_size = |program: &Program| Figures {
        size: program.size(),
        ..Figures::default()
    };
    let (mut rust, mut node) = (
        with_size(&function),
        others.iter().map(with_size).collect::<Vec<_>>(),
    );
    for round in 0..=ROUNDS {
        let is_first = round == 0;
        let started = function.start(made, work, ground, is_first).await;
        for (program, figures) in others.iter().zip(&mut node) {
            let compared = program.start(made, work, ground, is_first).await;
            ground.same(work.what, &started.answer, &compared.answer);
            if !is_first {
                figures.note(compared.start);
            }
        }
        if !is_first {
            rust.note(started.start);
        }
    }
    Row { work, rust, node }
}

/// Peak memory of a function after repeated large responses.
async fn memory(made: &Made, work: &Work, ground: &Ground) -> u64 {
    let started = Program::function(made, work)
        .start(made, work, ground, false)
        .await;
    started.go_on(work, ground, EVENTS).await
}
