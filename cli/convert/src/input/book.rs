//! Workbooks (.xlsx): the cells of one sheet as a stream.

use std::collections::{BTreeMap, HashSet};
use std::io::{Cursor, Read as _, copy, sink};

use calamine::{
    DataRef, ExcelDateTime, ExcelDateTimeType, Reader as _, SheetType, SheetVisible, Xlsx, XlsxError,
};
use zip::ZipArchive;

use super::grid::{Cell, CellType};
use super::sheet::{Merge, Sheet, SheetBuilder};
use super::shown::ShownFormat;

/// Maximum bytes of a workbook's parts together, unpacked.
const MAX_UNPACKED: u64 = 1 << 30;
/// Maximum rows and columns of a sheet.
const MAX_ROWS: u32 = 1_048_576;
const MAX_COLUMNS: u32 = 16_384;

/// The text of a cell with a formula that no program has calculated.
pub const UNSOLVED: &str = "a formula without its value";

/// A workbook in memory.
type Book = Xlsx<Cursor<Vec<u8>>>;

/// Reads a sheet of a workbook.
///
/// # Errors
/// The reason, if it is no such workbook, is too large, or has several sheets and none is named.
pub fn read(name: String, bytes: Vec<u8>, wanted: Option<&str>) -> Result<Sheet, String> {
    let unpacked = check_parts(&bytes, MAX_UNPACKED)?;
    let damaged = |cause: XlsxError| format!("is a damaged workbook ({cause}); save it again");
    let mut book = Xlsx::new(Cursor::new(bytes)).map_err(damaged)?;
    let title = chosen(&mut book, wanted)?;
    let is_1904 = book.has_1904_epoch();
    let mut builder = SheetBuilder::new(name, format!("sheet {title:?}"), Some(is_1904));
    builder.limit = builder.limit.max(unpacked);
    builder.merges = merges(&mut book, &title).map_err(damaged)?;
    let unsolved = unsolved(&mut book, &title).map_err(damaged)?;
    let mut cells = book.worksheet_cells_reader(&title).map_err(damaged)?;
    let formats: Vec<_> = cells.styles().iter().map(ShownFormat::of).collect();
    let mut row = BookRow::default();
    while let Some((cell, style)) = cells.next_cell_with_style_id().map_err(damaged)? {
        let (line, column) = cell.get_position();
        if line >= MAX_ROWS || column >= MAX_COLUMNS {
            return Err(format!("has more than {MAX_ROWS} rows or {MAX_COLUMNS} columns"));
        }
        if line != row.line {
            row.flush(&mut builder)?;
            row.line = line;
        }
        let value = cell.get_value();
        let format = formats.get(style).and_then(Option::as_ref);
        let shown = format.and_then(|format| format.shown(number(value)?));
        let is_unsolved = !unsolved.is_empty() && unsolved.contains(&(line, column));
        if let Some(cell) = shown.or_else(|| text_of(value, is_unsolved, is_1904)) {
            row.bytes += cell.0.len();
            if row.bytes > builder.limit {
                return Err(format!(
                    "has more than {} MB of text; split it",
                    builder.limit >> 20
                ));
            }
            row.cells.insert(column, cell);
        }
    }
    row.flush(&mut builder)?;
    builder.finish()
}

/// The cells of a sheet that are merged over several rows, by their first line.
fn merges(book: &mut Book, title: &str) -> Result<BTreeMap<u64, Vec<Merge>>, XlsxError> {
    let mut merges = BTreeMap::<_, Vec<_>>::new();
    for area in book.merge_cells_by_sheet_name(title)? {
        let ((first, column), (last, _)) = (area.start, area.end);
        let merge = Merge {
            column: usize::try_from(column).unwrap_or(usize::MAX),
            last: u64::from(last) + 1,
        };
        if last > first {
            merges.entry(u64::from(first) + 1).or_default().push(merge);
        }
    }
    Ok(merges)
}

/// The places of formulas without a value.
fn unsolved(book: &mut Book, title: &str) -> Result<HashSet<(u32, u32)>, XlsxError> {
    let mut unsolved = HashSet::new();
    let mut cells = book.worksheet_cells_reader(title)?;
    while let Some(cell) = cells.next_cell_with_formula_metadata()? {
        if cell.formula.is_some() && cell.value == DataRef::Empty {
            unsolved.insert(cell.pos);
        }
    }
    Ok(unsolved)
}

fn number(value: &DataRef<'_>) -> Option<f64> {
    match value {
        DataRef::Float(number) => Some(*number),
        DataRef::Int(number) => number.to_string().parse().ok(),
        _ => None,
    }
}

/// The cells of a row by column.
#[derive(Default)]
struct BookRow {
    line: u32,
    /// Bytes of its texts.
    bytes: usize,
    cells: BTreeMap<u32, (String, CellType)>,
}

impl BookRow {
    fn flush(&mut self, builder: &mut SheetBuilder) -> Result<(), String> {
        let width = self.cells.last_key_value().map_or(0, |(column, _)| *column + 1);
        let empty = Cell {
            text: "",
            kind: CellType::Text,
        };
        let cell = |column| {
            let cell = self.cells.get(&column);
            cell.map_or(empty, |(text, kind)| Cell { text, kind: *kind })
        };
        let cells: Vec<_> = (0..width).map(cell).collect();
        builder.row(u64::from(self.line) + 1, &cells)?;
        self.cells.clear();
        self.bytes = 0;
        Ok(())
    }
}

/// The bytes of a workbook's parts, which must be at most `limit`. The parts are unpacked, because
/// their stated sizes may be wrong.
fn check_parts(bytes: &[u8], limit: u64) -> Result<usize, String> {
    let damaged = |_| "is a damaged zip archive; download or save it again".to_owned();
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(damaged)?;
    if archive.index_for_name("xl/workbook.xml").is_none() {
        return Err(
            "is a zip archive and no .xlsx workbook; unpack it and name the files in it, or save the spreadsheet as .xlsx"
                .to_owned(),
        );
    }
    let mut unpacked = 0;
    for at in 0..archive.len() {
        let part = archive.by_index(at).map_err(damaged)?;
        let mut rest = part.take(limit + 1 - unpacked);
        unpacked += copy(&mut rest, &mut sink()).map_err(|_| "is a damaged zip archive".to_owned())?;
        if unpacked > limit {
            return Err("has more than 1 GB when it is unpacked; split it".to_owned());
        }
    }
    Ok(usize::try_from(unpacked).unwrap_or(usize::MAX))
}

/// The name of the wanted sheet, else of the one visible sheet with rows.
fn chosen(book: &mut Book, wanted: Option<&str>) -> Result<String, String> {
    let sheets = book.sheets_metadata().to_vec();
    let mut tables = sheets.iter().filter(|sheet| sheet.typ == SheetType::WorkSheet);
    let names = |sheets: &mut dyn Iterator<Item = &calamine::Sheet>| {
        sheets
            .map(|sheet| format!("{:?}", sheet.name))
            .collect::<Vec<_>>()
            .join(", ")
    };
    if let Some(wanted) = wanted {
        let found = tables.clone().find(|sheet| sheet.name == wanted);
        let missing = || format!("has no sheet {wanted:?}, but {}", names(&mut tables));
        return found.map(|sheet| sheet.name.clone()).ok_or_else(missing);
    }
    let mut filled = Vec::new();
    for sheet in tables.filter(|sheet| sheet.visible == SheetVisible::Visible) {
        let cells = book.worksheet_cells_reader(&sheet.name);
        if cells.is_ok_and(|mut cells| has_cells(&mut cells)) {
            filled.push(sheet);
        }
    }
    match &filled[..] {
        [one] => Ok(one.name.clone()),
        [] => Err("has no visible sheet with rows; name a hidden one with --sheet NAME".to_owned()),
        several => Err(format!(
            "has the sheets {}; name one with --sheet NAME",
            names(&mut several.iter().copied())
        )),
    }
}

fn has_cells(cells: &mut calamine::XlsxCellReader<'_, Cursor<Vec<u8>>>) -> bool {
    while let Ok(Some(cell)) = cells.next_cell() {
        if *cell.get_value() != DataRef::Empty {
            return true;
        }
    }
    false
}

/// The text and type of a cell; `None` for an empty one.
fn text_of(value: &DataRef<'_>, is_unsolved: bool, is_1904: bool) -> Option<(String, CellType)> {
    let text = |text: &str| Some((text.to_owned(), CellType::Text));
    match value {
        DataRef::Empty if is_unsolved => Some((UNSOLVED.to_owned(), CellType::Error)),
        DataRef::Empty => None,
        DataRef::Int(number) => Some((number.to_string(), CellType::Number)),
        DataRef::Float(number) => Some((number.to_string(), CellType::Number)),
        DataRef::SharedString(value) => text(value),
        DataRef::Bool(value) => text(if *value { "true" } else { "false" }),
        DataRef::DateTime(date) => {
            let text = date_text(date.as_f64(), date.is_duration(), is_1904);
            Some((text, CellType::Date))
        }
        DataRef::String(value) | DataRef::DateTimeIso(value) | DataRef::DurationIso(value) => text(value),
        DataRef::Error(error) => Some((error.to_string(), CellType::Error)),
    }
}

/// A serial number as `2026-02-13`, `2026-02-13 14:30:00` or `14:30:00`.
fn date_text(serial: f64, is_duration: bool, is_1904: bool) -> String {
    // Rounded to seconds, because a time such as 14:30 has no exact number. The sum avoids 14:29:59.999.
    let serial = (serial * 86400.0).round() / 86400.0;
    let date = ExcelDateTime::new(serial + 1e-8, ExcelDateTimeType::DateTime, is_1904);
    let (year, month, day, hour, minute, second, _) = date.to_ymd_hms_milli();
    let time = format!("{hour:02}:{minute:02}:{second:02}");
    if is_duration || serial < 1.0 {
        return time;
    }
    if serial.fract() == 0.0 {
        format!("{year:04}-{month:02}-{day:02}")
    } else {
        format!("{year:04}-{month:02}-{day:02} {time}")
    }
}

/// The text of a plain number in a column of dates: days since 1900, or 1904; `None` if it is no such number.
pub fn serial_date(text: &str, is_1904: bool) -> Option<String> {
    let serial: f64 = text.parse().ok()?;
    // From 1954 to 2119.
    (20_000.0..80_500.0)
        .contains(&serial)
        .then(|| date_text(serial, false, is_1904))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The parts are counted as they unpack, together.
    #[test]
    fn parts_have_a_bound() {
        let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
        let options = zip::write::SimpleFileOptions::default();
        for name in ["xl/workbook.xml", "xl/media/image1.png"] {
            archive.start_file(name, options).unwrap();
            std::io::Write::write_all(&mut archive, &[b' '; 600]).unwrap();
        }
        let bytes = archive.finish().unwrap().into_inner();
        assert_eq!(check_parts(&bytes, 1200), Ok(1200));
        let reason = "has more than 1 GB when it is unpacked; split it".to_owned();
        assert_eq!(check_parts(&bytes, 1199), Err(reason));
    }
}
