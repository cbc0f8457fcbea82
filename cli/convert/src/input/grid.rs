//! The cells of a sheet in one text, in few bytes a cell.

/// The type of a cell. Cells of a text file are texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellType {
    /// A text.
    Text,
    /// A number, with a decimal point; after the currency of its format, if it has one.
    Number,
    /// A date or time of a workbook, such as `2026-02-13`.
    Date,
    /// An error value, or a formula without a value.
    Error,
}

/// A cell of a row.
#[derive(Debug, Clone, Copy)]
pub struct Cell<'a> {
    /// The trimmed text.
    pub text: &'a str,
    /// The type.
    pub kind: CellType,
}

/// Rows of equal width.
#[derive(Debug, Default)]
pub struct Grid {
    text: String,
    /// The end of each cell in `text`.
    ends: Vec<u32>,
    /// The type of each cell; empty if all are texts.
    types: Vec<CellType>,
    /// The line of each row.
    lines: Vec<u64>,
    width: usize,
    /// Maximum bytes of `text`.
    limit: usize,
}

/// A row of a grid.
#[derive(Debug, Clone, Copy)]
pub struct Row<'a> {
    grid: &'a Grid,
    at: usize,
}

impl Grid {
    /// A grid without rows, for texts of about `bytes`, and at most `limit`.
    pub fn new(width: usize, bytes: usize, limit: usize) -> Self {
        Self {
            text: String::with_capacity(bytes),
            width,
            limit: limit.min(u32::MAX as usize),
            ..Self::default()
        }
    }

    /// Adds a row, which must have the width of the grid. Returns `false` if the grid is full.
    pub fn push(&mut self, line: u64, cells: &[Cell<'_>]) -> bool {
        let bytes: usize = cells.iter().map(|cell| cell.text.len()).sum();
        if self.text.len() + bytes > self.limit {
            return false;
        }
        let is_typed = cells.iter().any(|cell| cell.kind != CellType::Text);
        if is_typed && self.types.is_empty() {
            self.types.resize(self.ends.len(), CellType::Text);
        }
        let has_types = is_typed || !self.types.is_empty();
        for cell in cells {
            self.text.push_str(cell.text);
            self.ends.push(u32::try_from(self.text.len()).unwrap_or(u32::MAX));
            if has_types {
                self.types.push(cell.kind);
            }
        }
        self.lines.push(line);
        true
    }

    /// Removes the last row.
    pub fn pop(&mut self) {
        let cells = self.ends.len().saturating_sub(self.width);
        self.ends.truncate(cells);
        self.types.truncate(cells);
        self.text
            .truncate(self.ends.last().map_or(0, |end| *end as usize));
        self.lines.pop();
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// All rows.
    pub fn rows(&self) -> impl DoubleEndedIterator<Item = Row<'_>> + Clone {
        (0..self.lines.len()).map(|at| Row { grid: self, at })
    }
}

impl<'a> Row<'a> {
    /// A cell; empty beyond the last column.
    pub fn cell(self, column: usize) -> Cell<'a> {
        let at = self.at * self.grid.width + column;
        let end = |at: usize| self.grid.ends.get(at).map_or(0, |end| *end as usize);
        let start = at.checked_sub(1).map_or(0, end);
        Cell {
            text: self.grid.text.get(start..end(at)).unwrap_or_default(),
            kind: self.grid.types.get(at).copied().unwrap_or(CellType::Text),
        }
    }

    /// All cells.
    pub fn cells(self) -> impl Iterator<Item = Cell<'a>> {
        (0..self.grid.width).map(move |column| self.cell(column))
    }

    /// The line in the file, from 1.
    pub fn line(self) -> u64 {
        self.grid.lines.get(self.at).copied().unwrap_or_default()
    }
}
