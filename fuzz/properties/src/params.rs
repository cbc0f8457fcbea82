//! Query strings (C-6).

use shared::http::Params;

const NAMES: [&str; 10] = [
    "i", "apitoken", "query", "page", "limit", "from", "to", "search", "keyName", "",
];

/// The characters of 0x80 to 0x9F in Windows-1252.
const WINDOWS: &str = "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8d}Ž\u{8f}\u{90}‘’“”•–—˜™š›œ\u{9d}žŸ";

/// `%` and two hexadecimal digits are a byte, `+` is a space, all else is literal. Bytes that are not UTF-8 are
/// Windows-1252.
fn decoded(text: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let Some((first, behind)) = rest.split_first() {
        let hex = behind
            .first_chunk::<2>()
            .filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let hex = hex.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        let (byte, used) = match (first, hex) {
            (b'%', Some(byte)) => (byte, 2),
            (b'+', _) => (b' ', 0),
            (other, _) => (*other, 0),
        };
        bytes.push(byte);
        rest = &behind[used..];
    }
    String::from_utf8(bytes).unwrap_or_else(|error| {
        let character = |byte: u8| match byte {
            0x80..=0x9f => WINDOWS.chars().nth(usize::from(byte) - 0x80).unwrap_or_default(),
            other => char::from(other),
        };
        error.into_bytes().into_iter().map(character).collect()
    })
}

/// `name[]` and `name[7]` are `name`.
fn without_index(name: &str) -> &str {
    let base = name.trim_end_matches(']');
    let base = base.trim_end_matches(|c: char| c.is_ascii_digit());
    match base.strip_suffix('[') {
        Some(base) if !base.is_empty() && name.ends_with(']') && !name.ends_with("]]") => base,
        _ => name,
    }
}

/// Every text parses as a query string, decoded once; a blank value is absent; repeated parameters are rejected; numbers are digits;
/// the log contains names only.
///
/// # Panics
/// If any of this is violated.
pub fn params(data: &[u8]) {
    let Some(raw) = crate::text(data) else { return };
    let params = Params::parse(raw);
    let pairs = raw.split('&').filter(|pair| !pair.is_empty());
    let pairs: Vec<_> = pairs
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .map(|(name, value)| (without_index(&decoded(name)).to_owned(), decoded(value)))
        .collect();
    for name in NAMES {
        let values: Vec<_> = pairs
            .iter()
            .filter(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
            .collect();
        let expected = match values[..] {
            [] => Some(None),
            [value] => Some(Some(value)),
            _ => None,
        };
        assert_eq!(params.one(name).ok(), expected, "{name} of {raw:?}");
        let filled = expected.map(|value| value.filter(|value| !value.trim().is_empty()));
        assert_eq!(params.filled(name).ok(), filled, "{name} of {raw:?}");
        let digits =
            |text: &str| text.chars().all(|c| c.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
        let whole = filled.filter(|value| value.is_none_or(digits));
        let number = |text: &str| {
            text.parse::<u128>()
                .map_or(u64::MAX, |n| n.try_into().unwrap_or(u64::MAX))
        };
        let whole = whole.map(|value| value.map(number));
        assert_eq!(params.whole(name).ok(), whole, "{name} of {raw:?}");
        if name == "limit" {
            let limit = whole
                .map(|limit| limit.unwrap_or(50))
                .filter(|limit| (1..=100).contains(limit));
            let read = params.limit(100, "").ok();
            assert_eq!(read.map(|read| u64::from(read.unwrap_or(50))), limit, "{raw:?}");
        }
    }
    let names: Vec<_> = pairs.iter().map(|(name, _)| name).collect();
    assert_eq!(format!("{params:?}"), format!("{names:?}"));
}
