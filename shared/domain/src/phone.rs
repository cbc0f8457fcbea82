//! Telephone numbers: their normal form for storage and lookup, and the second form of the same line (C-72).
//!
//! Invariants:
//! - Stored and called numbers are normalised by the same rule, so equal lines match in both directions.
//! - Matching is symmetric: the twin of a twin is the number itself.
//! - Punctuation, letters and spaces are ignored, except a `+` before the first digit.
//!
//! Numbering plan: Anatel's 67 area codes. Mobile numbers have nine digits, the first of which is 9; only
//! those with 6 to 9 as the second digit ever had an eight-digit form. The remainder of any other mobile
//! number would be a landline.

/// The optional country code of a Brazilian number.
const BRAZIL: &str = "55";

/// Maximum digits of a number. E.164 allows 15. The rest is room for prefixes and extensions.
const MAX_DIGITS: usize = 32;

/// A telephone number in normal form.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Phone {
    digits: String,
    twin: Option<String>,
}

/// How two numbers match. The better match is the smaller value (C-72).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Match {
    /// Equal, after adding a missing 55.
    Exact,
    /// The same Brazilian mobile number, with and without its ninth digit.
    Twin,
}

impl Phone {
    /// Parses a number in free text.
    ///
    /// Only ASCII digits count. Every other character, including digits of other scripts, is punctuation. A `+`
    /// anywhere before the first digit marks an international number, which gets no country code.
    ///
    /// Returns `None` for a text without digits, or with more than 32.
    #[must_use]
    pub fn of(text: &str) -> Option<Self> {
        let (before_digits, _) = text.split_once(|c: char| c.is_ascii_digit())?;
        let mut digits = digits(text);
        if digits.len() > MAX_DIGITS {
            return None;
        }
        if !before_digits.contains('+') && lacks_country_code(&digits) {
            digits.insert_str(0, BRAZIL);
        }
        let twin = twin_of(&digits);
        Some(Self { digits, twin })
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

    /// How `other` matches this number, if it does.
    #[must_use]
    pub fn matches(&self, other: &Self) -> Option<Match> {
        if self.digits == other.digits {
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
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde::Deserialize;

    #[derive(Deserialize)]
    struct Vector {
        why: String,
        call: String,
        stored: String,
        same: bool,
    }

    fn phone(text: &str) -> Phone {
        Phone::of(text).unwrap()
    }

    fn forms(text: &str) -> (String, Option<String>) {
        let Phone { digits, twin } = phone(text);
        (digits, twin)
    }

    fn one_form(digits: &str) -> (String, Option<String>) {
        (digits.to_owned(), None)
    }

    fn two_forms(digits: &str, twin: &str) -> (String, Option<String>) {
        (digits.to_owned(), Some(twin.to_owned()))
    }

    #[test]
    fn every_vector_matches_as_recorded_in_both_directions() {
        let vectors: Vec<Vector> = serde_json::from_str(include_str!("../vectors/phones.json")).unwrap();
        assert!(!vectors.is_empty());
        for Vector {
            why,
            call,
            stored,
            same,
        } in vectors
        {
            assert_eq!(
                phone(&call).same_line(&phone(&stored)),
                same,
                "{why}: {call} / {stored}"
            );
            assert_eq!(
                phone(&stored).same_line(&phone(&call)),
                same,
                "{why}: {stored} / {call}"
            );
        }
    }

    #[test]
    fn there_are_sixty_seven_area_codes() {
        let codes = (b'0'..=b'9').flat_map(|tens| (b'0'..=b'9').map(move |units| (tens, units)));
        assert_eq!(
            codes.filter(|(tens, units)| is_area_code(*tens, *units)).count(),
            67
        );
    }

    #[test]
    fn a_number_needs_one_digit_and_has_at_most_thirty_two() {
        assert_eq!(Phone::of(""), None);
        assert_eq!(Phone::of("+ (ramal) —"), None);
        assert_eq!(Phone::of("١٢٣"), None);
        assert_eq!(phone("7").digits(), "7");
        assert_eq!(phone(&"1".repeat(32)).digits(), "1".repeat(32));
        assert_eq!(Phone::of(&"1".repeat(33)), None);
    }

    #[test]
    fn digits_of_other_scripts_are_punctuation() {
        assert_eq!(digits("１1٢2²3"), "123");
        assert_eq!(forms("٣11 3333-4444"), one_form("551133334444"));
    }

    #[test]
    fn a_country_code_is_supplied_to_national_forms_only() {
        assert_eq!(
            forms("(11) 98765-4321"),
            two_forms("5511987654321", "551187654321")
        );
        assert_eq!(
            forms("(11) 8765-4321"),
            two_forms("551187654321", "5511987654321")
        );
        assert_eq!(forms("11 93765-4321"), one_form("5511937654321"));
        assert_eq!(forms("11 2222-3333"), one_form("551122223333"));
        // Invalid area code, invalid subscriber number, trunk zero, missing area code, toll-free.
        assert_eq!(forms("20 98765-4321"), one_form("20987654321"));
        assert_eq!(forms("11 88765-4321"), one_form("11887654321"));
        assert_eq!(forms("11 1765-4321"), one_form("1117654321"));
        assert_eq!(forms("011 98765-4321"), one_form("011987654321"));
        assert_eq!(forms("98765-4321"), one_form("987654321"));
        assert_eq!(forms("0800 123 4567"), one_form("08001234567"));
    }

    #[test]
    fn area_code_55_is_distinguished_from_country_code_55() {
        assert_eq!(forms("55 98765-4321"), two_forms("5555987654321", "555587654321"));
        assert_eq!(forms("55 8765-4321"), two_forms("555587654321", "5555987654321"));
        assert_eq!(forms("55 3222-1111"), one_form("555532221111"));
        assert_eq!(
            forms("55 55 98765-4321"),
            two_forms("5555987654321", "555587654321")
        );
        assert_eq!(forms("+55 98765-4321"), one_form("55987654321"));
        // Toll-free: 80 is not an area code.
        assert_eq!(forms("55 800 987 6543"), one_form("558009876543"));
    }

    #[test]
    fn a_number_written_with_plus_is_never_given_a_country_code() {
        for text in [
            "+31 97 012 3456",
            "tel: +31970123456",
            " (+31) 97 012 3456",
            "+ 31-97-0123456",
        ] {
            assert_eq!(forms(text), one_form("31970123456"), "{text}");
        }
        assert_eq!(
            forms("31 97 012 3456 +"),
            two_forms("5531970123456", "553170123456")
        );
        assert_eq!(forms("+41 44 668 18 00"), one_form("41446681800"));
        assert_eq!(forms("+47 22 22 55 55"), one_form("4722225555"));
        assert_eq!(
            forms("+55 (11) 8765-4321"),
            two_forms("551187654321", "5511987654321")
        );
    }

    #[test]
    fn an_exact_match_comes_before_a_twin() {
        let called = phone("+55 11 98765-4321");
        assert_eq!(called.matches(&phone("11987654321")), Some(Match::Exact));
        assert_eq!(called.matches(&phone("1187654321")), Some(Match::Twin));
        assert_eq!(called.matches(&phone("1187654322")), None);
        assert!(Match::Exact < Match::Twin);
    }

    /// Text that normalises to a number, often a Brazilian one.
    fn number() -> impl Strategy<Value = String> {
        prop_oneof!["\\+?[0-9]{1,15}", "\\+?(55)?[1-9]{2}9?[2-9][0-9]{7}"]
    }

    proptest! {
        #[test]
        fn the_twin_of_a_twin_is_the_number(text in number()) {
            let phone = phone(&text);
            if let Some(twin) = &phone.twin {
                prop_assert_ne!(twin, &phone.digits);
                prop_assert_eq!(twin_of(twin), Some(phone.digits));
            }
        }

        #[test]
        fn the_normal_form_is_its_own_normal_form_when_written_with_plus(text in number()) {
            let phone = phone(&text);
            prop_assert_eq!(Phone::of(&format!("+{}", phone.digits)), Some(phone));
        }

        #[test]
        fn matching_is_symmetric(a in number(), b in number()) {
            let (a, b) = (phone(&a), phone(&b));
            prop_assert_eq!(a.matches(&a), Some(Match::Exact));
            prop_assert_eq!(a.matches(&b), b.matches(&a));
            if let Some(twin) = a.twin() {
                let twin = Phone::of(twin).unwrap();
                prop_assert_eq!(a.matches(&twin), Some(Match::Twin));
                prop_assert_eq!(twin.matches(&a), Some(Match::Twin));
            }
        }

        #[test]
        fn punctuation_changes_nothing(
            digits in "(55)?[1-9]{2}9?[2-9][0-9]{7}|[0-9]{1,15}",
            noise in prop::collection::vec("[^0-9+]{0,3}", 16)
        ) {
            let mut noisy = String::new();
            for (noise, digit) in noise.iter().zip(digits.chars()) {
                noisy.push_str(noise);
                noisy.push(digit);
            }
            prop_assert_eq!(Phone::of(&noisy), Phone::of(&digits));
            prop_assert_eq!(Phone::of(&format!("{noisy} +")), Phone::of(&digits));
        }

        #[test]
        fn no_text_panics(text in any::<String>()) {
            let number = (1..=MAX_DIGITS).contains(&digits(&text).len());
            prop_assert_eq!(Phone::of(&text).is_some(), number);
        }
    }
}
