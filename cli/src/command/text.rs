//! Text for terminals: aligned columns with headings, colours, and data without control characters.

use std::io::{self, IsTerminal};

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
    let is_direction = |c| {
        let marks = ['\u{61c}', '\u{200e}', '\u{200f}'];
        marks.contains(&c) || ('\u{202a}'..='\u{202e}').contains(&c) || ('\u{2066}'..='\u{2069}').contains(&c)
    };
    line.chars()
        .filter(|c| !c.is_control() && !is_direction(*c))
        .collect()
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
        assert_eq!(aligned(None, &[["a\nb".to_owned(), "c".to_owned()]]), "ab  c");
    }
}
