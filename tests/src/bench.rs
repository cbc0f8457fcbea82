//! What the benchmarks of growth share: the sizes that are measured, and the table that they print.

#![expect(clippy::print_stdout, reason = "a benchmark says what it measured")]

use std::collections::BTreeMap;

use shared::store::Cost;

/// The sizes that are measured where the command line names none.
const SIZES: [u64; 3] = [1_000, 10_000, 100_000];

/// The sizes that the command line names, or the usual ones.
#[must_use]
pub fn sizes() -> Vec<u64> {
    let named: Vec<u64> = std::env::args().filter_map(|size| size.parse().ok()).collect();
    if named.is_empty() { SIZES.to_vec() } else { named }
}

/// What each piece of work cost at each size.
#[derive(Debug, Default)]
pub struct Table {
    names: Vec<String>,
    cells: BTreeMap<(String, u64), String>,
}

impl Table {
    /// Notes what a piece of work cost, and how many seconds it took on this machine.
    pub fn add(&mut self, name: &str, size: u64, cost: &Cost, seconds: f64) {
        if !self.names.iter().any(|known| known == name) {
            self.names.push(name.to_owned());
        }
        let (trips, calls, read, written) = (
            cost.round_trips,
            cost.calls.len(),
            cost.read_units(),
            cost.write_units(),
        );
        let cell = format!("{trips} / {calls} / {read} / {written} ({seconds:.3} s)");
        self.cells.insert((name.to_owned(), size), cell);
    }

    /// Prints the table, in the order in which the work was noted.
    pub fn print(&self, sizes: &[u64]) {
        println!("\nsequential round trips / calls / read units / write units (time on this machine)\n");
        let heads: Vec<_> = sizes.iter().map(u64::to_string).collect();
        println!("| work | {} |", heads.join(" | "));
        println!("| --- |{}", " --- |".repeat(sizes.len()));
        for name in &self.names {
            let cells = sizes.iter().map(|size| self.cells.get(&(name.clone(), *size)));
            let cells: Vec<_> = cells.map(|cell| cell.map_or("", String::as_str)).collect();
            println!("| {name} | {} |", cells.join(" | "));
        }
    }
}
