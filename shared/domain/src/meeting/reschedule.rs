//! Proof that a public caller booked a meeting (C-55).
//!
//! The key of a meeting is the HMAC of its id with a secret of the instance. It is returned once, in the
//! response to the booking, and not stored. Keys cannot be computed without the secret, nor from each other.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use subtle::ConstantTimeEq as _;

use crate::environment::Environment;
use crate::ids::MeetingId;
use crate::text::hex;

/// The secret of an instance's keys: 32 bytes in hexadecimal.
#[derive(Clone, PartialEq, Eq)]
pub struct RescheduleSecret(String);

impl RescheduleSecret {
    /// A random secret.
    #[must_use]
    pub fn new(environment: &Environment) -> Self {
        Self(hex(&environment.random()))
    }

    /// From the stored text.
    #[must_use]
    pub fn stored(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// The text to store.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// The key of a meeting: 64 hexadecimal digits.
    #[must_use]
    pub fn key_of(&self, meeting: MeetingId) -> String {
        // Infallible: HMAC accepts keys of any length.
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(self.0.as_bytes()) else {
            return String::new();
        };
        mac.update(format!("meeting {meeting}").as_bytes());
        hex(&mac.finalize().into_bytes())
    }

    /// Whether `key` is the key of a meeting, compared in constant time.
    #[must_use]
    pub fn admits(&self, meeting: MeetingId, key: &str) -> bool {
        let expected = self.key_of(meeting);
        !expected.is_empty() && bool::from(expected.as_bytes().ct_eq(key.as_bytes()))
    }
}

impl std::fmt::Debug for RescheduleSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RescheduleSecret(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_valid_for_one_meeting() {
        let meeting = |id| MeetingId::new(id).unwrap();
        let secret = RescheduleSecret::stored("a");
        let key = secret.key_of(meeting(15));
        // Computed with another implementation: HMAC-SHA256 of "meeting 15" with key "a".
        assert_eq!(
            key,
            "fedaea46e630e339d0586615733b83c04fe0f50b6f2bb0a654c1d4db75186c74"
        );
        assert!(secret.admits(meeting(15), &key));
        for (id, wrong) in [
            (16, key.as_str()),
            (15, ""),
            (15, &key[1..]),
            (15, &key.to_uppercase()),
        ] {
            assert!(!secret.admits(meeting(id), wrong), "{id} {wrong}");
        }
        assert!(!RescheduleSecret::stored("b").admits(meeting(15), &key));
        assert_eq!(format!("{secret:?}"), "RescheduleSecret(…)");
    }

    #[test]
    fn secrets_are_random() {
        let environment = Environment::system();
        let (one, other) = (
            RescheduleSecret::new(&environment),
            RescheduleSecret::new(&environment),
        );
        assert_eq!(one.reveal().len(), 64);
        assert_ne!(one, other);
    }
}
