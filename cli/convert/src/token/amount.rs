//! Amounts of cells. `1.234` can be read in two ways, so the other amounts of the run decide.

use domain::money::Cents;

use crate::input::{Cell, CellType};
use crate::names;

/// The character before the decimals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DecimalMark {
    /// `1.234,56`
    Comma,
    /// `1,234.56`
    Point,
}

impl DecimalMark {
    fn of(mark: char) -> Self {
        if mark == ',' { Self::Comma } else { Self::Point }
    }

    fn other(self) -> Self {
        match self {
            Self::Comma => Self::Point,
            Self::Point => Self::Comma,
        }
    }

    const fn char(self) -> char {
        match self {
            Self::Comma => ',',
            Self::Point => '.',
        }
    }
}

impl std::fmt::Display for DecimalMark {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Comma => "comma",
            Self::Point => "point",
        })
    }
}

/// The proof of an amount for its decimal mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MarkProof {
    /// It has no mark.
    None,
    /// Only this mark gives it a meaning.
    Proven(DecimalMark),
    /// Its only mark is before exactly three digits: it groups if this is the decimal mark.
    Open(DecimalMark),
}

/// An amount as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Amount {
    /// Digits with commas and points, without other groups.
    number: String,
    /// The ISO code, or `$`.
    pub currency: Option<&'static str>,
    is_negative: bool,
    /// The proof of its mark.
    pub proof: MarkProof,
}

/// The reason for a text that is no amount.
const NO_AMOUNT: &str = "is no amount";

impl Amount {
    /// Reads a cell: sign, currency, groups of three digits, decimals, and nothing else.
    ///
    /// # Errors
    /// The reason.
    pub fn of(cell: Cell<'_>) -> Result<Self, String> {
        match cell.kind {
            CellType::Error => return Err("is an error value of a spreadsheet".to_owned()),
            CellType::Number => return Self::of_number(cell.text),
            CellType::Text | CellType::Date => {}
        }
        if super::is_error(cell.text) {
            return Err("is an error value of a spreadsheet".to_owned());
        }
        let text: String = cell.text.chars().map(plain).collect();
        if let Some(currency) = accounting_zero(&text) {
            return Ok(Self {
                number: "0".to_owned(),
                currency: Some(currency),
                is_negative: false,
                proof: MarkProof::None,
            });
        }
        let (Some(first), Some(last)) = (
            text.find(|c: char| c.is_ascii_digit()),
            text.rfind(|c: char| c.is_ascii_digit()),
        ) else {
            return Err(NO_AMOUNT.to_owned());
        };
        let (before, rest) = text.split_at(first);
        let (core, after) = rest.split_at(last + 1 - first);
        let (before, sign_before) = without_sign(before, '(');
        let (after, sign_after) = without_sign(after, ')');
        let currency = match (before.as_str(), after.as_str()) {
            ("", "") => None,
            (word, "") | ("", word) => Some(names::currency(word).ok_or(NO_AMOUNT)?),
            _ => return Err(NO_AMOUNT.to_owned()),
        };
        let number = if core.contains(['e', 'E']) {
            scientific(core)?
        } else {
            ungrouped(core).ok_or(NO_AMOUNT)?
        };
        Ok(Self {
            proof: proof(&number, core.len() != number.len()).ok_or(NO_AMOUNT)?,
            number,
            currency,
            is_negative: sign_before || sign_after,
        })
    }

    /// Reads a number of a workbook, perhaps after the currency of its format.
    fn of_number(text: &str) -> Result<Self, String> {
        let (sign, text) = text
            .rsplit_once(' ')
            .map_or((None, text), |(sign, text)| (Some(sign), text));
        let currency = sign
            .map(|sign| names::currency(sign).ok_or(NO_AMOUNT))
            .transpose()?;
        let value: f64 = text.parse().map_err(|_| NO_AMOUNT.to_owned())?;
        // A sum of binary fractions misses the cent.
        let cents = Cents::from_json(&serde_json::json!(value.abs()));
        let number = cents.map_or_else(
            || text.trim_start_matches('-').to_owned(),
            |cents| cents.to_string(),
        );
        Ok(Self {
            number,
            currency,
            is_negative: value < 0.0,
            proof: MarkProof::None,
        })
    }

    /// The amount in cents. `run` is the decimal mark that the run proves, and `is_named` whether an option names it.
    ///
    /// # Errors
    /// The reason.
    pub fn cents(&self, run: Option<DecimalMark>, is_named: bool) -> Result<Cents, String> {
        let mark = match (self.proof, run) {
            (MarkProof::Proven(own), Some(run))
                if is_named && own != run && self.number.contains(['.', ',']) =>
            {
                return Err(format!(
                    "has a decimal {own}, and the option or map names the {run}"
                ));
            }
            (MarkProof::Proven(own), _) => own,
            (MarkProof::Open(own), Some(run)) if own != run && !is_named => {
                let digits: String = self.number.chars().filter(char::is_ascii_digit).collect();
                return Err(format!(
                    "can be {digits} or a number with three decimals, because other amounts have a decimal {run}; write it \
                     with two decimals"
                ));
            }
            (MarkProof::Open(own), run) => run.unwrap_or(own),
            (MarkProof::None, _) => DecimalMark::Point,
        };
        if self.is_negative && is_not_zero(&self.number) {
            return Err("is negative; an amount is 0 or more".to_owned());
        }
        let plain = self
            .number
            .replace(mark.other().char(), "")
            .replace(mark.char(), ".");
        Cents::parse(&plain)
            .ok_or_else(|| "is no amount from 0 to 9999999999999.99 with at most two decimals".to_owned())
    }
}

/// The currency of a zero as spreadsheets show it: `R$ -`.
fn accounting_zero(text: &str) -> Option<&'static str> {
    let sign = text
        .trim()
        .strip_suffix('-')
        .or_else(|| text.trim().strip_prefix('-'))?;
    names::currency(sign)
}

/// The sign for one that looks like it.
fn plain(c: char) -> char {
    match c {
        '\u{a0}' | '\u{202f}' | '\u{2009}' | '\u{2007}' => ' ',
        '\u{2212}' | '\u{2010}'..='\u{2014}' => '-',
        '\u{2019}' => '\'',
        c => c,
    }
}

/// The text without signs and parentheses, and whether it had one that makes the amount negative.
fn without_sign(text: &str, parenthesis: char) -> (String, bool) {
    let is_negative = text.contains(['-', parenthesis]);
    let rest: String = text
        .chars()
        .filter(|c| *c != '-' && *c != '+' && *c != parenthesis)
        .collect();
    let is_twice = text.len() - rest.len() > 1;
    // Two signs are left in the text, which is then no currency.
    if is_twice {
        (text.to_owned(), true)
    } else {
        (rest.trim().to_owned(), is_negative)
    }
}

/// A number without spaces and apostrophes, which must group three digits; `None` if they do not.
fn ungrouped(core: &str) -> Option<String> {
    let is_group = |c: char| c == ' ' || c == '\'';
    let whole_end = core.rfind(is_group).map_or(0, |at| at + 1);
    let end = core[whole_end..]
        .find([',', '.'])
        .map_or(core.len(), |at| whole_end + at);
    let mut groups = core[..end].split(is_group);
    let first = groups.next()?;
    let has_groups = whole_end > 0;
    let are_three = groups.all(|group| group.len() == 3 && group.bytes().all(|byte| byte.is_ascii_digit()));
    let is_first = !has_groups || (1..=3).contains(&first.len()) && !first.contains([',', '.']);
    let is_digits = core
        .chars()
        .all(|c| c.is_ascii_digit() || is_group(c) || matches!(c, ',' | '.'));
    (are_three && is_first && is_digits).then(|| core.replace(is_group, ""))
}

/// `1E+06` as `1000000`. More than two digits before the exponent may have been rounded by a spreadsheet.
fn scientific(core: &str) -> Result<String, String> {
    let (mantissa, exponent) = core.split_once(['e', 'E']).unwrap_or((core, ""));
    let exponent: Option<usize> = exponent.strip_prefix('+').unwrap_or(exponent).parse().ok();
    let (whole, decimals) = mantissa.split_once([',', '.']).unwrap_or((mantissa, ""));
    let digits = format!("{whole}{decimals}");
    let is_number = !whole.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    match exponent.filter(|exponent| is_number && (decimals.len()..=15).contains(exponent)) {
        Some(exponent) if digits.trim_end_matches('0').len() <= 2 => {
            Ok(digits + &"0".repeat(exponent - decimals.len()))
        }
        Some(_) => Err(
            "is a number that a spreadsheet may have rounded; export the column with all digits".to_owned(),
        ),
        None => Err(NO_AMOUNT.to_owned()),
    }
}

/// The proof of the marks of a number; `None` if they have no meaning. `is_grouped` states that spaces or apostrophes
/// group its digits.
fn proof(number: &str, is_grouped: bool) -> Option<MarkProof> {
    let are_groups = |text: &str, mark: char| {
        let mut groups = text.split(mark);
        let first = groups.next().is_some_and(|first| (1..=3).contains(&first.len()));
        first && groups.all(|group| group.len() == 3)
    };
    match (number.rfind(','), number.rfind('.')) {
        (None, None) => Some(MarkProof::None),
        (Some(comma), Some(point)) => {
            let mark = if comma > point { ',' } else { '.' };
            let group = if mark == ',' { '.' } else { ',' };
            let (whole, _) = number.rsplit_once(mark)?;
            let is_whole = !is_grouped && !whole.contains(mark) && are_groups(whole, group);
            is_whole.then(|| MarkProof::Proven(DecimalMark::of(mark)))
        }
        (Some(_), None) | (None, Some(_)) => {
            let mark = if number.contains(',') { ',' } else { '.' };
            let own = DecimalMark::of(mark);
            let (whole, rest) = number.rsplit_once(mark)?;
            if whole.contains(mark) {
                return (!is_grouped && are_groups(number, mark)).then(|| MarkProof::Proven(own.other()));
            }
            let may_group =
                rest.len() == 3 && (1..=3).contains(&whole.len()) && !whole.starts_with('0') && !is_grouped;
            Some(if may_group {
                MarkProof::Open(own.other())
            } else {
                MarkProof::Proven(own)
            })
        }
    }
}

/// The code of a cell in a column of currencies. An unknown text is its own code.
pub fn currency_code(cell: &str) -> String {
    let known = names::currency(cell).or_else(|| currency_of_heading(cell));
    known.map_or_else(|| cell.trim().to_uppercase(), str::to_owned)
}

/// Whether an amount is not zero.
pub fn is_not_zero(amount: &str) -> bool {
    amount.contains(|c: char| ('1'..='9').contains(&c))
}

/// The ISO code of a currency that a heading names: `Valor (US$)`, `Amount EUR`.
pub fn currency_of_heading(heading: &str) -> Option<&'static str> {
    let mut words = heading.split([' ', '(', ')', '[', ']']);
    words
        .find_map(|word| names::currency(word).filter(|code| *code == word || word.contains(['$', '€', '£'])))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, run: Option<DecimalMark>) -> Result<String, String> {
        let cell = Cell {
            text,
            kind: CellType::Text,
        };
        Amount::of(cell)?.cents(run, false).map(String::from)
    }

    #[test]
    #[expect(clippy::too_many_lines, reason = "it is as long as it has cases")]
    fn whole_amounts() {
        use DecimalMark::{Comma, Point};
        for (text, run, amount) in [
            ("R$ 1.234,56", None, "1234.56"),
            ("1234,5", None, "1234.50"),
            ("1.234", None, "1234.00"),
            ("1.234", Some(Comma), "1234.00"),
            ("1,234", Some(Point), "1234.00"),
            ("BRL 1.234.567,00", None, "1234567.00"),
            ("1,234.56", None, "1234.56"),
            ("$1234", None, "1234.00"),
            ("US$ 1,234.50", None, "1234.50"),
            ("1500.000", None, "1500.00"),
            ("1\u{a0}234,50 €", None, "1234.50"),
            ("1'234.50", None, "1234.50"),
            ("CHF 1’234.50", None, "1234.50"),
            ("1E+06", None, "1000000.00"),
            ("2E+05", None, "200000.00"),
            ("1,5E+04", None, "15000.00"),
            ("+10,00", None, "10.00"),
            ("-0,00", None, "0.00"),
            ("0", None, "0.00"),
            ("0007", None, "7.00"),
            ("R$ -", None, "0.00"),
            ("R$\u{a0}-   ", None, "0.00"),
        ] {
            assert_eq!(read(text, run), Ok(amount.to_owned()), "{text}");
        }
        for text in [
            "=1+1",
            "#DIV/0!",
            "−50,00",
            "(50,00)",
            "R$ -50",
            "-R$ 50",
            "50,00-",
            "10%",
            "a combinar",
            "10 mil",
            "1.23457E+06",
            "10 x 5,00",
            "1,2,3",
            "1.23.456",
            "12 34",
            "R$ 10 BRL",
            "1.234.56",
            "10k",
            "R$",
            "1-2",
            "5,00 a 6,00",
            "0.125",
            "1 234.567.8",
        ] {
            assert!(read(text, None).is_err(), "{text}: {:?}", read(text, None));
        }
        // The rest of the run has a decimal point.
        assert!(read("1.234", Some(Point)).is_err());
    }

    #[test]
    fn numbers_of_workbooks() {
        let read = |text: &str| {
            let kind = CellType::Number;
            Amount::of(Cell { text, kind })
                .unwrap()
                .cents(Some(DecimalMark::Comma), false)
                .map(String::from)
        };
        assert_eq!(read("1234.5"), Ok("1234.50".to_owned()));
        assert_eq!(read("0.30000000000000004"), Ok("0.30".to_owned()));
        assert_eq!(read("1.5"), Ok("1.50".to_owned()));
        assert_eq!(read("US$ 1234.5"), Ok("1234.50".to_owned()));
        assert!(read("-5").is_err() && read("1.234").is_err());
    }
}
