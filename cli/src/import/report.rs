//! What became of an import's lines.

use std::collections::BTreeMap;

use serde::Serialize;
use shared::store::operator::Outcome;

/// The most reasons that are kept: an import of a file that is all wrong stays within bounds.
const MOST_REASONS: usize = 100_000;

/// What became of an import's lines.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Report {
    /// Lines whose records were written.
    pub imported: u64,
    /// Lines whose records were there already, or that a later line of the same record replaced.
    pub unchanged: u64,
    /// Lines that were not taken, in their order.
    pub refused: Vec<Refused>,
    /// Further lines that were not taken and are not listed.
    #[serde(rename = "refusedMore", skip_serializing_if = "is_zero")]
    pub unlisted: u64,
    /// It was asked to stop; of the other lines nothing is known.
    #[serde(skip_serializing_if = "is_false")]
    pub stopped: bool,
    /// How many lines it had not come to, where it had counted them when it was stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left: Option<u64>,
}

/// A line that was not taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Refused {
    /// Its number, from 1.
    pub line: u64,
    /// Why, beginning with the field at fault where one is.
    pub reason: String,
}

/// A report in the making.
#[derive(Debug, Default)]
pub struct Tally(
    Report,
    /// Lines of which it matters whether they are taken, and whether they were refused.
    BTreeMap<u64, bool>,
);

impl Tally {
    /// From now on remembers of these lines whether they are refused.
    pub fn watch(&mut self, lines: impl IntoIterator<Item = u64>) {
        self.1 = lines.into_iter().map(|line| (line, false)).collect();
    }

    /// Whether a line that is watched was refused.
    pub fn is_refused(&self, line: u64) -> bool {
        self.1.get(&line).copied().unwrap_or_default()
    }

    pub fn refuse(&mut self, line: u64, reason: String) {
        self.1.entry(line).and_modify(|refused| *refused = true);
        if self.0.refused.len() < MOST_REASONS {
            let reason = harmless(reason);
            self.0.refused.push(Refused { line, reason });
        } else {
            self.0.unlisted += 1;
        }
    }

    pub fn unchanged(&mut self) {
        self.0.unchanged += 1;
    }

    pub fn note(&mut self, line: u64, outcome: Outcome) {
        match outcome {
            Outcome::Written => self.0.imported += 1,
            Outcome::Unchanged => self.0.unchanged += 1,
            Outcome::Refused(reason) => self.refuse(line, reason),
        }
    }

    pub fn report(mut self) -> Report {
        self.0.refused.sort_by_key(|refused| refused.line);
        self.0
    }

    /// Of an import that was stopped.
    pub fn report_stopped(self, left: Option<u64>) -> Report {
        Report {
            stopped: true,
            left,
            ..self.report()
        }
    }
}

/// A reason with control characters written out: it names what a line holds, and a terminal would obey them.
fn harmless(reason: String) -> String {
    if !reason.contains(char::is_control) {
        return reason;
    }
    let mut told = String::with_capacity(reason.len());
    for character in reason.chars() {
        if character.is_control() {
            told.extend(character.escape_default());
        } else {
            told.push(character);
        }
    }
    told
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde gives the field by reference"
)]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde gives the field by reference"
)]
fn is_false(flag: &bool) -> bool {
    !flag
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_holds_nothing_that_a_terminal_obeys() {
        let mut tally = Tally::default();
        tally.refuse(1, "\u{1b}[2J\r\n\u{85}: unknown field".to_owned());
        tally.refuse(2, "açãо\\: unknown field".to_owned());
        let reasons: Vec<_> = tally
            .report()
            .refused
            .into_iter()
            .map(|refused| refused.reason)
            .collect();
        assert_eq!(
            reasons,
            ["\\u{1b}[2J\\r\\n\\u{85}: unknown field", "açãо\\: unknown field"]
        );
    }
}
