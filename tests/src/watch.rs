//! Leak detection in every test: no log line contains a credential, an e-mail address or a telephone number,
//! and no response contains internal terms.
//!
//! The first [`World`](crate::World) of a process starts it, and each response checks the log so far. A leak
//! therefore fails the test that caused it, or in a process of many tests a concurrent one; the message
//! quotes it.

use std::io;
use std::sync::{Mutex, Once};

use http::{HeaderMap, HeaderValue};
use serde_json::Value;
use tracing_subscriber::fmt::MakeWriter;

/// Internal terms of table, SDK and Rust that are not part of the interface.
const INSIDE: [&str; 15] = [
    "DynamoDb",
    "DynamoDB",
    "ConditionalCheck",
    "TransactionCanceled",
    "ProvisionedThroughput",
    "ValidationException",
    "InternalServerError",
    "SdkError",
    "ServiceError",
    "StoreError",
    "sqlite",
    "panicked",
    "unwrap",
    ".rs:",
    "serde_",
];

/// Length of a credential after its prefix (C-3).
const SECRET: usize = 49;

/// The largest amount, which a rule names, has as many digits as a telephone number.
const MAX_AMOUNT: &str = "9999999999999.99";

static LEAKS: Mutex<Vec<String>> = Mutex::new(Vec::new());
static BEGUN: Once = Once::new();

/// Starts watching the log of this process, unless a test reads the log itself.
pub fn begin() {
    BEGUN.call_once(|| {
        let lines = tracing_subscriber::fmt()
            .json()
            .without_time()
            .with_max_level(tracing::Level::INFO)
            .with_writer(Watch)
            .finish();
        // If a test has set a subscriber for the process, that one stays.
        let _ = tracing::subscriber::set_global_default(lines);
    });
}

/// Checks a response, and the log so far.
///
/// # Panics
/// If either leaks.
pub fn answer(asked: &str, headers: &HeaderMap, body: &[u8]) {
    let values = headers.values().map(HeaderValue::as_bytes);
    // Not `str::contains`, which takes a sixth of the time of a test without optimisation.
    let text = values.chain([body]).collect::<Vec<_>>().join(&b'\n');
    let is_in = |word: &&&str| memchr::memmem::find(&text, word.as_bytes()).is_some();
    let told = INSIDE.iter().find(is_in);
    let text = || String::from_utf8_lossy(&text);
    assert_eq!(told, None, "{asked} was told what is inside: {}", text());
    let leaks = LEAKS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    assert!(leaks.is_empty(), "the log holds what it must not: {leaks:?}");
}

#[derive(Debug, Clone, Copy)]
struct Watch;

impl MakeWriter<'_> for Watch {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        *self
    }
}

impl io::Write for Watch {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(line);
        if holds_secret(&text) {
            let mut leaks = LEAKS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            leaks.push(text.into_owned());
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn holds_secret(line: &str) -> bool {
    let mut words = words_of(line);
    let without_ids = without_ids(line).replace(MAX_AMOUNT, "");
    let mut numbers = words_of(&without_ids).flat_map(|word| word.split(['.', '-']));
    words.any(|word| is_credential(word) || is_address(word)) || numbers.any(is_number)
}

fn words_of(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !(c.is_ascii_alphanumeric() || "_@.+-".contains(c)))
}

/// The line without random ids, some of which have digits only.
fn without_ids(line: &str) -> String {
    let Ok(mut line) = serde_json::from_str::<Value>(line) else {
        return line.to_owned();
    };
    for id in ["request_id", "credential"] {
        if let Some(fields) = line["fields"].as_object_mut() {
            fields.shift_remove(id);
        }
    }
    line.to_string()
}

fn is_credential(word: &str) -> bool {
    let places = word.match_indices("fk_").chain(word.match_indices("fa_"));
    places.into_iter().any(|(at, prefix)| {
        let behind = word[at + prefix.len()..].bytes();
        behind.take_while(u8::is_ascii_alphanumeric).count() >= SECRET
    })
}

fn is_address(word: &str) -> bool {
    word.split_once('@')
        .is_some_and(|(before, behind)| !before.is_empty() && behind.contains('.'))
}

/// Telephone numbers in tests have ten to thirteen digits; ids have fewer.
fn is_number(word: &str) -> bool {
    let digits = word.strip_prefix('+').unwrap_or(word);
    (10..=13).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::holds_secret;

    #[test]
    fn lines_with_secrets_are_detected() {
        let secret = "a1".repeat(25);
        for line in [
            format!("{{\"uri\":\"/leads?apitoken=fk_{}\"}}", &secret[..49]),
            format!("{{\"head\":\"Bearer fa_{}\"}}", &secret[..49]),
            "{\"search\":\"maria.silva@example.com\"}".to_owned(),
            "{\"phone\":\"+5541999990000\"}".to_owned(),
            "{\"phone\":5541999990000}".to_owned(),
        ] {
            assert!(holds_secret(&line), "{line}");
        }
        for line in [
            "{\"request\":\"0123456789abcdef0123456789abcdef\",\"key\":\"fk_ab12\",\"ms\":12.5}",
            "{\"fields\":{\"request_id\":\"ab\",\"credential\":\"174178708875\"}}",
            "{\"route\":\"GET /leads/{id}\",\"instance\":\"acme\",\"status\":200,\"read\":7000001}",
        ] {
            assert!(!holds_secret(line), "{line}");
        }
    }
}
