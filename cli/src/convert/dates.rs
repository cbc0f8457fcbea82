//! Dates of cells (C-105). All dates of a column decide how it writes them, because `03/04/2026` can be read in two
//! ways.

use shared::text::fold;
use shared::time::{Day, Timestamp, Zone};

/// The order of day and month in dates such as `03/04/2026`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DateOrder {
    /// Day, month, year.
    Dmy,
    /// Month, day, year.
    Mdy,
}

/// Longer texts are no dates.
const MAX_DATE: usize = 40;
/// Words between the parts of a date.
const FILLERS: [&str; 5] = ["de", "of", "as", "at", "em"];
const MONTHS: [&str; 12] = [
    "jan", "fev|feb", "mar", "abr|apr", "mai|may", "jun", "jul", "ago|aug", "set|sep", "out|oct", "nov",
    "dez|dec",
];

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

    /// The instant of a local date, with `time` from a column of its own.
    ///
    /// # Errors
    /// The reason.
    pub fn instant(self, cell: &str, time: &str, zone: Zone) -> Result<Timestamp, String> {
        if let Some(instant) = with_offset(cell) {
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
        let parsed =
            DateParts::of(&whole).and_then(|parts| Some((day(&parts)?, parts.minutes, parts.seconds)));
        let (day, minutes, seconds) = parsed.ok_or_else(|| format!("{whole:?} is no date {self}"))?;
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

/// The numbers of a date and time as they are written.
struct DateParts {
    /// Year, month and day in the written order. A number above 31 is a year.
    date: [u32; 3],
    /// Minutes since midnight.
    minutes: u16,
    seconds: u32,
}

impl DateParts {
    /// Parses a date with or without a time; `None` if the cell is none. The name of a month determines the order, so
    /// such a date is returned as year, month and day.
    fn of(cell: &str) -> Option<Self> {
        if cell.len() > MAX_DATE || !cell.starts_with(|first: char| first.is_alphanumeric()) {
            return None;
        }
        let folded = fold(cell);
        let (date, time) = match folded.split_once('t') {
            Some((date, time)) if date.ends_with(|last: char| last.is_ascii_digit()) => {
                (date, time.to_owned())
            }
            _ => split_at_time(&folded),
        };
        let parts = date.split([' ', '/', '-', '.', ',']);
        let parts = parts.filter(|part| !part.is_empty() && !FILLERS.contains(part));
        let parts: Vec<_> = parts.map(|part| part.parse().map_err(|_| month(part))).collect();
        let [first, second, last] = match parts[..] {
            [Ok(first), Ok(second), Ok(last)] => [first, second, last],
            [Ok(day), Err(month), Ok(year)] | [Err(month), Ok(day), Ok(year)] if day <= 31 => {
                [with_century(year), month?, day]
            }
            [Ok(year), Err(month), Ok(day)] => [year, month?, day],
            _ => return None,
        };
        let last = if first <= 31 && second <= 31 {
            with_century(last)
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

/// A year of which the century may be left out.
fn with_century(year: u32) -> u32 {
    if year < 100 { year + 2000 } else { year }
}

/// Splits a folded text at its first time, such as `14:30`, `14h` or `14h30min`. The time has the form that [`clock`]
/// parses, such as `14:30` or `14:`. It is empty if there is none.
fn split_at_time(folded: &str) -> (&str, String) {
    let is_time = |word: &str| {
        let hour = word.split([':', 'h']).next().unwrap_or_default();
        word.contains([':', 'h']) && !hour.is_empty() && hour.bytes().all(|byte| byte.is_ascii_digit())
    };
    let time = folded.split([' ', ',']).find(|word| is_time(word));
    let time_start = time.and_then(|time| folded.find(time)).unwrap_or(folded.len());
    let (date, time) = folded.split_at(time_start);
    (date, time.replace("min", "").replace('h', ":"))
}

/// The number of a month by its name or abbreviation in Portuguese or English.
fn month(name: &str) -> Option<u32> {
    let known = |months: &str| months.split('|').any(|month| name.starts_with(month));
    MONTHS
        .iter()
        .zip(1..)
        .find(|(months, _)| known(months))
        .map(|(_, number)| number)
}

/// The instant of a date with an offset: `2026-04-03T14:30:00Z`, `2026-04-03 14:30:00 -0300`, `2026-04-03 14:30:00
/// UTC`.
fn with_offset(cell: &str) -> Option<Timestamp> {
    let mut text = cell.replacen(' ', "T", 1).replace(" UTC", "Z").replace(' ', "");
    let digits = text.len() - text.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let has_sign = text
        .len()
        .checked_sub(5)
        .and_then(|at| text.get(at..))
        .is_some_and(|end| end.starts_with(['+', '-']));
    // A date ends with two digits after its sign.
    if digits == 4 && has_sign {
        text.insert(text.len() - 2, ':');
    }
    Timestamp::parse(&text)
}

/// Minutes and seconds of `14:30`, `14:30:05`, `14:`, `2:30 PM`; midnight where there is no time.
fn clock(time: &str) -> Option<(u16, u32)> {
    if time.is_empty() {
        return Some((0, 0));
    }
    let lower = time.to_ascii_lowercase();
    // The hour at which the half of the day begins, in the clock of 12 hours.
    let (digits, half) = match lower.strip_suffix("pm") {
        Some(digits) => (digits, Some(12)),
        None => lower
            .strip_suffix("am")
            .map_or((lower.as_str(), None), |digits| (digits, Some(0))),
    };
    let mut numbers = digits.trim().split(':').map(|part| match part.split('.').next() {
        Some("") | None => Ok(0),
        Some(part) => part.parse::<u16>(),
    });
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
    fn a_column_proves_its_order() {
        let order = |cells: &[&str]| DateOrder::proven(cells.iter().copied());
        assert_eq!(order(&["03/04/2026", "13/04/2026"]), Some(DateOrder::Dmy));
        assert_eq!(order(&["03/04/2026 10:00", "04/13/2026"]), Some(DateOrder::Mdy));
        assert_eq!(order(&["03/04/2026", "2026-04-13", "13 de abr. de 2026"]), None);
    }

    #[test]
    fn dates_are_local() {
        use DateOrder::{Dmy, Mdy};
        let zone = Zone::parse("America/Sao_Paulo").unwrap();
        for (order, cell, time, instant) in [
            (Dmy, "03/04/2026", "", "2026-04-03T03:00:00.000Z"),
            (Mdy, "03/04/2026", "", "2026-03-04T03:00:00.000Z"),
            (Dmy, "03/04/26 14:30", "", "2026-04-03T17:30:00.000Z"),
            (Dmy, "3.4.2026", "14:30:05", "2026-04-03T17:30:05.000Z"),
            (Mdy, "4/3/2026 2:30 PM", "", "2026-04-03T17:30:00.000Z"),
            (Mdy, "2026-04-03 12:05 am", "", "2026-04-03T03:05:00.000Z"),
            (Mdy, "2026-04-03T14:30:00", "", "2026-04-03T17:30:00.000Z"),
            (Mdy, "2026-04-03T14:30:00Z", "", "2026-04-03T14:30:00.000Z"),
            (Mdy, "2026-04-03 14:30:00+02:00", "", "2026-04-03T12:30:00.000Z"),
            // Midnight did not exist there.
            (Dmy, "04/11/2018", "", "2018-11-04T03:00:00.000Z"),
        ] {
            let read = order.instant(cell, time, zone).map(|instant| instant.to_string());
            assert_eq!(read.as_deref(), Ok(instant), "{cell}");
        }
        for cell in [
            "31/02/2026",
            "amanhã",
            "03/04",
            "03/04/2026 25:00",
            "45000",
            "3 de foo de 2026",
            "03/04/2026 :30",
        ] {
            assert!(Dmy.instant(cell, "", zone).is_err(), "{cell}");
        }
    }

    #[test]
    fn names_of_months_and_further_styles() {
        let zone = Zone::parse("America/Sao_Paulo").unwrap();
        for (cell, time, instant) in [
            ("2026-04-03 14:30:00 -0300", "", "2026-04-03T17:30:00.000Z"),
            ("2026-04-03 14:30:00 UTC", "", "2026-04-03T14:30:00.000Z"),
            ("03/04/2026 às 14h30", "", "2026-04-03T17:30:00.000Z"),
            ("03/04/2026, 14:30:05", "", "2026-04-03T17:30:05.000Z"),
            ("3 de abril de 2026 às 14h", "", "2026-04-03T17:00:00.000Z"),
            ("3 de abr. de 2026", "14:30", "2026-04-03T17:30:00.000Z"),
            ("03-SET-26", "", "2026-09-03T03:00:00.000Z"),
            ("Oct 3, 2026 2:30 PM", "", "2026-10-03T17:30:00.000Z"),
        ] {
            let read = DateOrder::Dmy.instant(cell, time, zone);
            assert_eq!(
                read.map(|instant| instant.to_string()).as_deref(),
                Ok(instant),
                "{cell}"
            );
        }
    }
}
