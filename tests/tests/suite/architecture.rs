//! The shape that ARCHITECTURE.md promises, held against the sources.

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

/// Only `shared::store` knows the AWS SDK.
#[test]
fn the_sdk_is_the_stores_own() {
    for below in ["shared/src", "functions", "cli/src"] {
        for (path, text) in sources(below) {
            let in_store = path.components().any(|part| part.as_os_str() == "store");
            assert!(
                in_store || !text.contains("aws_"),
                "{} knows the AWS SDK",
                path.display()
            );
        }
    }
    for manifest in [
        "functions/leads",
        "functions/opportunities",
        "functions/calendars",
        "functions/call-webhook",
        "functions/tickets",
        "functions/reports",
        "functions/automations",
        "cli",
    ] {
        let text = fs::read_to_string(root().join(manifest).join("Cargo.toml")).expect("a manifest");
        assert!(!text.contains("aws-"), "{manifest} depends on the AWS SDK");
    }
}

/// A function's crate is a route table, a file for each route, `wire.rs`, `error.rs`, and a `main.rs` that is wiring.
#[test]
fn functions_are_wired_alike() {
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

/// Key text is in one file.
#[test]
fn keys_are_built_in_one_place() {
    for (path, text) in sources("shared/src/store") {
        // table.rs reads the key of an item that was read.
        let may = path.ends_with("key.rs") || path.ends_with("table.rs");
        assert!(may || !text.contains("pk:"), "{} builds a key", path.display());
    }
}

/// What a stranger presents is compared with a secret in constant time. The types of both are compared by `==` elsewhere, so the
/// compiler does not see it.
#[test]
fn secrets_are_compared_in_constant_time() {
    for (file, compared) in [
        ("meeting/reschedule.rs", "right.as_bytes().ct_eq(key.as_bytes())"),
        (
            "settings.rs",
            "Sha256::digest(&self.0).ct_eq(&Sha256::digest(given))",
        ),
    ] {
        let text = fs::read_to_string(root().join("shared/src").join(file)).expect("a source");
        assert!(text.contains(compared), "{file} does not compare by {compared}");
    }
}
