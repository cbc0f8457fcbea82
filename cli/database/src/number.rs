//! DynamoDB's numbers: decimal texts with at most 38 significant digits, in one canonical form.

use std::cmp::Ordering;

/// A decimal number.
#[derive(Debug, PartialEq)]
pub struct Number {
    is_negative: bool,
    /// The significant digits, without zeros at either end. Empty for zero.
    digits: String,
    /// Digits before the decimal point; negative if zeros follow it.
    point: i32,
}

impl Number {
    /// The number of a text such as `-12.50` or `1e3`, or `None` if DynamoDB refuses it.
    pub fn parse(text: &str) -> Option<Self> {
        let (is_negative, unsigned) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i16>().ok()?),
            None => (unsigned, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = [whole, fraction].concat();
        if all.is_empty() || !all.bytes().all(|digit| digit.is_ascii_digit()) {
            return None;
        }
        let significant = all.trim_start_matches('0');
        let zeros = i32::try_from(all.len() - significant.len()).ok()?;
        let digits = significant.trim_end_matches('0').to_owned();
        if digits.is_empty() {
            let (is_negative, point) = (false, 0);
            return Some(Self {
                is_negative,
                digits,
                point,
            });
        }
        let point = i32::try_from(whole.len()).ok()? + i32::from(exponent) - zeros;
        let is_stored = digits.len() <= 38 && (-129..=126).contains(&point);
        is_stored.then_some(Self {
            is_negative,
            digits,
            point,
        })
    }

    /// The number as DynamoDB returns it, without an exponent.
    pub fn text(&self) -> String {
        let sign = if self.is_negative { "-" } else { "" };
        let (digits, before) = (&self.digits, usize::try_from(self.point).unwrap_or_default());
        if digits.is_empty() {
            "0".to_owned()
        } else if self.point <= 0 {
            let zeros = usize::try_from(-self.point).unwrap_or_default();
            format!("{sign}0.{:0<zeros$}{digits}", "")
        } else if let Some((whole, fraction)) = digits
            .split_at_checked(before)
            .filter(|(_, rest)| !rest.is_empty())
        {
            format!("{sign}{whole}.{fraction}")
        } else {
            format!("{sign}{digits:0<before$}")
        }
    }

    pub fn compare(&self, other: &Self) -> Ordering {
        let sign = |number: &Self| match (number.digits.is_empty(), number.is_negative) {
            (true, _) => 0,
            (_, true) => -1,
            (_, false) => 1,
        };
        let magnitude = (self.point, &self.digits).cmp(&(other.point, &other.digits));
        let in_sign = if self.is_negative {
            magnitude.reverse()
        } else {
            magnitude
        };
        sign(self).cmp(&sign(other)).then(in_sign)
    }

    /// Bytes that DynamoDB bills: one, and one for each two digits on either side of the point, and one for the sign.
    pub fn size(&self) -> usize {
        let before = usize::try_from(self.point)
            .unwrap_or_default()
            .min(self.digits.len());
        let after = self.digits.len() - before;
        1 + before.div_ceil(2) + after.div_ceil(2) + usize::from(self.is_negative)
    }
}

/// The integer of a canonical text, such as `-12` but neither `+1`, `01`, `-0` nor `1.0`.
pub fn integer(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_canonical = match digits.as_bytes() {
        [b'0'] => digits.len() == text.len(),
        [b'1'..=b'9', ..] => true,
        _ => false,
    };
    if is_canonical { text.parse().ok() } else { None }
}

/// Bytes that DynamoDB bills for an integer, like [`Number::size`].
pub fn integer_size(integer: i64) -> usize {
    let mut left = integer.unsigned_abs();
    while left != 0 && left.is_multiple_of(10) {
        left /= 10;
    }
    let digits = left.checked_ilog10().map_or(0, |log| log as usize + 1);
    1 + digits.div_ceil(2) + usize::from(integer < 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_one_form_and_the_size_that_is_billed() {
        for (text, canonical, size) in [
            ("0", "0", 1),
            ("-0.00", "0", 1),
            ("+7", "7", 2),
            ("0042", "42", 2),
            ("-42", "-42", 3),
            ("1000", "1000", 2),
            ("1.50", "1.5", 3),
            ("12e3", "12000", 2),
            ("1.25e1", "12.5", 3),
            ("-1.5E-3", "-0.0015", 3),
            ("1600000000", "1600000000", 2),
            ("0.5e-2", "0.005", 2),
            ("9223372036854775808", "9223372036854775808", 11),
        ] {
            let number = Number::parse(text).unwrap();
            assert_eq!(
                (number.text().as_str(), number.size()),
                (canonical, size),
                "{text}"
            );
            if let Some(integer) = integer(canonical) {
                assert_eq!(integer_size(integer), size, "{text}");
            }
        }
    }

    #[test]
    fn numbers_have_an_order() {
        let ascending = [
            "-12", "-1.5", "-0.5", "0", "0.05", "0.5", "1.5", "2", "12", "12.1", "1e40",
        ];
        for (at, left) in ascending.iter().enumerate() {
            for (other_at, right) in ascending.iter().enumerate() {
                let order = Number::parse(left)
                    .unwrap()
                    .compare(&Number::parse(right).unwrap());
                assert_eq!(order, at.cmp(&other_at), "{left} {right}");
            }
        }
    }

    #[test]
    fn other_texts_are_no_numbers() {
        let long = "1".repeat(39);
        for text in [
            "", "-", ".", "1e", "e1", "1 ", "0x1", "--1", "1e126", "1e-131", "NaN", "1.2.3", &long,
        ] {
            assert_eq!(Number::parse(text), None, "{text}");
        }
        for text in ["", "-", "-0", "01", "+1", "1.0", "9223372036854775808"] {
            assert_eq!(integer(text), None, "{text}");
        }
    }
}
