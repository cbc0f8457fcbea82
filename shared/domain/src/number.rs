//! Numbers that the table stores exactly.

use serde_json::Number;

/// Maximum absolute value of a number.
const MAX_ABSOLUTE: f64 = 1e15;
/// Minimum absolute value of a number other than 0.
const MIN_ABSOLUTE: f64 = 1e-9;

/// A number within the bounds of the table's numbers, in the form in which DynamoDB returns it: `4.0` becomes `4`.
///
/// # Errors
/// The violated rule.
pub fn storable(number: &Number) -> Result<Number, &'static str> {
    let magnitude = number.as_f64().map_or(f64::INFINITY, f64::abs);
    if magnitude > MAX_ABSOLUTE {
        return Err("must be from -1e15 to 1e15");
    }
    if magnitude > 0.0 && magnitude < MIN_ABSOLUTE {
        return Err("must be 0 or no closer to it than 1e-9");
    }
    if !number.is_f64() {
        return Ok(number.clone());
    }
    let whole = number.as_f64().filter(|value| value.fract() == 0.0);
    match whole.and_then(|value| format!("{value:.0}").parse::<i64>().ok()) {
        Some(integer) => Ok(integer.into()),
        None => Ok(number.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_one_spelling_and_bounds() {
        let storable = |text: &str| {
            let number: Number = serde_json::from_str(text).unwrap();
            storable(&number).map(|number| number.to_string())
        };
        for (given, kept) in [
            ("4", "4"),
            ("4.0", "4"),
            ("-0.0", "0"),
            ("2.5", "2.5"),
            ("-1e15", "-1000000000000000"),
            ("1000000000000000", "1000000000000000"),
        ] {
            assert_eq!(storable(given).unwrap(), kept, "{given}");
        }
        for bad in ["1e16", "-1e300", "18446744073709551615", "1e-10"] {
            assert!(storable(bad).is_err(), "{bad}");
        }
    }
}
