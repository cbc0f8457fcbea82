//! The grammar of numbers as people and messaging services write them (C-108).

use super::{BRAZIL, is_area_code, lacks_country_code};

/// What stands between several numbers of a text. `:::` is HubSpot's.
const SEPARATORS: [&str; 7] = ["/", ";", ",", "|", ":::", "\n", " ou "];
/// Hosts of messaging addresses that contain the number.
const MESSAGING_HOSTS: [&str; 2] = ["s.whatsapp.net", "c.us"];
/// Hosts of groups and hidden ids, whose digits are no number.
const HOSTS_WITHOUT_NUMBER: [&str; 4] = ["g.us", "lid", "broadcast", "newsletter"];
/// Digits in front of another host that are a number, as exchanges send them.
const DIALLED: std::ops::RangeInclusive<usize> = 10..=15;
/// Words in front of an extension.
const EXTENSION_WORDS: [&str; 10] = [
    "ramal",
    "ram",
    "rml",
    "r",
    "extension",
    "extensão",
    "ext",
    "extn",
    "x",
    "#",
];
/// From this many digits on, an extension may follow, so that the `xx` of `0xx11` is none.
const BEFORE_EXTENSION: usize = 3;
/// Maximum digits before an area code in parentheses: `0055 (11)`.
const MAX_BEFORE_AREA: usize = 4;
/// From this many digits on, any word ends the number.
const WHOLE: usize = 8;

/// One number as it is written.
#[derive(Debug)]
pub(super) struct Written {
    /// Its digits as they stand there, without those of an extension and a trunk prefix in parentheses after the country
    /// code.
    pub raw: String,
    /// Its digits without trunk prefix, carrier code and international prefix.
    pub digits: String,
    /// Whether it has a country code for certain: after `+` or `00`, and in a messaging address.
    pub is_international: bool,
    /// Whether it contains nothing but a number.
    pub is_pure: bool,
    /// Whether parentheses contain digits after the number has begun: `98765-4321 (11)`.
    pub has_late_group: bool,
}

/// The parts of a text that may be numbers.
pub(super) fn parts(text: &str) -> Vec<String> {
    // The characters are compared one by one, so their number must not change: `İ` becomes two in lower case.
    let mut text: String = text
        .chars()
        .map(|c| c.to_lowercase().next().unwrap_or(c))
        .collect();
    drop_parameters(&mut text);
    for separator in SEPARATORS {
        text = text.replace(separator, "\n");
    }
    let parts = text.split('\n').map(str::trim).filter(|part| !part.is_empty());
    parts.map(str::to_owned).collect()
}

/// Whether a part in lower case is an extension alone: `ramal 12`.
pub(super) fn is_extension(part: &str) -> bool {
    let (word, number) = part.split_at(part.find(|c| !is_word(c)).unwrap_or(part.len()));
    let number = number.trim_start_matches(['.', ':', ' ']);
    EXTENSION_WORDS.contains(&word) && !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a character is part of a word between numbers.
fn is_word(c: char) -> bool {
    (c.is_alphanumeric() && !c.is_ascii_digit()) || c == '#'
}

/// Removes the parameters of a `tel:` address, such as `;ext=12`.
fn drop_parameters(text: &mut String) {
    let mut from = 0;
    while let Some(at) = text[from..].find(';').map(|at| from + at) {
        let rest = &text[at + 1..];
        let name = rest.len()
            - rest
                .trim_start_matches(|c: char| c.is_ascii_lowercase() || c == '-')
                .len();
        if name > 0 && rest[name..].starts_with('=') {
            let is_end = |c: char| matches!(c, ';' | ',' | '/' | '|') || c.is_whitespace();
            let end = rest.find(is_end).unwrap_or(rest.len());
            text.replace_range(at..at + 1 + end, "");
        } else {
            from = at + 1;
        }
    }
}

impl Written {
    /// Reads a part in lower case; `None` if it has no digits, or is an address that contains no number.
    pub fn of(part: &str) -> Option<Self> {
        let number = without_addresses(bracketed(part));
        let part = number.as_deref().unwrap_or_else(|| bracketed(part));
        let is_sip = part.starts_with("sip:") || part.starts_with("sips:");
        let (user, is_messaging) = match part.split_once('@') {
            Some((user, host)) if MESSAGING_HOSTS.contains(&host.trim()) => (user, true),
            Some((_, host)) if HOSTS_WITHOUT_NUMBER.contains(&host.trim()) => return None,
            Some((user, _)) if is_sip || is_dialled(user) => (user, false),
            Some(_) => return None,
            None => (part, false),
        };
        let user = ["tel:", "whatsapp:", "sip:", "sips:", "callto:"]
            .iter()
            .fold(user, |user, scheme| user.strip_prefix(scheme).unwrap_or(user))
            .trim();
        // A device, after `:`, and an agent, after `.`, are no part of the number.
        let user = if is_messaging {
            user.split([':', '.', '_']).next().unwrap_or_default()
        } else {
            user
        };
        let (text, words) = without_extension(user);
        let (before, _) = text.split_once(|c: char| c.is_ascii_digit())?;
        let mut raw = super::digits(&text);
        let is_abroad = |digits: &str| {
            digits.starts_with("00") && !digits[2..].is_empty() && !digits[2..].starts_with('0')
        };
        let has_prefix = before.contains('+') || is_messaging;
        let is_international = has_prefix || is_abroad(&raw);
        // A trunk prefix that is not dialled after the country code.
        if is_international
            && raw.len() > 1
            && let Some(at) = text.find("(0)")
        {
            raw.remove(super::digits(&text[..at]).len());
        }
        let digits = raw.strip_prefix("00").filter(|_| is_abroad(&raw)).unwrap_or(&raw);
        let mut written = Self {
            digits: digits.to_owned(),
            raw,
            is_international,
            is_pure: words == 0,
            has_late_group: has_late_group(&text),
        };
        written.drop_trunk();
        Some(written)
    }

    /// Removes the trunk prefix 0, with or without a carrier code after it, if a Brazilian number follows.
    fn drop_trunk(&mut self) {
        let after_country = format!("{BRAZIL}0");
        let (country, inland) = if let Some(inland) = self.digits.strip_prefix(&after_country) {
            (BRAZIL, inland)
        } else if self.is_international {
            return;
        } else if let Some(inland) = self.digits.strip_prefix('0') {
            ("", inland)
        } else {
            return;
        };
        let after_carrier = inland.get(2..).unwrap_or_default();
        if lacks_country_code(inland) {
            self.digits = format!("{country}{inland}");
        } else if lacks_country_code(after_carrier) {
            self.digits = format!("{country}{after_carrier}");
        }
    }

    /// The area code, if it has no other digits.
    pub fn area_code(&self) -> Option<String> {
        let code = self.digits.strip_prefix('0').unwrap_or(&self.digits);
        let is_area_code = matches!(code.as_bytes(), [tens, units] if is_area_code(*tens, *units));
        (is_area_code && self.is_pure).then(|| code.to_owned())
    }

    /// Adds an area code in front of a number that has none.
    pub fn supply(&mut self, area: &str) {
        let is_local = !self.is_international && matches!(self.digits.len(), 8 | 9);
        let whole = format!("{area}{}", self.digits);
        if is_local && lacks_country_code(&whole) {
            self.digits = whole;
        }
    }
}

fn has_digit(text: &str) -> bool {
    text.contains(|c: char| c.is_ascii_digit())
}

/// The text in angle brackets, if it has digits: `"Ana" <sip:+55…@pbx.example>`, but not `11 98303-4003 <fixo>`.
fn bracketed(part: &str) -> &str {
    let inner = part.split_once('<').and_then(|(_, rest)| rest.split_once('>'));
    let inner = inner.map(|(address, _)| address);
    inner.filter(|text| has_digit(text)).unwrap_or(part)
}

/// A number without the e-mail addresses and user names next to it, and a spreadsheet's number without `.0`; `None` if
/// there is no such thing, or no number.
fn without_addresses(part: &str) -> Option<String> {
    if let Some(number) = part.strip_suffix(".0") {
        let is_number = number.len() >= WHOLE && number.bytes().all(|byte| byte.is_ascii_digit());
        return is_number.then(|| number.to_owned());
    }
    let is_address = |word: &&str| {
        word.split_once('@').is_some_and(|(user, host)| {
            let hosts = MESSAGING_HOSTS.iter().chain(&HOSTS_WITHOUT_NUMBER);
            !is_dialled(user) && !user.starts_with("sip") && hosts.into_iter().all(|known| *known != host)
        })
    };
    let words: Vec<_> = part.split_whitespace().collect();
    let rest: Vec<_> = words.iter().copied().filter(|word| !is_address(word)).collect();
    let rest = (rest.len() < words.len()).then(|| rest.join(" "));
    rest.filter(|rest| has_digit(rest))
}

fn has_late_group(text: &str) -> bool {
    text.rsplit_once('(').is_some_and(|(before, group)| {
        super::digits(before).len() > MAX_BEFORE_AREA && !super::digits(group).is_empty()
    })
}

/// Whether the user of an address is a number as an exchange sends it.
fn is_dialled(user: &str) -> bool {
    let digits = user.strip_prefix('+').unwrap_or(user);
    DIALLED.contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// A number without its extension or a word that follows it, and the count of the words in it that no number has. `xx`
/// after a trunk prefix stands for a carrier code.
fn without_extension(user: &str) -> (String, usize) {
    let mut digits = 0;
    let mut words = 0;
    let mut rest = user;
    while let Some(at) = rest.find(|c: char| c.is_alphanumeric() || c == '#') {
        rest = &rest[at..];
        let is_digit = rest.starts_with(|c: char| c.is_ascii_digit());
        if is_digit {
            digits += 1;
            rest = &rest[1..];
            continue;
        }
        let word = &rest[..rest.find(|c| !is_word(c)).unwrap_or(rest.len())];
        let is_extension = digits >= BEFORE_EXTENSION && EXTENSION_WORDS.contains(&word);
        if is_extension || digits >= WHOLE {
            let end = user.len() - rest.len();
            let has_words = !is_extension || rest[word.len()..].contains(char::is_alphabetic);
            return (user[..end].to_owned(), words + usize::from(has_words));
        }
        let is_carrier = digits == 1 && word == "xx";
        words += usize::from(!is_carrier);
        rest = &rest[word.len()..];
    }
    (user.to_owned(), words)
}
