//! Telephone numbers, e-mail addresses, names and ids of cells.

use std::borrow::Cow;

use domain::phone;
use domain::text::fold;

use super::{is_absent, scientific, without_fraction};
use crate::names;

/// Signs between several addresses or numbers.
const SEPARATORS: [char; 6] = [';', ',', '|', '/', '\n', '\u{a0}'];
/// The reason for a number of which digits are lost.
pub const ROUNDED: &str = "is a number that a spreadsheet has rounded; export the column as text";

/// The telephone numbers of a cell in normal form, without extensions and labels such as `cel`.
///
/// # Errors
/// The reason, if a part is no telephone number or was rounded by a spreadsheet.
pub fn phones(cell: &str) -> Result<Vec<String>, String> {
    if is_absent(cell) {
        return Ok(Vec::new());
    }
    let number = match scientific(cell) {
        Some((_, false)) => return Err(ROUNDED.to_owned()),
        Some((digits, true)) => digits,
        None => without_labels(without_fraction(without_link(cell))),
    };
    let found = phone::read(&number);
    let is_whole = phone::is_whole(&number) && found.iter().all(|read| read.phone.identifies());
    if found.is_empty() || !is_whole {
        return Err("is no telephone number".to_owned());
    }
    Ok(found.iter().map(|read| read.phone.digits().to_owned()).collect())
}

/// The number of a link, or after the mark of Meta's forms.
fn without_link(cell: &str) -> &str {
    let links = ["wa.me/", "whatsapp.com/send?phone=", "p:"];
    let rest = links.iter().find_map(|link| cell.split_once(link));
    let rest = rest.filter(|(before, _)| before.is_empty() || before.starts_with("http"));
    rest.map_or(cell, |(_, number)| {
        number.split(['?', '&']).next().unwrap_or_default()
    })
}

/// A number of 8 or 9 digits after an area code of two.
pub fn with_area<'a>(cell: &'a str, area: &str) -> Cow<'a, str> {
    let area: String = area.chars().filter(char::is_ascii_digit).collect();
    let area = area.trim_start_matches('0');
    let at = cell.find(|c: char| c.is_ascii_digit()).unwrap_or(cell.len());
    let (before, number) = cell.split_at(at);
    let first = number
        .split(|c: char| c.is_alphabetic() || SEPARATORS.contains(&c))
        .next();
    let digits = first
        .unwrap_or_default()
        .bytes()
        .filter(u8::is_ascii_digit)
        .count();
    if area.len() != 2 || !matches!(digits, 8 | 9) || before.ends_with('+') {
        return Cow::Borrowed(cell);
    }
    Cow::Owned(format!("{before}{area} {number}"))
}

/// A text of numbers with separators in the places of labels and of words between them. An address has none.
fn without_labels(cell: &str) -> String {
    if cell.contains('@') || !cell.contains(char::is_alphabetic) {
        return cell.to_owned();
    }
    let mut text = String::with_capacity(cell.len());
    let mut rest = cell;
    while let Some(at) = rest.find(char::is_alphanumeric) {
        let (marks, from) = rest.split_at(at);
        let end = from.find(|c: char| !c.is_alphanumeric()).unwrap_or(from.len());
        let (word, after) = from.split_at(end);
        let is_label = names::is_contact_label(&fold(word));
        text += marks;
        text += if is_label { "/" } else { word };
        rest = if is_label {
            after.strip_prefix('.').unwrap_or(after)
        } else {
            after
        };
    }
    text + rest
}

/// The e-mail addresses of a cell. A name may precede an address in brackets, and a label any address.
///
/// # Errors
/// The reason, if a part is no e-mail address.
pub fn emails(cell: &str) -> Result<Vec<String>, String> {
    let mut found: Vec<String> = Vec::new();
    let separated = cell.replace(":::", ";");
    let mut rest = separated.as_str();
    while !rest.is_empty() {
        let (before, after) = rest.split_once(['<', '(']).unwrap_or((rest, ""));
        let (inner, next) = after.split_once(['>', ')']).unwrap_or((after, ""));
        // `Ana Souza <ana@example.com>`
        let is_named = inner.contains('@');
        rest = next;
        let parts = |text| str::split(text, |c: char| c.is_whitespace() || SEPARATORS.contains(&c));
        let parts = parts(before)
            .map(|part| (part, is_named))
            .chain(parts(inner).map(|part| (part, false)));
        for (part, may_be_name) in parts {
            let part = part.strip_prefix("mailto:").unwrap_or(part).trim_end_matches('.');
            let is_other = || {
                let word = part.trim_matches(|c: char| !c.is_alphanumeric());
                may_be_name && !part.contains('@') || word.is_empty() || names::is_contact_label(&fold(word))
            };
            match is_address(part) {
                true if !found.iter().any(|other| same(other) == same(part)) => found.push(part.to_owned()),
                true => {}
                false if is_other() => {}
                false => return Err(NO_EMAIL.to_owned()),
            }
        }
    }
    if found.is_empty() {
        Err(NO_EMAIL.to_owned())
    } else {
        Ok(found)
    }
}

/// The reason for a text that is no address.
const NO_EMAIL: &str = "is no e-mail address";

/// Whether a text is one e-mail address.
fn is_address(text: &str) -> bool {
    let Some((name, host)) = text.split_once('@') else {
        return false;
    };
    let is_name = |c: char| c.is_alphanumeric() || ".!#$%&'*+-=^_{}~`".contains(c);
    let mut labels = host.split('.');
    let is_label = |label: &str| !label.is_empty() && label.chars().all(|c| c.is_alphanumeric() || c == '-');
    !name.is_empty() && name.chars().all(is_name) && host.contains('.') && labels.all(is_label)
}

/// The form in which addresses are compared (C-108).
pub fn same(email: &str) -> String {
    domain::lead::same_email(email).unwrap_or_default()
}

/// The name and the address of a person. Accepts `Ana Souza`, `ana@example.com`, `Ana Souza (ana@example.com)` and
/// `Ana Souza - ana@example.com`. A text with several addresses or without one is a name.
pub fn person(cell: &str) -> (Option<String>, Option<String>) {
    let some = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
    let is_edge = |c: char| c.is_whitespace() || "<>()[]\":".contains(c) || SEPARATORS.contains(&c);
    let parts = || cell.split(is_edge).map(|part| part.trim_end_matches('.'));
    let mut addresses = parts().filter(|part| is_address(part));
    let (Some(email), None) = (addresses.next(), addresses.next()) else {
        return (some(cell), None);
    };
    let (before, after) = cell.split_once(email).unwrap_or((cell, ""));
    let before = before.trim_end_matches("mailto:");
    let is_mark = |c: char| !c.is_alphanumeric();
    let before = before.trim_end_matches(|c| is_mark(c) && !matches!(c, ')' | '.' | '"'));
    let after = after.trim_start_matches(|c| is_mark(c) && c != '(');
    (some(&format!("{before} {after}")), some(email))
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

/// The first of several ids, and whether there are others. `1,05284E+11` is one number.
pub fn first_id(cell: &str) -> (&str, bool) {
    let has_numbers = cell.split(';').any(|part| scientific(part.trim()).is_some());
    let ids = cell.split(|c| c == ';' || c == ',' && !has_numbers);
    let mut ids = ids.map(str::trim).filter(|id| !id.is_empty());
    (ids.next().unwrap_or_default(), ids.next().is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::too_many_lines, reason = "it is as long as it has cases")]
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
            "5.511987654321E12",
            "1,1987654321E+10",
            "cel 11 98765-4321",
            "Tel.: (11) 98765-4321 (só whats)",
            "WhatsApp (0xx11) 98765-4321, ramal 12",
            "tel:+55-11-98765-4321;ext=12",
            "5511987654321@s.whatsapp.net",
            "p:+5511987654321",
            "https://wa.me/5511987654321?text=oi",
            "wa.me/5511987654321",
            "https://api.whatsapp.com/send?phone=5511987654321&text=a",
        ] {
            assert_eq!(phones(cell), Ok(vec!["5511987654321".to_owned()]), "{cell}");
        }
        assert_eq!(
            phones("(11) 3222-1111 / (11) 98765-4321; 11 3222 1111"),
            Ok(vec!["551132221111".to_owned(), "5511987654321".to_owned()])
        );
        for cell in [
            "fixo 11 3222-1111 cel 11 98765-4321",
            "(11) 3222-1111 e 98765-4321",
            "11 3222.1111 ou 98765.4321",
        ] {
            let both = vec!["551132221111".to_owned(), "5511987654321".to_owned()];
            assert_eq!(phones(cell), Ok(both), "{cell}");
        }
        for cell in [
            "5,51199E+12",
            "5,51199E12",
            "1.19876543E10",
            "não tem",
            "12345",
            "ramal 12",
            "11 9876-543O",
            "11 98765-432l",
            "11 9B765-4321",
            "11 98765-4321 - 8h às 18h",
            "(11) 98765-4321 2º andar",
            "(11) 98765-4321 / 2",
            "(11) 98765-4321 (2)",
            "98765-4321 (11)",
            "98765-4321/11",
            "(11) 98765-4321 (Maria)",
            "Ana (11) 98765-4321 / Bia (21) 98765-4322",
            "11 3222-1111 PABX 20",
            "11 3222-1111 casa 20",
            "(11) 98765-4321 ramal da Ana",
            "(11) 98765-4321 ramal 3 Ana",
            "１1 98765-4321 Ana",
        ] {
            assert!(phones(cell).is_err(), "{cell}: {:?}", phones(cell));
        }
    }

    #[test]
    #[expect(clippy::too_many_lines, reason = "it is as long as it has cases")]
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
        assert_eq!(person("Bia Luz bia@x.com"), pair("Bia Luz", "bia@x.com"));
        assert_eq!(person("Ana - ana@x.com"), pair("Ana", "ana@x.com"));
        assert_eq!(
            person("Ana (mãe) <mailto:ana@x.com>."),
            pair("Ana (mãe)", "ana@x.com")
        );
        assert_eq!(person("ana@x.com / Ana S."), pair("Ana S.", "ana@x.com"));
        for name in [
            "Salão @bela",
            "@ana.souza",
            "Ana (ana@x)",
            "a@x.com e b@x.com",
            "Ana (11) 3",
        ] {
            assert_eq!(person(name), pair(name, ""));
        }
        assert_eq!(
            emails("a@x.com; A@x.com, b@x.com"),
            Ok(vec!["a@x.com".to_owned(), "b@x.com".to_owned()])
        );
        assert_eq!(
            emails("joão@x.com ::: joao@x.com e JOÃO@x.com"),
            Ok(vec!["joão@x.com".to_owned(), "joao@x.com".to_owned()])
        );
        for cell in [
            "Ana <ana@x.com>",
            "\"Souza, Ana\" <ana@x.com>",
            "Ana (ana@x.com)",
            "(ana@x.com)",
            "mailto:ana@x.com",
            "ana@x.com (trabalho)",
            "Comercial: ana@x.com.",
        ] {
            assert_eq!(emails(cell), Ok(vec!["ana@x.com".to_owned()]), "{cell}");
        }
        for cell in [
            "a@x.com / b@x.com",
            "Ana <a@x.com>, Bia <b@x.com>",
            "a@x.com/b@x.com",
        ] {
            assert_eq!(
                emails(cell),
                Ok(vec!["a@x.com".to_owned(), "b@x.com".to_owned()]),
                "{cell}"
            );
        }
        for cell in [
            "ana",
            "ana@",
            "@x.com",
            "a@b@c.d",
            "sem email",
            "a@x.com ligar",
            "ana (arroba) x.com",
            "ana6(at)x.com",
            "(não tem)",
            "<sem>",
            "Não possui (ver tel)",
            "Léo (leo@x.com,br)",
            "ana@x.com (antigo)",
            "ana16@x.com?",
            "ana@x..com",
            "Ana <ana@x>",
            "trabalho",
            "()",
        ] {
            assert!(emails(cell).is_err(), "{cell}: {:?}", emails(cell));
        }
        assert_eq!(first_id("5; 6"), ("5", true));
        assert_eq!(first_id("1,05284E+11; 6"), ("1,05284E+11", true));
        let several = first_person("Ana (a@x.com);Bia (b@x.com)", &[';']);
        assert_eq!(several, ("Ana (a@x.com)".to_owned(), true));
    }
}
