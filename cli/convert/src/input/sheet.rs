//! A sheet: its heading, its rows, and the lines that are neither.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::grid::{Cell, CellType, Grid, Row};
use crate::names;

/// Rows among which the heading is.
const HEAD: usize = 40;
/// Maximum rows, as in a workbook.
const MAX_ROWS: u64 = 1_048_576;
/// Maximum bytes of the text of all cells, if they repeat texts of the file.
pub const MAX_TEXT: usize = 1 << 27;
/// Maximum columns, as in a workbook.
const MAX_COLUMNS: usize = 16_384;
/// Maximum bytes of a value. A record has at most 100 KB.
const MAX_VALUE: usize = 100_000;
/// Maximum bytes of a value in a file that is read at all.
const MAX_CELL: usize = 10_000_000;
/// Narrower files have no notes below their rows.
const MIN_WIDTH_WITH_NOTES: usize = 3;

/// The rows of a file.
#[derive(Debug)]
pub struct Sheet {
    /// Name of the file, without its directory.
    pub name: String,
    /// Encoding and separator, or the sheet, as shown.
    pub form: String,
    /// Of a workbook: whether its dates begin in 1904.
    pub epoch: Option<bool>,
    /// Names of the columns, each once.
    pub headings: Vec<String>,
    /// Each row has a cell for every heading.
    pub grid: Grid,
    /// Rows that cannot be read, by line.
    pub faults: Vec<(u64, String)>,
    /// Of a workbook, the first value at the right of the headings of each row that has one, by line.
    pub right: Vec<(u64, String)>,
    /// Lines that are no rows, and marks that are left out.
    pub notes: Vec<String>,
    /// Columns with values of merged cells.
    pub merged: BTreeSet<usize>,
}

/// A row before the heading is known.
type HeadRow = (u64, Vec<(String, CellType)>);

/// A cell of a workbook that is merged over several rows.
#[derive(Debug, Clone, Copy)]
pub struct Merge {
    pub column: usize,
    /// The last line.
    pub last: u64,
}

/// Builds a sheet row by row.
pub struct SheetBuilder {
    head: Vec<HeadRow>,
    sheet: Sheet,
    has_heading: bool,
    last_line: u64,
    marked: u64,
    /// The number of rows and of faults before the last blank line.
    blank: Option<(usize, usize)>,
    /// Cells that are merged over several rows, by their first line.
    pub merges: BTreeMap<u64, Vec<Merge>>,
    /// The merged cells of the last row, with their value.
    current: Vec<(Merge, String, CellType)>,
    /// Bytes of the file's text, if they are known.
    pub bytes: usize,
    /// Maximum bytes of the text of all cells.
    pub limit: usize,
}

impl SheetBuilder {
    /// A sheet without rows.
    pub fn new(name: String, form: String, epoch: Option<bool>) -> Self {
        Self {
            head: Vec::new(),
            sheet: Sheet {
                name,
                form,
                epoch,
                headings: Vec::new(),
                grid: Grid::default(),
                faults: Vec::new(),
                right: Vec::new(),
                notes: Vec::new(),
                merged: BTreeSet::new(),
            },
            has_heading: false,
            last_line: 0,
            marked: 0,
            blank: None,
            merges: BTreeMap::new(),
            current: Vec::new(),
            bytes: 0,
            limit: MAX_TEXT,
        }
    }

    /// Adds a row.
    ///
    /// # Errors
    /// The reason, if the file has too many rows.
    pub fn row(&mut self, line: u64, cells: &[Cell<'_>]) -> Result<(), String> {
        if cells.iter().any(|cell| cell.text.len() > MAX_CELL) {
            return Err(format!(
                "has a value of more than {MAX_CELL} bytes on line {line}; is a quotation mark not closed?"
            ));
        }
        if cells.len() > MAX_COLUMNS {
            let columns = cells.len();
            return Err(format!(
                "has {columns} columns on line {line}, and at most {MAX_COLUMNS} are read; leave out the others"
            ));
        }
        if self.last_line > 0 && line > self.last_line + 1 {
            self.blank = Some((self.sheet.grid.len(), self.sheet.faults.len()));
        }
        let breaks = cells
            .iter()
            .flat_map(|cell| cell.text.bytes())
            .filter(|byte| *byte == b'\n');
        self.last_line = line + breaks.count() as u64;
        if self.has_heading {
            return self.add(line, cells);
        }
        let kept = cells.iter().map(|cell| (cell.text.to_owned(), cell.kind));
        self.head.push((line, kept.collect()));
        if self.head.len() == HEAD {
            self.begin()
        } else {
            Ok(())
        }
    }

    /// Adds a row that cannot be read.
    pub fn fault(&mut self, line: u64, reason: String) {
        self.last_line = line;
        self.sheet.faults.push((line, reason));
    }

    /// Finds the heading, and adds the rows after it.
    fn begin(&mut self) -> Result<(), String> {
        self.has_heading = true;
        let head = std::mem::take(&mut self.head);
        let Some(at) = heading(&head) else {
            return Err("has no heading; the first line must name the columns".to_owned());
        };
        let mut rows = head.into_iter();
        let above: Vec<_> = rows
            .by_ref()
            .take(at)
            .filter(|(_, cells)| filled(cells) > 0)
            .collect();
        if let (Some((first, cells)), Some((last, _))) = (above.first(), above.last()) {
            let text = cells
                .iter()
                .map(|(text, _)| text.trim())
                .find(|text| !text.is_empty());
            let text = text.unwrap_or_default();
            let note = format!("lines {first} to {last}, above the heading, are left out: {text:?}");
            self.sheet.notes.push(note);
        }
        let (_, mut names) = rows.next().unwrap_or_default();
        while names.last().is_some_and(|(name, _)| name.trim().is_empty()) {
            names.pop();
        }
        self.sheet.headings = distinct(names.iter().map(|(name, _)| unmarked(name.trim()).0));
        self.sheet.grid = Grid::new(self.sheet.headings.len(), self.bytes, self.limit);
        (self.blank, self.last_line) = (None, 0);
        for (line, cells) in rows {
            let cells = cells.iter().map(|(text, kind)| Cell { text, kind: *kind });
            self.row(line, &cells.collect::<Vec<_>>())?;
        }
        Ok(())
    }

    /// Adds a row, or a fault if it has another number of cells than the heading. Ignores blank rows and surplus empty
    /// cells.
    fn add(&mut self, line: u64, cells: &[Cell<'_>]) -> Result<(), String> {
        let mut marks = 0;
        let texts = cells.iter().map(|cell| {
            let (text, is_marked) = unmarked(cell.text.trim());
            marks += u64::from(is_marked);
            (text, cell.kind)
        });
        let mut texts: Vec<_> = texts.collect();
        let width = self.sheet.headings.len();
        self.cut_right(line, &mut texts);
        let count = texts
            .iter()
            .rposition(|(text, _)| !text.is_empty())
            .map_or(0, |last| last + 1);
        if count == 0 {
            self.blank = Some((self.sheet.grid.len(), self.sheet.faults.len()));
            return Ok(());
        }
        self.marked += marks;
        self.unmerge(line, &mut texts);
        let is_short = self.sheet.epoch.is_none() && texts.len() < width;
        if let Some(fault) = fault(cells, is_short, count, width) {
            self.sheet.faults.push((line, fault));
            return Ok(());
        }
        let empty = || (Cow::Borrowed(""), CellType::Text);
        let whole: Vec<_> = texts
            .into_iter()
            .chain(std::iter::repeat_with(empty))
            .take(width)
            .collect();
        let whole: Vec<_> = whole
            .iter()
            .map(|(text, kind)| Cell { text, kind: *kind })
            .collect();
        let is_full = self.sheet.grid.len() as u64 >= MAX_ROWS || !self.sheet.grid.push(line, &whole);
        if is_full {
            let limit = self.limit >> 20;
            return Err(format!(
                "has more than {MAX_ROWS} rows or {limit} MB of text; split it"
            ));
        }
        Ok(())
    }

    /// Removes the cells of a workbook's row at the right of the headings, and notes the first value.
    fn cut_right(&mut self, line: u64, texts: &mut Vec<(Cow<'_, str>, CellType)>) {
        let width = self.sheet.headings.len();
        if self.sheet.epoch.is_some() && texts.len() > width {
            let mut right = texts.drain(width..).filter(|(text, _)| !text.is_empty());
            let first = right.next().map(|(text, _)| (line, text.into_owned()));
            self.sheet.right.extend(first);
        }
    }

    /// Gives a row the values of the merged cells that it is part of, and keeps those that begin in it.
    fn unmerge(&mut self, line: u64, texts: &mut Vec<(Cow<'_, str>, CellType)>) {
        self.current.retain(|(merge, ..)| merge.last >= line);
        for (merge, text, kind) in &self.current {
            if texts.len() <= merge.column {
                texts.resize(merge.column + 1, (Cow::Borrowed(""), CellType::Text));
            }
            if let Some(cell) = texts.get_mut(merge.column).filter(|(text, _)| text.is_empty()) {
                *cell = (Cow::Owned(text.clone()), *kind);
                self.sheet.merged.insert(merge.column);
            }
        }
        for merge in self.merges.remove(&line).unwrap_or_default() {
            let is_column = merge.column < self.sheet.headings.len();
            if let Some((text, kind)) = texts
                .get(merge.column)
                .filter(|(text, _)| is_column && !text.is_empty())
            {
                // A cell is part of one merged cell.
                self.current.retain(|(other, ..)| other.column != merge.column);
                self.current.push((merge, text.clone().into_owned(), *kind));
            }
        }
    }

    /// The sheet.
    ///
    /// # Errors
    /// The reason, if it has no heading.
    pub fn finish(mut self) -> Result<Sheet, String> {
        if !self.has_heading {
            self.begin()?;
        }
        self.drop_notes_below();
        if !self.sheet.merged.is_empty() {
            let names = self
                .sheet
                .merged
                .iter()
                .filter_map(|at| self.sheet.headings.get(*at));
            let names = names
                .map(|name| format!("{name:?}"))
                .collect::<Vec<_>>()
                .join(", ");
            let note = format!("the value of merged cells is that of each of their rows: {names}");
            self.sheet.notes.push(note);
        }
        if self.marked > 0 {
            let marked = self.marked;
            let note = format!(
                "{marked} values have a spreadsheet's mark of a text (=\"…\" or '…), which is left out"
            );
            self.sheet.notes.push(note);
        }
        Ok(self.sheet)
    }

    /// Removes rows and faults after the last blank line that have one value each, and notes them. Reports end with such
    /// lines.
    fn drop_notes_below(&mut self) {
        let sheet = &mut self.sheet;
        let Some((rows, faults)) = self
            .blank
            .filter(|_| sheet.headings.len() >= MIN_WIDTH_WITH_NOTES)
        else {
            return;
        };
        let below = sheet.grid.rows().skip(rows);
        let are_notes = below
            .clone()
            .all(|row| row.cells().filter(|cell| !cell.text.is_empty()).count() == 1)
            && sheet
                .faults
                .iter()
                .skip(faults)
                .all(|(_, reason)| reason.starts_with(ONE_VALUE));
        let lines = below.clone().map(Row::line);
        let lines: Vec<_> = lines
            .chain(sheet.faults.iter().skip(faults).map(|(line, _)| *line))
            .collect();
        if let (true, Some(first), Some(last)) = (are_notes, lines.iter().min(), lines.iter().max()) {
            let text = below.flat_map(Row::cells).find(|cell| !cell.text.is_empty());
            let text = text.map_or_else(String::new, |cell| format!(": {:?}", cell.text));
            sheet.notes.push(format!(
                "lines {first} to {last}, below the rows, are left out{text}; if they are rows, remove the blank line above"
            ));
            sheet.faults.truncate(faults);
            (rows..sheet.grid.len()).for_each(|_| sheet.grid.pop());
        }
    }
}

/// The beginning of the fault of a row with one value.
const ONE_VALUE: &str = "has 1 values";

/// Why a row cannot be read, if it cannot.
fn fault(cells: &[Cell<'_>], is_short: bool, count: usize, width: usize) -> Option<String> {
    if let Some(at) = cells.iter().position(|cell| cell.text.len() > MAX_VALUE) {
        return Some(format!("value {} has more than {MAX_VALUE} bytes", at + 1));
    }
    if !is_short && count <= width {
        return None;
    }
    let values = if is_short { cells.len() } else { count };
    let is_open = cells.last().is_some_and(|cell| cell.text.contains('\n'));
    let cause = if is_short && is_open {
        "is a quotation mark in it not closed?"
    } else {
        "is a text with the separator in it not quoted?"
    };
    Some(format!(
        "has {values} values, and the heading has {width}; {cause}"
    ))
}

fn filled(cells: &[(String, CellType)]) -> usize {
    cells.iter().filter(|(text, _)| !text.trim().is_empty()).count()
}

/// The index of the heading: the first row with most known names, else the first one with at least half as many values
/// as the fullest.
fn heading(head: &[HeadRow]) -> Option<usize> {
    let known = |(_, cells): &HeadRow| {
        cells
            .iter()
            .filter(|(text, _)| names::is_known_heading(text))
            .count()
    };
    let counts: Vec<_> = head.iter().map(known).collect();
    let most = counts.iter().copied().max().unwrap_or_default();
    let widest = head
        .iter()
        .map(|(_, cells)| filled(cells))
        .max()
        .unwrap_or_default();
    let is_full = |(_, cells): &HeadRow| filled(cells) > 0 && filled(cells) * 2 >= widest;
    if most > 1 {
        return counts.iter().position(|count| *count == most);
    }
    head.iter().position(is_full)
}

/// The text without a mark by which a spreadsheet keeps it a text, and whether it had one: `="123"`, `'123`.
fn unmarked(text: &str) -> (Cow<'_, str>, bool) {
    let formula = text.strip_prefix("=\"").and_then(|text| text.strip_suffix('"'));
    if let Some(inner) = formula {
        return (Cow::Owned(inner.replace("\"\"", "\"").trim().to_owned()), true);
    }
    // `'t Hart` is a name.
    let quoted = text.strip_prefix('\'').filter(|rest| {
        let mut letters = rest.chars();
        let is_name = letters.next().is_some_and(char::is_lowercase) && letters.next() == Some(' ');
        !rest.is_empty() && !rest.ends_with('\'') && !is_name
    });
    quoted.map_or((Cow::Borrowed(text), false), |rest| (Cow::Borrowed(rest), true))
}

/// The headings. A repeated one gets a number, and an empty one a name.
fn distinct<'a>(headings: impl Iterator<Item = Cow<'a, str>>) -> Vec<String> {
    let mut taken = HashSet::new();
    let mut counts = HashMap::<String, usize>::new();
    let named = headings.enumerate().map(|(at, heading)| {
        let heading = if heading.is_empty() {
            format!("column {}", at + 1)
        } else {
            heading.into_owned()
        };
        let count = counts.entry(heading.clone()).or_default();
        loop {
            *count += 1;
            let name = if *count == 1 {
                heading.clone()
            } else {
                format!("{heading} ({count})")
            };
            if taken.insert(name.clone()) {
                return name;
            }
        }
    });
    named.collect()
}
