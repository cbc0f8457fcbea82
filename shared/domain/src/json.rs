//! JSON as sent by callers. `serde_json` rejects numbers beyond the range of doubles and rounds large numbers. This
//! module replaces such a number by a marker value that no reader accepts as a number. `serde_json` also rejects half a
//! surrogate pair, which this module reads as U+FFFD, as JavaScript shows it (C-70).

use std::borrow::Cow;

use serde::de::IgnoredAny;
use serde_json::{Number, Value};

/// The only member of the object that replaces a number.
const LITERAL: &str = "\u{0}number";
/// From here on, not every whole number is a double.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// Message for a number that cannot be stored exactly.
pub const MUST_BE_TEXT: &str = "must be sent as text, because a number cannot hold it exactly";

/// Default of a member that is true if it is absent.
#[must_use]
pub fn default_true() -> bool {
    true
}

/// Parses JSON as JavaScript does: numbers are doubles, and numbers beyond their range are inexact.
///
/// # Errors
/// Errors of `serde_json`.
pub fn parse_doubles(text: &[u8]) -> serde_json::Result<Value> {
    let text = replace_lone_surrogates(text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text));
    serde_json::from_slice(&text).or_else(|error| match replace_numbers(&text, is_beyond_doubles) {
        Cow::Owned(replaced) => serde_json::from_slice(&replaced),
        // Nothing was replaced, so the text is invalid for another reason.
        Cow::Borrowed(_) => Err(error),
    })
}

/// Parses JSON for storage: whole numbers that would be rounded are inexact, as are numbers beyond the range
/// of doubles.
///
/// # Errors
/// Errors of `serde_json`.
pub fn parse(text: &[u8]) -> serde_json::Result<Value> {
    let text = replace_lone_surrogates(text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text));
    serde_json::from_slice(&replace_numbers(&text, |literal| {
        is_rounded(literal) || is_beyond_doubles(literal)
    }))
}

/// The literal of an inexact number; `None` for any other value.
#[must_use]
pub fn inexact(value: &Value) -> Option<&str> {
    let members = value.as_object().filter(|members| members.len() == 1)?;
    members.get(LITERAL)?.as_str()
}

/// The path of the first inexact number in a value, such as `fields.a[2]`. `path` is the path of the value.
#[must_use]
pub fn find_inexact(path: &str, value: &Value) -> Option<String> {
    match value {
        _ if inexact(value).is_some() => Some(path.to_owned()),
        Value::Array(items) => {
            let mut items = items.iter().enumerate();
            items.find_map(|(index, item)| find_inexact(&format!("{path}[{index}]"), item))
        }
        Value::Object(members) => members.iter().find_map(|(name, member)| {
            let dot = if path.is_empty() { "" } else { "." };
            find_inexact(&format!("{path}{dot}{name}"), member)
        }),
        _ => None,
    }
}

/// The levels of lists and objects in a value. `serde_json` reads at most 128.
#[must_use]
pub fn levels(value: &Value) -> usize {
    let inner = match value {
        Value::Array(list) => list.iter().map(levels).max(),
        Value::Object(map) => map.values().map(levels).max(),
        _ => return 0,
    };
    1 + inner.unwrap_or(0)
}

/// The canonical text of a number, as in JavaScript: `100` for `100.0` and `1e2`.
#[must_use]
pub fn number_text(number: &Number) -> String {
    match number.as_f64() {
        // From 1e21 on, JavaScript writes an exponent.
        Some(double) if number.is_f64() && double.fract() == 0.0 && double.abs() < 1e21 => {
            decimal_text(number)
        }
        _ => number.to_string(),
    }
}

/// The text of a number in decimal digits, without exponent.
#[must_use]
pub fn decimal_text(number: &Number) -> String {
    match number.as_f64() {
        // Adding 0 turns -0 into 0.
        Some(double) if number.is_f64() => (double + 0.0).to_string(),
        _ => number.to_string(),
    }
}

/// Replaces the number literals that `is_inexact` selects by objects with the only member [`LITERAL`]. Returns the text
/// borrowed if it has none. The text need not be valid JSON.
fn replace_numbers(text: &[u8], is_inexact: impl Fn(&str) -> bool) -> Cow<'_, [u8]> {
    let mut replaced = Vec::new();
    // The text before `copied` is in `replaced`; the text before `at` is examined.
    let (mut copied, mut at) = (0, 0);
    while let Some(byte) = text.get(at) {
        let start = at;
        match byte {
            // Digits in strings are not numbers.
            b'"' => at += string_length(&text[start..]),
            b'-' | b'0'..=b'9' => {
                at += literal_length(&text[start..]);
                let literal = std::str::from_utf8(&text[start..at]).unwrap_or_default();
                if is_inexact(literal) {
                    replaced.extend_from_slice(&text[copied..start]);
                    replaced.extend_from_slice(format!(r#"{{"\u0000number":"{literal}"}}"#).as_bytes());
                    copied = at;
                }
            }
            _ => at += 1,
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    replaced.extend_from_slice(&text[copied..]);
    Cow::Owned(replaced)
}

/// Replaces each escape of half a surrogate pair, such as `\ud83d` without `\ude00` after it, by one of U+FFFD. Escapes
/// stand only in strings, so the text need not be valid JSON.
fn replace_lone_surrogates(text: &[u8]) -> Cow<'_, [u8]> {
    let mut replaced = Cow::Borrowed(text);
    let mut at = 0;
    while let Some(escape) = text[at..].iter().position(|byte| *byte == b'\\') {
        at += escape;
        let length = match (unit(text, at), unit(text, at + 6)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => 12,
            (Some(0xD800..=0xDFFF), _) => {
                replaced.to_mut()[at..at + 6].copy_from_slice(br"\ufffd");
                6
            }
            // An escaped character, which may be a backslash.
            _ => 2,
        };
        at = (at + length).min(text.len());
    }
    replaced
}

/// The code unit of the escape `\uXXXX` at a position.
fn unit(text: &[u8], at: usize) -> Option<u16> {
    let digits = text.get(at..at + 6)?.strip_prefix(br"\u")?;
    let digits = std::str::from_utf8(digits).ok()?;
    // `from_str_radix` accepts a sign.
    let is_hexadecimal = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    u16::from_str_radix(digits, 16).ok().filter(|_| is_hexadecimal)
}

/// Length of a string with its quotes, in bytes. Returns the length of the whole text if the string is not terminated.
fn string_length(text: &[u8]) -> usize {
    let mut at = 1;
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => return at + 1,
            // An escaped character, which may be a quote.
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    text.len()
}

/// Length of the number literal at the start of the text, in bytes.
fn literal_length(text: &[u8]) -> usize {
    let is_part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
    text.iter().position(|byte| !is_part(byte)).unwrap_or(text.len())
}

/// Whether a literal is a number that `serde_json` rejects only for its size.
fn is_beyond_doubles(literal: &str) -> bool {
    serde_json::from_str::<Number>(literal).is_err() && serde_json::from_str::<IgnoredAny>(literal).is_ok()
}

/// Whether a literal is in the range where only whole numbers are doubles, and differs from its double.
fn is_rounded(literal: &str) -> bool {
    // Fewer than 16 characters without an exponent are below `MAX_EXACT`.
    if literal.len() < 16 && !literal.contains(['e', 'E']) {
        return false;
    }
    let Ok(number) = serde_json::from_str::<Number>(literal) else {
        return false;
    };
    let is_large = number.as_f64().is_some_and(|double| double.abs() >= MAX_EXACT);
    is_large && number.is_f64() && Decimal::of(literal) != Decimal::of(&number.to_string())
}

/// The value of a number literal. Literals of equal numbers, such as `1e2` and `100.0`, have equal values.
#[derive(PartialEq)]
struct Decimal {
    is_negative: bool,
    /// Without zeros at either end.
    digits: String,
    /// The power of ten of the last digit.
    power: i64,
}

impl Decimal {
    fn of(literal: &str) -> Self {
        let unsigned = literal.trim_start_matches('-');
        let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all_digits = format!("{whole}{fraction}");
        let digits = all_digits.trim_end_matches('0');
        let trailing_zeros = all_digits.len() - digits.len();
        let signed = |length: usize| i64::try_from(length).unwrap_or(i64::MAX);
        Self {
            is_negative: literal.starts_with('-'),
            digits: digits.trim_start_matches('0').to_owned(),
            power: exponent.parse().unwrap_or(0_i64) - signed(fraction.len()) + signed(trailing_zeros),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// How `parse` and `parse_doubles` read a literal: `=` like `serde_json`, `!` inexact, `x` an error.
    fn read(literal: &str) -> [char; 2] {
        let plain = serde_json::from_str::<Value>(literal).ok();
        [parse, parse_doubles].map(|parse| match parse(literal.as_bytes()) {
            Err(_) => 'x',
            Ok(value) if inexact(&value) == Some(literal) => '!',
            Ok(value) => {
                assert_eq!(Some(value), plain, "{literal}");
                '='
            }
        })
    }

    #[test]
    fn numbers_are_exact_or_marked_inexact() {
        for (literals, found) in [
            (
                "0 -0.0 1 100.0 1e2 0.1 -2.5 9007199254740993 18446744073709551615",
                ['=', '='],
            ),
            // Shortest forms of doubles with zeros after the significant digits.
            (
                "1e21 1e23 1E+300 -1e300 1.7976931348623157e308 9007199254740992.0",
                ['=', '='],
            ),
            // Rounding of fractions is normal for JSON numbers.
            (
                "0.10000000000000001 3.14159265358979323846 1e-400 123456789.00000000001",
                ['=', '='],
            ),
            (
                "35261112345678901234567890123456789012345678 18446744073709551616.5",
                ['!', '='],
            ),
            (
                "9007199254740993.0 -9223372036854775809 123456789012345678e5",
                ['!', '='],
            ),
            ("1e400 -1e400 1.5e309 18e9999999999999999999", ['!', '!']),
            ("01e400 1e400x +1e400 1e +1 01 1.", ['x', 'x']),
        ] {
            for literal in literals.split(' ') {
                assert_eq!(read(literal), found, "{literal}");
            }
        }
    }

    #[test]
    fn numbers_inside_strings_are_ignored() {
        let text = r#"{"a\"1e400":["1e400\\",-1e400,{"b":[1, 2e400 ]}],"c":true}"#;
        let value = parse(text.as_bytes()).unwrap();
        assert_eq!(value[r#"a"1e400"#][0], r"1e400\");
        assert_eq!(find_inexact("x", &value).unwrap(), r#"x.a"1e400[1]"#);
        assert_eq!(find_inexact("", &value[r#"a"1e400"#][2]).unwrap(), "b[1]");
        assert_eq!(find_inexact("", &json!({ "a": [1, "1e400", null] })), None);
        for bad in ["{1e400:1}", "[1e400", r#"["1e400"#, r#""\"#, "1e400 1e400", ""] {
            assert!(
                parse(bad.as_bytes()).is_err() && parse_doubles(bad.as_bytes()).is_err(),
                "{bad}"
            );
        }
        assert!(parse(b"[\"\xFF\"]").is_err());
    }

    /// C-70. What cutting a text at an emoji leaves.
    #[test]
    fn half_a_surrogate_pair_is_a_replacement_character() {
        for (escaped, read) in [
            (r"a\ud83d", "a\u{fffd}"),
            (r"\uDE00b", "\u{fffd}b"),
            (r"\ud83d\ude00", "😀"),
            (r"\uD83D\uD83D\uDE00", "\u{fffd}😀"),
            (r"\ude00\ud83d", "\u{fffd}\u{fffd}"),
            (r"\ud83dx\ude00", "\u{fffd}x\u{fffd}"),
            (r"\\ud83d", r"\ud83d"),
            (r"\\\ud83d", "\\\u{fffd}"),
            (r"\ud83d\n", "\u{fffd}\n"),
            (r"\u00e9", "é"),
        ] {
            for parse in [parse, parse_doubles] {
                let text = format!(r#"{{"{escaped}":["{escaped}"]}}"#);
                assert_eq!(
                    parse(text.as_bytes()).unwrap(),
                    json!({ read: [read] }),
                    "{escaped}"
                );
            }
        }
        for bad in [r#""\ud83"#, r#""\ud83g""#, r#""\u+83d""#, r#""\ud83d"#, r#""\"#] {
            assert!(
                parse(bad.as_bytes()).is_err() && parse_doubles(bad.as_bytes()).is_err(),
                "{bad}"
            );
        }
    }

    /// PowerShell and .NET write a byte order mark.
    #[test]
    fn a_byte_order_mark_is_ignored() {
        for parse in [parse, parse_doubles] {
            assert_eq!(parse("\u{feff}{\"a\":1}".as_bytes()).unwrap(), json!({ "a": 1 }));
            assert!(
                parse("\u{feff}\u{feff}{}".as_bytes()).is_err() && parse("{}\u{feff}".as_bytes()).is_err()
            );
        }
    }

    #[test]
    fn number_text_is_canonical() {
        for (literal, text) in [
            ("100", "100"),
            ("100.0", "100"),
            ("1e2", "100"),
            ("-0.0", "0"),
            ("2.50", "2.5"),
            ("1e20", "100000000000000000000"),
            ("1e21", "1e+21"),
            ("18446744073709551615", "18446744073709551615"),
        ] {
            assert_eq!(
                number_text(&serde_json::from_str(literal).unwrap()),
                text,
                "{literal}"
            );
        }
    }
}
