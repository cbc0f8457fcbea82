//! Telephone numbers of the same line (C-72). The grammar of written numbers has its own tests.

use shared::phone::{self, Match, Phone};

/// The numbers of a text that identify somebody, and the digits of the first as they were written.
pub fn lines(text: &str) -> (Vec<Phone>, Option<String>) {
    let read = phone::identifying(text);
    let written = read.first().map(|read| read.digits.clone());
    (read.into_iter().map(|read| read.phone).collect(), written)
}

pub fn digits(text: &str) -> String {
    phone::digits(text)
}

/// Rank of a stored text for a number: 0 is best.
pub fn rank(wanted: &Phone, stored: &str) -> Option<u8> {
    let stored = phone::read(stored).into_iter().map(|read| read.phone);
    let ranks = stored.filter_map(|stored| match wanted.matches(&stored)? {
        Match::Exact => Some(0),
        Match::Twin => Some(1),
    });
    ranks.min()
}
