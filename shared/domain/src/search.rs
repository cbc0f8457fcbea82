//! Search terms, for lists of leads (C-20) and of opportunities (C-43).
//!
//! Invariants:
//! - Term and text are folded alike, so every substring of a text finds it, regardless of case and accents.
//! - Both lists search the same fields of a lead.
//! - A search reads every entry of a list, so ASCII text is compared in place, with the same result as its
//!   folded copy.

use crate::phone;
use crate::text::fold;

/// Maximum length in bytes of a pattern compared at every position of a text.
const SHORT: usize = 64;

/// A search term.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term {
    folded: String,
    /// The term's digits, if it is compared with phone numbers.
    digits: Option<String>,
}

impl Term {
    /// A trimmed term; `None` if it is blank or has only accents. It is compared with phone numbers only if
    /// it has a digit and no letter.
    #[must_use]
    pub fn new(term: &str) -> Option<Self> {
        let folded = fold(term.trim());
        let digits = phone::digits(term);
        let numeric = !digits.is_empty() && !term.chars().any(char::is_alphabetic);
        (!folded.is_empty()).then(|| Self {
            folded,
            digits: numeric.then_some(digits),
        })
    }

    /// Whether a text contains it.
    #[must_use]
    pub fn is_in(&self, text: &str) -> bool {
        if text.is_ascii() {
            // Folding ASCII text only lowers its case: it has no accents and does not decompose.
            contains_in_any_case(text, &self.folded)
        } else {
            fold(text).contains(&self.folded)
        }
    }

    /// Whether the decimal text of an id contains it.
    #[must_use]
    pub fn is_in_id(&self, id: u64) -> bool {
        // Most terms are words; avoids formatting the id.
        let decimal = self.folded.bytes().all(|byte| byte.is_ascii_digit());
        decimal && id.to_string().contains(&self.folded)
    }

    /// Whether it matches a lead's full name, e-mail or the digits of its numbers in any format.
    #[must_use]
    pub fn finds_lead<'a>(
        &self,
        fullname: &str,
        email: Option<&str>,
        numbers: impl IntoIterator<Item = &'a str>,
    ) -> bool {
        let dials = |digits: &String| numbers.into_iter().any(|number| is_dialled(digits, number));
        self.is_in(fullname)
            || email.is_some_and(|email| self.is_in(email))
            || self.digits.as_ref().is_some_and(dials)
    }
}

/// Whether the digits of a number contain `digits`.
fn is_dialled(digits: &str, number: &str) -> bool {
    if number.bytes().all(|byte| byte.is_ascii_digit()) {
        return number.contains(digits);
    }
    phone::digits(number).contains(digits)
}

/// Whether ASCII text contains a lower-case pattern, ignoring the text's case.
#[must_use]
pub fn contains_in_any_case(ascii: &str, lower: &str) -> bool {
    if lower.len() > SHORT {
        // A long pattern could match far at every position; searching a copy takes linear time.
        return lower.len() <= ascii.len() && ascii.to_ascii_lowercase().contains(lower);
    }
    let lower = lower.as_bytes();
    let mut places = ascii.as_bytes().windows(lower.len().max(1));
    lower.is_empty() || places.any(|place| place.eq_ignore_ascii_case(lower))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn term(text: &str) -> Term {
        Term::new(text).unwrap()
    }

    #[test]
    fn blank_terms_are_none() {
        for blank in ["", " ", "\t\r\n", "\u{a0}\u{3000}", "\u{301}", " \u{301}\u{303} "] {
            assert_eq!(Term::new(blank), None, "{blank:?}");
        }
    }

    #[test]
    fn substrings_match_regardless_of_case_and_accents() {
        for (part, text, found) in [
            ("ana", "Mariana Souza", true),
            ("ana souza", "Mariana Souza", true),
            ("ANA SOUZA", "mariana souza", true),
            ("  mari\t", "Mariana Souza", true),
            ("mariana  souza", "Mariana Souza", false),
            ("souza mariana", "Mariana Souza", false),
            ("marianas", "Mariana Souza", false),
            ("goncalves", "Antônia GONÇALVES", true),
            ("GONÇALVES", "antonia goncalves", true),
            ("anto\u{302}nia", "Antônia", true),
            ("antônia", "ANTO\u{302}NIA", true),
            ("ﬁ", "Fiat", true),
            ("３", "Sala 3", true),
            ("日", "日本", true),
            ("日", "Nihon", false),
            ("a", "", false),
        ] {
            assert_eq!(term(part).is_in(text), found, "{part:?} in {text:?}");
        }
    }

    #[test]
    fn a_lead_is_found_by_full_name_e_mail_and_digits() {
        let finds = |text| {
            let numbers = ["+55 (11) 98765-4321", "551133334444", "ramal"];
            term(text).finds_lead("Antônia 7 Gonçalves", Some("Toni.11@Example.com"), numbers)
        };
        for (text, found) in [
            ("ANTONIA", true),
            ("7 goncalves", true),
            ("toni.11@example", true),
            ("TÔNI", true),
            ("987654321", true),
            ("(11) 98765", true),
            ("9.8-7", true),
            ("3333-4444", true),
            ("11 3333", true),
            ("98765x4321", false),
            ("tel 98765", false),
            ("43215511", false),
            ("٩٨٧", false),
            ("()", false),
            ("ramal", false),
        ] {
            assert_eq!(finds(text), found, "{text:?}");
        }
        assert!(!term("11").finds_lead("", None, []));
    }

    #[test]
    fn an_id_is_found_by_a_part_of_its_decimal_text() {
        for (text, found) in [
            ("1042", true),
            (" 04 ", true),
            ("０４", true),
            ("42", true),
            ("142", false),
            ("01042", false),
            ("#1042", false),
            ("10 42", false),
            ("1042a", false),
        ] {
            assert_eq!(term(text).is_in_id(1042), found, "{text:?}");
        }
    }

    #[test]
    fn a_long_pattern_is_found_like_a_short_one() {
        for length in [1, SHORT - 1, SHORT, SHORT + 1, 4 * SHORT] {
            let (lower, text) = ("x".repeat(length), "X".repeat(length));
            assert!(contains_in_any_case(&text, &lower), "{length}");
            assert!(contains_in_any_case(&format!("ab{text}c"), &lower), "{length}");
            assert!(!contains_in_any_case(&text[1..], &lower), "{length}");
        }
    }

    /// Text of few letters in varying case and accents.
    fn few_letters() -> impl Strategy<Value = String> {
        prop_oneof!["[aAbB1 ]{0,8}", "[aAbBãÂ1\u{301}Kﬁ ]{0,8}"]
    }

    proptest! {
        #[test]
        fn a_match_is_containment_of_folded_text(part in few_letters(), text in few_letters()) {
            let folded = fold(part.trim());
            let found = Term::new(&part).is_none_or(|term| term.is_in(&text));
            prop_assert_eq!(found, fold(&text).contains(&folded));
        }

        #[test]
        fn any_ascii_is_found_as_if_it_were_folded(part in "[ -~]{0,3}", text in "[\0-\x7f]{0,40}") {
            prop_assert_eq!(text.to_ascii_lowercase(), fold(&text));
            prop_assert_eq!(contains_in_any_case(&text, &fold(&part)), fold(&text).contains(&fold(&part)));
        }

        #[test]
        fn every_part_of_a_text_finds_it(
            before in any::<String>(),
            part in any::<String>(),
            after in any::<String>(),
        ) {
            let text = format!("{before}{part}{after}");
            prop_assert!(Term::new(&part).is_none_or(|term| term.is_in(&text)));
        }

        #[test]
        fn an_id_is_searched_as_text(part in "[0-9]{1,3}|[0-9a ]{1,3}", id in 1_u64..100_000) {
            let found = Term::new(&part).is_some_and(|term| term.is_in_id(id));
            let expected = !part.trim().is_empty() && id.to_string().contains(part.trim());
            prop_assert_eq!(found, expected);
        }
    }
}
