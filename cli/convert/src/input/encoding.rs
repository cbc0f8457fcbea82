//! The encoding of a text file, by proof: a mark, valid UTF-8, or the letters that its words have (C-105).

use encoding_rs::{Encoding, MACINTOSH, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1250, WINDOWS_1251, WINDOWS_1252};

/// Signs other than letters that texts in Western languages have.
const SIGNS: &str = "‘’‚“”„–—…«»·•°€£©®™§ªº¹²³½¼¾¡¿´¨¸×÷\u{a0}\u{ad}";

/// The characters of IBM850, the encoding of DOS in Western Europe and Brazil, from byte 128 on.
const IBM850: &str = "\
    ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐\
    └┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u{ad}±‗¾¶§÷¸°¨·¹³²■\u{a0}";

/// An encoding of text files.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TextEncoding {
    /// One that browsers know.
    Web(&'static Encoding),
    /// IBM850, also called CP850.
    Ibm850,
}

impl TextEncoding {
    /// The encoding with a name, such as `latin1`, `ANSI`, `cp850` or `windows-1252`.
    ///
    /// # Errors
    /// The rule.
    pub fn named(name: &str) -> Result<Self, String> {
        let name = name.trim().to_lowercase().replace(['_', ' '], "-");
        let name = name.trim_end_matches("-sig").trim_end_matches("-bom");
        let digits = name.trim_start_matches(|c: char| !c.is_ascii_digit());
        let label = match (digits, name) {
            ("850", _) | (_, "dos" | "oem") => return Ok(Self::Ibm850),
            (_, "ansi") => "windows-1252".to_owned(),
            (_, "macroman" | "mac-roman") => "macintosh".to_owned(),
            ("1250" | "1251" | "1252" | "1253" | "1254" | "1257", _) => format!("windows-{digits}"),
            _ => name.to_owned(),
        };
        Encoding::for_label(label.as_bytes()).map(Self::Web).ok_or_else(|| {
            "must be an encoding such as utf-8, utf-16le, windows-1252 (latin1, ansi), cp850 (dos), macintosh, windows-1250 or \
             windows-1251"
                .to_owned()
        })
    }

    fn name(self) -> &'static str {
        match self {
            Self::Web(encoding) => encoding.name(),
            Self::Ibm850 => "IBM850",
        }
    }

    fn decode(self, bytes: &[u8]) -> String {
        match self {
            Self::Web(encoding) => encoding.decode(bytes).0.into_owned(),
            Self::Ibm850 => {
                let high: Vec<_> = IBM850.chars().collect();
                let sign = |byte: &u8| match byte.checked_sub(128) {
                    Some(at) => high.get(usize::from(at)).copied().unwrap_or_default(),
                    None => char::from(*byte),
                };
                bytes.iter().map(sign).collect()
            }
        }
    }
}

/// The text of a file, and the name of its encoding.
///
/// # Errors
/// The reason, if no encoding is proven or the text has none.
pub fn decoded(bytes: Vec<u8>, wanted: Option<TextEncoding>) -> Result<(String, &'static str), String> {
    let marked = || Encoding::for_bom(&bytes).map(|(encoding, _)| encoding);
    let wide = || {
        let mut pairs = [(1, UTF_16LE), (0, UTF_16BE)].into_iter();
        pairs
            .find(|(from, _)| is_wide(&bytes, *from))
            .map(|(_, wide)| wide)
    };
    if let Some(encoding) = wanted.or_else(|| marked().or_else(wide).map(TextEncoding::Web)) {
        return Ok((encoding.decode(&bytes), encoding.name()));
    }
    if bytes.contains(&0) {
        return Err("is no text; export it as CSV or as an .xlsx workbook".to_owned());
    }
    let bytes = match String::from_utf8(bytes) {
        Ok(text) => return Ok((text, UTF_8.name())),
        Err(error) => error.into_bytes(),
    };
    let encoding = single_byte(&bytes).ok_or(
        "has an encoding that its bytes do not prove; name it, such as --encoding windows-1252, --encoding cp850, \
         --encoding macintosh or --encoding windows-1251",
    )?;
    Ok((encoding.decode(&bytes), encoding.name()))
}

/// Whether the text looks like UTF-16 without a mark: most high bytes, every second one from `from` on, are zero.
fn is_wide(bytes: &[u8], from: usize) -> bool {
    let high = bytes.iter().skip(from).step_by(2).take(200);
    let (zeros, others): (Vec<&u8>, Vec<&u8>) = high.partition(|byte| **byte == 0);
    zeros.len() > others.len()
}

/// UTF-8 with some wrong bytes, or the encoding of one byte a character that gives every word letters only.
fn single_byte(bytes: &[u8]) -> Option<TextEncoding> {
    let (mut valid, mut wrong) = (0_usize, 0_usize);
    for chunk in bytes.utf8_chunks() {
        valid += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        wrong += usize::from(!chunk.invalid().is_empty());
    }
    if valid > 0 && valid >= wrong {
        return Some(TextEncoding::Web(UTF_8));
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
    let web: &[&'static Encoding] = if whole > mixed {
        &[WINDOWS_1251]
    } else {
        &[WINDOWS_1252, MACINTOSH, WINDOWS_1250]
    };
    let dos = Some(TextEncoding::Ibm850).filter(|_| whole <= mixed);
    let mut candidates = web.iter().copied().map(TextEncoding::Web).chain(dos);
    let gives_letters = |encoding: &TextEncoding| {
        words.iter().all(|word| {
            let text = encoding.decode(word);
            // A capital inside a word after a small letter is none of a language.
            let is_case_kept = text.chars().zip(text.chars().skip(1)).all(|(one, next)| {
                !(one.is_lowercase() && next.is_uppercase())
                    || next.is_ascii()
                    || one.is_ascii() && whole > mixed
            });
            is_case_kept && text.chars().all(|c| c.is_alphabetic() || SIGNS.contains(c))
        })
    };
    candidates.find(gives_letters)
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
            (b"Nome;Situa\x87\xc6o\nJo\xc6o;a\x87\xc6o\n".to_vec(), "IBM850"),
        ] {
            assert_eq!(decoded(bytes, None), Ok((text.to_owned(), encoding)));
        }
        let russian = "ID;Название сделки;Бюджет\n1;Корзины;10\n";
        let bytes = WINDOWS_1251.encode(russian).0.to_vec();
        assert_eq!(decoded(bytes, None), Ok((russian.to_owned(), "windows-1251")));
        // No encoding makes words of these bytes.
        assert!(decoded(b"Situa\x87\x95\xb0o\n".to_vec(), None).is_err());
        let damaged: Vec<_> = "João;Sá;An\u{e9}".bytes().chain([0xff]).collect();
        let (text, encoding) = decoded(damaged, None).unwrap();
        assert_eq!((text.as_str(), encoding), ("João;Sá;Ané\u{fffd}", "UTF-8"));
    }

    #[test]
    fn encodings_have_the_names_that_people_use() {
        for (name, encoding) in [
            ("utf8", "UTF-8"),
            ("UTF-8-SIG", "UTF-8"),
            ("ANSI", "windows-1252"),
            ("latin1", "windows-1252"),
            ("ISO-8859-1", "windows-1252"),
            ("cp1252", "windows-1252"),
            ("Windows 1252", "windows-1252"),
            ("CP850", "IBM850"),
            ("IBM850", "IBM850"),
            ("850", "IBM850"),
            ("dos", "IBM850"),
            ("mac_roman", "macintosh"),
            ("utf-16", "UTF-16LE"),
        ] {
            assert_eq!(TextEncoding::named(name).unwrap().name(), encoding, "{name}");
        }
        assert!(TextEncoding::named("cp437").unwrap_err().contains("cp850 (dos)"));
    }
}
