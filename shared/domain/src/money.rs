//! Exact amounts of money (C-7).

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};

/// An amount in cents, from 0 to 9,999,999,999,999.99. Serialized as text with two decimals, as in lists;
/// deserialized from numbers and numeric text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(try_from = "Value", into = "String")]
pub struct Cents(u64);

impl Cents {
    const MAX: u64 = 999_999_999_999_999;

    /// From cents; `None` above the limit.
    #[must_use]
    pub fn new(cents: u64) -> Option<Self> {
        (cents <= Self::MAX).then_some(Self(cents))
    }

    /// Parses digits with optional decimals, of which zeros after the second do not count: `213`, `213.2`, `213.2000`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
        let are_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        if !are_digits(whole) || !are_digits(decimals) {
            return None;
        }
        let (decimals, rest) = decimals.split_at(decimals.len().min(2));
        if rest.bytes().any(|byte| byte != b'0') {
            return None;
        }
        let whole: u64 = whole.parse().ok()?;
        // `.2` is 20 cents.
        let cents: u64 = format!("{decimals:0<2}").parse().ok()?;
        Self::new(whole.checked_mul(100)?.checked_add(cents)?)
    }

    /// From a JSON number or numeric text; `None` for anything else, and outside the limits. The shortest decimal form
    /// of a double is exact for every amount up to the limit. A double near a cent is that cent, because sums of doubles
    /// miss it.
    #[must_use]
    pub fn from_json(value: &Value) -> Option<Self> {
        match value {
            Value::Number(number) => {
                Self::parse(&number.to_string()).or_else(|| Self::near(number.as_f64()?))
            }
            Value::String(text) => Self::parse(text),
            _ => None,
        }
    }

    /// The amount within 1e-9 of a double, or within the distance of neighbouring doubles of its size.
    fn near(double: f64) -> Option<Self> {
        let double = if double.abs() <= 1e-9 { 0.0 } else { double };
        let amount = Self::parse(&format!("{double:.2}"))?;
        let exact: f64 = amount.to_string().parse().ok()?;
        let distance = (exact * f64::EPSILON).max(1e-9);
        ((double - exact).abs() <= distance).then_some(amount)
    }

    /// The amount in cents.
    #[must_use]
    pub fn get(self) -> u64 {
        self.0
    }

    /// The amount as a JSON number in whole units: `213`, `213.2`.
    #[must_use]
    pub fn to_json(self) -> Value {
        if self.0.is_multiple_of(100) {
            return Value::from(self.0 / 100);
        }
        self.to_string()
            .parse()
            .ok()
            .and_then(Number::from_f64)
            .map_or(Value::Null, Value::Number)
    }
}

impl TryFrom<Value> for Cents {
    type Error = &'static str;

    fn try_from(value: Value) -> Result<Self, Self::Error> {
        Self::from_json(&value)
            .ok_or("must be an amount from 0 to 9999999999999.99 with at most two decimals")
    }
}

impl From<Cents> for String {
    fn from(amount: Cents) -> Self {
        amount.to_string()
    }
}

impl fmt::Display for Cents {
    /// Two decimals, as in lists: `213.20`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:02}", self.0 / 100, self.0 % 100)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn text_and_numbers_are_read_exactly() {
        let read = |value: Value| Cents::from_json(&value).map(Cents::get);
        assert_eq!(read(json!("213.20")), Some(21320));
        assert_eq!(read(json!("0007")), Some(700));
        assert_eq!(read(json!(213.2)), Some(21320));
        assert_eq!(read(json!(0.1)), Some(10));
        assert_eq!(read(json!(5.0)), Some(500));
        assert_eq!(read(json!(9_999_999_999_999.99)), Some(Cents::MAX));
        assert_eq!(read(json!("10.5000")), Some(1050));
        assert_eq!(read(json!(0.1 + 0.2)), Some(30));
        assert_eq!(read(json!(10_000_000.1 + 10_000_000.2)), Some(2_000_000_030));
        assert_eq!(read(json!(1e-12)), Some(0));
        assert_eq!(read(json!(-1e-12)), Some(0));
        for bad in [
            json!("213.205"),
            json!(213.205),
            json!("0.30000000000000004"),
            json!("10.5001"),
            json!(0.300_000_01),
            json!("-1"),
            json!(-1),
            json!("1,5"),
            json!("1."),
            json!(".5"),
            json!(""),
            json!(" 1"),
            json!("1e3"),
            json!(1e300),
            json!("10000000000000"),
            json!(true),
            json!(null),
        ] {
            assert_eq!(read(bad.clone()), None, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn every_amount_round_trips_in_both_forms(cents in 0..=Cents::MAX) {
            let amount = Cents::new(cents).unwrap();
            prop_assert_eq!(Cents::parse(&amount.to_string()), Some(amount));
            let json = serde_json::to_string(&amount.to_json()).unwrap();
            prop_assert_eq!(Cents::from_json(&serde_json::from_str(&json).unwrap()), Some(amount));
        }
    }
}
