//! The structure that ARCHITECTURE.md describes, checked in the sources.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn sources(below: &str) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut directories = vec![root().join(below)];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).expect("a directory") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                directories.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).expect("a source");
                found.push((path, text));
            }
        }
    }
    assert!(!found.is_empty(), "{below} has sources");
    found
}

/// Forbidden dependencies of each crate, by prefix.
const CRATE_WALLS: [(&str, &[&str]); 7] = [
    (
        "shared/domain",
        &[
            "aws-", "axum", "hyper", "lambda_", "operator", "shared", "table", "tokio",
        ],
    ),
    (
        "shared/table",
        &[
            "axum", "domain", "dynoxide", "lambda_", "operator", "rusqlite", "shared",
        ],
    ),
    (
        "shared",
        &["aws-", "database", "dynoxide", "operator", "rusqlite"],
    ),
    (
        "functions/",
        &["aws-", "database", "domain", "operator", "rusqlite", "table"],
    ),
    ("cli", &["aws-", "dynoxide", "rusqlite"]),
    (
        "cli/convert",
        &["aws-", "axum", "operator", "rusqlite", "shared", "table", "tokio"],
    ),
    (
        "cli/database",
        &["aws-", "domain", "dynoxide", "operator", "shared"],
    ),
];

#[test]
fn manifests_keep_the_walls_between_crates() {
    for (of, forbidden) in CRATE_WALLS {
        let manifests = match of.strip_suffix('/') {
            None => vec![root().join(of)],
            Some(folder) => fs::read_dir(root().join(folder))
                .expect("a folder of crates")
                .map(|entry| entry.expect("an entry").path())
                .filter(|path| path.join("Cargo.toml").exists())
                .collect(),
        };
        assert!(!manifests.is_empty(), "{of} has a manifest");
        for manifest in manifests {
            let text = fs::read_to_string(manifest.join("Cargo.toml")).expect("a manifest");
            let (_, dependencies) = text.split_once("[dependencies]").expect("dependencies");
            for line in dependencies.lines() {
                let breach = forbidden.iter().find(|name| line.starts_with(**name));
                assert_eq!(breach, None, "{}: {line}", manifest.display());
            }
        }
    }
}

/// Forbidden imports of modules of `shared`.
const MODULE_WALLS: [(&str, &[&str]); 4] = [
    (
        "store",
        &["auth", "config", "http", "jobs", "lambda", "startup", "telemetry"],
    ),
    ("jobs", &["auth", "config", "http", "lambda", "startup"]),
    ("telemetry", &["auth", "http", "lambda", "startup"]),
    ("http", &["auth", "jobs", "lambda"]),
];

#[test]
fn imports_keep_the_walls_between_modules() {
    for (of, forbidden) in MODULE_WALLS {
        for (path, text) in sources(&format!("shared/src/{of}")) {
            for name in forbidden {
                let import = format!("use crate::{name}");
                assert!(!text.contains(&import), "{} imports {name}", path.display());
            }
        }
    }
}

/// A function's crate consists of a route table, a file for each route, `wire.rs`, `error.rs` and a `main.rs`
/// with wiring only.
#[test]
fn function_crates_have_the_same_layout() {
    for (path, text) in sources("functions") {
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        let lines = text.lines().count();
        assert!(
            name != "main.rs" || lines <= 25,
            "{} has {lines} lines",
            path.display()
        );
        assert!(lines <= 400, "{} has {lines} lines", path.display());
        assert!(
            text.starts_with("//!"),
            "{} does not say its duty",
            path.display()
        );
        let handler = !["main.rs", "lib.rs"].contains(&name);
        assert!(
            !handler || !text.contains("Utc::now") && !text.contains("StatusCode::INTERNAL"),
            "{}",
            path.display()
        );
    }
}

#[test]
fn only_store_key_builds_keys() {
    for (path, text) in sources("shared/src") {
        let own = path.starts_with(root().join("shared/src/store/key")) || path.ends_with("store/key.rs");
        let (code, _) = text.split_once("#[cfg(test)]").unwrap_or((&text, ""));
        let is_test = path.ends_with("tests.rs");
        let builds = code.contains(" Key::new(") || code.contains("(Key::new(");
        assert!(own || is_test || !builds, "{} builds a key", path.display());
        // The delimiter in a character or a text, other than of an attribute or a raw string.
        let is_delimiter = |line: &str| {
            ["'#'", "}#", "#{", "#\"", "\"#"]
                .iter()
                .any(|text| line.contains(text))
        };
        let code = code.lines().filter(|line| !line.trim_start().starts_with("//"));
        let mut code = code.filter(|line| !line.contains("r#\"") && !line.contains("\"#,"));
        let name = path.to_string_lossy();
        let keyed = name.contains("shared/src/store") || name.contains("shared/src/jobs");
        let delimits = keyed && !own && !is_test && code.any(is_delimiter);
        assert!(!delimits, "{} contains the delimiter of keys", path.display());
    }
}

/// The compiler cannot check this: the types support `==`.
#[test]
fn secrets_are_compared_in_constant_time() {
    for (file, compared) in [
        (
            "shared/domain/src/meeting/reschedule.rs",
            "expected.as_bytes().ct_eq(key.as_bytes())",
        ),
        (
            "shared/domain/src/settings.rs",
            "Sha256::digest(&self.0).ct_eq(&Sha256::digest(given))",
        ),
        (
            "shared/domain/src/form.rs",
            "self.0.as_bytes().ct_eq(other.0.as_bytes())",
        ),
    ] {
        let text = fs::read_to_string(root().join(file)).expect("a source");
        assert!(text.contains(compared), "{file} does not compare by {compared}");
    }
}
