//! The error texts of docs/errors.md are ones that a caller can get. Others state their rule in full and are not listed.

use std::fs;

use super::{code, files, read, root};

/// The string literals of the sources, without tests.
fn literals(below: &str) -> Vec<String> {
    let mut found = Vec::new();
    for path in files(below, &["rs"]) {
        let within = path.strip_prefix(root()).expect("a file of the project");
        if path.ends_with("tests.rs") || within.components().any(|part| part.as_os_str() == "tests") {
            continue;
        }
        let text = fs::read_to_string(&path).expect("a source");
        let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        found.extend(lines.flat_map(|line| line.split('"').skip(1).step_by(2).map(str::to_owned)));
    }
    found
}

/// The fixed parts of a text with placeholders: `<name>` in the document, `{0}` in the code.
fn fixed(text: &str, open: char, close: char) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut within = false;
    for character in text.chars() {
        if character == open {
            within = true;
            parts.push(String::new());
        } else if character == close {
            within = false;
        } else if !within && let Some(part) = parts.last_mut() {
            part.push(character);
        }
    }
    let parts = parts
        .into_iter()
        .map(|part| part.trim_matches([':', ' ', '.']).to_owned());
    parts.filter(|part| !part.is_empty()).collect()
}

/// The rules and texts of the page.
fn shown() -> Vec<String> {
    let spans = code(&read("docs/errors.md"));
    let told = spans
        .into_iter()
        .filter(|span| span.contains(": ") || span.starts_with("must "));
    told.filter(|span| !span.starts_with('{')).collect()
}

#[test]
fn every_text_of_the_page_is_in_the_code() {
    let code: Vec<_> = ["functions", "shared"].into_iter().flat_map(literals).collect();
    let shown = shown();
    assert!(shown.len() > 30, "{shown:?}");
    for text in shown {
        let parts = fixed(&text, '<', '>');
        let rule = text.split_once(": ").map_or(text.as_str(), |(_, rule)| rule);
        let rule = fixed(rule, '<', '>');
        let whole = code
            .iter()
            .any(|literal| parts.iter().all(|part| literal.contains(part.as_str())));
        let by_rule = !rule.is_empty()
            && code.iter().any(|literal| {
                let said = fixed(literal, '{', '}');
                rule.iter()
                    .all(|part| said.iter().any(|said| said.ends_with(part.as_str())))
            });
        assert!(
            whole || by_rule,
            "docs/errors.md shows `{text}`, which nothing answers"
        );
    }
}
