//! Amounts and dates of cells (C-105). The style of a column's numbers and dates follows from all its values, because
//! one value such as `1.234` or `03/04/2026` can be read in two ways.

use shared::money::Cents;
use shared::time::{Day, Timestamp, Zone};

/// The character before the decimals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decimal {
    /// `1.234,56`
    Comma,
    /// `1,234.56`
    Point,
}

/// The order of day and month in dates such as `03/04/2026`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DateOrder {
    /// Day, month, year.
    Dmy,
    /// Month, day, year.
    Mdy,
}

/// Whether a cell is empty, or a placeholder that exports write for an absent value.
pub fn is_absent(cell: &str) -> bool {
    matches!(
        cell,
        "" | "-" | "--" | "N/A" | "n/a" | "#N/A" | "NULL" | "null" | "(No value)" | "(Sem valor)"
    )
}

impl Decimal {
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

    fn of(number: &str) -> Option<Self> {
        match (number.rfind(','), number.rfind('.')) {
            (Some(comma), Some(point)) => Some(if comma > point { Self::Comma } else { Self::Point }),
            (Some(at), None) if !grouped(number, ',') => (at + 1 < number.len()).then_some(Self::Comma),
            (None, Some(at)) if !grouped(number, '.') => (at + 1 < number.len()).then_some(Self::Point),
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
        let whole = if grouped(whole, group) {
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

impl std::fmt::Display for Decimal {
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
fn grouped(number: &str, mark: char) -> bool {
    let mut groups = number.split(mark);
    let first = groups.next().is_some_and(|first| (1..=3).contains(&first.len()));
    first && groups.all(|group| group.len() == 3)
}

impl DateOrder {
    /// The order that a column's values prove, if any.
    pub fn proven<'a>(cells: impl Iterator<Item = &'a str>) -> Option<Self> {
        let (mut dmy, mut mdy) = (0_u64, 0_u64);
        for cell in cells {
            match DateParts::of(cell).map(|parts| parts.date) {
                Some([13..=31, 1..=12, year]) if year > 31 => dmy += 1,
                Some([1..=12, 13..=31, year]) if year > 31 => mdy += 1,
                _ => {}
            }
        }
        (dmy + mdy > 0).then_some(if dmy >= mdy { Self::Dmy } else { Self::Mdy })
    }

    /// Whether a date has its year at the end, so that its order matters.
    pub fn matters(cell: &str) -> bool {
        DateParts::of(cell).is_some_and(|parts| parts.date[0] <= 31)
    }

    /// The instant of a local date. `time` is the time of day from another column, or empty.
    ///
    /// # Errors
    /// A message, if the cell is no date in this order.
    pub fn instant(self, cell: &str, time: &str, zone: Zone) -> Result<Timestamp, String> {
        if let Some(instant) =
            Timestamp::parse(cell).or_else(|| Timestamp::parse(&cell.replacen(' ', "T", 1)))
        {
            return Ok(instant);
        }
        let whole = if time.is_empty() {
            cell.to_owned()
        } else {
            format!("{cell} {time}")
        };
        let day = |parts: &DateParts| {
            let [first, second, last] = parts.date;
            let [year, month, day] = match self {
                _ if first > 31 => parts.date,
                Self::Dmy => [last, second, first],
                Self::Mdy => [last, first, second],
            };
            Day::parse(&format!("{year:04}-{month:02}-{day:02}"))
        };
        let read = DateParts::of(&whole).and_then(|parts| Some((day(&parts)?, parts.minutes, parts.seconds)));
        let (day, minutes, seconds) = read.ok_or_else(|| format!("{whole:?} is no date {self}"))?;
        Ok(zone.earliest(day, minutes).plus_seconds(seconds))
    }
}

impl std::fmt::Display for DateOrder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Dmy => "d/m/y",
            Self::Mdy => "m/d/y",
        })
    }
}

/// The numbers of a date and time, in the order of the text.
struct DateParts {
    date: [u32; 3],
    minutes: u16,
    seconds: u32,
}

impl DateParts {
    fn of(cell: &str) -> Option<Self> {
        let (date, time) = cell.split_once([' ', 'T']).unwrap_or((cell, ""));
        let date: Vec<u32> = date
            .split(['/', '-', '.'])
            .map(|part| part.parse().ok())
            .collect::<Option<_>>()?;
        let [first, second, last] = date[..] else {
            return None;
        };
        let last = if last < 100 && first <= 31 && second <= 31 {
            last + 2000
        } else {
            last
        };
        let (minutes, seconds) = clock(time.trim())?;
        Some(Self {
            date: [first, second, last],
            minutes,
            seconds,
        })
    }
}

/// Minutes and seconds of `14:30`, `14:30:05` or `2:30 PM`; midnight if there is no time.
fn clock(time: &str) -> Option<(u16, u32)> {
    if time.is_empty() {
        return Some((0, 0));
    }
    let lower = time.to_ascii_lowercase();
    let (digits, half) = match lower.strip_suffix("pm") {
        Some(digits) => (digits, Some(12)),
        None => lower
            .strip_suffix("am")
            .map_or((lower.as_str(), None), |digits| (digits, Some(0))),
    };
    let mut numbers = digits
        .trim()
        .split(':')
        .map(|part| part.split('.').next().unwrap_or_default().parse::<u16>());
    let (hour, minute) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
    let second = numbers.next().transpose().ok()?.unwrap_or(0);
    let hour = match half {
        Some(half) if (1..=12).contains(&hour) => hour % 12 + half,
        Some(_) => return None,
        None => hour,
    };
    (hour < 24 && minute < 60 && second < 61).then(|| (hour * 60 + minute, u32::from(second)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts() {
        for (style, cell, amount) in [
            (Decimal::Comma, "R$ 1.234,56", "1234.56"),
            (Decimal::Comma, "1234,5", "1234.50"),
            (Decimal::Comma, "1.234", "1234.00"),
            (Decimal::Comma, "BRL 1.234.567,00", "1234567.00"),
            (Decimal::Point, "1,234.56", "1234.56"),
            (Decimal::Point, "$1234", "1234.00"),
            (Decimal::Point, "1500.000", "1500.00"),
            (Decimal::Comma, "0", "0.00"),
        ] {
            assert_eq!(
                style.amount(cell).map(String::from),
                Ok(amount.to_owned()),
                "{cell}"
            );
        }
        for (style, cell) in [
            (Decimal::Comma, "1,234"),
            (Decimal::Comma, "1234.5"),
            (Decimal::Point, "1.234"),
            (Decimal::Point, "-5"),
            (Decimal::Point, "(5.00)"),
            (Decimal::Point, "a combinar"),
            (Decimal::Point, "10%"),
        ] {
            assert!(style.amount(cell).is_err(), "{cell}");
        }
    }

    #[test]
    fn a_column_proves_its_style() {
        let decimal = |cells: &[&str]| Decimal::proven(cells.iter().copied());
        assert_eq!(decimal(&["1.234", "10", "99,90"]), Some(Decimal::Comma));
        assert_eq!(decimal(&["1.234", "1,234.50"]), Some(Decimal::Point));
        assert_eq!(decimal(&["1.234.567"]), Some(Decimal::Comma));
        assert_eq!(decimal(&["1.234", "10"]), None);
        let order = |cells: &[&str]| DateOrder::proven(cells.iter().copied());
        assert_eq!(order(&["03/04/2026", "13/04/2026"]), Some(DateOrder::Dmy));
        assert_eq!(order(&["03/04/2026 10:00", "04/13/2026"]), Some(DateOrder::Mdy));
        assert_eq!(order(&["03/04/2026", "2026-04-13"]), None);
    }

    #[test]
    fn dates_are_local() {
        let zone = Zone::parse("America/Sao_Paulo").unwrap();
        for (order, cell, time, instant) in [
            (DateOrder::Dmy, "03/04/2026", "", "2026-04-03T03:00:00.000Z"),
            (DateOrder::Mdy, "03/04/2026", "", "2026-03-04T03:00:00.000Z"),
            (DateOrder::Dmy, "03/04/26 14:30", "", "2026-04-03T17:30:00.000Z"),
            (DateOrder::Dmy, "3.4.2026", "14:30:05", "2026-04-03T17:30:05.000Z"),
            (DateOrder::Mdy, "4/3/2026 2:30 PM", "", "2026-04-03T17:30:00.000Z"),
            (
                DateOrder::Mdy,
                "2026-04-03 12:05 am",
                "",
                "2026-04-03T03:05:00.000Z",
            ),
            (
                DateOrder::Mdy,
                "2026-04-03T14:30:00",
                "",
                "2026-04-03T17:30:00.000Z",
            ),
            (
                DateOrder::Mdy,
                "2026-04-03T14:30:00Z",
                "",
                "2026-04-03T14:30:00.000Z",
            ),
            (
                DateOrder::Mdy,
                "2026-04-03 14:30:00+02:00",
                "",
                "2026-04-03T12:30:00.000Z",
            ),
            // Daylight saving time began at this midnight.
            (DateOrder::Dmy, "04/11/2018", "", "2018-11-04T03:00:00.000Z"),
        ] {
            let read = order.instant(cell, time, zone).map(|instant| instant.to_string());
            assert_eq!(read.as_deref(), Ok(instant), "{cell}");
        }
        for cell in ["31/02/2026", "amanhã", "03/04", "03/04/2026 25:00", "45000"] {
            assert!(DateOrder::Dmy.instant(cell, "", zone).is_err(), "{cell}");
        }
    }
}
