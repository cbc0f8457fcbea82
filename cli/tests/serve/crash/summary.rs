//! Counts the requests of each kind in a run, by outcome.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::ledger::{Fate, Ledger};

/// Outcomes of a kind of write.
#[derive(Debug, Default, Clone, Copy)]
struct Row {
    acknowledged: u64,
    refused: u64,
    /// Interrupted, and done all the same.
    cut_off_done: u64,
    /// Interrupted and not done.
    cut_off_undone: u64,
}

/// The table of all kinds.
#[derive(Debug, Default)]
pub struct Summary {
    rows: BTreeMap<&'static str, Row>,
    /// Rounds.
    pub rounds: u64,
    /// Starts killed before the service was ready.
    pub starts: u64,
    /// Repeated requests with a key.
    pub repeated: u64,
    /// Kills during automations, and kills during the erasure of deleted leads.
    pub automating: u64,
    pub erasing: u64,
    /// Scans of report refreshes interrupted by kills.
    walks: BTreeSet<String>,
}

impl Summary {
    /// Adds the outcomes of a ledger.
    pub fn add(&mut self, ledger: &Ledger) {
        for request in &ledger.requests {
            let row = self.rows.entry(request.deed.kind()).or_default();
            match (&request.fate, request.acknowledged()) {
                (Fate::Answered(_), Some(_)) => row.acknowledged += 1,
                (Fate::Answered(_), None) => row.refused += 1,
                _ => {}
            }
            match request.cut_off {
                Some(true) => row.cut_off_done += 1,
                Some(false) => row.cut_off_undone += 1,
                None => {}
            }
        }
    }
}

impl Summary {
    /// Counts pending refreshes of reports. An interrupted refresh continues minutes later, after its claim expires,
    /// and counts once until then.
    pub fn note_walks(&mut self, items: &[String]) {
        let walks = items.iter().filter(|item| item.contains("demo#report-walk"));
        self.walks.extend(walks.cloned());
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "| write | acknowledged | refused | cut off, done | cut off, not done |"
        )?;
        writeln!(f, "| --- | --- | --- | --- | --- |")?;
        for (kind, row) in &self.rows {
            let Row {
                acknowledged,
                refused,
                cut_off_done,
                cut_off_undone,
            } = row;
            writeln!(
                f,
                "| {kind} | {acknowledged} | {refused} | {cut_off_done} | {cut_off_undone} |"
            )?;
        }
        write!(
            f,
            "{} rounds, {} more kills before it was ready, {} requests sent again under their key; left in the midst \
             by kills: {} times automations, {} times the erasure of leads, {} refreshes of reports",
            self.rounds,
            self.starts,
            self.repeated,
            self.automating,
            self.erasing,
            self.walks.len()
        )
    }
}
