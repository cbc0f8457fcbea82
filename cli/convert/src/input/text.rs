//! Text files with separators.

use csv::{ReaderBuilder, StringRecord};

use super::grid::{Cell, CellType};
use super::quotes;
use super::sheet::{Sheet, SheetBuilder};

/// The separators that are recognised.
const SEPARATORS: [u8; 4] = [b',', b';', b'\t', b'|'];
/// Lines that decide about the separator.
const LINES: usize = 60;

/// Reads the rows of a text.
///
/// # Errors
/// The reason, if it has no heading or too many rows.
pub fn read(name: String, text: &str, encoding: &'static str) -> Result<Sheet, String> {
    let (text, named_separator, skipped) = without_separator_line(text);
    let separator = named_separator.unwrap_or_else(|| separator(text));
    let shown = match separator {
        b'\t' => "tabs".to_owned(),
        other => char::from(other).to_string(),
    };
    let form = format!("{encoding}, separated by {shown}");
    let mut builder = SheetBuilder::new(name, form, None);
    builder.bytes = text.len();
    builder.limit = builder.limit.max(text.len());
    let mut reader = ReaderBuilder::new()
        .delimiter(separator)
        .flexible(true)
        .has_headers(false)
        .from_reader(text.as_bytes());
    let raw = text.as_bytes();
    let mut record = StringRecord::new();
    let mut counted = LineCount {
        bytes: text.as_bytes(),
        at: 0,
        line: 1 + skipped,
    };
    while reader
        .read_record(&mut record)
        .map_err(|error| error.to_string())?
    {
        let start = record.position().map_or(0, csv::Position::byte);
        let line = counted.at(start);
        let start = usize::try_from(start).unwrap_or(usize::MAX);
        let cells = record.iter().map(|text| Cell {
            text,
            kind: CellType::Text,
        });
        let raw = raw.get(start..usize::try_from(reader.position().byte()).unwrap_or(start));
        match quotes::fault(raw.unwrap_or_default(), separator, record.len(), line) {
            Some(fault) => builder.fault(line, fault),
            None => builder.row(line, &cells.collect::<Vec<_>>())?,
        }
    }
    builder.finish()
}

/// The line of a byte position in a text. The count of the CSV reader is wrong after `\r\n` and `\r`.
struct LineCount<'a> {
    bytes: &'a [u8],
    at: usize,
    line: u64,
}

impl LineCount<'_> {
    /// The line of the first row at or after a position, and reports blank lines before it. The positions of successive
    /// calls must not decrease.
    fn at(&mut self, byte: u64) -> u64 {
        let byte = usize::try_from(byte).unwrap_or(usize::MAX);
        while let Some(next) = self.bytes.get(self.at) {
            if self.at >= byte && !matches!(next, b'\r' | b'\n') {
                break;
            }
            self.at += 1;
            let ends_line = *next == b'\n' || *next == b'\r' && self.bytes.get(self.at) != Some(&b'\n');
            self.line += u64::from(ends_line);
        }
        self.line
    }
}

/// The text after a first line such as `sep=;`, which spreadsheets write; its separator; and the number of skipped
/// lines.
fn without_separator_line(text: &str) -> (&str, Option<u8>, u64) {
    let line = text.split(['\r', '\n']).next().unwrap_or_default();
    let named = line.trim_matches('"').strip_prefix("sep=").map(str::as_bytes);
    match named {
        Some([separator]) => {
            let rest = &text[line.len()..];
            let rest = rest
                .strip_prefix("\r\n")
                .or_else(|| rest.strip_prefix(['\r', '\n']));
            (rest.unwrap_or_default(), Some(*separator), 1)
        }
        _ => (text, None, 0),
    }
}

/// The separator that gives most lines the same number of values, outside quotes.
fn separator(text: &str) -> u8 {
    let mut lines = vec![[0_usize; SEPARATORS.len()]];
    let mut is_quoted = false;
    for byte in text.bytes() {
        match byte {
            b'"' => is_quoted = !is_quoted,
            b'\n' | b'\r' if !is_quoted && lines.len() == LINES => break,
            b'\n' | b'\r' if !is_quoted => lines.push([0; SEPARATORS.len()]),
            _ if is_quoted => {}
            _ => {
                let found = SEPARATORS.iter().position(|separator| *separator == byte);
                if let (Some(at), Some(line)) = (found, lines.last_mut())
                    && let Some(count) = line.get_mut(at)
                {
                    *count += 1;
                }
            }
        }
    }
    let score = |at: usize| {
        let counts = lines
            .iter()
            .filter_map(|line| line.get(at))
            .filter(|count| **count > 0);
        let mut by_count = std::collections::BTreeMap::<usize, usize>::new();
        counts.for_each(|count| *by_count.entry(*count).or_default() += 1);
        by_count
            .into_iter()
            .map(|(count, lines)| count * lines)
            .max()
            .unwrap_or_default()
    };
    // The first of several with the same score.
    let best = SEPARATORS
        .iter()
        .enumerate()
        .rev()
        .max_by_key(|(at, _)| score(*at));
    best.map_or(b',', |(_, separator)| *separator)
}
