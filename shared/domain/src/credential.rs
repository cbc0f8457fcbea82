//! API keys and access tokens (C-3): format, checksum, and the hash that is stored.
//!
//! The text of a credential exists only in the caller's request and in the operator's terminal. [`Secret`] does not
//! implement `Display`, its `Debug` prints only the kind, and only its SHA-256 is stored or compared.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::environment::Environment;
use crate::text::hex;

/// The digits of base 62.
const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// Digits of 256 random bits in base 62.
const BODY_DIGITS: usize = 43;
/// Digits of a checksum of 32 bits in base 62.
const CHECKSUM_DIGITS: usize = 6;

/// Kinds of credentials.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CredentialKind {
    /// `fk_…`, sent as `apitoken`.
    Key,
    /// `fa_…`, sent as `Authorization: Bearer`.
    Token,
}

impl CredentialKind {
    /// Name in the operator's commands.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Key => "key",
            Self::Token => "token",
        }
    }

    const fn prefix(self) -> &'static str {
        match self {
            Self::Key => "fk_",
            Self::Token => "fa_",
        }
    }
}

/// The SHA-256 of a credential in hexadecimal, as stored and looked up.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CredentialHash(String);

impl CredentialHash {
    /// The hash as text, part of a key of the table.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A well-formed credential: prefix, 32 random bytes in base 62, and a checksum that detects typing errors
/// without a read.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret {
    kind: CredentialKind,
    text: String,
}

impl Secret {
    /// Creates a credential.
    #[must_use]
    pub fn issue(kind: CredentialKind, environment: &Environment) -> Self {
        let body = format!("{}{}", kind.prefix(), base62(&environment.random(), BODY_DIGITS));
        let checksum = checksum(&body);
        Self {
            kind,
            text: body + &checksum,
        }
    }

    /// Parses a credential; `None` if format or checksum is wrong.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let kind = [CredentialKind::Key, CredentialKind::Token]
            .into_iter()
            .find(|kind| text.starts_with(kind.prefix()))?;
        let digits = &text[kind.prefix().len()..];
        let is_base62 = digits.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if digits.len() != BODY_DIGITS + CHECKSUM_DIGITS || !is_base62 {
            return None;
        }
        // The checksum covers the prefix too.
        let (body, given_checksum) = text.split_at(text.len() - CHECKSUM_DIGITS);
        (checksum(body) == given_checksum).then(|| Self {
            kind,
            text: text.to_owned(),
        })
    }

    /// The kind of the credential.
    #[must_use]
    pub fn kind(&self) -> CredentialKind {
        self.kind
    }

    /// The hash of the whole text.
    #[must_use]
    pub fn hash(&self) -> CredentialHash {
        CredentialHash(hex(&Sha256::digest(&self.text)))
    }

    /// The text, shown once to the operator who issued it.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.text
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret({}…)", self.kind.prefix())
    }
}

/// The checksum of prefix and random digits: 32 bits of their SHA-256.
fn checksum(body: &str) -> String {
    base62(&Sha256::digest(body)[..4], CHECKSUM_DIGITS)
}

/// A big-endian number in base 62, zero-padded to `width` digits. Further digits are lost.
fn base62(number: &[u8], width: usize) -> String {
    let mut quotient = number.to_vec();
    let mut digits = vec![0; width];
    for digit in digits.iter_mut().rev() {
        // Long division by 62, byte by byte. The remainder is the next digit from the right.
        let mut remainder = 0_u32;
        for byte in &mut quotient {
            let value = remainder << 8 | u32::from(*byte);
            // The result fits a byte: remainder < 62, so value < 62 * 256.
            *byte = u8::try_from(value / 62).unwrap_or(u8::MAX);
            remainder = value % 62;
        }
        *digit = ALPHABET[remainder as usize];
    }
    digits.into_iter().map(char::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Timestamp;

    fn environment() -> Environment {
        Environment::frozen(Timestamp::parse("2026-11-21T12:00:00Z").unwrap())
            .0
            .seeded(1)
    }

    #[test]
    fn issued_credentials_parse() {
        for kind in [CredentialKind::Key, CredentialKind::Token] {
            let secret = Secret::issue(kind, &environment());
            let read = Secret::parse(secret.reveal()).unwrap();
            assert_eq!((read.kind(), read.hash()), (kind, secret.hash()));
            assert_eq!(secret.reveal().len(), 3 + BODY_DIGITS + CHECKSUM_DIGITS);
        }
    }

    #[test]
    fn any_changed_character_is_refused() {
        let secret = Secret::issue(CredentialKind::Key, &environment());
        for at in 0..secret.reveal().len() {
            let mut changed = secret.reveal().as_bytes().to_vec();
            changed[at] = if changed[at] == b'x' { b'y' } else { b'x' };
            assert_eq!(
                Secret::parse(std::str::from_utf8(&changed).unwrap()),
                None,
                "position {at}"
            );
        }
    }

    #[test]
    fn other_text_is_refused() {
        let good = Secret::issue(CredentialKind::Token, &environment());
        let swapped = good.reveal().replacen("fa_", "fk_", 1);
        for bad in [
            "",
            "fk_",
            "fk_é",
            &swapped,
            &format!("{} ", good.reveal()),
            &"fk_".repeat(40),
        ] {
            assert_eq!(Secret::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn debug_output_hides_the_secret() {
        let secret = Secret::issue(CredentialKind::Key, &environment());
        assert_eq!(format!("{secret:?}"), "Secret(fk_…)");
    }

    #[test]
    fn base62_is_zero_padded() {
        assert_eq!(base62(&[0], 2), "00");
        assert_eq!(base62(&[61], 2), "0z");
        assert_eq!(base62(&[62], 2), "10");
        assert_eq!(base62(&[255; 4], CHECKSUM_DIGITS), "4gfFC3");
        assert_eq!(base62(&[255; 32], BODY_DIGITS).len(), BODY_DIGITS);
    }
}
