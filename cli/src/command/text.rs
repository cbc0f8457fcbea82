//! Text of answers: aligned columns, which have headings on a terminal.

use std::io::{self, IsTerminal as _};

/// Rows in aligned columns. Standard output that is no terminal gets no headings, so that scripts read rows only.
pub fn table<const N: usize>(headings: [&str; N], rows: &[[String; N]]) -> String {
    let with_headings = io::stdout().is_terminal() && !rows.is_empty();
    aligned(with_headings.then_some(headings), rows)
}

fn aligned<const N: usize>(headings: Option<[&str; N]>, rows: &[[String; N]]) -> String {
    let headings = headings.map(|headings| headings.map(str::to_owned));
    let lines: Vec<_> = headings.iter().chain(rows).collect();
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
    lines.into_iter().map(padded).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_by_characters() {
        let rows = [["1", "João", "-"], ["1000", "B", "x"]].map(|row| row.map(str::to_owned));
        assert_eq!(
            aligned(Some(["ID", "NAME", "E"]), &rows),
            "ID    NAME  E\n1     João  -\n1000  B     x"
        );
        assert_eq!(aligned(None, &rows), "1     João  -\n1000  B     x");
    }
}
