//! Amounts of cells (C-105). All amounts of a column decide how it writes them, because `1.234` can be read in two
//! ways.

use shared::money::Cents;

/// The character before the decimals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DecimalMark {
    /// `1.234,56`
    Comma,
    /// `1,234.56`
    Point,
}

/// Whether a cell is empty. The others are placeholders that exports write for an absent value.
pub fn is_absent(cell: &str) -> bool {
    matches!(
        cell,
        "" | "-"
            | "--"
            | "N/A"
            | "n/a"
            | "N/D"
            | "n/d"
            | "#N/A"
            | "NULL"
            | "null"
            | "(No value)"
            | "(Sem valor)"
            | "Não informado"
            | "não informado"
    )
}

impl DecimalMark {
    /// The style that a column's values prove, if any.
    pub fn proven<'a>(cells: impl Iterator<Item = &'a str>) -> Option<Self> {
        let (mut comma, mut point) = (0_u64, 0_u64);
        for cell in cells {
            match Self::of(&digits_and_marks(cell)) {
                Some(Self::Comma) => comma += 1,
                Some(Self::Point) => point += 1,
                None => {}
            }
        }
        (comma + point > 0).then_some(if comma >= point { Self::Comma } else { Self::Point })
    }

    /// The style that one number proves, if any. `1.234` proves none, because its mark may group or precede decimals.
    fn of(number: &str) -> Option<Self> {
        match (number.rfind(','), number.rfind('.')) {
            (Some(comma), Some(point)) => Some(if comma > point { Self::Comma } else { Self::Point }),
            (Some(at), None) if !is_grouped(number, ',') => (at + 1 < number.len()).then_some(Self::Comma),
            (None, Some(at)) if !is_grouped(number, '.') => (at + 1 < number.len()).then_some(Self::Point),
            // Several equal marks only group.
            (Some(_), None) if number.matches(',').count() > 1 => Some(Self::Point),
            (None, Some(_)) if number.matches('.').count() > 1 => Some(Self::Comma),
            _ => None,
        }
    }

    /// An amount such as `R$ 1.234,56`, with at most two decimals.
    ///
    /// # Errors
    /// A message, if the cell is no such amount.
    pub fn amount(self, cell: &str) -> Result<Cents, String> {
        let number = digits_and_marks(cell);
        let (group, mark) = match self {
            Self::Comma => ('.', ','),
            Self::Point => (',', '.'),
        };
        let (whole, decimals) = number.split_once(mark).unwrap_or((&number, ""));
        let whole = if is_grouped(whole, group) {
            whole.replace(group, "")
        } else {
            whole.to_owned()
        };
        let is_whole = whole.bytes().all(|byte| byte.is_ascii_digit());
        let decimals = decimals.trim_end_matches('0');
        let plain = match decimals {
            "" => whole,
            decimals => format!("{whole}.{decimals}"),
        };
        let letters = cell.chars().filter(|c| c.is_alphabetic()).count();
        let amount = Cents::parse(&plain).filter(|_| is_whole && letters <= 4 && !cell.contains('%'));
        amount.ok_or_else(|| {
            format!("{cell:?} is no amount from 0 to 9999999999999.99 with at most two decimals and a decimal {self}")
        })
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

/// The digits, commas, points and signs of an amount, without currency and spaces. An opening parenthesis is a sign.
fn digits_and_marks(cell: &str) -> String {
    let kept = |c: &char| c.is_ascii_digit() || matches!(c, ',' | '.' | '-' | '(');
    cell.chars().filter(kept).collect()
}

/// Whether the first group has at most three digits and each other group three.
fn is_grouped(number: &str, mark: char) -> bool {
    let mut groups = number.split(mark);
    let first = groups.next().is_some_and(|first| (1..=3).contains(&first.len()));
    first && groups.all(|group| group.len() == 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts() {
        for (style, cell, amount) in [
            (DecimalMark::Comma, "R$ 1.234,56", "1234.56"),
            (DecimalMark::Comma, "1234,5", "1234.50"),
            (DecimalMark::Comma, "1.234", "1234.00"),
            (DecimalMark::Comma, "BRL 1.234.567,00", "1234567.00"),
            (DecimalMark::Point, "1,234.56", "1234.56"),
            (DecimalMark::Point, "$1234", "1234.00"),
            (DecimalMark::Point, "1500.000", "1500.00"),
            (DecimalMark::Comma, "0", "0.00"),
        ] {
            assert_eq!(
                style.amount(cell).map(String::from),
                Ok(amount.to_owned()),
                "{cell}"
            );
        }
        for (style, cell) in [
            (DecimalMark::Comma, "1,234"),
            (DecimalMark::Comma, "1234.5"),
            (DecimalMark::Point, "1.234"),
            (DecimalMark::Point, "-5"),
            (DecimalMark::Point, "(5.00)"),
            (DecimalMark::Point, "a combinar"),
            (DecimalMark::Point, "10%"),
        ] {
            assert!(style.amount(cell).is_err(), "{cell}");
        }
    }

    #[test]
    fn a_column_proves_its_style() {
        let decimal = |cells: &[&str]| DecimalMark::proven(cells.iter().copied());
        assert_eq!(decimal(&["1.234", "10", "99,90"]), Some(DecimalMark::Comma));
        assert_eq!(decimal(&["1.234", "1,234.50"]), Some(DecimalMark::Point));
        assert_eq!(decimal(&["1.234.567"]), Some(DecimalMark::Comma));
        assert_eq!(decimal(&["1.234", "10"]), None);
    }
}
