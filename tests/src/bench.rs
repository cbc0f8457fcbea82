//! Support of the benchmarks: sizes and the table of growth here; below, the cost of endpoints. [`uses`] are
//! sent from a [`desk`], recorded by a [`wire`], broken down in a [`bill`] by the rules of [`item`], and
//! compared as a [`row`] with their [`target`].

#![expect(clippy::print_stdout, reason = "a benchmark says what it measured")]

pub mod bill;
pub mod ceiling;
pub mod desk;
pub mod item;
pub mod row;
pub mod target;
pub mod uses;
pub mod wire;

use std::collections::BTreeMap;
use std::fmt;

use shared::store::Cost;

/// Read units that do not count as growth: longer ids make entries longer, which may start another 4 KB.
const BEGUN: f64 = 1.0;

/// Default sizes.
const SIZES: [u64; 3] = [1_000, 10_000, 100_000];

/// The sizes of the command line, or the defaults.
#[must_use]
pub fn sizes() -> Vec<u64> {
    let named: Vec<u64> = std::env::args().filter_map(|size| size.parse().ok()).collect();
    if named.is_empty() { SIZES.to_vec() } else { named }
}

/// The cost of each piece of work at each size.
#[derive(Debug, Default)]
pub struct Table {
    names: Vec<String>,
    cells: BTreeMap<(String, u64), Cell>,
}

#[derive(Debug)]
struct Cell {
    round_trips: u32,
    calls: usize,
    read_units: f64,
    write_units: f64,
    seconds: f64,
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            round_trips,
            calls,
            read_units,
            write_units,
            seconds,
        } = self;
        write!(
            f,
            "{round_trips} / {calls} / {read_units} / {write_units} ({seconds:.3} s)"
        )
    }
}

impl Table {
    /// Adds a cost, with the seconds on this machine.
    pub fn add(&mut self, name: &str, size: u64, cost: &Cost, seconds: f64) {
        if !self.names.iter().any(|known| known == name) {
            self.names.push(name.to_owned());
        }
        let cell = Cell {
            round_trips: cost.round_trips,
            calls: cost.calls.len(),
            read_units: cost.read_units(),
            write_units: cost.write_units(),
            seconds,
        };
        self.cells.insert((name.to_owned(), size), cell);
    }

    /// The work among `names` whose calls or read units grow by more than the factor `most` over `sizes`,
    /// with a tolerance of one unit.
    #[must_use]
    pub fn grown(&self, names: &[&str], sizes: &[u64], most: f64) -> Vec<String> {
        let mut grown = Vec::new();
        for name in names {
            let mut cells = sizes
                .iter()
                .filter_map(|size| self.cells.get(&((*name).to_owned(), *size)));
            let Some(first) = cells.next() else {
                grown.push(format!("{name}: not measured"));
                continue;
            };
            if let Some(cell) = cells.find(|cell| cell.is_more_than(first, most)) {
                grown.push(format!("{name}: {cell}, where it was {first}"));
            }
        }
        grown
    }

    /// Whether work cost more than `most` times the read units of other work at the same size, or was not
    /// measured.
    #[must_use]
    pub fn is_dearer(&self, size: u64, work: &str, than: &str, most: f64) -> bool {
        let units = |name: &str| {
            self.cells
                .get(&(name.to_owned(), size))
                .map(|cell| cell.read_units)
        };
        units(work)
            .zip(units(than))
            .is_none_or(|(work, than)| work > than * most)
    }

    /// Prints the table in the order of insertion.
    pub fn print(&self, sizes: &[u64]) {
        println!("\nsequential round trips / calls / read units / write units (time on this machine)\n");
        let heads: Vec<_> = sizes.iter().map(u64::to_string).collect();
        println!("| work | {} |", heads.join(" | "));
        println!("| --- |{}", " --- |".repeat(sizes.len()));
        for name in &self.names {
            let cells = sizes.iter().map(|size| self.cells.get(&(name.clone(), *size)));
            let cells: Vec<_> = cells
                .map(|cell| cell.map_or(String::new(), Cell::to_string))
                .collect();
            println!("| {name} | {} |", cells.join(" | "));
        }
    }
}

impl Cell {
    fn is_more_than(&self, first: &Self, most: f64) -> bool {
        let calls = |cell: &Self| f64::from(u32::try_from(cell.calls).unwrap_or(u32::MAX));
        self.read_units - BEGUN > first.read_units * most || calls(self) > calls(first) * most
    }
}
