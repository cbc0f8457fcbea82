//! The cost of every use of every endpoint, as tables in files: requests, with their exact figures.
//!
//! A section `= TITLE` is an instance of its own; `at 1000 4000` names its sizes, `then 100000` those that only `EVERY_CASE`
//! measures, `unrecorded` that SQLite holds it. A line `+ STEP` is a step of the [`Desk`]; a row `| USE | REQUEST | ITEMS | …` a
//! use, whose name begins with its endpoint. Items are those of the response: `board`, or `word 40` for 40 of which all must be
//! read. `=> /data/total 40` after a request is required of its response. A figure that depends on the size is one for each size.
//! A row that misses a target names its reason, which a line `! NAME: TEXT` states.

#![expect(
    clippy::expect_used,
    clippy::missing_panics_doc,
    clippy::print_stdout,
    reason = "a measurement that meets a malformed table must stop, and prints the sizes that the table does not have"
)]

use std::fmt::Write as _;

use serde_json::Value;

use super::bill::{Bill, Made};
use super::desk::{Desk, Sent};

/// Maximum read units of the response's items ÷ minimum.
pub const LISTED: f64 = 1.15;
/// Maximum write units ÷ minimum in a transaction, which is billed twice.
pub const IN_TRANSACTION: f64 = 2.2;
/// Maximum write units ÷ minimum of a write outside a transaction.
pub const BY_ITSELF: f64 = 1.1;
/// Maximum figure at a further size ÷ the figure that is the same at all sizes of the table, apart from a unit: longer ids
/// make entries longer, which may start another 4 KB.
pub const GROWTH: f64 = 1.05;
/// Tolerance for floating-point ratios.
const HAIR: f64 = 1e-9;

/// Maximum sequential round trips of a use.
#[must_use]
pub fn most_trips(endpoint: &str) -> f64 {
    match endpoint {
        "2" | "3" | "4" | "9" | "11" | "14" | "15" | "16" | "17" | "18" => 1.0,
        _ => 2.0,
    }
}

/// A row of a table.
#[derive(Debug, Clone)]
pub struct Use {
    /// Endpoint and use.
    pub name: String,
    request: String,
    items: String,
    /// Status, round trips, calls, read units and write units, at one or each size.
    pub cells: Vec<String>,
    /// Name of the reason for missing a target.
    pub why: String,
}

impl Use {
    /// A row, if the line is one.
    #[must_use]
    pub fn parse(line: &str) -> Option<Self> {
        let mut cells = line
            .strip_prefix("| ")?
            .split('|')
            .map(|cell| cell.trim().to_owned());
        let mut next = || cells.next().unwrap_or_default();
        let (name, request, items) = (next(), next(), next());
        Some(Self {
            name,
            request,
            items,
            cells: std::iter::repeat_with(&mut next).take(5).collect(),
            why: next(),
        })
    }

    fn endpoint(&self) -> &str {
        self.name.split(": ").next().unwrap_or_default()
    }

    fn line(&self) -> String {
        let Self {
            name,
            request,
            items,
            cells,
            why,
        } = self;
        format!("| {name} | {request} | {items} | {} | {why} |", cells.join(" | "))
    }
}

/// A use at a size.
struct Measured {
    row: Use,
    /// Missed targets.
    misses: Vec<String>,
    /// A wrong value in the response.
    wrong: Option<String>,
}

struct Section<'t> {
    sizes: Vec<u64>,
    more: Vec<u64>,
    is_recorded: bool,
    lines: Vec<&'t str>,
}

impl<'t> Section<'t> {
    fn parse(lines: Vec<&'t str>) -> Self {
        let mut section = Self {
            sizes: Vec::new(),
            more: Vec::new(),
            is_recorded: true,
            lines,
        };
        let title = section.lines.first().copied().unwrap_or_default();
        let mut words = title
            .rsplit_once(" at ")
            .map_or("", |(_, sizes)| sizes)
            .split_whitespace();
        let mut is_more = false;
        for word in words.by_ref() {
            match word.parse() {
                Ok(size) if is_more => section.more.push(size),
                Ok(size) => section.sizes.push(size),
                Err(_) if word == "then" => is_more = true,
                Err(_) => section.is_recorded = false,
            }
        }
        if section.sizes.is_empty() {
            section.sizes.push(0);
        }
        section
    }

    /// The uses with their figures at a size.
    async fn measure(&self, size: u64) -> Vec<Measured> {
        let mut desk = Desk::open(size, self.is_recorded).await;
        let mut measured = Vec::new();
        for line in &self.lines {
            if let Some(step) = line.strip_prefix("+ ") {
                desk.step(step).await;
            } else if let Some(mut one) = Use::parse(line) {
                let (request, expected) = one.request.split_once(" => ").unwrap_or((&one.request, ""));
                let sent = desk.send(request).await;
                let (misses, wrong) = (one.misses(&desk, &sent), unlike(&desk, &sent.body, expected));
                let figures = sent.figures.map(|figure| figure.to_string());
                one.cells = std::iter::once(sent.status.to_string()).chain(figures).collect();
                measured.push(Measured {
                    row: one,
                    misses,
                    wrong,
                });
            }
        }
        measured
    }
}

fn unlike(desk: &Desk, body: &Value, expected: &str) -> Option<String> {
    let (pointer, number) = expected.split_once(' ')?;
    let found = body.pointer(pointer).and_then(Value::as_u64);
    (found != Some(desk.number(number))).then(|| format!("{pointer}: {found:?}, not {number}"))
}

impl Use {
    /// Missed targets.
    fn misses(&self, desk: &Desk, sent: &Sent) -> Vec<String> {
        let mut misses = Vec::new();
        let most = most_trips(self.endpoint());
        if sent.status != 0 && sent.figures[0] > most {
            misses.push(format!("{} round trips, not {most}", sent.figures[0]));
        }
        if let Some(exchanges) = &sent.exchanges {
            let (kind, count) = self.items.split_once(' ').unwrap_or((&self.items, ""));
            let made = match (kind, count) {
                ("", _) => Made::OfNothing,
                (kind, "") => Made::Of(kind),
                (kind, count) => Made::From(kind, usize::try_from(desk.number(count)).unwrap_or_default()),
            };
            let bill = Bill::of(&sent.cost, exchanges, made, &lists(&sent.body));
            let read = bill.answered / bill.least_read;
            if bill.least_read > 0.0 && read > LISTED + HAIR {
                misses.push(format!("{read:.2} times the least read, not {LISTED}"));
            }
            let most = if bill.in_transaction {
                IN_TRANSACTION
            } else {
                BY_ITSELF
            };
            let written = sent.figures[3] / bill.least_write;
            if bill.least_write > 0.0 && written > most + HAIR {
                misses.push(format!("{written:.2} times the least written, not {most}"));
            }
        }
        misses
    }

    /// The rows of each size as one, and figures that grow from there to further sizes.
    fn merged(sizes: &[&Self], more: &[&Self]) -> (Self, Vec<String>) {
        let mut row = Self::clone(sizes.first().expect("a size"));
        let mut grown = Vec::new();
        for at in 0..row.cells.len() {
            let mut figures: Vec<_> = sizes.iter().map(|row| row.cells[at].as_str()).collect();
            figures.dedup();
            if let [figure] = figures[..] {
                let figure: f64 = figure.parse().expect("a number");
                for row in more {
                    let later: f64 = row.cells[at].parse().expect("a number");
                    if later - 1.0 > figure * GROWTH {
                        grown.push(format!("{later} where it was {figure}"));
                    }
                }
            } else {
                figures = sizes.iter().map(|row| row.cells[at].as_str()).collect();
            }
            row.cells[at] = figures.join(" ");
        }
        (row, grown)
    }
}

/// Lengths of a response's lists: of each column of a board, else at most one list.
#[must_use]
pub fn lists(body: &Value) -> Vec<usize> {
    let length = |list: &Value| list.as_array().map(Vec::len);
    match body {
        Value::Array(records) if records.iter().any(|record| record.get("items").is_some()) => records
            .iter()
            .filter_map(|column| length(&column["items"]))
            .collect(),
        Value::Array(records) => vec![records.len()],
        _ => {
            let data = body["data"].as_object().into_iter().flatten();
            // A single object is a list of one.
            let found = data.map(|(_, value)| (length(value), value.is_object()));
            let found = found.filter_map(|(many, is_one)| many.or_else(|| is_one.then_some(1)));
            found.take(1).collect()
        }
    }
}

/// The table with the figures of this build, and its faults.
pub async fn measure(table: &str, every_size: bool) -> (String, Vec<String>) {
    let mut sections: Vec<Vec<&str>> = vec![Vec::new()];
    for line in table.lines() {
        if line.starts_with("= ") {
            sections.push(Vec::new());
        }
        sections.last_mut().expect("a section").push(line);
    }
    let (mut text, mut faults) = (String::new(), Vec::new());
    for lines in sections {
        Section::parse(lines)
            .judge(every_size, &mut text, &mut faults)
            .await;
    }
    (text, faults)
}

impl Section<'_> {
    /// Adds the section with the figures of this build, and its faults.
    async fn judge(&self, every_size: bool, text: &mut String, faults: &mut Vec<String>) {
        let has_uses = self.lines.iter().any(|line| line.starts_with("| "));
        let (mut sizes, mut more) = (Vec::new(), Vec::new());
        for size in self.sizes.iter().filter(|_| has_uses) {
            sizes.push(self.measure(*size).await);
        }
        for size in self.more.iter().filter(|_| has_uses && every_size) {
            more.push(self.measure(*size).await);
        }
        let mut place = 0;
        for line in &self.lines {
            if Use::parse(line).is_none() {
                let _ = writeln!(text, "{line}");
                continue;
            }
            let runs: Vec<_> = sizes.iter().chain(&more).map(|run| &run[place]).collect();
            let rows: Vec<_> = runs.iter().map(|run| &run.row).collect();
            let (row, mut found) = Use::merged(&rows[..sizes.len()], &rows[sizes.len()..]);
            found.extend(runs.iter().filter_map(|run| run.wrong.clone()));
            let misses: Vec<_> = runs.iter().flat_map(|run| &run.misses).cloned().collect();
            match (misses.is_empty(), row.why.is_empty()) {
                (true, false) => found.push("it misses no target, so it needs no reason".to_owned()),
                (false, true) => found.extend(misses),
                _ => {}
            }
            faults.extend(found.into_iter().map(|fault| format!("{}: {fault}", row.name)));
            let _ = writeln!(text, "{}", row.line());
            for row in &rows[sizes.len()..] {
                println!("{}", row.line());
            }
            place += 1;
        }
    }
}
