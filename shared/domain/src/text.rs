//! Text helpers shared by several endpoints.

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

/// `text` for searches (C-20, C-43, C-108): without case, accents and invisible characters, with plain apostrophes and
/// hyphens, and with plain letters for those that look like them.
#[must_use]
pub fn fold(text: &str) -> String {
    // Most texts. Avoids the tables of Unicode.
    if text.is_ascii() {
        return text.to_ascii_lowercase().replace('`', "'");
    }
    let signs = text.chars().filter(|c| !is_invisible(*c)).map(plain_sign);
    let letters = signs.nfkd().filter(|c| !is_combining_mark(*c));
    let mut folded = String::with_capacity(text.len());
    for letter in letters.flat_map(char::to_lowercase) {
        match plain_letter(letter) {
            Some(plain) => folded.push_str(plain),
            None => folded.push(letter),
        }
    }
    folded
}

/// The plain apostrophe or hyphen for one that looks like it.
fn plain_sign(c: char) -> char {
    match c {
        '`' | '´' | '\u{2018}'..='\u{201b}' | 'ʹ' | 'ʻ' | 'ʼ' | 'ʽ' | 'ˈ' | '′' | '＇' => '\'',
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{2043}' | '﹘' | '﹣' | '－' => '-',
        c => c,
    }
}

/// The plain letters for a small letter that Unicode does not decompose.
fn plain_letter(c: char) -> Option<&'static str> {
    Some(match c {
        'ß' => "ss",
        'ς' => "σ",
        'æ' => "ae",
        'œ' => "oe",
        'þ' => "th",
        'ø' => "o",
        'ł' => "l",
        'đ' | 'ð' => "d",
        'ı' | 'ɨ' => "i",
        'ȷ' => "j",
        'ħ' => "h",
        'ŧ' => "t",
        'ŋ' => "n",
        'ƒ' => "f",
        'ƀ' => "b",
        _ => return None,
    })
}

/// Whether a character is not seen: zero-width signs, joiners, byte order marks, soft hyphens, marks of direction and
/// variation selectors.
#[must_use]
pub fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

/// A text without blanks and byte order marks at its ends; `None` if no visible character is left (C-108).
#[must_use]
pub fn clean(text: &str) -> Option<&str> {
    let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    (!text.chars().all(is_invisible)).then_some(text)
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

/// A name without the `[]` or `[n]` that some libraries add to the name of a list.
#[must_use]
pub fn without_index(mut name: String) -> String {
    let index = name.strip_suffix(']').and_then(|name| name.rsplit_once('['));
    if let Some((base, index)) = index
        && !base.is_empty()
        && index.bytes().all(|byte| byte.is_ascii_digit())
    {
        name.truncate(base.len());
    }
    name
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

    /// C-108.
    #[test]
    fn folding_makes_look_alikes_alike() {
        for (written, plain) in [
            ("D\u{2019}Ávila", "d'avila"),
            ("D`Avila", "d'avila"),
            ("D´Ávila", "d'avila"),
            ("Ana\u{2011}Luz \u{2013} X", "ana-luz - x"),
            ("Ana\u{a0}Luz", "ana luz"),
            ("Ma\u{200b}ri\u{ad}ana\u{feff}", "mariana"),
            ("Łukasz Sørensen Đorđe", "lukasz sorensen dorde"),
            ("Işık KADIOĞLU ıIİ", "isik kadioglu iii"),
            ("ÆON Œuvre Þór", "aeon oeuvre thor"),
            ("Σίσυφος ΣΊΣΥΦΟΣ", "σισυφοσ σισυφοσ"),
            ("ＡＮＡ－Ｌｕｚ", "ana-luz"),
        ] {
            assert_eq!(fold(written), plain, "{written}");
            assert_eq!(fold(&fold(written)), plain);
        }
    }

    #[test]
    fn cleaning_drops_blank_ends() {
        for (written, cleaned) in [
            (" Ana ", Some("Ana")),
            ("\u{feff}Ana\u{a0}\t", Some("Ana")),
            ("Ma\u{200b}ria", Some("Ma\u{200b}ria")),
            ("\u{200e}+55 11\u{202c}", Some("\u{200e}+55 11\u{202c}")),
            ("Ana ❤\u{fe0f}", Some("Ana ❤\u{fe0f}")),
            (" \u{200b}\u{feff} ", None),
            ("", None),
        ] {
            assert_eq!(clean(written), cleaned, "{written:?}");
        }
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
