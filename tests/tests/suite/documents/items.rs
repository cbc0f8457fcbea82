//! The table of items in docs/access-patterns.md lists the partitions whose keys the store builds, and no others.

use std::collections::BTreeSet;
use std::fs;

use super::{files, read};

/// The sources that build keys, without their tests.
fn key_sources() -> String {
    let mut sources = String::new();
    for path in files("shared/src/store", &["rs"]) {
        let of_keys = path.to_str().is_some_and(|path| path.contains("store/key"));
        if of_keys && !path.ends_with("tests.rs") {
            let text = fs::read_to_string(path).expect("a source");
            sources.push_str(text.split("#[cfg(test)]").next().unwrap_or_default());
        }
    }
    sources
}

/// The first word of each partition key that the sources build: `lead` of `self.pk(&format!("lead#{id}"))`.
fn built(sources: &str) -> BTreeSet<&str> {
    let calls = sources.split("pk(").skip(1).map(str::trim_start);
    let texts = calls.filter_map(|call| {
        let text = call.strip_prefix("&format!(").unwrap_or(call);
        text.trim_start().strip_prefix('"')
    });
    let names = texts.map(|text| text.split(['#', '"', '{']).next().unwrap_or_default());
    names.filter(|name| !name.is_empty()).collect()
}

#[test]
fn the_items_are_those_of_the_keys() {
    let (sources, page) = (key_sources(), read("docs/access-patterns.md"));
    let spans = page.split("`<i>#").skip(1);
    let listed: BTreeSet<_> = spans
        .map(|span| span.split(['#', '`']).next().unwrap_or_default())
        .collect();
    let built = built(&sources);
    assert!(built.len() > 30, "{built:?}");
    for name in &built {
        assert!(
            listed.contains(name),
            "docs/access-patterns.md lacks the item {name}"
        );
    }
    for name in listed {
        assert!(
            built.contains(name) || sources.contains(&format!("\"{name}")),
            "docs/access-patterns.md lists {name}, which no key has"
        );
    }
}
