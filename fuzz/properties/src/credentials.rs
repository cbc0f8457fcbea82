//! API keys and access tokens (C-3).

use sha2::{Digest as _, Sha256};
use shared::credential::{CredentialKind, Secret};

const BODY: usize = 43;
const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Six digits of base 62 from the first 32 bits of a digest.
fn checksum(body: &str) -> String {
    let digest = Sha256::digest(body);
    let mut number = digest
        .iter()
        .take(4)
        .fold(0_u32, |number, byte| number << 8 | u32::from(*byte));
    let mut digits = ['0'; 6];
    for digit in digits.iter_mut().rev() {
        *digit = char::from(ALPHABET[number as usize % 62]);
        number /= 62;
    }
    digits.into_iter().collect()
}

/// Kind of a credential by the rules of C-3; `None` for other text.
fn kind(text: &str) -> Option<CredentialKind> {
    let kind = match text.get(..3)? {
        "fk_" => CredentialKind::Key,
        "fa_" => CredentialKind::Token,
        _ => return None,
    };
    let plain = text[3..].bytes().all(|byte| byte.is_ascii_alphanumeric());
    let (body, check) = text.split_at_checked(3 + BODY)?;
    (plain && checksum(body) == check).then_some(kind)
}

/// The input is a credential exactly if form and checksum are valid. Its bytes also make a credential, which parses. Any change
/// makes it invalid. Its debug output shows only the kind, and the stored form is its SHA-256.
///
/// # Panics
/// If any of this is violated.
pub fn credentials(data: &[u8]) {
    if let Some(text) = crate::text(data) {
        judge(text);
    }
    let mut digits = data
        .iter()
        .map(|byte| char::from(ALPHABET[usize::from(*byte) % 62]));
    let prefix = if data.len().is_multiple_of(2) {
        "fk_"
    } else {
        "fa_"
    };
    let body: String = prefix.chars().chain(digits.by_ref().take(BODY)).collect();
    let made = format!("{body}{}", checksum(&body));
    judge(&made);
    let changes = data.chunks_exact(2).map(|pair| (usize::from(pair[0]), pair[1]));
    for (at, byte) in changes.take(16) {
        let mut other: Vec<_> = made.chars().collect();
        let at = at % other.len();
        other[at] = char::from(byte);
        judge(&other.into_iter().collect::<String>());
    }
}

fn judge(text: &str) {
    let read = Secret::parse(text);
    assert_eq!(read.as_ref().map(Secret::kind), kind(text), "{text:?}");
    let Some(secret) = read else { return };
    assert_eq!(secret.reveal(), text);
    assert_eq!(format!("{secret:?}"), format!("Secret({}…)", &text[..3]));
    let digest = Sha256::digest(text);
    let stored = shared::text::hex(&digest);
    assert_eq!(secret.hash().as_str(), stored);
}
