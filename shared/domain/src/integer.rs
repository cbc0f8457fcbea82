//! Whole numbers as sent by callers: JSON has several forms of one number (`12`, `12.0`, `1.2e1`), and text
//! has others (C-7).

use serde_json::Value;

use crate::json::inexact;

/// A whole, non-negative JSON number in any form. Larger numbers become `u64::MAX`. `None` for other values.
#[must_use]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the value is whole and not negative, and a cast of one that is too large stays at the largest"
)]
pub fn whole(value: &Value) -> Option<u64> {
    // Every limit is below the first inexact number, so a positive one needs no exact value.
    if let Some(literal) = inexact(value) {
        let is_negative = literal.starts_with('-');
        return (!is_negative).then_some(u64::MAX);
    }
    if let Some(number) = value.as_u64() {
        return Some(number);
    }
    let number = value.as_f64()?;
    (number >= 0.0 && number.fract() == 0.0).then_some(number as u64)
}

/// Like [`whole`], and also text of digits with an optional fraction of zeros: `31`, `31.0` (C-7). Three zeros may be a
/// group of thousands, `2.000`, so they are no fraction.
#[must_use]
pub fn whole_or_text(value: &Value) -> Option<u64> {
    let Value::String(text) = value else {
        return whole(value);
    };
    let (digits, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let are_digits = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let is_zero_fraction = !matches!(fraction.len(), 0 | 3) && fraction.bytes().all(|byte| byte == b'0');
    (are_digits && is_zero_fraction).then(|| digits.parse().unwrap_or(u64::MAX))
}

/// Parses digits without sign or leading zero, as in a path. Larger numbers become `u64::MAX`. `None` for any other
/// text.
#[must_use]
pub fn plain(text: &str) -> Option<u64> {
    let are_digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let has_leading_zero = text != "0" && text.starts_with('0');
    (are_digits && !has_leading_zero).then(|| text.parse().unwrap_or(u64::MAX))
}

/// Serializes a flag as 0 or 1 (C-33). Deserializes what callers may send.
pub mod zero_or_one {
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serializer};
    use serde_json::Value;

    use crate::input::flag;

    /// Serializes a flag.
    ///
    /// # Errors
    /// Errors of the serializer.
    pub fn serialize<S: Serializer>(flag: &bool, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u8(u8::from(*flag))
    }

    /// Deserializes a flag.
    ///
    /// # Errors
    /// An error if the value is no flag ([`flag`]), and errors of the deserializer.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
        let value = Value::deserialize(deserializer)?;
        flag(&value).ok_or_else(|| D::Error::custom("must be 0 or 1"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn whole_numbers_have_several_forms() {
        let read = |text: &str| whole(&crate::json::parse(text.as_bytes()).unwrap());
        for (text, number) in [
            ("12", 12),
            ("12.0", 12),
            ("1.2e1", 12),
            ("0", 0),
            ("-0.0", 0),
            ("9007199254740993", 9_007_199_254_740_993),
            ("18446744073709551615", u64::MAX),
            ("1e30", u64::MAX),
            ("1e400", u64::MAX),
            ("123456789012345678901", u64::MAX),
        ] {
            assert_eq!(read(text), Some(number), "{text}");
        }
        for bad in [
            "-1", "-1e30", "-1e400", "1.5", "1e-3", "\"12\"", "true", "null", "[12]", "{}",
        ] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }

    #[test]
    fn text_may_have_a_fraction_of_zeros() {
        let read = |text: &str| whole_or_text(&json!(text));
        for (text, number) in [
            ("31", 31),
            ("31.0", 31),
            ("031.00", 31),
            ("31.0000", 31),
            ("0", 0),
            ("99999999999999999999999", u64::MAX),
        ] {
            assert_eq!(read(text), Some(number), "{text}");
        }
        for bad in [
            "", " 31", "31 ", "31.", ".0", "1.5", "-1", "+1", "1e3", "1,0", "0x1f", "٣", "2.000",
        ] {
            assert_eq!(read(bad), None, "{bad}");
        }
        assert_eq!(whole_or_text(&json!(3.1e1)), Some(31));
    }
}
