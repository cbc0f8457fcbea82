//! Text helpers shared by several endpoints.

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

/// `text` without case and accents, and with `ss` for `ß`, for searches (C-20, C-43).
#[must_use]
pub fn fold(text: &str) -> String {
    // Most texts. Avoids the tables of Unicode.
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let plain = text.nfkd().filter(|c| !is_combining_mark(*c));
    let lower: String = plain.flat_map(char::to_lowercase).collect();
    lower.replace('ß', "ss")
}

/// `text` cut to `limit` characters (C-71).
#[must_use]
pub fn cut(text: &str, limit: usize) -> &str {
    text.char_indices()
        .nth(limit)
        .map_or(text, |(end, _)| &text[..end])
}

/// Whether `text` has at most `limit` characters.
#[must_use]
pub fn fits(text: &str, limit: usize) -> bool {
    text.chars().nth(limit).is_none()
}

/// Bytes in lower-case hexadecimal.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .map(|nibble| char::from(DIGITS[usize::from(nibble)]))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folding_drops_case_and_accents() {
        assert_eq!(fold("Antônia GONÇALVES"), "antonia goncalves");
        assert_eq!(fold("ANTO\u{302}NIA"), fold("antônia"));
        assert_eq!(fold("İstanbul"), fold("istanbul"));
        assert_eq!(fold("日本"), "日本");
        assert_eq!([fold("Straße"), fold("STRAẞE")], ["strasse", "strasse"]);
    }

    #[test]
    fn cutting_counts_characters() {
        assert_eq!(cut("ação", 3), "açã");
        assert_eq!(cut("ação", 4), "ação");
        assert_eq!(cut("😀😀", 1), "😀");
        assert_eq!(cut("", 3), "");
        assert_eq!(cut("abc", 0), "");
    }

    #[test]
    fn hexadecimal_is_lower_case() {
        assert_eq!(hex(&[0, 15, 255]), "000fff");
    }
}
