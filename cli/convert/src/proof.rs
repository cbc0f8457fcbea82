//! Decisions that the values of a run prove: the decimal mark, the order of dates, and whether a time zone is needed
//! (C-105). What stays open is asked for.

use std::collections::BTreeMap;

use super::input::{Cell, CellType};
use super::kind::FileKind;
use super::map::MapFile;
use super::mapping::MappedFile;
use super::names;
use super::target::ColumnTarget;
use super::token::amount::{Amount, DecimalMark, MarkProof};
use super::token::date::{DateOrder, OrderProof, WrittenDate};
use super::token::is_absent;

/// Fields with amounts.
const AMOUNTS: [&str; 1] = ["value"];
/// Fields with dates.
pub const DATES: [&str; 8] = [
    "createDate",
    "lastActive",
    "updateDate",
    "expectedCloseDate",
    "closeDate",
    "gain_date",
    "lost_date",
    "last_column_change",
];

/// The styles of a file's amounts and dates.
#[derive(Debug, Default, Clone, Copy)]
pub struct Styles {
    /// The decimal mark; `None` if no amount needs one.
    pub decimal: Option<DecimalMark>,
    /// The order of dates; `None` if no date needs one.
    pub dates: Option<DateOrder>,
    /// Whether an option or the map names the decimal mark.
    pub is_decimal_named: bool,
    /// Whether `$` is no sign of the wanted currency, because amounts have another sign of it, such as `R$`.
    pub is_dollar_other: bool,
}

/// The decisions of a run.
#[derive(Debug, Default)]
pub struct Proofs {
    /// In the order of the files.
    pub styles: Vec<Styles>,
    /// Open decisions, with the option to add.
    pub questions: Vec<String>,
    /// The first local date of a file, with its place.
    pub local_date: Option<String>,
}

/// A style that a value proves, or leaves open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Evidence {
    Mark(DecimalMark),
    /// Its only mark groups if this is the decimal mark.
    OpenMark(DecimalMark),
    Order(DateOrder),
    OpenOrder,
    Local,
    /// A currency with a sign that contains `$`.
    Dollar(&'static str),
    /// A workbook's date from the 1st to the 12th, in which a program may have swapped day and month.
    MaySwap,
}

/// The evidence of columns, with the first place of each.
#[derive(Debug, Default, Clone)]
struct Tally(BTreeMap<Evidence, String>);

impl Tally {
    fn amount(&mut self, cell: Cell<'_>, place: impl FnOnce() -> String) {
        let amount = Amount::of(cell);
        let currency = amount.as_ref().ok().and_then(|amount| amount.currency);
        if let Some(code) = currency.filter(|code| *code != "$" && cell.text.contains('$')) {
            self.0.entry(Evidence::Dollar(code)).or_default();
        }
        let evidence = match amount.map(|amount| amount.proof) {
            Ok(MarkProof::Proven(mark)) => Evidence::Mark(mark),
            Ok(MarkProof::Open(mark)) => Evidence::OpenMark(mark),
            _ => return,
        };
        self.0.entry(evidence).or_insert_with(place);
    }

    fn date(&mut self, cell: Cell<'_>, is_used: bool, place: impl Fn() -> String) {
        let Some(date) = WrittenDate::of(cell.text) else {
            return;
        };
        if is_used && date.is_local() {
            self.0.entry(Evidence::Local).or_insert_with(&place);
        }
        let evidence = match date.proof() {
            OrderProof::Proven(order) => Evidence::Order(order),
            OrderProof::Open if is_used => Evidence::OpenOrder,
            _ => return,
        };
        self.0.entry(evidence).or_insert_with(place);
    }

    fn add(&mut self, other: &Self) {
        for (evidence, place) in &other.0 {
            self.0.entry(*evidence).or_insert_with(|| place.clone());
        }
    }

    /// The one of two styles for which there is evidence.
    fn only<T: Copy>(&self, styles: [T; 2], evidence: fn(T) -> Evidence) -> Option<T> {
        let mut found = styles
            .into_iter()
            .filter(|style| self.0.contains_key(&evidence(*style)));
        found.next().filter(|_| found.next().is_none())
    }

    /// The decimal mark: proven by the values, else the one with which marks before three digits group.
    fn decimal(&self) -> Option<DecimalMark> {
        let marks = [DecimalMark::Comma, DecimalMark::Point];
        let is_proven = marks
            .iter()
            .any(|mark| self.0.contains_key(&Evidence::Mark(*mark)));
        let evidence = if is_proven {
            Evidence::Mark
        } else {
            Evidence::OpenMark
        };
        self.only(marks, evidence)
    }

    fn order(&self) -> Option<DateOrder> {
        self.only([DateOrder::Dmy, DateOrder::Mdy], Evidence::Order)
    }

    /// The place of an amount that can be read in two ways.
    fn open_amount(&self) -> Option<&String> {
        let open = |mark| self.0.get(&Evidence::OpenMark(mark));
        open(DecimalMark::Comma).or_else(|| open(DecimalMark::Point))
    }

    /// Whether amounts have another sign of a currency than `$` alone.
    fn has_other_sign(&self, currency: Option<&str>) -> bool {
        let mut evidence = self.0.keys();
        evidence.any(|evidence| matches!(evidence, Evidence::Dollar(code) if Some(*code) == currency))
    }

    /// The question about dates of a workbook, if day and month may be swapped.
    fn swap_question(&self) -> Option<String> {
        let place = self.0.get(&Evidence::MaySwap)?;
        let order = self.order().unwrap_or(DateOrder::Dmy);
        let name = if order == DateOrder::Dmy { "dmy" } else { "mdy" };
        Some(format!(
            "day and month may be swapped: {place} is a date of the workbook, as all of its column from the 1st to the 12th \
             are, and other dates are texts ({order}); write all as texts, or if the dates are right, add --dates {name}"
        ))
    }

    /// The place of a date that can be read in two ways.
    fn open_date(&self) -> Option<&String> {
        self.0.get(&Evidence::OpenOrder)
    }
}

/// The place of a workbook's date of a column, if all of them are from the 1st to the 12th and texts prove an order: a
/// program that reads `03/02/2026` in the other order leaves `13/02/2026` a text.
fn swapped<'a>(cells: impl Iterator<Item = (u64, Cell<'a>)>) -> Option<(u64, Cell<'a>)> {
    let (mut first, mut is_proven) = (None, false);
    for (line, cell) in cells {
        if cell.kind == CellType::Date {
            let (month, day) = (cell.text.get(5..7), cell.text.get(8..10));
            if day > Some("12") {
                return None;
            }
            first = first.or((day.is_some() && day != month).then_some((line, cell)));
        } else {
            let proof = WrittenDate::of(cell.text).map(|date| date.proof());
            is_proven |= matches!(proof, Some(OrderProof::Proven(_)));
        }
    }
    first.filter(|_| is_proven)
}

/// The proofs of the values of a file.
fn tally(file: &MappedFile) -> Tally {
    let mut tally = Tally::default();
    for (at, column) in file.columns.iter().enumerate() {
        let cells = || {
            let rows = file.sheet.grid.rows().map(move |row| (row.line(), row.cell(at)));
            rows.filter(|(_, cell)| cell.kind != CellType::Error && !is_absent(cell.text))
        };
        let place = |line: u64, cell: Cell<'_>| format!("{}:{line}: {:?}", file.sheet.name, cell.text);
        match column.target.field() {
            Some((FileKind::Opportunity, field)) if AMOUNTS.contains(&field) => {
                cells().for_each(|(line, cell)| tally.amount(cell, || place(line, cell)));
            }
            Some((_, field)) if DATES.contains(&field) => {
                cells().for_each(|(line, cell)| tally.date(cell, true, || place(line, cell)));
                if let Some((line, cell)) = swapped(cells()) {
                    tally
                        .0
                        .entry(Evidence::MaySwap)
                        .or_insert_with(|| place(line, cell));
                }
            }
            // A column of dates without a field proves their order too.
            None if matches!(column.target, ColumnTarget::Custom(..))
                && cells().all(|(_, cell)| WrittenDate::of(cell.text).is_some()) =>
            {
                cells().for_each(|(line, cell)| tally.date(cell, false, || place(line, cell)));
            }
            _ => {}
        }
    }
    tally
}

impl Proofs {
    /// Decides the styles of all files, each by all of them together, else by its own values.
    /// `wanted` is the currency of all amounts, if it is decided.
    pub fn of(files: &[MappedFile], map: &MapFile, wanted: Option<&str>) -> Self {
        let tallies: Vec<_> = files.iter().map(tally).collect();
        let mut run = Tally::default();
        for tally in &tallies {
            run.add(tally);
        }
        let (mut proofs, mut open) = (Self::default(), Tally::default());
        for own in &tallies {
            let decimal = map.decimal.or_else(|| run.decimal()).or_else(|| own.decimal());
            let dates = map.dates.or_else(|| run.order()).or_else(|| own.order());
            if decimal.is_none() && own.open_amount().is_some()
                || dates.is_none() && own.open_date().is_some()
            {
                open.add(own);
            }
            proofs.styles.push(Styles {
                decimal,
                dates,
                is_decimal_named: map.decimal.is_some(),
                is_dollar_other: own.has_other_sign(wanted),
            });
        }
        let decimal = map.decimal.or_else(|| run.decimal());
        if let Some(place) = open.open_amount().filter(|_| decimal.is_none()) {
            proofs.questions.push(format!(
                "the decimal mark is open: {place} can be read in two ways; add --decimal comma (1.234,56) or --decimal point \
                 (1,234.56)"
            ));
        }
        let order = map.dates.or_else(|| run.order());
        if let Some(place) = open.open_date().filter(|_| order.is_none()) {
            proofs.questions.push(format!(
                "the order of dates is open: {place} can be read in two ways; add --dates dmy (day first) or --dates mdy"
            ));
        }
        proofs
            .questions
            .extend(run.swap_question().filter(|_| map.dates.is_none()));
        proofs.local_date = run.0.remove(&Evidence::Local);
        proofs
    }
}

/// The questions about a column of amounts that are not whole, or not those of one row each.
pub fn unusual_amounts(file: &MappedFile) -> Vec<String> {
    let value = names::field("opportunity.value");
    let has_value = file.main != FileKind::Opportunity || file.has(FileKind::Opportunity, "value");
    let columns = file.sheet.headings.iter().zip(&file.columns).enumerate();
    let questions = columns.filter_map(|(at, (heading, column))| {
        let is_value = column.target.field() == value;
        let may_be = is_value || !has_value && names::resembles("value", heading);
        let reason = if names::is_scaled(heading) && may_be {
            "are thousands, millions or cents by its name; write the whole amounts, and name the column without that word"
        } else if is_value && file.sheet.merged.contains(&at) {
            "are in merged cells; write the amount of each row"
        } else {
            return None;
        };
        Some(format!("{}: the amounts of column {heading:?} {reason}", file.sheet.name))
    });
    questions.collect()
}

/// The styles of a file's columns of amounts and dates, as shown.
pub fn shown_types(file: &MappedFile, styles: Styles) -> Vec<String> {
    let shown = |column: &super::mapping::MappedColumn| match column.target.field() {
        Some((_, field)) if AMOUNTS.contains(&field) => {
            let decimal = styles.decimal.map(|decimal| format!(", decimal {decimal}"));
            "amount".to_owned() + &decimal.unwrap_or_default()
        }
        Some((_, field)) if DATES.contains(&field) => {
            let order = styles.dates.map(|order| order.to_string());
            format!("date {}", order.unwrap_or_else(|| "y-m-d".to_owned()))
        }
        _ => String::new(),
    };
    file.columns.iter().map(shown).collect()
}
