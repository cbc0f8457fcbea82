//! Dates of cells. `03/04/2026` can be read in two ways, so the other dates of the run decide.

use domain::text::fold;
use domain::time::{Day, Timestamp, Zone};

use crate::names;

/// The order of day and month in dates such as `03/04/2026`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DateOrder {
    /// Day, month, year.
    Dmy,
    /// Month, day, year.
    Mdy,
}

impl std::fmt::Display for DateOrder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Dmy => "d/m/y",
            Self::Mdy => "m/d/y",
        })
    }
}

/// Longer texts are no dates.
const MAX_DATE: usize = 64;
/// Years of two digits below this one are after 2000, as in Windows.
const CENTURY: u32 = 50;

/// The day of a date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DayParts {
    /// Year, month, day.
    Known([u32; 3]),
    /// The first and second number, and the year.
    Ordered([u32; 3]),
}

/// The proof of a date for the order of day and month.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OrderProof {
    /// Its order does not matter.
    None,
    /// Only this order gives it a meaning.
    Proven(DateOrder),
    /// Both orders give it a meaning.
    Open,
}

/// A date as it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WrittenDate {
    day: DayParts,
    /// Minutes and seconds since midnight.
    time: Option<(u16, u32)>,
    /// Minutes east of UTC.
    offset: Option<i64>,
}

impl WrittenDate {
    /// Reads a date with or without a time, an offset and a weekday; `None` if the cell is anything else.
    pub fn of(cell: &str) -> Option<Self> {
        if cell.len() > MAX_DATE {
            return None;
        }
        let mut words = Words::default();
        let folded = fold(cell);
        // `2026-04-03T14:30`
        let text = match folded.split_once('t') {
            Some((date, time)) if date.ends_with(is_digit) && time.starts_with(is_digit) => {
                format!("{date} {time}")
            }
            _ => folded,
        };
        for word in text.split([' ', ',', '\u{a0}', '\u{202f}']) {
            words.take(word)?;
        }
        Some(Self {
            day: words.day()?,
            time: words.time(),
            offset: words.offset,
        })
    }

    /// Its proof for the order.
    pub fn proof(&self) -> OrderProof {
        match self.day {
            DayParts::Ordered([first, ..]) if first > 12 => OrderProof::Proven(DateOrder::Dmy),
            DayParts::Ordered([_, second, _]) if second > 12 => OrderProof::Proven(DateOrder::Mdy),
            DayParts::Ordered([first, second, _]) if first != second => OrderProof::Open,
            DayParts::Ordered(_) | DayParts::Known(_) => OrderProof::None,
        }
    }

    /// Whether it is a local date.
    pub fn is_local(&self) -> bool {
        self.offset.is_none()
    }

    /// The instant, with the time of day `clock` if it has none itself; `None` if there is no such day.
    pub fn instant(&self, order: DateOrder, clock: Option<(u16, u32)>, zone: Zone) -> Option<Timestamp> {
        let [year, month, day] = match (self.day, order) {
            (DayParts::Known(day), _) => day,
            (DayParts::Ordered([day, month, year]), DateOrder::Dmy)
            | (DayParts::Ordered([month, day, year]), DateOrder::Mdy) => [year, month, day],
        };
        let day = Day::parse(&format!("{year:04}-{month:02}-{day:02}")).filter(|day| day.is_input())?;
        let (minutes, seconds) = self.time.or(clock).unwrap_or_default();
        let zone = if self.offset.is_some() { Zone::UTC } else { zone };
        let local = zone.earliest(day, minutes).plus_seconds(seconds);
        Timestamp::from_unix_millis(local.unix_millis() - self.offset.unwrap_or_default() * 60_000)
    }
}

fn is_digit(c: char) -> bool {
    c.is_ascii_digit()
}

/// The words of a date.
#[derive(Debug, Default)]
struct Words {
    /// Numbers with their length.
    numbers: Vec<(u32, usize)>,
    month: Option<(u32, usize)>,
    separator: Option<char>,
    clock: Option<(u16, u32)>,
    /// The hour at which the half of the day begins, in the clock of 12 hours.
    half: Option<u16>,
    offset: Option<i64>,
}

impl Words {
    /// Takes a word; `None` if it is no part of a date.
    fn take(&mut self, word: &str) -> Option<()> {
        let word = word.trim_matches(['.', '(', ')', ';']);
        if word.is_empty() || names::is_date_filler(word) && names::month(word).is_none() {
            return Some(());
        }
        if let Some((hour, rest)) = word
            .strip_suffix("am")
            .map(|rest| (0, rest))
            .or_else(|| Some((12, word.strip_suffix("pm")?)))
        {
            self.half = Some(hour);
            return if rest.is_empty() {
                Some(())
            } else {
                self.take_time(rest)
            };
        }
        if let "a.m" | "p.m" = word {
            self.half = Some(if word == "a.m" { 0 } else { 12 });
            return Some(());
        }
        if let Some(offset) = offset(word).filter(|_| !self.numbers.is_empty() || self.month.is_some()) {
            return self.offset.replace(offset).is_none().then_some(());
        }
        if word.contains(':') || word.contains('h') && word.starts_with(is_digit) {
            return self.take_time(word);
        }
        self.take_day(word)
    }

    /// Takes a time, perhaps with an offset: `14:30:05-03:00`.
    fn take_time(&mut self, word: &str) -> Option<()> {
        let at = word.find(['+', '-', 'z']).unwrap_or(word.len());
        let (time, zone) = word.split_at(at);
        if !zone.is_empty() {
            self.offset = Some(offset(zone)?);
        }
        let time = clock(time)?;
        self.clock.replace(time).is_none().then_some(())
    }

    fn take_day(&mut self, word: &str) -> Option<()> {
        for part in word.split(['/', '-', '.']) {
            match part.parse() {
                _ if part.is_empty() => return None,
                Ok(number) if part.bytes().all(|byte| byte.is_ascii_digit()) => {
                    self.numbers.push((number, part.len()));
                }
                _ => match names::month(part) {
                    // `mar` is a weekday too.
                    Some(month) if self.month.is_none() => self.month = Some((month, self.numbers.len())),
                    _ if names::is_date_filler(part) => {}
                    _ => return None,
                },
            }
        }
        if word.starts_with(is_digit) {
            let separator = word.chars().find(|c| matches!(c, '/' | '-' | '.'));
            self.separator = self.separator.or(separator);
        }
        Some(())
    }

    fn day(&self) -> Option<DayParts> {
        let year = |(number, digits): (u32, usize)| match digits {
            4 => Some(number),
            2 if number < CENTURY => Some(2000 + number),
            2 => Some(1900 + number),
            _ => None,
        };
        let is_short = |(_, digits): (u32, usize)| digits <= 2;
        match (&self.numbers[..], self.month) {
            (&[whole], None) if whole.1 == 8 => Some(DayParts::Known([
                whole.0 / 10_000,
                whole.0 / 100 % 100,
                whole.0 % 100,
            ])),
            (&[first, second, last], None) if first.1 == 4 && is_short(second) && is_short(last) => {
                Some(DayParts::Known([first.0, second.0, last.0]))
            }
            // `26-02-13` may begin with the year.
            (&[first, second, last], None)
                if is_short(first) && is_short(second) && (last.1 == 4 || self.separator != Some('-')) =>
            {
                let year = year(last)?;
                Some(match self.separator {
                    // Only days come first before points.
                    Some('.') => DayParts::Known([year, second.0, first.0]),
                    _ => DayParts::Ordered([first.0, second.0, year]),
                })
            }
            (&[first, last], Some((month, at))) => {
                let (day, of_year) = if first.1 == 4 && at == 1 {
                    (last, first)
                } else {
                    (first, last)
                };
                is_short(day).then_some(DayParts::Known([year(of_year)?, month, day.0]))
            }
            _ => None,
        }
    }

    fn time(&self) -> Option<(u16, u32)> {
        let (minutes, seconds) = self.clock?;
        match self.half {
            Some(half) => Some((minutes % 720 + half * 60, seconds)),
            None => Some((minutes, seconds)),
        }
    }
}

/// Minutes and seconds since midnight of `14:30`, `14:30:05.123`, `14h`, `14h30`, `14h30min`.
pub fn clock(text: &str) -> Option<(u16, u32)> {
    let text = text.trim().trim_end_matches("min").replace('h', ":");
    let mut parts = text.trim_end_matches(':').split(':');
    let number = |part: &str| {
        let is_number = (1..=2).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
        part.parse::<u16>().ok().filter(|_| is_number)
    };
    let hour = number(parts.next()?)?;
    let minute = parts.next().map_or(Some(0), number)?;
    let second = parts
        .next()
        .map_or(Some(0), |part| number(part.split('.').next().unwrap_or_default()))?;
    let is_clock = parts.next().is_none() && hour < 24 && minute < 60 && second < 61;
    is_clock.then(|| (hour * 60 + minute, u32::from(second)))
}

/// Minutes east of UTC: `Z`, `UTC`, `+0300`, `-03:00`, `-03`, `GMT-3`.
fn offset(word: &str) -> Option<i64> {
    let word = word.trim_end_matches(['(', ')']);
    let named = word
        .strip_prefix("utc")
        .or_else(|| word.strip_prefix("gmt"))
        .or_else(|| word.strip_prefix('z'));
    let text = match named {
        Some("") => return Some(0),
        Some(rest) => rest,
        None => word,
    };
    let (sign, text) = match text.strip_prefix('+') {
        Some(rest) => (1, rest),
        None => (-1, text.strip_prefix('-')?),
    };
    let (hours, minutes) = match text.split_once(':') {
        Some(parts) => parts,
        None if text.len() == 4 => text.split_at_checked(2)?,
        None => (text, "0"),
    };
    let number = |text: &str| {
        text.parse::<i64>()
            .ok()
            .filter(|_| text.len() <= 2 && !text.starts_with(['+', '-']))
    };
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    (hours <= 14 && minutes < 60).then_some(sign * (hours * 60 + minutes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::too_many_lines, reason = "it is as long as it has cases")]
    fn dates_are_local() {
        use DateOrder::{Dmy, Mdy};
        let zone = Zone::parse("America/Sao_Paulo").unwrap();
        for (order, cell, instant) in [
            (Dmy, "03/04/2026", "2026-04-03T03:00:00.000Z"),
            (Mdy, "03/04/2026", "2026-03-04T03:00:00.000Z"),
            (Dmy, "03/04/26 14:30", "2026-04-03T17:30:00.000Z"),
            (Mdy, "3.4.2026 14:30:05", "2026-04-03T17:30:05.000Z"),
            (Mdy, "4/3/2026 2:30 PM", "2026-04-03T17:30:00.000Z"),
            (Mdy, "4/3/2026, 12:05:00 a.m.", "2026-04-03T03:05:00.000Z"),
            (Mdy, "2026-04-03 12:05am", "2026-04-03T03:05:00.000Z"),
            (Mdy, "2026-04-03T14:30:00", "2026-04-03T17:30:00.000Z"),
            (Mdy, "2026-04-03T14:30:00.123Z", "2026-04-03T14:30:00.000Z"),
            (Mdy, "2026-04-03 14:30:00+02:00", "2026-04-03T12:30:00.000Z"),
            (Mdy, "2026-04-03 14:30:00 -0300", "2026-04-03T17:30:00.000Z"),
            (Mdy, "2026-04-03 14:30:00 UTC", "2026-04-03T14:30:00.000Z"),
            (Mdy, "2026-04-03 14:30 GMT-3", "2026-04-03T17:30:00.000Z"),
            (Dmy, "03/04/2026 às 14h30", "2026-04-03T17:30:00.000Z"),
            (Dmy, "03/04/2026, 14:30:05", "2026-04-03T17:30:05.000Z"),
            (Dmy, "sex., 03/04/2026", "2026-04-03T03:00:00.000Z"),
            (
                Dmy,
                "sexta-feira, 3 de abril de 2026 às 14h",
                "2026-04-03T17:00:00.000Z",
            ),
            (Dmy, "03-SET-26", "2026-09-03T03:00:00.000Z"),
            (Dmy, "Fri Oct 3, 2026 2:30 PM", "2026-10-03T17:30:00.000Z"),
            (Dmy, "3 mar 2026", "2026-03-03T03:00:00.000Z"),
            (Dmy, "martes, 3 de marzo de 2026", "2026-03-03T03:00:00.000Z"),
            (Dmy, "20260403", "2026-04-03T03:00:00.000Z"),
            (Dmy, "13/02/98", "1998-02-13T02:00:00.000Z"),
            (Dmy, "13/02/69", "1969-02-13T03:00:00.000Z"),
            // Midnight did not exist there.
            (Dmy, "04/11/2018", "2018-11-04T03:00:00.000Z"),
        ] {
            let read = WrittenDate::of(cell).and_then(|date| date.instant(order, None, zone));
            assert_eq!(
                read.map(|instant| instant.to_string()).as_deref(),
                Some(instant),
                "{cell}"
            );
        }
        for cell in [
            "31/02/2026",
            "amanhã",
            "03/04",
            "03/04/2026 25:00",
            "45000",
            "3 de foo de 2026",
            "03/04/2026 :30",
            "26-02-13",
            "03/04/2026 aprox",
            "entre 03/04/2026 e 05/04/2026",
            "03/04/2026 10:00 11:00",
            "marketing 3 2026",
            "03/04/2026-05/04/2026",
            "1/2/3/2026",
            "2026-13-02",
            "0000-00-00",
            "",
        ] {
            let read = WrittenDate::of(cell).and_then(|date| date.instant(Dmy, None, zone));
            assert_eq!(read, None, "{cell}");
        }
    }

    #[test]
    fn dates_prove_their_order() {
        let proof = |cell: &str| WrittenDate::of(cell).unwrap().proof();
        assert_eq!(proof("13/04/2026"), OrderProof::Proven(DateOrder::Dmy));
        assert_eq!(proof("04/13/2026 10:00"), OrderProof::Proven(DateOrder::Mdy));
        assert_eq!(proof("03/04/2026"), OrderProof::Open);
        for cell in ["04/04/2026", "2026-04-13", "3.4.2026", "13 de abr. de 2026"] {
            assert_eq!(proof(cell), OrderProof::None, "{cell}");
        }
    }
}
