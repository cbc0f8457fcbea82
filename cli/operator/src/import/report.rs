//! The report of an import.

use std::collections::BTreeMap;

use crate::Outcome;
use crate::kinds::{Kind, nearest};
use serde::Serialize;

/// Maximum listed reasons, which bounds the memory of an import with many bad lines.
const MAX_REASONS: usize = 100_000;
/// Maximum counted names of custom fields.
const MAX_CUSTOM: usize = 1000;

/// The outcomes of an import's lines.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct ImportReport {
    /// Lines whose records were written.
    pub imported: u64,
    /// Lines whose records existed already, or that a later line of the same record replaced.
    pub unchanged: u64,
    /// Refused lines in their order.
    pub refused: Vec<Refused>,
    /// The number of further refused lines, which are not listed.
    #[serde(rename = "refusedMore", skip_serializing_if = "is_zero")]
    pub unlisted: u64,
    /// Warnings of good lines, in their order, then of published calendars that cannot be booked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// The custom fields of good lines, by kind and name.
    #[serde(rename = "customFields", skip_serializing_if = "Vec::is_empty")]
    pub custom: Vec<CustomFieldCount>,
    /// Whether the import was stopped before all lines were checked.
    #[serde(skip_serializing_if = "is_false")]
    pub stopped: bool,
    /// The number of lines that were left when the import was stopped, if all lines had been checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left: Option<u64>,
}

/// A custom field that lines have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CustomFieldCount {
    /// Kind of the records.
    pub kind: &'static str,
    /// The field's name.
    pub name: String,
    /// The number of lines with the field.
    pub lines: u64,
    /// The kind's field with a similar name.
    #[serde(rename = "didYouMean", skip_serializing_if = "Option::is_none")]
    pub nearest: Option<&'static str>,
}

/// A line that was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Refused {
    /// Its number, from 1.
    pub line: u64,
    /// The reason, beginning with the field at fault, if any.
    pub reason: String,
}

/// A report in progress.
#[derive(Debug, Default)]
pub struct ImportTally(
    ImportReport,
    /// Watched lines, and whether they were refused.
    BTreeMap<u64, bool>,
    /// The lines with each custom field.
    BTreeMap<(Kind, String), u64>,
);

impl ImportTally {
    /// Watches these lines and no others.
    pub fn watch(&mut self, lines: impl IntoIterator<Item = u64>) {
        self.1 = lines.into_iter().map(|line| (line, false)).collect();
    }

    /// Whether a watched line was refused.
    pub fn is_refused(&self, line: u64) -> bool {
        self.1.get(&line).copied().unwrap_or_default()
    }

    pub fn refuse(&mut self, line: u64, reason: String) {
        self.1.entry(line).and_modify(|refused| *refused = true);
        if self.0.refused.len() < MAX_REASONS {
            let reason = harmless(reason);
            self.0.refused.push(Refused { line, reason });
        } else {
            self.0.unlisted += 1;
        }
    }

    /// Adds the warnings of a line.
    pub fn warn(&mut self, line: u64, warnings: &[String]) {
        let room = MAX_REASONS - self.0.warnings.len();
        let warnings = warnings.iter().take(room);
        let warnings = warnings.map(|warning| harmless(format!("line {line}: {warning}")));
        self.0.warnings.extend(warnings);
    }

    /// Counts a line's custom fields. Names beyond the first [`MAX_CUSTOM`] are not counted.
    pub fn note_custom(&mut self, kind: Kind, names: &[String]) {
        for name in names {
            let key = (kind, name.clone());
            if self.2.len() < MAX_CUSTOM || self.2.contains_key(&key) {
                *self.2.entry(key).or_default() += 1;
            }
        }
    }

    pub fn count_unchanged(&mut self) {
        self.0.unchanged += 1;
    }

    pub fn note(&mut self, line: u64, outcome: Outcome) {
        match outcome {
            Outcome::Written => self.0.imported += 1,
            Outcome::Unchanged => self.0.unchanged += 1,
            Outcome::Refused(reason) => self.refuse(line, reason),
        }
    }

    pub fn report(mut self) -> ImportReport {
        self.0.refused.sort_by_key(|refused| refused.line);
        self.0.custom = self
            .2
            .into_iter()
            .map(|((kind, name), lines)| CustomFieldCount {
                kind: kind.name(),
                nearest: nearest(&name, &kind.field_names()),
                name: harmless(name),
                lines,
            })
            .collect();
        self.0
    }

    /// The report of an import that was stopped.
    pub fn report_stopped(self, left: Option<u64>) -> ImportReport {
        ImportReport {
            stopped: true,
            left,
            ..self.report()
        }
    }
}

/// A reason with escaped control characters, because it quotes the line and a terminal interprets them.
fn harmless(reason: String) -> String {
    if !reason.contains(char::is_control) {
        return reason;
    }
    let mut escaped = String::with_capacity(reason.len());
    for character in reason.chars() {
        if character.is_control() {
            escaped.extend(character.escape_default());
        } else {
            escaped.push(character);
        }
    }
    escaped
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
        let mut tally = ImportTally::default();
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
