//! The encoding of a text file, by proof: a mark, valid UTF-8, or the letters that its words have (C-105).

use std::borrow::Cow;

use encoding_rs::{Encoding, MACINTOSH, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1250, WINDOWS_1251, WINDOWS_1252};

/// Signs other than letters that texts in Western languages have.
const SIGNS: &str = "‘’‚“”„–—…«»·•°€£©®™§ªº¹²³½¼¾¡¿´¨¸×÷\u{a0}\u{ad}";

/// The text of a file, and the name of its encoding.
///
/// # Errors
/// The reason, if no encoding is proven or the text has none.
pub fn decoded(bytes: Vec<u8>, wanted: Option<&'static Encoding>) -> Result<(String, &'static str), String> {
    if let Some(encoding) = wanted.or_else(|| Encoding::for_bom(&bytes).map(|(encoding, _)| encoding)) {
        return Ok((encoding.decode(&bytes).0.into_owned(), encoding.name()));
    }
    for (from, encoding) in [(1, UTF_16LE), (0, UTF_16BE)] {
        if is_wide(&bytes, from) {
            return Ok((encoding.decode(&bytes).0.into_owned(), encoding.name()));
        }
    }
    if bytes.contains(&0) {
        return Err("is no text; export it as CSV or as an .xlsx workbook".to_owned());
    }
    let bytes = match String::from_utf8(bytes) {
        Ok(text) => return Ok((text, UTF_8.name())),
        Err(error) => error.into_bytes(),
    };
    let encoding = single_byte(&bytes).ok_or(
        "has an encoding that its bytes do not prove; name it, such as --encoding windows-1252, --encoding macintosh or \
         --encoding windows-1251",
    )?;
    let text: Cow<'_, str> = encoding.decode_without_bom_handling(&bytes).0;
    Ok((text.into_owned(), encoding.name()))
}

/// Whether the text looks like UTF-16 without a mark: most high bytes, every second one from `from` on, are zero.
fn is_wide(bytes: &[u8], from: usize) -> bool {
    let high = bytes.iter().skip(from).step_by(2).take(200);
    let (zeros, others): (Vec<&u8>, Vec<&u8>) = high.partition(|byte| **byte == 0);
    zeros.len() > others.len()
}

/// UTF-8 with some wrong bytes, or the encoding of one byte a character that gives every word letters only.
fn single_byte(bytes: &[u8]) -> Option<&'static Encoding> {
    let (mut valid, mut wrong) = (0_usize, 0_usize);
    for chunk in bytes.utf8_chunks() {
        valid += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        wrong += usize::from(!chunk.invalid().is_empty());
    }
    if valid > 0 && valid >= wrong {
        return Some(UTF_8);
    }
    let is_word = |byte: &u8| byte.is_ascii_alphabetic() || *byte >= 0x80;
    let words = bytes.split(|byte| !is_word(byte));
    let words: Vec<_> = words
        .filter(|word| word.iter().any(|byte| *byte >= 0x80))
        .collect();
    let mixed = words
        .iter()
        .filter(|word| word.iter().any(u8::is_ascii_alphabetic))
        .count();
    let whole = words
        .iter()
        .filter(|word| word.len() > 1 && !word.iter().any(u8::is_ascii_alphabetic))
        .count();
    let candidates: &[&'static Encoding] = if whole > mixed {
        &[WINDOWS_1251]
    } else {
        &[WINDOWS_1252, MACINTOSH, WINDOWS_1250]
    };
    let gives_letters = |encoding: &&&'static Encoding| {
        words.iter().all(|word| {
            let text = encoding.decode_without_bom_handling(word).0;
            // A capital inside a word after a small letter is none of a language.
            let is_case_kept = text.chars().zip(text.chars().skip(1)).all(|(one, next)| {
                !(one.is_lowercase() && next.is_uppercase())
                    || next.is_ascii()
                    || one.is_ascii() && whole > mixed
            });
            is_case_kept && text.chars().all(|c| c.is_alphabetic() || SIGNS.contains(c))
        })
    };
    candidates.iter().find(gives_letters).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_are_proven() {
        let text = "Nome;Situação\nJoão;ação\n";
        let wide = |bytes: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(bytes).collect::<Vec<_>>();
        let marked = |mark: &[u8], bytes: &[u8]| [mark, bytes].concat();
        for (bytes, encoding) in [
            (text.as_bytes().to_vec(), "UTF-8"),
            (marked(b"\xEF\xBB\xBF", text.as_bytes()), "UTF-8"),
            (WINDOWS_1252.encode(text).0.to_vec(), "windows-1252"),
            (b"Nome;Situa\x8d\x8bo\nJo\x8bo;a\x8d\x8bo\n".to_vec(), "macintosh"),
            (marked(b"\xFF\xFE", &wide(u16::to_le_bytes)), "UTF-16LE"),
            (marked(b"\xFE\xFF", &wide(u16::to_be_bytes)), "UTF-16BE"),
            (wide(u16::to_le_bytes), "UTF-16LE"),
            (wide(u16::to_be_bytes), "UTF-16BE"),
        ] {
            assert_eq!(decoded(bytes, None), Ok((text.to_owned(), encoding)));
        }
        let russian = "ID;Название сделки;Бюджет\n1;Корзины;10\n";
        let bytes = WINDOWS_1251.encode(russian).0.to_vec();
        assert_eq!(decoded(bytes, None), Ok((russian.to_owned(), "windows-1251")));
        // IBM850 has no proof.
        assert!(decoded(b"Situa\x87\xc6o;Jo\xc6o\n".to_vec(), None).is_err());
        let (text, encoding) = decoded("João;Sá;An\u{e9}".bytes().chain([0xff]).collect(), None).unwrap();
        assert_eq!((text.as_str(), encoding), ("João;Sá;Ané\u{fffd}", "UTF-8"));
    }
}
