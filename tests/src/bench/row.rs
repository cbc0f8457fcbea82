//! A measured use of an endpoint: comparison with its targets, and its line in a table.

use std::fmt::Write as _;

use serde_json::Value;

use super::bill::Bill;
use super::target::{BY_ITSELF, IN_TRANSACTION, LISTED, Line, Target};

/// The cost of one use.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The use and its targets.
    pub line: Line,
    /// Number of DynamoDB calls.
    pub calls: usize,
    /// Sequential round trips.
    pub round_trips: u32,
    /// Breakdown of the units.
    pub bill: Bill,
    /// Write units.
    pub write_units: f64,
}

/// Tolerance for floating-point ratios.
const HAIR: f64 = 1e-9;

impl Row {
    /// Read units for the response's items ÷ minimum; `None` without such items.
    #[must_use]
    pub fn read_ratio(&self) -> Option<f64> {
        (self.bill.least_read > 0.0).then(|| self.bill.answered / self.bill.least_read)
    }

    /// Write units ÷ minimum; `None` without writes.
    #[must_use]
    pub fn write_ratio(&self) -> Option<f64> {
        (self.bill.least_write > 0.0).then(|| self.write_units / self.bill.least_write)
    }

    /// Missed targets, and exceptions that are not needed.
    #[must_use]
    pub fn misses(&self) -> Vec<String> {
        let mut misses = Vec::new();
        let name = format!("{}: {}", self.line.endpoint, self.line.what);
        if self.round_trips > self.line.round_trips {
            let (trips, budget) = (self.round_trips, self.line.round_trips);
            misses.push(format!("{name}: {trips} round trips, not {budget}"));
        }
        let usual = self.line.target.map_or(0, Target::round_trips);
        if self.line.more_trips.is_some() && self.round_trips <= usual {
            misses.push(format!("{name}: the reason for more round trips is none"));
        }
        let beyond = self.read_ratio().is_some_and(|ratio| ratio > LISTED + HAIR);
        if beyond != self.line.more_units.is_some() {
            let ratio = self.read_ratio().unwrap_or_default();
            misses.push(format!(
                "{name}: {ratio:.2} times the least, where {LISTED} is the target"
            ));
        }
        let most = if self.bill.in_transaction {
            IN_TRANSACTION
        } else {
            BY_ITSELF
        };
        if let Some(ratio) = self.write_ratio().filter(|ratio| *ratio > most + HAIR) {
            misses.push(format!("{name}: {ratio:.2} times the least written, not {most}"));
        }
        misses
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

const HEAD: &str = "\
| use | trips | calls | read units | checking | finding | answered | least | ratio | write units | items | least | ratio |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
";

/// The rows as a Markdown table, followed by the reasons of exceptions.
#[must_use]
pub fn table(rows: &[Row]) -> String {
    let mut reasons: Vec<&str> = Vec::new();
    let mut text = HEAD.to_owned();
    for row in rows {
        let mut note = |reason: Option<&'static str>| {
            let Some(reason) = reason else {
                return String::new();
            };
            let place = reasons
                .iter()
                .position(|known| *known == reason)
                .unwrap_or_else(|| {
                    reasons.push(reason);
                    reasons.len() - 1
                });
            format!(" ({})", place + 1)
        };
        let (trips, units) = (note(row.line.more_trips), note(row.line.more_units));
        text.push_str(&row.text(&trips, &units));
    }
    for (place, reason) in reasons.iter().enumerate() {
        let _ = write!(text, "\n{}. {reason}", place + 1);
    }
    text
}

impl Row {
    fn text(&self, trips: &str, units: &str) -> String {
        let Self { line, bill, .. } = self;
        let ratio = |ratio: Option<f64>| ratio.map_or(String::new(), |ratio| format!("{ratio:.2}"));
        let reads = bill.checking + bill.finding + bill.answered;
        let least = match bill.shown {
            (0, _) => String::new(),
            (count, bytes) => format!("{} ({count} × {} B)", bill.least_read, bytes / count),
        };
        let items = match (bill.written, bill.checked) {
            (0, 0) => String::new(),
            (written, 0) => written.to_string(),
            (written, checked) => format!("{written} + {checked}"),
        };
        let least_write = if items.is_empty() {
            String::new()
        } else {
            bill.least_write.to_string()
        };
        format!(
            "| {}: {} | {}{trips} | {} | {reads} | {} | {} | {} | {least} | {}{units} | {} | {items} | {least_write} | {} |\n",
            line.endpoint,
            line.what,
            self.round_trips,
            self.calls,
            bill.checking,
            bill.finding,
            bill.answered,
            ratio(self.read_ratio()),
            self.write_units,
            ratio(self.write_ratio()),
        )
    }
}
