//! Reads the values of a row and collects its faults (C-105).

use std::borrow::Cow;

use domain::money::Cents;
use domain::time::{Timestamp, Zone};

use super::index::CompanyRef;
use super::input::{Cell, CellType, Row, UNSOLVED, serial_date};
use super::kind::FileKind;
use super::mapping::MappedFile;
use super::names;
use super::proof::{DATES, Styles};
use super::reference::{CONTACT, EMAIL};
use super::token::amount::{self, Amount};
use super::token::date::{self, DateOrder, WrittenDate};
use super::token::people::{self, ROUNDED};
use super::token::{is_error, is_rounded};

/// Fields of which the readers report error values themselves, besides dates.
const READ: [&str; 7] = [
    "value",
    "email",
    "phone",
    "mobile",
    "chatapp",
    "companyemail",
    "companyphone",
];

/// A row of a file, and its faults.
pub struct RowCells<'a> {
    pub file: &'a MappedFile,
    /// The index of the file.
    pub index: usize,
    /// The number of the row in the run.
    pub number: u32,
    pub row: Row<'a>,
    pub styles: Styles,
    pub zone: Zone,
    /// Reasons for which the row is left out.
    pub faults: Vec<String>,
    /// Reasons for which values are left out or kept in custom fields.
    pub losses: Vec<String>,
    /// Values of persons that cannot be read, by the name of their custom field.
    pub unread: Vec<(String, String)>,
    /// The currency of all amounts, if it is decided.
    pub wanted: Option<&'a str>,
    /// The currency of the row's amount.
    pub currency: Option<String>,
    /// An amount in another currency than `wanted`, with the name of its custom field.
    pub foreign: Option<(String, String)>,
    /// The name of the row's person, as names are compared.
    pub person: String,
    /// The company of the row, if it is another than that of its known lead.
    pub other_company: Option<CompanyRef>,
}

impl<'a> RowCells<'a> {
    /// A row without faults.
    pub fn new(
        file: &'a MappedFile,
        index: usize,
        row: Row<'a>,
        styles: Styles,
        zone: Zone,
        wanted: Option<&'a str>,
    ) -> Self {
        Self {
            file,
            index,
            number: 0,
            row,
            styles,
            zone,
            faults: Vec::new(),
            losses: Vec::new(),
            unread: Vec::new(),
            wanted,
            currency: None,
            foreign: None,
            person: String::new(),
            other_company: None,
        }
    }

    /// The first value of a field.
    pub fn text(&self, part: FileKind, field: &'static str) -> Option<&'a str> {
        self.values(part, field).next().map(|(_, cell)| cell.text)
    }

    /// The values of a field without error values.
    pub fn values(
        &self,
        part: FileKind,
        field: &'static str,
    ) -> impl Iterator<Item = (usize, Cell<'a>)> + use<'a> {
        let cells = self.file.values(self.row, part, field);
        cells.filter(|(_, cell)| !is_bad(*cell))
    }

    /// The reason of a fault, with the column and its text.
    pub fn reason(&self, column: usize, text: &str, reason: &str) -> String {
        let heading = self.file.heading(column);
        if text == UNSOLVED {
            let rest = reason
                .split_once(';')
                .map_or(String::new(), |(_, rest)| format!(";{rest}"));
            return format!("{heading:?} is {UNSOLVED}; save the workbook in a spreadsheet{rest}");
        }
        format!("{heading:?}: {text:?} {reason}")
    }

    /// Adds a fault to the row if `read` failed.
    fn ok_or_fault<T>(&mut self, column: usize, cell: Cell<'_>, read: Result<T, String>) -> Option<T> {
        read.map_err(|reason| self.faults.push(self.reason(column, cell.text, &reason)))
            .ok()
    }

    /// The amount of a field, if it is in the wanted currency.
    pub fn amount(&mut self, part: FileKind, field: &'static str) -> Option<Cents> {
        let (column, cell) = self.file.first(self.row, (part, field))?;
        let styles = self.styles;
        let read = Amount::of(cell).and_then(|amount| {
            let cents = amount.cents(styles.decimal, styles.is_decimal_named)?;
            Ok((cents, amount.currency))
        });
        let (cents, own) = self.ok_or_fault(column, cell, read)?;
        let of_heading = self.file.columns.get(column).and_then(|column| column.currency);
        let named = self.text(part, "currency").map(amount::currency_code);
        // `$` is the sign of several currencies.
        let of_dollar = self.wanted.filter(|_| !styles.is_dollar_other).or(Some("$"));
        let precise = own.filter(|own| *own != "$").map(str::to_owned).or(named);
        let stated = precise.or_else(|| own.and(of_dollar).map(str::to_owned));
        let Some(currency) = stated.or_else(|| of_heading.map(str::to_owned)) else {
            return Some(cents);
        };
        // A text that names no currency is that of the board.
        let is_code = currency.len() == 3 && currency.bytes().all(|byte| byte.is_ascii_uppercase());
        let is_named = is_code || names::currency(&currency).is_some();
        let wanted = self.wanted.filter(|wanted| *wanted != currency && is_named);
        if let Some(wanted) = wanted.filter(|_| cents.get() > 0) {
            let heading = self.file.heading(column).to_owned();
            let reason =
                format!("is in {currency} and not in {wanted}; it is kept as custom field {heading}");
            self.losses.push(self.reason(column, cell.text, &reason));
            let text = own.map_or_else(|| format!("{currency} {}", cell.text), |_| cell.text.to_owned());
            self.foreign = Some((heading, text));
            return None;
        }
        self.currency = Some(currency).filter(|_| cents.get() > 0);
        Some(cents)
    }

    /// The instant of a field. `clock_field` may contain its time of day.
    ///
    /// # Errors
    /// The column, its text and the reason.
    pub fn instant(
        &self,
        part: FileKind,
        field: &'static str,
        clock_field: Option<&'static str>,
    ) -> Option<Result<Timestamp, (usize, &'a str, String)>> {
        let mut cells = self.file.values(self.row, part, field);
        let is_closing = matches!(
            field,
            "closeDate" | "expectedCloseDate" | "gain_date" | "lost_date"
        );
        let (column, cell) = cells.find(|(_, cell)| !is_closing || !names::is_not_closed(cell.text))?;
        let order = self.styles.dates.unwrap_or(DateOrder::Dmy);
        let serial = match (cell.kind, self.file.sheet.epoch) {
            (CellType::Number, Some(is_1904)) => serial_date(cell.text, is_1904),
            _ => None,
        };
        let clock = clock_field.and_then(|field| self.file.values(self.row, part, field).next());
        let time = clock.map(|(_, cell)| date::clock(cell.text));
        if let (Some((column, cell)), Some(None)) = (clock, time) {
            return Some(Err((column, cell.text, "is no time of day".to_owned())));
        }
        let date = WrittenDate::of(serial.as_deref().unwrap_or(cell.text));
        let instant = date.and_then(|date| date.instant(order, time.flatten(), self.zone));
        let shown = self
            .styles
            .dates
            .map_or_else(String::new, |order| format!(" {order}"));
        Some(instant.ok_or_else(|| (column, cell.text, format!("is no date{shown}"))))
    }

    /// The instant of a field, or a fault of the row.
    pub fn time(
        &mut self,
        part: FileKind,
        field: &'static str,
        clock: Option<&'static str>,
    ) -> Option<Timestamp> {
        self.instant(part, field, clock)?
            .map_err(|(column, text, reason)| self.faults.push(self.reason(column, text, &reason)))
            .ok()
    }

    /// Several values of a person's or company's field, read from all its columns. A cell that cannot be read is kept as
    /// it is written.
    pub fn several(
        &mut self,
        part: FileKind,
        field: &'static str,
        read: fn(&str) -> Result<Vec<String>, String>,
    ) -> Vec<String> {
        let cells: Vec<_> = self.file.values(self.row, part, field).collect();
        let mut found = Vec::new();
        for (column, cell) in cells {
            let values = if is_bad(cell) {
                Err("is an error value".to_owned())
            } else {
                read(&self.with_area(column, cell.text))
            };
            match values {
                Ok(values) => {
                    for value in values {
                        if !found.contains(&value) {
                            found.push(value);
                        }
                    }
                }
                Err(reason) => self.lose(part, field, column, cell.text, &reason),
            }
        }
        found
    }

    /// A number of a person without an area code after that of the nearest column of them before its own.
    fn with_area(&self, column: usize, text: &'a str) -> Cow<'a, str> {
        let is_number = |field| CONTACT.contains(&field) && field != EMAIL;
        let target = self
            .file
            .columns
            .get(column)
            .and_then(|column| column.target.field());
        let areas = self.values(FileKind::Lead, "area").collect::<Vec<_>>();
        let area = areas.iter().rev().find(|(at, _)| *at < column).or(areas.first());
        match (target, area) {
            (Some((FileKind::Lead, field)), Some((_, area))) if is_number(field) => {
                people::with_area(text, area.text)
            }
            _ => Cow::Borrowed(text),
        }
    }

    /// Notes that a value cannot be read. A lead keeps it in a custom field.
    pub fn lose(&mut self, part: FileKind, field: &str, column: usize, text: &str, reason: &str) {
        let reason = self.reason(column, text, reason);
        if part == FileKind::Lead {
            let name = self.keep(field, text);
            self.losses
                .push(format!("{reason}; it is kept as custom field {name}"));
        } else {
            self.losses.push(format!("{reason}; it is left out"));
        }
    }

    /// Keeps a value of a person in a custom field, and returns its name.
    pub fn keep(&mut self, field: &str, text: &str) -> String {
        let mut name = format!("{field}_as_written");
        while self.unread.iter().any(|(known, _)| *known == name) {
            name.push('_');
        }
        self.unread.push((name.clone(), text.to_owned()));
        name
    }

    /// Notes the error values and damaged texts of the row.
    pub fn note_bad_cells(&mut self) {
        for (column, cell) in self.row.cells().enumerate() {
            let target = self.file.columns.get(column);
            let field = target.and_then(|column| column.target.field());
            let is_read = field.is_some_and(|(_, field)| READ.contains(&field) || DATES.contains(&field));
            if is_bad(cell) && matches!(field, Some((FileKind::Opportunity, "status" | "column"))) {
                let fault = self.reason(column, cell.text, "is an error value of a spreadsheet");
                self.faults.push(fault);
            } else if is_rounded(cell.text) && !is_read && field.is_none_or(|(_, field)| field != "id") {
                let reason = format!("{ROUNDED}; it is kept as it is");
                self.losses.push(self.reason(column, cell.text, &reason));
            } else if is_bad(cell) && !is_read {
                let reason = self.reason(
                    column,
                    cell.text,
                    "is an error value of a spreadsheet; it is left out",
                );
                self.losses.push(reason);
            } else if cell.text.contains('\u{fffd}') {
                let reason = "has bytes that its encoding does not have; mend the text, or name the encoding with --encoding";
                self.losses.push(self.reason(column, cell.text, reason));
            }
        }
    }
}

/// Whether a cell is an error value.
pub fn is_bad(cell: Cell<'_>) -> bool {
    cell.kind == CellType::Error || is_error(cell.text)
}
