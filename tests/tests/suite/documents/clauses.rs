//! Each clause of the contract that the product cites is cited by a test. `tests/clauses.sh` prints which.

use std::collections::BTreeSet;
use std::fs;

use super::files;

const MARK: &str = "#[cfg(test)]";

/// The numbers of the clauses that a text cites.
fn cited(text: &str) -> BTreeSet<u32> {
    let parts = text.split("C-").skip(1);
    let digits = parts.map(|part| part.split(|character: char| !character.is_ascii_digit()).next());
    digits.filter_map(|digits| digits?.parse().ok()).collect()
}

#[test]
fn cited_clauses_have_tests() {
    let (mut product, mut tests) = (BTreeSet::new(), BTreeSet::new());
    for path in ["shared", "functions", "cli", "tests"]
        .map(|below| files(below, &["rs"]))
        .concat()
    {
        let text = fs::read_to_string(&path).expect("a source file");
        let is_test = path.components().any(|part| part.as_os_str() == "tests") || path.ends_with("tests.rs");
        let (code, own) = text.split_at(text.find(MARK).unwrap_or(text.len()));
        if is_test {
            tests.extend(cited(&text));
        } else {
            product.extend(cited(code));
            tests.extend(cited(own));
        }
    }
    assert!(product.len() > 50, "{product:?}");
    assert_eq!(product.difference(&tests).collect::<Vec<_>>(), Vec::<&u32>::new());
}
