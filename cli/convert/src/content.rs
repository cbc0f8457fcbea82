//! The kinds of values that a column has (C-105).

use super::input::{Cell, Sheet};
use super::names::{self, plain};
use super::token::amount::Amount;
use super::token::date::WrittenDate;
use super::token::{is_absent, people};

/// Maximum values of a column that are looked at.
const MAX_VALUES: usize = 1000;
/// Values of other kinds that a column may have before it has more of one.
const MAX_OTHERS: usize = 8;

/// A kind of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// Amounts, also counts and numbers.
    Amounts,
    /// Yes or no.
    Answers,
    /// ISO codes of currencies.
    Currencies,
    /// Dates.
    Dates,
    /// E-mail addresses.
    Emails,
    /// Amounts with the sign of a currency.
    Money,
    /// Telephone numbers.
    Phones,
    /// Statuses.
    Statuses,
}

impl Content {
    const ALL: [Self; 8] = [
        Self::Amounts,
        Self::Answers,
        Self::Currencies,
        Self::Dates,
        Self::Emails,
        Self::Money,
        Self::Phones,
        Self::Statuses,
    ];

    fn fits(self, cell: Cell<'_>) -> bool {
        let text = cell.text;
        match self {
            Self::Amounts => Amount::of(cell).is_ok(),
            Self::Answers => names::answer(text).is_some(),
            // Two letters are a state: `RS`, `MT`.
            Self::Currencies => text.len() == 3 && names::currency(text).is_some(),
            Self::Dates => WrittenDate::of(text).is_some(),
            Self::Emails => text.contains('@') && people::emails(text).is_ok(),
            Self::Money => Amount::of(cell).is_ok_and(|amount| amount.currency.is_some()),
            Self::Phones => {
                let is_other = WrittenDate::of(text).is_some() || is_tax_number(text);
                !is_other && people::phones(text).is_ok()
            }
            Self::Statuses => names::status(&plain(text)).is_some(),
        }
    }

    /// The kinds of which at least half of a column's first values are. A column without values has none.
    pub fn of(sheet: &Sheet, column: usize) -> Vec<Self> {
        let cells = sheet.grid.rows().map(|row| row.cell(column));
        let cells = cells.filter(|cell| !is_absent(cell.text)).take(MAX_VALUES);
        let mut kinds = Self::ALL.map(|kind| (kind, 0_usize)).to_vec();
        let mut count = 0;
        for cell in cells {
            count += 1;
            for (kind, fitting) in &mut kinds {
                *fitting += usize::from(kind.fits(cell));
            }
            kinds.retain(|(_, fitting)| count - fitting <= fitting + MAX_OTHERS);
            if kinds.is_empty() {
                break;
            }
        }
        kinds.retain(|(_, fitting)| count > 0 && count - fitting <= *fitting);
        kinds.into_iter().map(|(kind, _)| kind).collect()
    }
}

/// Whether a text is a CPF or a CNPJ with its marks.
fn is_tax_number(text: &str) -> bool {
    let form: String = text
        .chars()
        .map(|c| if c.is_ascii_digit() { '0' } else { c })
        .collect();
    matches!(form.as_str(), "000.000.000-00" | "00.000.000/0000-00")
}
