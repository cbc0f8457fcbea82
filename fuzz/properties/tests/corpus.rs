//! Checks the properties with every input of the corpus and every earlier failure, without any tool.

#![expect(
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a corpus that cannot be read fails its test, and a failed test tells its input"
)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Maximum bytes of all inputs, since every test run reads them.
const MAX_BYTES: usize = 500_000;

fn fuzz() -> PathBuf {
    let properties = Path::new(env!("CARGO_MANIFEST_DIR"));
    properties
        .parent()
        .expect("the directory of the targets")
        .to_owned()
}

/// The inputs of a target.
fn inputs(target: &str) -> Vec<Vec<u8>> {
    let file = fuzz().join("corpus").join(format!("{target}.txt"));
    let text = fs::read_to_string(file).expect(target);
    properties::corpus::read(&text).expect("lines of inputs")
}

/// Reports the failing input.
struct Tried<'a>(&'a str, &'a [u8]);

impl Drop for Tried<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprint!(
                "{} broke its property: {}",
                self.0,
                properties::corpus::line(self.1)
            );
        }
    }
}

fn replay(target: &str) {
    let (_, holds) = properties::ALL
        .into_iter()
        .find(|(name, _)| *name == target)
        .expect("a target");
    let inputs = inputs(target);
    assert!(inputs.len() > 2, "{target} has hardly any input");
    for bytes in inputs {
        let _tried = Tried(target, &bytes);
        holds(&bytes);
    }
}

macro_rules! replayed {
    ($($target:ident),*) => {
        const REPLAYED: &[&str] = &[$(stringify!($target)),*];

        $(#[test]
        fn $target() {
            replay(stringify!($target));
        })*
    };
}

replayed!(
    board,
    calendar,
    conditions,
    credentials,
    dates,
    hook,
    lines,
    params,
    phone,
    report,
    reschedule,
    selection,
    submission,
    webhook
);

fn names(directory: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(fuzz().join(directory)).expect(directory);
    let name = |path: PathBuf| path.file_stem().and_then(|name| name.to_str()).map(str::to_owned);
    entries
        .filter_map(|entry| name(entry.expect("an entry").path()))
        .collect()
}

#[test]
fn every_property_has_a_target_inputs_and_a_dictionary() {
    let all: BTreeSet<_> = properties::ALL.map(|(name, _)| name.to_owned()).into();
    assert_eq!(
        REPLAYED.iter().map(ToString::to_string).collect::<BTreeSet<_>>(),
        all
    );
    for directory in ["corpus", "targets", "dictionaries"] {
        assert_eq!(names(directory), all, "{directory}");
    }
    let manifest = fs::read_to_string(fuzz().join("Cargo.toml")).expect("the manifest of the targets");
    for name in all {
        let calls = fs::read_to_string(fuzz().join("targets").join(format!("{name}.rs"))).expect(&name);
        assert!(calls.contains(&format!("properties::{name}(data)")), "{calls}");
        assert!(
            manifest.contains(&format!("path = \"targets/{name}.rs\"")),
            "{name}"
        );
    }
}

#[test]
fn the_corpus_stays_small() {
    let bytes: usize = properties::ALL
        .iter()
        .flat_map(|(target, _)| inputs(target))
        .map(|bytes| bytes.len())
        .sum();
    assert!(bytes < MAX_BYTES, "{bytes}");
}

#[test]
fn every_byte_is_packed() {
    let bytes: Vec<u8> = (0..=255).collect();
    let line = properties::corpus::line(&bytes);
    assert_eq!(properties::corpus::read(&line), Some(vec![bytes]));
    assert_eq!(
        properties::corpus::read("// text\n\"\"\n"),
        Some(vec![Vec::new()])
    );
    assert_eq!(properties::corpus::read("text"), None);
}
