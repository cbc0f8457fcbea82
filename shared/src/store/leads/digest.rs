//! Digests of what identifies a lead, for keys of look-ups and claims.

use sha2::{Digest as _, Sha256};

use crate::lead::same_email;
use crate::text::hex;
use crate::words::address_word;

/// The digest of a text in its normal form.
pub fn digest(text: &str) -> String {
    hex(&Sha256::digest(text)[..16])
}

/// The digest of an e-mail address that is not a word (C-92), independent of upper and lower case; `None` for other
/// addresses.
pub fn email_digest(email: &str) -> Option<String> {
    let email = same_email(email).filter(|email| address_word(email).is_none());
    email.map(|email| digest(&email))
}
