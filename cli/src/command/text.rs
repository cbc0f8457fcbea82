//! Text of answers: aligned columns with headings, and colours on a terminal.

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

    pub fn bold(self, text: &str) -> String {
        self.coloured("1", text)
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

/// Rows in aligned columns. Headings are shown only on a terminal, so that scripts read rows only.
pub fn table<const N: usize>(headings: [&str; N], rows: &[[String; N]]) -> String {
    let stdout = io::stdout();
    let with_headings = stdout.is_terminal() && !rows.is_empty();
    aligned(with_headings.then_some(headings), rows, Colours::of(&stdout))
}

/// Lines of cells padded to the widths of their columns, under bold headings if there are any.
fn aligned<const N: usize>(headings: Option<[&str; N]>, rows: &[[String; N]], colours: Colours) -> String {
    let headings = headings.map(|headings| headings.map(str::to_owned));
    let mut widths = [0; N];
    for line in headings.iter().chain(rows) {
        for (width, cell) in widths.iter_mut().zip(line.iter()) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let padded = |line: &[String; N]| {
        let cells = line.iter().zip(widths);
        let cells: Vec<_> = cells.map(|(cell, width)| format!("{cell:width$}")).collect();
        cells.join("  ").trim_end().to_owned()
    };
    let headings = headings.iter().map(|line| colours.bold(&padded(line)));
    headings
        .chain(rows.iter().map(padded))
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_by_characters() {
        let rows = [["1", "João", "-"], ["1000", "B", "x"]].map(|row| row.map(str::to_owned));
        let headings = Some(["ID", "NAME", "E"]);
        assert_eq!(
            aligned(headings, &rows, Colours::NEVER),
            "ID    NAME  E\n1     João  -\n1000  B     x"
        );
        assert_eq!(
            aligned(None, &rows, Colours::ALWAYS),
            "1     João  -\n1000  B     x"
        );
        assert!(aligned(headings, &rows, Colours::ALWAYS).starts_with("\u{1b}[1mID    NAME  E\u{1b}[0m\n1 "));
    }
}
