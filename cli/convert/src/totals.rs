//! Lines of totals, which are no rows (C-105).

use domain::money::Cents;

use super::cells::RowCells;
use super::ids::whole;
use super::kind::FileKind;
use super::map::MapFile;
use super::mapping::quoted;
use super::names;
use super::token::amount::{Amount, is_not_zero};
use super::token::is_absent;

/// Minimum columns of a table with titles between its rows.
const MIN_COLUMNS: usize = 4;

/// The amounts of a file's rows so far, and since its last line of totals.
#[derive(Debug, Default)]
pub struct RunningTotals {
    all: u64,
    since: u64,
    /// Whether the last row was a line of totals.
    is_total: bool,
}

impl RunningTotals {
    /// Whether a row is a title between the others. Each is a doubt.
    pub fn is_title(&mut self, cells: &RowCells<'_>, map: &MapFile, doubts: &mut Vec<String>) -> bool {
        let is_title = is_section(cells, map);
        if is_title {
            self.since = 0;
            doubts.push(title_doubt(cells));
        }
        is_title
    }

    /// Whether a row is a line of totals: its first value says so, the others are amounts and counts, and the amount is that
    /// of the rows before, or the row is the last one or after a line of totals. A first value with a name, such as that of
    /// a group, needs the amount or a count. Each such row is a doubt.
    pub fn is_total(&mut self, cells: &RowCells<'_>, map: &MapFile, doubts: &mut Vec<String>) -> bool {
        let (file, row) = (cells.file, cells.row);
        let was_total = std::mem::take(&mut self.is_total);
        let value = value_of(cells);
        let mut filled = row.cells().enumerate().filter(|(_, cell)| !cell.text.is_empty());
        let first = filled.next().map_or("", |(_, cell)| cell.text);
        let mut has_count = false;
        let is_number = |(column, cell): (usize, super::input::Cell<'_>)| {
            let is_count = names::is_count(cell.text);
            has_count |= is_count;
            if is_count || names::names_totals(cell.text) {
                return true;
            }
            let field = file.columns.get(column).and_then(|column| column.target.field());
            matches!(field, None | Some((FileKind::Opportunity, "value" | "currency")))
                && Amount::of(cell).is_ok()
        };
        let (name, line) = (&file.sheet.name, row.line());
        let is_row = map.rows.get(name).is_some_and(|lines| lines.contains(&line));
        let are_sums = value.is_some_and(|value| value > 0 && [self.all, self.since].contains(&value));
        let is_named =
            |has_count| names::names_totals(first) || (are_sums || has_count) && names::begins_totals(first);
        if is_row || !filled.all(is_number) || !is_named(has_count) {
            self.all += value.unwrap_or_default();
            self.since += value.unwrap_or_default();
            return false;
        }
        let is_sum =
            are_sums || was_total || value.is_none_or(|value| value == self.all || value == self.since);
        let last = file.sheet.grid.rows().next_back();
        let place = format!("{name}:{line}: {first:?}");
        if !is_sum && last.is_some_and(|last| last.line() != line) {
            doubts.push(format!(
                "{place} looks like a line of totals and is a row, because it is no sum"
            ));
            return false;
        }
        (self.since, self.is_total) = (0, true);
        let name = quoted(name);
        doubts.push(format!(
            "{place} is a line of totals and is left out; if it is a row:\n    rows.{name} = [{line}]"
        ));
        true
    }
}

/// The doubt about a title between rows.
fn title_doubt(cells: &RowCells<'_>) -> String {
    let (name, line) = (&cells.file.sheet.name, cells.row.line());
    let mut filled = cells.row.cells().filter(|cell| !cell.text.is_empty());
    let text = filled.next().map_or("", |cell| cell.text);
    format!(
        "{name}:{line}: {text:?} is the row's only value, so it is left out as a title; if it is a row:\n    \
         rows.{} = [{line}]",
        quoted(name)
    )
}

/// Whether a row of opportunities has one text alone, and the others have several values.
fn is_section(cells: &RowCells<'_>, map: &MapFile) -> bool {
    let (file, row) = (cells.file, cells.row);
    let mut filled = row.cells().filter(|cell| !cell.text.is_empty());
    let first = filled
        .next()
        .filter(|cell| cell.text.contains(char::is_alphabetic));
    let is_alone = first.is_some() && filled.next().is_none() && file.columns.len() >= MIN_COLUMNS;
    let is_row = map
        .rows
        .get(&file.sheet.name)
        .is_some_and(|lines| lines.contains(&row.line()));
    file.main == FileKind::Opportunity && is_alone && !is_row && file.filled() >= 2 * file.sheet.grid.len()
}

/// Whether a row has no value but zeros, unticked boxes and perhaps a number in its first cell, as rows have to which a
/// formula was copied in advance.
pub fn is_unused(cells: &RowCells<'_>) -> bool {
    let filled = cells.row.cells().enumerate();
    let mut filled = filled.filter(|(_, cell)| !is_absent(cell.text)).enumerate();
    filled.all(|(at, (column, cell))| {
        let field = cells
            .file
            .columns
            .get(column)
            .and_then(|column| column.target.field());
        let may_number = matches!(field, None | Some((_, "id" | "title")));
        let is_number = at == 0 && may_number && whole(cell.text).is_some();
        is_number
            || names::answer(cell.text) == Some(false)
            || Amount::of(cell).is_ok() && !is_not_zero(cell.text)
    })
}

/// The amount of a row in cents.
fn value_of(cells: &RowCells<'_>) -> Option<u64> {
    let mut values = cells.file.values(cells.row, FileKind::Opportunity, "value");
    let amount = Amount::of(values.next()?.1).ok()?;
    let styles = cells.styles;
    let cents = amount.cents(styles.decimal, styles.is_decimal_named);
    cents.ok().map(Cents::get)
}
