//! Opening hours in local time. A day and a zone convert them to instants (C-52).

use std::fmt;

use chrono::Weekday;
use serde::{Deserialize, Serialize};

/// A local time `HH:MM`, from `00:00` to `24:00`, the end of the day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Clock(u16);

/// One opening: a start and an end, which is on the next day if it is not after the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "[Clock; 2]", into = "[Clock; 2]")]
pub struct Opening {
    from: Clock,
    to: Clock,
}

/// The openings that begin on a day, sorted and without overlap. One may begin at the end of another. Empty if the day is
/// closed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "Vec<Opening>", into = "Vec<Opening>")]
pub struct Openings(Vec<Opening>);

/// The hours of each weekday. Absent weekdays are closed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[expect(missing_docs, reason = "the fields are the days of the week")]
pub struct Week {
    pub mon: Openings,
    pub tue: Openings,
    pub wed: Openings,
    pub thu: Openings,
    pub fri: Openings,
    pub sat: Openings,
    pub sun: Openings,
}

/// Invalid hours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadHours {
    /// Not a time of the day.
    #[error("must be a time from 00:00 to 24:00 such as 09:30")]
    Clock,
    /// It ends when it begins, or begins at `24:00`.
    #[error("must begin before 24:00 and end at another time, unlike {0} to {1}")]
    Empty(Clock, Clock),
    /// An opening begins before the previous one ends.
    #[error("must be in order and not overlap, unlike {0} after {1}")]
    Disordered(Opening, Opening),
}

impl Clock {
    /// `24:00`, the beginning of the next day.
    pub const MIDNIGHT: Self = Self(24 * 60);

    /// Parses exactly `HH:MM`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let &[h10, h1, b':', m10, m1] = text.as_bytes() else {
            return None;
        };
        let number = |tens: u8, ones: u8| {
            let are_digits = tens.is_ascii_digit() && ones.is_ascii_digit();
            are_digits.then(|| u16::from(tens - b'0') * 10 + u16::from(ones - b'0'))
        };
        let minute = number(m10, m1).filter(|minute| *minute < 60)?;
        let clock = Self(number(h10, h1)? * 60 + minute);
        (clock <= Self::MIDNIGHT).then_some(clock)
    }

    /// Minutes since `00:00`.
    #[must_use]
    pub fn minutes(self) -> u16 {
        self.0
    }
}

impl Opening {
    /// An opening.
    ///
    /// # Errors
    /// [`BadHours::Empty`] if it ends when it begins, or begins at the end of the day.
    pub fn new(from: Clock, to: Clock) -> Result<Self, BadHours> {
        if from == to || from == Clock::MIDNIGHT {
            return Err(BadHours::Empty(from, to));
        }
        Ok(Self { from, to })
    }

    /// Whether it ends on the next day.
    #[must_use]
    pub fn ends_next_day(self) -> bool {
        self.to < self.from
    }

    /// Start of the opening.
    #[must_use]
    pub fn from(self) -> Clock {
        self.from
    }

    /// End of the opening.
    #[must_use]
    pub fn to(self) -> Clock {
        self.to
    }
}

impl Openings {
    /// The openings of a day.
    ///
    /// # Errors
    /// [`BadHours::Disordered`] for the first opening that begins before the previous one ends.
    pub fn new(openings: Vec<Opening>) -> Result<Self, BadHours> {
        let disordered = openings
            .windows(2)
            .find(|pair| pair[1].from < pair[0].to || pair[0].ends_next_day());
        match disordered {
            Some(pair) => Err(BadHours::Disordered(pair[1], pair[0])),
            None => Ok(Self(openings)),
        }
    }

    /// The openings in order.
    pub fn iter(&self) -> impl Iterator<Item = Opening> {
        self.0.iter().copied()
    }
}

impl Week {
    /// The hours of a weekday.
    #[must_use]
    pub fn of(&self, weekday: Weekday) -> &Openings {
        match weekday {
            Weekday::Mon => &self.mon,
            Weekday::Tue => &self.tue,
            Weekday::Wed => &self.wed,
            Weekday::Thu => &self.thu,
            Weekday::Fri => &self.fri,
            Weekday::Sat => &self.sat,
            Weekday::Sun => &self.sun,
        }
    }
}

impl fmt::Display for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}", self.0 / 60, self.0 % 60)
    }
}

impl fmt::Display for Opening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} to {}", self.from, self.to)
    }
}

impl TryFrom<String> for Clock {
    type Error = BadHours;

    fn try_from(text: String) -> Result<Self, BadHours> {
        Self::parse(&text).ok_or(BadHours::Clock)
    }
}

impl From<Clock> for String {
    fn from(clock: Clock) -> Self {
        clock.to_string()
    }
}

impl TryFrom<[Clock; 2]> for Opening {
    type Error = BadHours;

    fn try_from([from, to]: [Clock; 2]) -> Result<Self, BadHours> {
        Self::new(from, to)
    }
}

impl From<Opening> for [Clock; 2] {
    fn from(opening: Opening) -> Self {
        [opening.from, opening.to]
    }
}

impl TryFrom<Vec<Opening>> for Openings {
    type Error = BadHours;

    fn try_from(openings: Vec<Opening>) -> Result<Self, BadHours> {
        Self::new(openings)
    }
}

impl From<Openings> for Vec<Opening> {
    fn from(openings: Openings) -> Self {
        openings.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn read(hours: Value) -> Result<Value, String> {
        serde_json::from_value::<Openings>(hours)
            .map(|openings| json!(openings))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn clocks_parse_hours_and_minutes() {
        for (text, minutes) in [
            ("00:00", 0),
            ("00:01", 1),
            ("09:30", 570),
            ("23:59", 1439),
            ("24:00", 1440),
        ] {
            let clock = Clock::parse(text).unwrap();
            assert_eq!((clock.minutes(), clock.to_string()), (minutes, text.to_owned()));
        }
        for bad in [
            "",
            "9:30",
            "09:60",
            "24:01",
            "25:00",
            "09:30:00",
            "09.30",
            " 9:30",
            "+9:30",
            "٠٩:٣٠",
            "0930",
        ] {
            assert_eq!(Clock::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn openings_round_trip() {
        for hours in [
            json!([]),
            json!([["00:00", "24:00"]]),
            json!([["09:00", "12:00"], ["13:30", "18:00"]]),
            json!([["09:00", "12:00"], ["12:00", "18:00"]]),
            json!([["09:00", "12:00"], ["22:00", "02:00"]]),
            json!([["22:00", "00:00"]]),
        ] {
            assert_eq!(read(hours.clone()).unwrap(), hours);
        }
    }

    #[test]
    fn invalid_hours_are_explained() {
        for (hours, reason) in [
            (
                json!([["9:00", "12:00"]]),
                "must be a time from 00:00 to 24:00 such as 09:30",
            ),
            (
                json!([["09:00", "09:00"]]),
                "must begin before 24:00 and end at another time, unlike 09:00 to 09:00",
            ),
            (
                json!([["24:00", "02:00"]]),
                "must begin before 24:00 and end at another time, unlike 24:00 to 02:00",
            ),
            (
                json!([["22:00", "02:00"], ["23:00", "24:00"]]),
                "must be in order and not overlap, unlike 23:00 to 24:00 after 22:00 to 02:00",
            ),
            (
                json!([["09:00", "12:00"], ["11:59", "13:00"]]),
                "must be in order and not overlap, unlike 11:59 to 13:00 after 09:00 to 12:00",
            ),
            (
                json!([["13:00", "14:00"], ["09:00", "12:00"]]),
                "must be in order and not overlap, unlike 09:00 to 12:00 after 13:00 to 14:00",
            ),
        ] {
            assert_eq!(read(hours).unwrap_err(), reason);
        }
        assert!(read(json!([["09:00"]])).is_err());
        assert!(read(json!([["09:00", "10:00", "11:00"]])).is_err());
        assert!(read(json!(null)).is_err());
    }

    #[test]
    fn each_weekday_has_its_own_hours() {
        let names = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
        let days = [
            Weekday::Mon,
            Weekday::Tue,
            Weekday::Wed,
            Weekday::Thu,
            Weekday::Fri,
            Weekday::Sat,
            Weekday::Sun,
        ];
        for (open, name) in names.iter().enumerate() {
            let week: Week = serde_json::from_value(json!({ *name: [["09:00", "12:00"]] })).unwrap();
            for (at, day) in days.iter().enumerate() {
                assert_eq!(
                    week.of(*day).iter().count(),
                    usize::from(at == open),
                    "{name} {day}"
                );
            }
        }
    }
}
