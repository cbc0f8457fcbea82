//! Telephone numbers, e-mail addresses, names and ids of cells.

use domain::phone;

use super::{is_absent, is_rounded, without_fraction};

/// Words between several addresses.
const BETWEEN: [&str; 6] = ["e", "ou", "and", "or", "y", "und"];

/// The telephone numbers of a cell in normal form, without extensions.
///
/// # Errors
/// The reason, if a part is no telephone number or was rounded by a spreadsheet.
pub fn phones(cell: &str) -> Result<Vec<String>, String> {
    if is_absent(cell) {
        return Ok(Vec::new());
    }
    let cell = without_fraction(cell);
    if is_rounded(cell) {
        return Err("is a number that a spreadsheet has rounded; export the column as text".to_owned());
    }
    let found = phone::read(cell);
    if found.is_empty() || found.iter().any(|read| !read.phone.identifies()) {
        return Err("is no telephone number".to_owned());
    }
    Ok(found.iter().map(|read| read.phone.digits().to_owned()).collect())
}

/// The e-mail addresses of a cell.
///
/// # Errors
/// The reason, if a part is no e-mail address.
pub fn emails(cell: &str) -> Result<Vec<String>, String> {
    let mut found: Vec<String> = Vec::new();
    let separated = cell
        .replace(":::", " ")
        .replace(['\n', '\u{a0}', '<', '>', '(', ')', '"'], " ");
    let parts = separated.split([';', ',', '|', ' ']).map(str::trim);
    let is_name = cell.contains(['<', '(']);
    for part in parts.filter(|part| !is_absent(part) && !BETWEEN.contains(part)) {
        let part = part.strip_prefix("mailto:").unwrap_or(part).trim_end_matches('.');
        let is_address = part.split_once('@').is_some_and(|(name, host)| {
            let is_host =
                host.contains('.') && !host.starts_with('.') && !host.ends_with('.') && !host.contains("..");
            !name.is_empty() && is_host && !host.contains('@')
        });
        match is_address {
            true if !found.iter().any(|other| same(other) == same(part)) => found.push(part.to_owned()),
            true => {}
            // `Ana Souza <ana@example.com>`
            false if is_name && !part.contains('@') => {}
            false => return Err("is no e-mail address".to_owned()),
        }
    }
    Ok(found)
}

/// The form in which addresses are compared (C-108).
pub fn same(email: &str) -> String {
    domain::lead::same_email(email).unwrap_or_default()
}

/// The name and the address of a person. Accepts `Ana Souza`, `ana@example.com` and `Ana Souza (ana@example.com)`.
pub fn person(cell: &str) -> (Option<String>, Option<String>) {
    let (name, email) = match cell.split_once(['(', '<']) {
        Some((name, email)) if email.contains('@') => (name, email.trim_end_matches([')', '>'])),
        _ if cell.contains('@') => ("", cell),
        _ => (cell, ""),
    };
    let some = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
    (some(name), some(email))
}

/// The first of several persons, and whether there are others: `Ana Souza (ana@example.com);Bruno Lima`.
pub fn first_person(cell: &str, separators: &[char]) -> (String, bool) {
    let mut persons = cell
        .split(separators)
        .map(str::trim)
        .filter(|person| !person.is_empty());
    (
        persons.next().unwrap_or_default().to_owned(),
        persons.next().is_some(),
    )
}

/// The first word of a name, and the rest.
pub fn halves(name: &str) -> (String, Option<String>) {
    match name.trim().split_once(char::is_whitespace) {
        Some((first, rest)) => (first.to_owned(), Some(rest.trim().to_owned())),
        None => (name.trim().to_owned(), None),
    }
}

/// The first of several ids, and whether there are others.
pub fn first_id(cell: &str) -> (&str, bool) {
    let mut ids = cell.split([';', ',']).map(str::trim).filter(|id| !id.is_empty());
    (ids.next().unwrap_or_default(), ids.next().is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_styles_of_one_number() {
        for cell in [
            "+55 (11) 98765-4321",
            "(11) 98765-4321",
            "011 98765 4321",
            "11.98765.4321 ramal 12",
            "5511987654321",
            "0055 11 98765-4321",
            "'11987654321",
            "0 15 11 98765-4321",
            "tel: +55 11 98765-4321",
            "5511987654321.0",
        ] {
            assert_eq!(phones(cell), Ok(vec!["5511987654321".to_owned()]), "{cell}");
        }
        assert_eq!(
            phones("(11) 3222-1111 / (11) 98765-4321; 11 3222 1111"),
            Ok(vec!["551132221111".to_owned(), "5511987654321".to_owned()])
        );
        for cell in ["5,51199E+12", "não tem", "12345", "ramal 12"] {
            assert!(phones(cell).is_err(), "{cell}");
        }
    }

    #[test]
    fn persons_and_addresses() {
        let pair = |name: &str, email: &str| {
            let some = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
            (some(name), some(email))
        };
        assert_eq!(person("Ana Souza"), pair("Ana Souza", ""));
        assert_eq!(
            person("Ana Souza (ana@example.com)"),
            pair("Ana Souza", "ana@example.com")
        );
        assert_eq!(person("ana@example.com"), pair("", "ana@example.com"));
        assert_eq!(
            emails("a@x.com; A@x.com, b@x.com"),
            Ok(vec!["a@x.com".to_owned(), "b@x.com".to_owned()])
        );
        assert_eq!(
            emails("joão@x.com ::: joao@x.com e JOÃO@x.com"),
            Ok(vec!["joão@x.com".to_owned(), "joao@x.com".to_owned()])
        );
        assert_eq!(emails("Ana <ana@x.com>"), Ok(vec!["ana@x.com".to_owned()]));
        for cell in ["ana", "ana@", "@x.com", "a@b@c.d", "sem email", "a@x.com ligar"] {
            assert!(emails(cell).is_err(), "{cell}");
        }
        assert_eq!(first_id("5; 6"), ("5", true));
        let several = first_person("Ana (a@x.com);Bia (b@x.com)", &[';']);
        assert_eq!(several, ("Ana (a@x.com)".to_owned(), true));
    }
}
