//! The measurements as tables, and comparison with the targets.

use std::time::Duration;

use tests::template;

use super::program::{CLIENTS, Start};
use super::work::Work;

/// Minimum ratio of the start on Node.js with the SDK to that of the function.
const RATIO: f64 = 10.0;
/// Maximum memory of a function in bytes.
const MEMORY: u64 = 40_000_000;
/// Maximum size of a deployed function in bytes.
const ZIP: u64 = 5_000_000;

/// Measurements of a program.
#[derive(Debug, Clone, Default)]
pub struct Figures {
    /// Each start, by round.
    pub starts: Vec<Start>,
    /// Peak memory after the first response, over all starts, and after many responses.
    pub memory: (u64, u64),
    /// Size of the program in bytes, plain and compressed.
    pub size: (u64, u64),
}

impl Figures {
    /// Adds a start.
    pub fn note(&mut self, start: Start) {
        self.memory.0 = self.memory.0.max(start.used.memory);
        self.starts.push(start);
    }

    /// Medians of duration and processor time of a start, in milliseconds.
    fn medians(&self) -> (f64, f64) {
        let median = |of: fn(&Start) -> Duration| {
            let mut times: Vec<_> = self.starts.iter().map(of).collect();
            times.sort_unstable();
            times[times.len() / 2].as_secs_f64() * 1e3
        };
        (median(|start| start.wall), median(|start| start.used.processor))
    }
}

/// A function, and the same endpoint on Node.js with each client if it is compared.
#[derive(Debug)]
pub struct Row<'w> {
    pub work: &'w Work,
    pub rust: Figures,
    pub node: Vec<Figures>,
}

impl Row<'_> {
    fn name(&self) -> String {
        template::binary(self.work.function).replace("funil-", "")
    }

    fn start(&self) -> String {
        let own = self.rust.medians();
        let mut cells = Vec::new();
        for time in [
            |(wall, _): (f64, f64)| wall,
            |(_, processor): (f64, f64)| processor,
        ] {
            cells.push(format!("{:.1}", time(own)));
            for client in 0..CLIENTS.len() {
                let other = self.node.get(client).map(|node| time(node.medians()));
                let compared = other.map(|other| format!("{other:.0}, 1/{:.1}", other / time(own)));
                cells.push(compared.unwrap_or_else(|| "–".to_owned()));
            }
        }
        format!(
            "| `{}` | {} | {} |",
            self.name(),
            self.work.what,
            cells.join(" | ")
        )
    }

    fn footprint(&self) -> String {
        let (rust, node) = (&self.rust, self.node.first());
        let other = |of: fn(&Figures) -> u64| node.map_or_else(|| "–".to_owned(), |node| megabytes(of(node)));
        let cells = [
            megabytes(rust.memory.0),
            megabytes(rust.memory.1),
            other(|node| node.memory.0),
            megabytes(rust.size.0),
            megabytes(rust.size.1),
            other(|node| node.size.1),
        ];
        format!("| `{}` | {} |", self.name(), cells.join(" | "))
    }

    /// Missed targets.
    fn missed(&self) -> Vec<String> {
        let mut missed = Vec::new();
        let name = self.name();
        if let Some(node) = self.node.first() {
            let ratio = node.medians().0 / self.rust.medians().0;
            if ratio < RATIO {
                missed.push(format!(
                    "{name}: a start takes 1/{ratio:.1} of Node.js, not 1/{RATIO}"
                ));
            }
        }
        let most = self.rust.memory.0.max(self.rust.memory.1);
        if most > MEMORY {
            missed.push(format!(
                "{name}: {} MB of memory, more than {} MB",
                megabytes(most),
                megabytes(MEMORY)
            ));
        }
        if self.rust.size.1 > ZIP {
            let zip = megabytes(self.rust.size.1);
            missed.push(format!(
                "{name}: {zip} MB to deploy, more than {} MB",
                megabytes(ZIP)
            ));
        }
        missed
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a figure with one digit behind the point"
)]
fn megabytes(bytes: u64) -> String {
    format!("{:.1}", bytes as f64 / 1e6)
}

pub fn print(rows: &[Row<'_>], rounds: usize, events: u64) {
    println!(
        "\nFrom the start of the process to its first answer, medians of {rounds} rounds, in milliseconds:\n"
    );
    println!(
        "| function | endpoint | Rust | Node.js, SDK | Node.js, signer | processor: Rust | Node.js, SDK | Node.js, signer |"
    );
    println!("| --- | --- | --: | --: | --: | --: | --: | --: |");
    for row in rows {
        println!("{}", row.start());
    }
    println!(
        "\nThe most memory after the first answer and after {events} further events, and what is deployed, in MB:\n"
    );
    println!("| function | memory, first | … after all | Node.js, first | program | zip | Node.js, zip |");
    println!("| --- | --: | --: | --: | --: | --: | --: |");
    for row in rows {
        println!("{}", row.footprint());
    }
}

/// Missed targets.
pub fn missed(rows: &[Row<'_>]) -> Vec<String> {
    rows.iter().flat_map(Row::missed).collect()
}
