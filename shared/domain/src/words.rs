//! Searches by the beginnings of words, for leads (C-20) and opportunities (C-43).
//!
//! Invariants:
//! - Term and text are folded alike, so case and accents do not matter.
//! - If a word of a term finds a text, one of the text's [`word_keys`] is in one of that word's spans. If a term finds
//!   a number, its [`number_key`] is in one of the number's spans. So items under these keys find all matches.
//! - Stored keys depend on [`SHARED_ENDINGS`]: a change requires new keys.

use std::collections::BTreeSet;

use crate::ids::LeadId;
use crate::lead::same_email;
use crate::phone::{self, Phone};
use crate::text::fold;

/// Maximum characters of a key. Longer words share a key with words that begin alike.
const MAX_KEY: usize = 40;
/// Maximum words of a term that are looked up. The look-up of each word finds all matches of the term, so the other
/// words need no look-up.
const MAX_LOOKED_UP: usize = 8;
/// Minimum digits that match the end of a number.
const MIN_ENDING: usize = 4;

/// Ends of many e-mail addresses. The words within them have no keys of their own: a search for one of those reads the
/// keys of these endings.
const SHARED_ENDINGS: [&str; 19] = [
    "bol.com.br",
    "com.br",
    "edu.br",
    "globo.com",
    "gmail.com",
    "gov.br",
    "hotmail.com",
    "hotmail.com.br",
    "icloud.com",
    "live.com",
    "msn.com",
    "net.br",
    "org.br",
    "outlook.com",
    "outlook.com.br",
    "terra.com.br",
    "uol.com.br",
    "yahoo.com",
    "yahoo.com.br",
];

/// The end of so many e-mail addresses that it has no key: a search for nothing else reads all records.
const UNKEYED: &str = "com";

/// A search term.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WordSearch {
    folded: String,
    /// Distinct words. None is the beginning of another, except shared endings.
    words: Vec<String>,
    /// The term's digits, if it has no letter.
    digits: Option<String>,
}

/// A range of keys.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum KeySpan {
    /// The keys with this prefix.
    Prefix(String),
    /// This key.
    Key(String),
}

impl KeySpan {
    /// The text that its keys begin with.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Self::Prefix(text) | Self::Key(text) => text,
        }
    }
}

impl WordSearch {
    /// A trimmed term; `None` if it is blank or has only accents.
    #[must_use]
    pub fn new(term: &str) -> Option<Self> {
        let folded = fold(term).trim().to_owned();
        let words = folded.split_whitespace();
        let words: BTreeSet<_> = words.filter_map(|word| starts(word).next()).collect();
        let words = longest(&words).into_iter().map(str::to_owned).collect();
        let digits = phone::digits(term);
        let numeric = !digits.is_empty() && !term.chars().any(char::is_alphabetic);
        (!folded.is_empty()).then(|| Self {
            words,
            digits: numeric.then_some(digits),
            folded,
        })
    }

    /// The normal form of the term. It is equal for terms that find the same.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.folded
    }

    /// The term as a number, which may be an id. Returns `None` if the term is not a number.
    #[must_use]
    pub fn number(&self) -> Option<u64> {
        let number: u64 = self.folded.parse().ok()?;
        (number.to_string() == self.folded).then_some(number)
    }

    /// Whether matches by words may have no key in any span.
    #[must_use]
    pub fn needs_all(&self) -> bool {
        !self.words.is_empty() && self.words.iter().all(|word| UNKEYED.starts_with(word))
    }

    /// For each of the term's longest words, the spans in which every match by words has a key.
    #[must_use]
    pub fn word_spans(&self) -> Vec<Vec<KeySpan>> {
        let words = self.words.iter();
        let mut words: Vec<_> = words.filter(|word| !UNKEYED.starts_with(*word)).collect();
        words.sort_by_key(|word| std::cmp::Reverse(word.len()));
        words.truncate(MAX_LOOKED_UP);
        words.into_iter().map(|word| spans_of(word)).collect()
    }

    /// The spans in which every match by number has a key.
    #[must_use]
    pub fn number_spans(&self) -> Vec<KeySpan> {
        let Some(digits) = &self.digits else {
            return Vec::new();
        };
        let phone = Phone::of(digits);
        let exact = phone.as_ref().map(Phone::digits);
        let mut spans = BTreeSet::new();
        if digits.len() >= MIN_ENDING {
            spans.insert(KeySpan::Prefix(backwards(digits)));
        } else {
            spans.extend(exact.map(backwards).map(KeySpan::Key));
        }
        let twin = phone.as_ref().and_then(Phone::twin);
        spans.extend(twin.map(backwards).map(KeySpan::Key));
        spans.into_iter().collect()
    }

    /// Whether it finds a lead: all its words begin words of the full name or the e-mail address, or it is a number of
    /// the lead in any of its forms (C-72), its last four or more digits, or the lead's id.
    #[must_use]
    pub fn finds_lead<'a>(
        &self,
        id: LeadId,
        (fullname, email): (&str, Option<&str>),
        numbers: impl IntoIterator<Item = &'a str>,
    ) -> bool {
        self.are_in(&[fullname, email.unwrap_or_default()])
            || self.number() == Some(id.get())
            || numbers.into_iter().any(|number| self.is_number(number))
    }

    /// Whether it finds a titled record: all its words begin words of the title, or it is the record's id.
    #[must_use]
    pub fn finds_title(&self, id: u64, title: &str) -> bool {
        self.are_in(&[title]) || self.number() == Some(id)
    }

    /// Whether each word begins a word of one of the texts.
    fn are_in(&self, texts: &[&str]) -> bool {
        let folded: Vec<_> = texts.iter().map(|text| fold(text)).collect();
        let begins = |word: &String| {
            folded
                .iter()
                .any(|text| starts(text).any(|start| start.starts_with(word)))
        };
        !self.words.is_empty() && self.words.iter().all(begins)
    }

    /// Whether the term is this number or the end of it.
    fn is_number(&self, number: &str) -> bool {
        let Some(digits) = &self.digits else {
            return false;
        };
        let same_line = || Some(Phone::of(digits)?.same_line(&Phone::of(number)?));
        (digits.len() >= MIN_ENDING && normal(number).ends_with(digits.as_str())) || same_line() == Some(true)
    }
}

/// The keys under which a record with these texts is found by the beginning of every word. A word begins after a space,
/// and at each letter or digit after a sign. Its key is the text up to the next space. Keys that are the beginning of
/// another one are omitted, except shared endings.
#[must_use]
pub fn word_keys<'a>(texts: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut keys = BTreeSet::new();
    for text in texts {
        let folded = fold(text);
        for token in folded.split_whitespace() {
            for start in starts(token).filter(|start| *start != UNKEYED) {
                keys.insert(cut(start).to_owned());
                if SHARED_ENDINGS.contains(&start) {
                    break;
                }
            }
        }
    }
    let keys: BTreeSet<_> = keys.iter().map(String::as_str).collect();
    longest(&keys).into_iter().map(str::to_owned).collect()
}

/// A whole e-mail address as one word, the same for addresses that differ only in case (C-92). Returns `None` for a
/// blank address, and for an address that no single key contains unchanged.
#[must_use]
pub fn address_word(email: &str) -> Option<String> {
    let email = same_email(email)?;
    let plain = email.starts_with(char::is_alphanumeric)
        && !email.contains(|c: char| c == '#' || c.is_whitespace())
        && cut(&email) == email
        && fold(&email) == email;
    plain.then_some(email)
}

/// The key under which a record with a number is found: the digits in normal form, in reverse order. Returns `None` for
/// a text without digits.
#[must_use]
pub fn number_key(number: &str) -> Option<String> {
    let digits = normal(number);
    (!digits.is_empty()).then(|| backwards(&digits))
}

/// The texts that are not the beginning of another one, and all shared endings. The endings are kept because they also
/// represent the words within them.
fn longest<'t>(sorted: &BTreeSet<&'t str>) -> Vec<&'t str> {
    let next = sorted.iter().skip(1).map(Some).chain([None]);
    let texts = sorted.iter().zip(next);
    let texts = texts.filter(|(text, next)| {
        SHARED_ENDINGS.contains(text) || next.is_none_or(|next| !next.starts_with(**text))
    });
    texts.map(|(text, _)| *text).collect()
}

/// The spans with the keys of all texts in which a word begins with `word`. The first span has the keys that begin with
/// it. Words inside a shared ending have no keys, so the other spans are the endings with such a word: `br` also reads
/// `com.br`.
fn spans_of(word: &str) -> Vec<KeySpan> {
    // The first start of an ending is the ending itself.
    let within = |ending: &&str| starts(ending).skip(1).any(|start| start.starts_with(word));
    let endings = SHARED_ENDINGS.iter().filter(|ending| within(ending));
    // An ending that begins with the word is in the first span.
    let endings = endings.filter(|ending| !ending.starts_with(word));
    let endings = endings.map(|ending| KeySpan::Key((*ending).to_owned()));
    [KeySpan::Prefix(cut(word).to_owned())]
        .into_iter()
        .chain(endings)
        .collect()
}

/// The parts of folded text that begin with a word, each up to the next space.
fn starts(folded: &str) -> impl Iterator<Item = &str> {
    folded.split_whitespace().flat_map(|token| {
        let mut inside = false;
        let places = token.char_indices().filter(move |(_, c)| {
            let begins = c.is_alphanumeric() && !inside;
            inside = c.is_alphanumeric();
            begins
        });
        places.filter_map(|(at, _)| token.get(at..))
    })
}

fn cut(text: &str) -> &str {
    let end = text.char_indices().nth(MAX_KEY).map_or(text.len(), |(at, _)| at);
    text.get(..end).unwrap_or(text)
}

/// A number's digits in normal form (C-72).
fn normal(number: &str) -> String {
    Phone::of(number).map_or_else(|| phone::digits(number), |phone| phone.digits().to_owned())
}

fn backwards(digits: &str) -> String {
    digits.chars().rev().take(MAX_KEY).collect()
}

#[cfg(test)]
mod tests;
