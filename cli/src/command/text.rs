//! Text for terminals: aligned columns with headings, colours, and data without control characters.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};

/// Whether text has colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Colours(bool);

impl Colours {
    #[cfg(test)]
    pub const ALWAYS: Self = Self(true);
    #[cfg(test)]
    pub const NEVER: Self = Self(false);

    /// Colours if the output is a terminal and `NO_COLOR` is not set.
    pub fn of(output: &impl IsTerminal) -> Self {
        let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self(output.is_terminal() && !refused)
    }

    /// The text with a colour of ANSI X3.64, such as 31 for red.
    pub fn coloured(self, colour: &str, text: &str) -> String {
        if self.0 {
            format!("\u{1b}[{colour}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }
}

/// A text of lines without control and direction characters, with which data could change what a terminal shows (C-106).
pub fn printable(text: &str) -> String {
    text.split('\n')
        .map(printable_line)
        .collect::<Vec<_>>()
        .join("\n")
}

/// The same for a text that is one line.
pub fn printable_line(line: &str) -> String {
    line.chars().filter(|c| !is_commanding(*c)).collect()
}

/// The same for lines of JSON, which has escapes for these characters.
pub fn printable_json(text: &str) -> Cow<'_, str> {
    let is_raw = |c: char| c != '\n' && is_commanding(c);
    if !text.contains(is_raw) {
        return text.into();
    }
    let escaped = text.chars().map(|c| {
        if is_raw(c) {
            format!("\\u{:04x}", u32::from(c))
        } else {
            c.to_string()
        }
    });
    escaped.collect()
}

/// Writes lines of JSON as [`printable_json`].
pub struct PrintableLines<W> {
    out: W,
    /// The begun line.
    line: Vec<u8>,
}

impl<W> PrintableLines<W> {
    pub fn on(out: W) -> Self {
        Self {
            out,
            line: Vec::new(),
        }
    }
}

impl<W: Write> Write for PrintableLines<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.line.extend(bytes);
        if bytes.ends_with(b"\n") {
            let lines = String::from_utf8_lossy(&self.line);
            self.out.write_all(printable_json(&lines).as_bytes())?;
            self.line.clear();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Whether a character controls a terminal or the direction of its text.
fn is_commanding(c: char) -> bool {
    let marks = ['\u{61c}', '\u{200e}', '\u{200f}'];
    c.is_control()
        || marks.contains(&c)
        || ('\u{202a}'..='\u{202e}').contains(&c)
        || ('\u{2066}'..='\u{2069}').contains(&c)
}

/// Rows in aligned columns. Headings are shown only on a terminal, so that scripts read rows only.
pub fn table<const N: usize>(headings: [&str; N], rows: &[[String; N]]) -> String {
    let with_headings = io::stdout().is_terminal() && !rows.is_empty();
    aligned(with_headings.then_some(headings), rows)
}

/// Lines of cells padded to the widths of their columns, under headings if there are any.
fn aligned<const N: usize>(headings: Option<[&str; N]>, rows: &[[String; N]]) -> String {
    let headings = headings.map(|headings| headings.map(str::to_owned));
    let lines: Vec<_> = headings
        .iter()
        .chain(rows)
        .map(|line| line.each_ref().map(|cell| printable_line(cell)))
        .collect();
    let mut widths = [0; N];
    for line in &lines {
        for (width, cell) in widths.iter_mut().zip(line.iter()) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let padded = |line: &[String; N]| {
        let cells = line.iter().zip(widths);
        let cells: Vec<_> = cells.map(|(cell, width)| format!("{cell:width$}")).collect();
        cells.join("  ").trim_end().to_owned()
    };
    lines.iter().map(padded).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_by_characters() {
        let rows = [["1", "João", "-"], ["1000", "B", "x"]].map(|row| row.map(str::to_owned));
        let headings = Some(["ID", "NAME", "E"]);
        assert_eq!(
            aligned(headings, &rows),
            "ID    NAME  E\n1     João  -\n1000  B     x"
        );
        assert_eq!(aligned(None, &rows), "1     João  -\n1000  B     x");
    }

    #[test]
    fn data_has_no_control_over_a_terminal() {
        let text = "a\u{1b}[2J\r\u{202e}b\u{2067}\u{200f}\n\tç👩\u{200d}🔧\u{9b}c";
        assert_eq!(printable(text), "a[2Jb\nç👩\u{200d}🔧c");
        let json = serde_json::json!({ "name": text }).to_string();
        let shown = printable_json(&json);
        assert_eq!(printable_line(&shown), shown);
        let read: serde_json::Value = serde_json::from_str(&shown).unwrap();
        assert_eq!(read["name"], text);
        assert_eq!(aligned(None, &[["a\nb".to_owned(), "c".to_owned()]]), "ab  c");
    }
}
