//! Routes, files, names in the code, settings and variables of the environment that the documents name.

use std::collections::BTreeSet;
use std::fs;

use shared::settings::NAMES;
use tests::template::routes;

use super::{code, documents, files, read, root};

/// The words of a text in upper case: `TABLE_NAME`.
fn variables(text: &str) -> Vec<String> {
    let words = text.split(|character: char| !character.is_ascii_alphanumeric() && character != '_');
    let named = words.filter(|word| {
        let capitals = word
            .chars()
            .all(|character| character.is_ascii_uppercase() || character == '_');
        capitals && word.contains('_') && !word.starts_with('_')
    });
    named.map(str::to_owned).collect()
}

#[test]
fn every_route_exists() {
    let routes = routes();
    let mut named = 0;
    for document in documents() {
        for span in code(&read(&document)) {
            let mut words = span.split_whitespace();
            let (Some(method), Some(path)) = (words.next(), words.next()) else {
                continue;
            };
            let is_method = ["GET", "POST", "PUT", "DELETE"].contains(&method);
            if !is_method || !path.starts_with('/') || path.starts_with("/20") {
                continue;
            }
            named += 1;
            let path = path.split('?').next().unwrap_or_default();
            let is = |pattern: &str| {
                let (asked, pattern): (Vec<_>, Vec<_>) =
                    (path.split('/').collect(), pattern.split('/').collect());
                let same = |(asked, pattern): (&&str, &&str)| asked == pattern || pattern.starts_with('{');
                asked.len() == pattern.len() && asked.iter().zip(&pattern).all(same)
            };
            let known = routes
                .iter()
                .any(|route| route.method == method && is(&route.path));
            assert!(known, "{document} names {method} {path}, which is no route");
        }
    }
    assert!(named > 20, "{named}");
}

#[test]
fn every_link_refers_to_a_file() {
    for document in documents() {
        let text = read(&document);
        let directory = root().join(&document);
        let directory = directory.parent().expect("a directory");
        for target in text.split("](").skip(1) {
            let target = target.split(')').next().unwrap_or_default();
            if target.starts_with("http") || target.starts_with('#') {
                continue;
            }
            let path = target.split('#').next().unwrap_or_default();
            assert!(
                directory.join(path).exists(),
                "{document} links {target}, which is not there"
            );
        }
    }
}

/// Paths in code spans, such as `shared/src/store`.
#[test]
fn every_path_exists() {
    let mut named = 0;
    for document in documents() {
        for span in code(&read(&document)) {
            for word in span.split_whitespace() {
                let (top, rest) = word.split_once('/').unwrap_or_default();
                let is_path = ["shared", "functions", "cli", "tests", "fuzz", "docs"].contains(&top)
                    && rest
                        .chars()
                        .all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c));
                if is_path {
                    named += 1;
                    assert!(
                        root().join(word).exists(),
                        "{document} names {word}, which does not exist"
                    );
                }
            }
        }
    }
    assert!(named > 20, "{named}");
}

/// The segments after the first of a path such as `faults::matrix` or `Transaction::set`; none of another word.
fn segments(word: &str) -> Vec<&str> {
    let path = word.trim_end_matches(':');
    let name = |segment: &str| {
        let letters = segment.chars().all(|c| c.is_ascii_alphabetic() || c == '_');
        letters && !segment.is_empty()
    };
    if !path.split("::").all(name) {
        return Vec::new();
    }
    path.split("::").skip(1).collect()
}

/// Modules, functions and tests that the documents name.
#[test]
fn every_name_in_the_code_exists() {
    let mut sources = String::new();
    for path in ["shared", "functions", "cli", "tests"]
        .into_iter()
        .flat_map(|below| files(below, &["rs"]))
    {
        sources.push_str(&fs::read_to_string(path).expect("a source"));
    }
    let declared: BTreeSet<_> = ["fn ", "mod ", "const ", "struct ", "trait ", "enum "]
        .into_iter()
        .flat_map(|keyword| sources.split(keyword).skip(1))
        .map(|rest| {
            rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                .next()
                .unwrap_or_default()
        })
        .collect();
    let mut named = 0;
    for document in documents() {
        for span in code(&read(&document)) {
            for segment in span.split_whitespace().flat_map(segments) {
                named += 1;
                assert!(
                    declared.contains(segment),
                    "{document} names {segment}, which is not in the code"
                );
            }
        }
    }
    assert!(named > 5, "{named}");
}

#[test]
fn every_variable_is_read_somewhere() {
    let mut known = String::new();
    for path in ["shared", "functions", "cli", "tests", ".ci"]
        .into_iter()
        .flat_map(|below| files(below, &["rs", "sh", "py", "json", "toml"]))
    {
        known.push_str(&fs::read_to_string(path).expect("a source"));
    }
    for file in ["template.yaml", "samconfig.toml", ".ci/run"] {
        known.push_str(&read(file));
    }
    for document in documents() {
        for name in code(&read(&document)).iter().flat_map(|span| variables(span)) {
            // Variables of AWS's own tools and of the allocator.
            let is_foreign = ["AWS_", "SAM_", "MIMALLOC_"]
                .iter()
                .any(|prefix| name.starts_with(prefix));
            assert!(
                is_foreign || known.contains(&name),
                "{document} names {name}, which nothing reads"
            );
        }
    }
}

#[test]
fn every_setting_is_in_the_table_of_the_readme() {
    let readme = read("README.md");
    for name in NAMES {
        assert!(
            readme.contains(&format!("\n| `{name}` |")),
            "README.md lacks the setting {name}"
        );
    }
    for document in documents() {
        for span in code(&read(&document)) {
            let Some((_, set)) = span.split_once("funil instance set ") else {
                continue;
            };
            let name = set.split_whitespace().nth(1).unwrap_or_default();
            assert!(
                NAMES.contains(&name),
                "{document} sets {name}, which is no setting"
            );
        }
    }
}
