//! Telephone numbers (C-72).

use shared::phone::{Match, Phone};

/// A normal form is its own normal form if it is written with `+`. The twin of a twin is the number itself. Exact matches
/// precede twins. Matching is symmetric, and a number that identifies nobody matches none. The first line is one text, the
/// rest another.
///
/// # Panics
/// If any of this is violated.
pub fn phone(data: &[u8]) {
    let Some(text) = crate::text(data) else { return };
    let (one, other) = text.split_once('\n').unwrap_or((text, ""));
    let (one, other) = (alone(one), alone(other));
    for one in &one {
        for other in &other {
            together(one, other);
        }
    }
}

fn alone(text: &str) -> Vec<Phone> {
    let read = shared::phone::read(text);
    for phone in read.iter().map(|read| &read.phone) {
        assert!((1..=34).contains(&phone.digits().len()), "{text:?}: {phone:?}");
        let normal = Phone::of(&format!("+{}", phone.digits()));
        assert_eq!(
            normal.as_ref().map(Phone::digits),
            Some(phone.digits()),
            "{text:?}"
        );
        assert_eq!(phone.matches(phone).is_some(), phone.identifies(), "{text:?}");
        if let Some(twin) = phone.twin() {
            let twin = Phone::of(&format!("+{twin}"));
            let twin = twin.as_ref();
            assert_eq!(twin.and_then(Phone::twin), Some(phone.digits()), "{text:?}");
            let lengths = twin.map(|twin| twin.digits().len().abs_diff(phone.digits().len()));
            assert_eq!(lengths, Some(1));
        }
    }
    read.into_iter().map(|read| read.phone).collect()
}

fn together(one: &Phone, other: &Phone) {
    let found = one.matches(other);
    assert_eq!(found, other.matches(one), "{one:?} {other:?}");
    assert_eq!(one.same_line(other), found.is_some());
    let expected = if !one.identifies() {
        None
    } else if one.digits() == other.digits() {
        Some(Match::Exact)
    } else if one.twin() == Some(other.digits()) {
        Some(Match::Twin)
    } else {
        None
    };
    assert_eq!(found, expected, "{one:?} {other:?}");
    assert!(Match::Exact < Match::Twin);
}
