//! Telephone numbers as people write them: their normal form for storage and look-up, and the second form of the same
//! line (C-72, C-108).
//!
//! Invariants:
//! - Stored and called numbers are read by the same rules, so equal lines match in both directions.
//! - Matching is symmetric: the twin of a twin is the number itself.
//! - The normal form written with `+` is its own normal form.
//!
//! Numbering plan: Anatel's 67 area codes. Mobile numbers have nine digits, the first of which is 9; only
//! those with 6 to 9 as the second digit ever had an eight-digit form. The remainder of any other mobile
//! number would be a landline.

mod written;

use written::Written;

/// The country code of a Brazilian number.
const BRAZIL: &str = "55";
/// Maximum digits of a number. E.164 allows 15. Longer ones identify nobody and are only searched for.
const MAX_DIGITS: usize = 32;
/// Minimum digits of a later number of a text.
const MIN_FURTHER: usize = 4;
/// Maximum numbers of a text that identify somebody. Each costs its own look-up.
const MAX_IDENTIFYING: usize = 4;
/// Digits of a number that can be somebody's (E.164; Brazil's shortest numbers have 8).
const IDENTIFYING: std::ops::RangeInclusive<usize> = 8..=15;
/// What exchanges send for callers who withhold their number: ANONYMOUS, RESTRICTED and UNAVAILABLE on a keypad. BLOCKED
/// and UNKNOWN have 7 digits, which identify nobody.
const WITHHELD: [&str; 3] = ["266696687", "7378742833", "86282452253"];

/// A telephone number in normal form.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Phone {
    digits: String,
    twin: Option<String>,
    is_local: bool,
}

/// A number of a text, and its digits as they stand there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadPhone {
    /// The number.
    pub phone: Phone,
    /// Its digits, without those of an extension.
    pub digits: String,
}

/// How two numbers match. The better match is the smaller value (C-72).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Match {
    /// Equal, after adding a missing 55.
    Exact,
    /// The same Brazilian mobile number, with and without its ninth digit.
    Twin,
}

/// The distinct numbers of a text, in their order. A later one without area code has that of the first.
///
/// Only ASCII digits count. A number with more than 32 is omitted, as is a later one with fewer than 4.
#[must_use]
pub fn read(text: &str) -> Vec<ReadPhone> {
    let mut found: Vec<ReadPhone> = Vec::new();
    let mut area: Option<String> = None;
    let mut parts = written::parts(text).into_iter().peekable();
    while let Some(part) = parts.next() {
        let Some(mut written) = Written::of(&part) else {
            continue;
        };
        let is_last = parts.peek().is_none();
        if let Some(code) = written.area_code().filter(|_| !is_last) {
            // An area code in front of a separator: `11/98765-4321`.
            area.get_or_insert(code);
            continue;
        }
        if let Some(area) = &area {
            written.supply(area);
        }
        let is_noise = !found.is_empty() && written.digits.len() < MIN_FURTHER;
        if is_noise || written.digits.len() > MAX_DIGITS {
            continue;
        }
        let phone = Phone::normal(&written);
        if area.is_none() && found.is_empty() {
            area = phone.area().map(str::to_owned);
        }
        if !found.iter().any(|other| other.phone.digits == phone.digits) {
            found.push(ReadPhone {
                phone,
                digits: written.raw,
            });
        }
    }
    found
}

/// The first 4 numbers of a text that can be somebody's: 8 to 15 digits, not all alike, not a stand-in of a withheld
/// number (C-108).
#[must_use]
pub fn identifying(text: &str) -> Vec<ReadPhone> {
    let mut found = read(text);
    found.retain(|read| read.phone.identifies());
    found.truncate(MAX_IDENTIFYING);
    found
}

/// Whether nothing but numbers and what people write around them stands in a text.
#[must_use]
pub fn is_only_numbers(text: &str) -> bool {
    let parts = written::parts(text);
    !parts.is_empty()
        && parts
            .iter()
            .all(|part| Written::of(part).is_some_and(|part| part.is_pure))
}

/// Whether every digit and word of a text belongs to a number, to an area code before one, or to its extension.
#[must_use]
pub fn is_whole(text: &str) -> bool {
    let parts = written::parts(text);
    let mut parts = parts.iter().filter(|part| part.contains(char::is_alphanumeric));
    let is_number = |part: &String, is_first: bool| {
        Written::of(part).is_some_and(|written| {
            let is_code = is_first && written.area_code().is_some();
            written.is_pure && !written.has_late_group && (is_code || written.digits.len() >= MIN_FURTHER)
        })
    };
    parts.next().is_some_and(|part| is_number(part, true))
        && parts.all(|part| is_number(part, false) || written::is_extension(part))
}

impl Phone {
    /// The first number of a text, whether or not it identifies somebody; `None` for a text without one.
    #[must_use]
    pub fn of(text: &str) -> Option<Self> {
        read(text).into_iter().next().map(|read| read.phone)
    }

    /// The number with this normal form.
    #[must_use]
    pub fn of_normal(digits: &str) -> Self {
        Self {
            digits: digits.to_owned(),
            twin: twin_of(digits),
            is_local: false,
        }
    }

    fn normal(written: &Written) -> Self {
        let mut digits = written.digits.clone();
        let is_withheld = WITHHELD.contains(&written.raw.as_str());
        if !written.is_international && !is_withheld && lacks_country_code(&digits) {
            digits.insert_str(0, BRAZIL);
        }
        let is_local = !written.is_international && matches!(digits.len(), 8 | 9);
        let twin = twin_of(&digits);
        Self {
            digits,
            twin,
            is_local,
        }
    }

    /// The normal form: digits only, with the country code of a Brazilian number added.
    #[must_use]
    pub fn digits(&self) -> &str {
        &self.digits
    }

    /// The second normal form of a Brazilian mobile number: without its ninth digit, or with it. `None` for
    /// other numbers.
    #[must_use]
    pub fn twin(&self) -> Option<&str> {
        self.twin.as_deref()
    }

    /// Both forms, the normal one first.
    pub fn forms(&self) -> impl Iterator<Item = &str> {
        [Some(self.digits()), self.twin()].into_iter().flatten()
    }

    /// Whether it can be somebody's number (C-108).
    #[must_use]
    pub fn identifies(&self) -> bool {
        let are_alike = |digits: &str| {
            digits
                .bytes()
                .all(|digit| digits.as_bytes().first() == Some(&digit))
        };
        let is_nobody =
            |digits: &str| are_alike(digits) || are_alike(digits.strip_prefix(BRAZIL).unwrap_or(digits));
        IDENTIFYING.contains(&self.digits.len())
            && !WITHHELD.contains(&self.digits.as_str())
            && !self.forms().any(is_nobody)
    }

    /// Whether two people who have it are one. A number without country and area code may belong to another area.
    #[must_use]
    pub fn is_unique(&self) -> bool {
        self.identifies() && !self.is_local
    }

    /// How `other` matches this number, if it does. A number that identifies nobody matches none.
    #[must_use]
    pub fn matches(&self, other: &Self) -> Option<Match> {
        if !self.identifies() {
            None
        } else if self.digits == other.digits {
            Some(Match::Exact)
        } else if self.twin() == Some(other.digits()) {
            Some(Match::Twin)
        } else {
            None
        }
    }

    /// Whether both numbers are the same line.
    #[must_use]
    pub fn same_line(&self, other: &Self) -> bool {
        self.matches(other).is_some()
    }

    /// The area code of a Brazilian number.
    fn area(&self) -> Option<&str> {
        let national = self.digits.strip_prefix(BRAZIL)?;
        lacks_country_code(national).then(|| &national[..2])
    }
}

/// The ASCII digits of a text, in order.
#[must_use]
pub fn digits(text: &str) -> String {
    text.chars().filter(char::is_ascii_digit).collect()
}

/// Whether these digits are a Brazilian number in national form: area code and a nine-digit mobile number, or
/// area code and eight digits (a landline or an old mobile number).
fn lacks_country_code(digits: &str) -> bool {
    matches!(
        (digits.len(), digits.as_bytes()),
        (11, [tens, units, b'9', ..]) | (10, [tens, units, b'2'..=b'9', ..]) if is_area_code(*tens, *units)
    )
}

/// The other form of a Brazilian mobile number with country code; `None` for any other number.
fn twin_of(digits: &str) -> Option<String> {
    match (digits.len(), digits.as_bytes()) {
        // The ninth digit is the first after country and area code. Removes it.
        (13, [b'5', b'5', tens, units, b'9', b'6'..=b'9', ..]) if is_area_code(*tens, *units) => {
            Some(format!("{}{}", &digits[..4], &digits[5..]))
        }
        // Adds it.
        (12, [b'5', b'5', tens, units, b'6'..=b'9', ..]) if is_area_code(*tens, *units) => {
            Some(format!("{}9{}", &digits[..4], &digits[4..]))
        }
        _ => None,
    }
}

/// Whether Anatel assigns this area code.
fn is_area_code(tens: u8, units: u8) -> bool {
    matches!(
        (tens, units),
        (b'1' | b'4' | b'6' | b'8' | b'9', b'1'..=b'9')
            | (b'2', b'1' | b'2' | b'4' | b'7' | b'8')
            | (b'3', b'1'..=b'5' | b'7' | b'8')
            | (b'5', b'1' | b'3'..=b'5')
            | (b'7', b'1' | b'3'..=b'5' | b'7' | b'9')
    )
}

#[cfg(test)]
mod tests;
