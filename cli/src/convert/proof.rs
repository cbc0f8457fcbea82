//! Decisions that the values of a run prove: the decimal mark, the order of dates, and whether a time zone is needed
//! (C-105). What stays open is asked for.

use super::input::{Cell, CellType};
use super::kind::FileKind;
use super::map::MapFile;
use super::mapping::MappedFile;
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

/// The proofs of the values of columns: the first place of each.
#[derive(Debug, Default, Clone)]
struct Tally {
    comma: Option<String>,
    point: Option<String>,
    open_comma: Option<String>,
    open_point: Option<String>,
    dmy: Option<String>,
    mdy: Option<String>,
    open_dates: Option<String>,
    local: Option<String>,
}

impl Tally {
    fn amount(&mut self, cell: Cell<'_>, place: impl FnOnce() -> String) {
        let proof = Amount::of(cell).map(|amount| amount.proof);
        let slot = match proof {
            Ok(MarkProof::Proven(DecimalMark::Comma)) => &mut self.comma,
            Ok(MarkProof::Proven(DecimalMark::Point)) => &mut self.point,
            Ok(MarkProof::Open(DecimalMark::Comma)) => &mut self.open_comma,
            Ok(MarkProof::Open(DecimalMark::Point)) => &mut self.open_point,
            _ => return,
        };
        if slot.is_none() {
            *slot = Some(place());
        }
    }

    fn date(&mut self, cell: Cell<'_>, is_used: bool, place: impl FnOnce() -> String) {
        let Some(date) = WrittenDate::of(cell.text) else {
            return;
        };
        let text = std::cell::LazyCell::new(place);
        if is_used && self.local.is_none() && date.is_local() {
            self.local = Some(text.clone());
        }
        let slot = match date.proof() {
            OrderProof::Proven(DateOrder::Dmy) => &mut self.dmy,
            OrderProof::Proven(DateOrder::Mdy) => &mut self.mdy,
            OrderProof::Open if is_used => &mut self.open_dates,
            _ => return,
        };
        if slot.is_none() {
            *slot = Some(text.clone());
        }
    }

    fn slots(&mut self) -> [&mut Option<String>; 8] {
        [
            &mut self.comma,
            &mut self.point,
            &mut self.open_comma,
            &mut self.open_point,
            &mut self.dmy,
            &mut self.mdy,
            &mut self.open_dates,
            &mut self.local,
        ]
    }

    fn add(&mut self, mut other: Self) {
        for (own, other) in self.slots().into_iter().zip(other.slots()) {
            if own.is_none() {
                *own = other.take();
            }
        }
    }

    /// The decimal mark: proven by the values, else the one with which marks before three digits group.
    fn decimal(&self) -> Option<DecimalMark> {
        only(
            self.comma.is_some(),
            self.point.is_some(),
            [DecimalMark::Comma, DecimalMark::Point],
        )
        .or_else(|| {
            let open = [self.open_comma.is_some(), self.open_point.is_some()];
            let is_unproven = self.comma.is_none() && self.point.is_none();
            only(open[0], open[1], [DecimalMark::Comma, DecimalMark::Point]).filter(|_| is_unproven)
        })
    }

    fn order(&self) -> Option<DateOrder> {
        only(
            self.dmy.is_some(),
            self.mdy.is_some(),
            [DateOrder::Dmy, DateOrder::Mdy],
        )
    }

    const fn has_amounts_open(&self) -> bool {
        self.open_comma.is_some() || self.open_point.is_some()
    }
}

fn only<T: Copy>(first: bool, second: bool, [one, other]: [T; 2]) -> Option<T> {
    match (first, second) {
        (true, false) => Some(one),
        (false, true) => Some(other),
        _ => None,
    }
}

/// The proofs of the values of a file.
fn tally(file: &MappedFile) -> Tally {
    let mut tally = Tally::default();
    for (at, column) in file.columns.iter().enumerate() {
        let cells = || {
            let rows = file.sheet.grid.rows().map(move |row| (row.line(), row.cell(at)));
            rows.filter(|(_, cell)| cell.kind == CellType::Text && !is_absent(cell.text))
        };
        let place = |line: u64, cell: Cell<'_>| format!("{}:{line}: {:?}", file.sheet.name, cell.text);
        match column.target.field() {
            Some((FileKind::Opportunity, field)) if AMOUNTS.contains(&field) => {
                cells().for_each(|(line, cell)| tally.amount(cell, || place(line, cell)));
            }
            Some((_, field)) if DATES.contains(&field) => {
                cells().for_each(|(line, cell)| tally.date(cell, true, || place(line, cell)));
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
    pub fn of(files: &[MappedFile], map: &MapFile) -> Self {
        let tallies: Vec<_> = files.iter().map(tally).collect();
        let mut run = Tally::default();
        for tally in &tallies {
            run.add(tally.clone());
        }
        let (mut proofs, mut open) = (Self::default(), Tally::default());
        for own in tallies {
            let decimal = map.decimal.or_else(|| run.decimal()).or_else(|| own.decimal());
            let dates = map.dates.or_else(|| run.order()).or_else(|| own.order());
            if decimal.is_none() && own.has_amounts_open() || dates.is_none() && own.open_dates.is_some() {
                open.add(own.clone());
            }
            proofs.styles.push(Styles {
                decimal,
                dates,
                is_decimal_named: map.decimal.is_some(),
            });
        }
        let decimal = map.decimal.or_else(|| run.decimal());
        if let Some(place) = open
            .open_comma
            .as_ref()
            .or(open.open_point.as_ref())
            .filter(|_| decimal.is_none())
        {
            proofs.questions.push(format!(
                "the decimal mark is open: {place} can be read in two ways; add --decimal comma (1.234,56) or --decimal point \
                 (1,234.56)"
            ));
        }
        let order = map.dates.or_else(|| run.order());
        if let Some(place) = open.open_dates.filter(|_| order.is_none()) {
            proofs.questions.push(format!(
                "the order of dates is open: {place} can be read in two ways; add --dates dmy (day first) or --dates mdy"
            ));
        }
        proofs.local_date = run.local;
        proofs
    }
}

/// The type of each column of a file, as shown.
pub fn shown_types(file: &MappedFile, styles: Styles) -> Vec<String> {
    let shown = |column: &super::mapping::MappedColumn| match &column.target {
        ColumnTarget::LeftOut(_) => String::new(),
        ColumnTarget::Custom(..) => "text".to_owned(),
        ColumnTarget::Field(_, field) if AMOUNTS.contains(field) => match styles.decimal {
            Some(decimal) => format!("amount, decimal {decimal}"),
            None => "amount".to_owned(),
        },
        ColumnTarget::Field(_, field) if DATES.contains(field) => match styles.dates {
            Some(order) => format!("date {order}"),
            None => "date y-m-d".to_owned(),
        },
        ColumnTarget::Field(_, field) => match *field {
            "phone" | "mobile" | "chatapp" | "companyphone" => "telephone number",
            "email" | "companyemail" => "e-mail address",
            "createTime" | "closeTime" => "time of day",
            "id" => "id",
            _ => "text",
        }
        .to_owned(),
    };
    file.columns.iter().map(shown).collect()
}
