//! Telephone numbers (C-72).

use shared::phone::{Match, Phone};

/// The digits of a text if they are a number: 1 to 32 ASCII digits.
fn digits(text: &str) -> Option<String> {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    (1..=32).contains(&digits.len()).then_some(digits)
}

/// A normal form normalises to itself. The twin of a twin is the number itself. Exact matches precede twins. Matching is
/// symmetric. Only digits, and a `+` before the first digit, are significant. The first line is one number, the rest another.
///
/// # Panics
/// If any of this is violated.
pub fn phone(data: &[u8]) {
    let Some(text) = crate::text(data) else { return };
    let (one, other) = text.split_once('\n').unwrap_or((text, ""));
    let (one, other) = (alone(one), alone(other));
    if let (Some(one), Some(other)) = (one, other) {
        together(&one, &other);
    }
}

fn alone(text: &str) -> Option<Phone> {
    let phone = Phone::of(text);
    let digits = digits(text);
    assert_eq!(phone.is_some(), digits.is_some(), "{text:?}");
    let (phone, digits) = phone.zip(digits)?;
    let international = text.split(|c: char| c.is_ascii_digit()).next();
    let international = international.is_some_and(|before| before.contains('+'));
    let supplied = phone.digits().strip_suffix(digits.as_str());
    assert!(
        supplied == Some("") || (supplied == Some("55") && !international && matches!(digits.len(), 10 | 11)),
        "{text:?}: {phone:?}"
    );
    // The normal form includes the country code.
    let normal = format!("+{}", phone.digits());
    assert_eq!(Phone::of(&normal).as_ref(), Some(&phone), "{text:?}");
    let bare = if international {
        format!("+{digits}")
    } else {
        digits
    };
    assert_eq!(Phone::of(&bare).as_ref(), Some(&phone), "{text:?}");
    assert_eq!(phone.matches(&phone), Some(Match::Exact));
    if let Some(twin) = phone.twin() {
        let twin = Phone::of(&format!("+{twin}"));
        let twin = twin.as_ref();
        assert_eq!(twin.and_then(Phone::twin), Some(phone.digits()), "{text:?}");
        assert_eq!(twin.and_then(|twin| twin.matches(&phone)), Some(Match::Twin));
        assert_eq!(
            twin.map(|twin| twin.digits().len().abs_diff(phone.digits().len())),
            Some(1)
        );
    }
    Some(phone)
}

fn together(one: &Phone, other: &Phone) {
    let found = one.matches(other);
    assert_eq!(found, other.matches(one), "{one:?} {other:?}");
    assert_eq!(one.same_line(other), found.is_some());
    let expected = if one.digits() == other.digits() {
        Some(Match::Exact)
    } else if one.twin() == Some(other.digits()) {
        Some(Match::Twin)
    } else {
        None
    };
    assert_eq!(found, expected, "{one:?} {other:?}");
    assert!(Match::Exact < Match::Twin);
}
