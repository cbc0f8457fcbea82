//! Searches by the beginnings of words, for leads (C-20) and opportunities (C-43).
//!
//! Invariants:
//! - Term and text are folded alike, so case and accents do not matter.
//! - If a word of a term finds a text, one of the text's [`word_keys`] is in one of that word's spans. If a term finds
//!   a number, its [`number_key`] is in one of the term's number spans. So items under these keys find all matches.
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
    /// The term as numbers, if it is one.
    numbers: Option<Numbers>,
}

/// A term without letters, or a number with what people write around it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Numbers {
    /// Its digits.
    digits: String,
    /// The normal form of its last digits, without or with the ninth digit of a mobile number.
    twin_ending: Option<String>,
    /// The whole numbers in it.
    phones: Vec<Phone>,
}

impl Numbers {
    fn of(term: &str) -> Option<Self> {
        let digits = phone::digits(term);
        let is_numeric = !term.chars().any(char::is_alphabetic) || phone::is_only_numbers(term);
        (is_numeric && !digits.is_empty()).then(|| Self {
            twin_ending: twin_ending(&digits),
            phones: phone::read(term).into_iter().map(|read| read.phone).collect(),
            digits,
        })
    }

    /// Whether it is this number in any of its forms, or at least [`MIN_ENDING`] digits at its end.
    fn finds(&self, phone: &Phone) -> bool {
        let is_ending = |form: &str| self.digits.len() >= MIN_ENDING && form.ends_with(&self.digits);
        let is_whole = |wanted: &Phone| wanted.forms().any(|form| form == phone.digits());
        phone.forms().any(is_ending) || self.phones.iter().any(is_whole)
    }

    /// The spans in which every number that it finds has its key.
    fn spans(&self) -> Vec<KeySpan> {
        let mut spans = BTreeSet::new();
        let mut endings = Vec::new();
        if self.digits.len() >= MIN_ENDING {
            endings.extend(
                [Some(&self.digits), self.twin_ending.as_ref()]
                    .into_iter()
                    .flatten(),
            );
        }
        endings.sort_by_key(|ending| ending.len());
        // Keys are reversed numbers, so a prefix selects all numbers that end with the digits.
        let endings = endings
            .into_iter()
            .map(|ending| (reversed(ending), KeySpan::Prefix as fn(String) -> KeySpan));
        let forms = self.phones.iter().flat_map(Phone::forms);
        let forms = forms.map(|form| (reversed(form), KeySpan::Key as fn(String) -> KeySpan));
        for (key, span) in endings.chain(forms) {
            let is_covered =
                |span: &KeySpan| matches!(span, KeySpan::Prefix(prefix) if key.starts_with(prefix));
            if !spans.iter().any(is_covered) {
                spans.insert(span(key));
            }
        }
        spans.into_iter().collect()
    }
}

/// How the last digits of a number end in its other form, if they are so many that the ninth digit of a mobile number is
/// among them or would be.
fn twin_ending(digits: &str) -> Option<String> {
    let (before, subscriber) = digits.split_at_checked(digits.len().checked_sub(8)?)?;
    if before.is_empty() || !subscriber.starts_with(['6', '7', '8', '9']) {
        return None;
    }
    Some(match before.strip_suffix('9') {
        Some(area) => format!("{area}{subscriber}"),
        None => format!("{before}9{subscriber}"),
    })
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
        if folded.is_empty() {
            return None;
        }
        // Signs before the first letter or digit of a word are ignored.
        let tokens = folded.split_whitespace();
        let words: BTreeSet<_> = tokens.filter_map(|token| suffixes(token).next()).collect();
        let words = without_prefixes(&words).into_iter().map(str::to_owned).collect();
        let numbers = Numbers::of(term);
        Some(Self {
            folded,
            words,
            numbers,
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

    /// Whether matches by words may have no key in any span of [`Self::word_spans`], so that all records must be read.
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
        self.numbers.as_ref().map(Numbers::spans).unwrap_or_default()
    }

    /// Whether it finds a lead: all its words begin words of the full name or the e-mail address, or it is a number of
    /// the lead in any of its forms (C-72), its last four or more digits, or the lead's id.
    #[must_use]
    pub fn finds_lead(
        &self,
        id: LeadId,
        (fullname, email): (&str, Option<&str>),
        phones: impl IntoIterator<Item = Phone>,
    ) -> bool {
        let finds_one = |numbers: &Numbers| phones.into_iter().any(|phone| numbers.finds(&phone));
        self.begins_words_of(&[fullname, email.unwrap_or_default()])
            || self.number() == Some(id.get())
            || self.numbers.as_ref().is_some_and(finds_one)
    }

    /// Whether it finds a titled record: all its words begin words of the title, or it is the record's id.
    #[must_use]
    pub fn finds_title(&self, id: u64, title: &str) -> bool {
        self.begins_words_of(&[title]) || self.number() == Some(id)
    }

    /// Whether each word of the term begins a word of one of the texts. False without words.
    fn begins_words_of(&self, texts: &[&str]) -> bool {
        let folded: Vec<_> = texts.iter().map(|text| fold(text)).collect();
        let is_found = |word: &String| {
            let mut all_suffixes = folded.iter().flat_map(|text| suffixes(text));
            all_suffixes.any(|suffix| suffix.starts_with(word))
        };
        !self.words.is_empty() && self.words.iter().all(is_found)
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
            for suffix in suffixes(token).filter(|suffix| *suffix != UNKEYED) {
                keys.insert(cut(suffix).to_owned());
                // The words within a shared ending have no keys.
                if SHARED_ENDINGS.contains(&suffix) {
                    break;
                }
            }
        }
    }
    let keys: BTreeSet<_> = keys.iter().map(String::as_str).collect();
    without_prefixes(&keys).into_iter().map(str::to_owned).collect()
}

/// A whole e-mail address as one word, the same for addresses that differ only in case (C-92). Returns `None` for a
/// blank address, and for an address that no single key contains unchanged.
#[must_use]
pub fn address_word(email: &str) -> Option<String> {
    let email = same_email(email)?;
    let is_one_key = email.starts_with(char::is_alphanumeric)
        && !email.contains(|c: char| c == '#' || c.is_whitespace())
        && cut(&email) == email
        && fold(&email) == email;
    is_one_key.then_some(email)
}

/// The key under which a record with a number is found: the digits in normal form, in reverse order.
#[must_use]
pub fn number_key(phone: &Phone) -> String {
    reversed(phone.digits())
}

/// The texts that are not the beginning of another one, and all shared endings. The endings are kept because they also
/// represent the words within them.
fn without_prefixes<'t>(sorted: &BTreeSet<&'t str>) -> Vec<&'t str> {
    let mut kept = Vec::new();
    let mut texts = sorted.iter().peekable();
    while let Some(text) = texts.next() {
        // In sorted order, a text that begins with this one would be next.
        let is_prefix = texts.peek().is_some_and(|next| next.starts_with(*text));
        if !is_prefix || SHARED_ENDINGS.contains(text) {
            kept.push(*text);
        }
    }
    kept
}

/// The spans with the keys of all texts in which a word begins with `word`. The first span has the keys that begin with
/// it. Words inside a shared ending have no keys, so the other spans are the endings with such a word: `br` also reads
/// `com.br`.
fn spans_of(word: &str) -> Vec<KeySpan> {
    let mut spans = vec![KeySpan::Prefix(cut(word).to_owned())];
    for ending in SHARED_ENDINGS {
        // The first suffix of an ending is the ending itself, which the first span contains if it begins with the word.
        let is_inside = suffixes(ending).skip(1).any(|suffix| suffix.starts_with(word));
        if is_inside && !ending.starts_with(word) {
            spans.push(KeySpan::Key(ending.to_owned()));
        }
    }
    spans
}

/// For each word of folded text, the text from its first character up to the next space: `a.b c` has `a.b`, `b` and
/// `c`.
fn suffixes(folded: &str) -> impl Iterator<Item = &str> {
    folded.split_whitespace().flat_map(|token| {
        let mut is_inside_word = false;
        let word_starts = token.char_indices().filter(move |(_, c)| {
            let begins_word = c.is_alphanumeric() && !is_inside_word;
            is_inside_word = c.is_alphanumeric();
            begins_word
        });
        word_starts.filter_map(|(start, _)| token.get(start..))
    })
}

/// The text cut to [`MAX_KEY`] characters.
fn cut(text: &str) -> &str {
    let end = text.char_indices().nth(MAX_KEY).map_or(text.len(), |(at, _)| at);
    text.get(..end).unwrap_or(text)
}

/// The digits in reverse order, at most the last [`MAX_KEY`].
fn reversed(digits: &str) -> String {
    digits.chars().rev().take(MAX_KEY).collect()
}

#[cfg(test)]
mod tests;
