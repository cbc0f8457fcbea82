//! Compares the documents with the code: routes, files, settings, variables of the environment, items of the table and texts of
//! errors. (The command's own tests check the command lines.)

mod clauses;
mod errors;
mod items;
mod names;

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    tests.parent().expect("the project").to_owned()
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).expect(path)
}

/// The documents, by their paths from the root.
fn documents() -> Vec<String> {
    let mut found: Vec<_> = [
        "README.md",
        "ARCHITECTURE.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "tests/events/README.md",
    ]
    .map(str::to_owned)
    .into();
    for entry in fs::read_dir(root().join("docs")).expect("documents") {
        let name = entry.expect("an entry").file_name();
        found.push(format!("docs/{}", name.to_str().expect("a name")));
    }
    found.retain(|path| {
        Path::new(path)
            .extension()
            .is_some_and(|extension| extension == "md")
    });
    found
}

/// The files below a directory with an extension, the products of a build left out.
fn files(below: &str, extensions: &[&str]) -> Vec<PathBuf> {
    let (mut found, mut directories) = (Vec::new(), vec![root().join(below)]);
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).expect("a directory") {
            let path = entry.expect("an entry").path();
            let extension = path.extension().and_then(|extension| extension.to_str());
            if path.is_dir() {
                directories.push(path);
            } else if extension.is_some_and(|extension| extensions.contains(&extension)) {
                found.push(path);
            }
        }
    }
    found
}

/// The code of a document: backticked spans and lines of fenced blocks.
fn code(text: &str) -> Vec<String> {
    let (mut found, mut fenced) = (Vec::new(), false);
    let mut prose = String::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if fenced {
            found.push(line.to_owned());
        } else {
            prose.push_str(line);
            prose.push('\n');
        }
    }
    let spans = prose.split('`').skip(1).step_by(2);
    found.extend(spans.map(|span| span.split_whitespace().collect::<Vec<_>>().join(" ")));
    found
}
