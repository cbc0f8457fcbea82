//! The documents match the command: their command lines parse, and docs/records.md has the import's required fields,
//! types and defaults.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use funil::command::grammar;
use operator::kinds::{Kind, field_names};
use serde_json::{Map, Value, json};

use super::support::{Bench, KINDS, sample};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The project's documents.
fn documents() -> Vec<(PathBuf, String)> {
    let listed = fs::read_dir(root().join("docs")).unwrap();
    let mut paths: Vec<_> = listed.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    paths.extend(
        [
            "README.md",
            "ARCHITECTURE.md",
            "CHANGELOG.md",
            "CONTRIBUTING.md",
            "tests/events/README.md",
        ]
        .map(|path| root().join(path)),
    );
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap();
        (path, text)
    };
    paths.into_iter().map(read).collect()
}

/// The words of a command line, without comments, redirections and pipes.
fn words(line: &str) -> Vec<&str> {
    let words = line.split_whitespace();
    words
        .take_while(|word| !["#", ">", "<", "|", "&&"].contains(word))
        .collect()
}

/// The required fields of each kind, from the page's first table.
fn required() -> BTreeMap<String, Vec<String>> {
    let page = fs::read_to_string(root().join("docs/records.md")).unwrap();
    let mut found = BTreeMap::new();
    for row in page
        .lines()
        .skip_while(|line| !line.starts_with("| kind |"))
        .skip(2)
    {
        let Some(cells) = row.strip_prefix("| ") else {
            break;
        };
        let mut cells = cells.split(" | ");
        let kind = cells.next().unwrap().trim_matches('`').to_owned();
        let fields = cells.next().unwrap().split('`').skip(1).step_by(2);
        found.insert(kind, fields.map(str::to_owned).collect());
    }
    found
}

/// A line with only these fields and an unused id.
fn bare(line: &Map<String, Value>, fields: &[String]) -> Map<String, Value> {
    let mut bare = Map::from_iter([("kind".to_owned(), line["kind"].clone())]);
    for field in fields {
        // Files are identified by path, here a new one.
        match field.as_str() {
            "id" if line["kind"] == "file" => continue,
            "id" => bare.insert(field.clone(), json!(900_000)),
            "store_path" => bare.insert(field.clone(), json!("new/1")),
            "name" if line["kind"] == "hook" => bare.insert(field.clone(), json!("new")),
            "keyName" | "publicId" => bare.insert(field.clone(), json!("new")),
            "measure" => bare.insert(field.clone(), json!("count")),
            "number" => bare.insert(field.clone(), json!("5541988887777")),
            _ => bare.insert(
                field.clone(),
                line.get(field)
                    .cloned()
                    .unwrap_or_else(|| panic!("{field}: {line:?}")),
            ),
        };
    }
    bare
}

/// A line of each kind with the required fields, and such lines with one of the fields missing.
fn enough_and_too_little() -> (Vec<String>, Vec<String>) {
    let sample = sample();
    let lines = sample.lines().map(|line| serde_json::from_str(line).unwrap());
    let lines: Vec<Map<String, Value>> = lines.collect();
    let (mut enough, mut too_little) = (Vec::new(), Vec::new());
    for (kind, fields) in &required() {
        let has_all = |line: &&Map<String, Value>| {
            let mut others = fields.iter().filter(|field| !(kind == "file" && *field == "id"));
            line["kind"] == **kind && others.all(|field| line.get(field).is_some_and(|it| !it.is_null()))
        };
        let whole = bare(lines.iter().find(has_all).unwrap(), fields);
        for field in whole.keys().filter(|field| *field != "kind") {
            let mut less = whole.clone();
            less.shift_remove(field);
            too_little.push(Value::Object(less).to_string());
        }
        enough.push(Value::Object(whole).to_string());
    }
    (enough, too_little)
}

#[test]
fn the_page_lists_every_kind() {
    let mut kinds = KINDS;
    kinds.sort_unstable();
    assert_eq!(required().keys().map(String::as_str).collect::<Vec<_>>(), kinds);
}

#[test]
fn required_fields_are_those_of_the_page() {
    let (enough, too_little) = enough_and_too_little();
    let bench = Bench::with_sample();
    let answer = bench.import(&enough.join("\n")).done().document();
    // The setting exists already.
    let (imported, unchanged) = (&answer["imported"], &answer["unchanged"]);
    assert_eq!(
        (imported, unchanged),
        (&json!(KINDS.len() - 1), &json!(1)),
        "{answer:#}"
    );
    let answer = bench.import(&too_little.join("\n")).document();
    let refused = answer["refused"].as_array().unwrap().iter();
    let refused: Vec<_> = refused.map(|refused| refused["line"].as_u64()).collect();
    let all: Vec<_> = (1..=too_little.len() as u64).map(Some).collect();
    assert_eq!(refused, all, "{answer:#}");
}

/// Fields of a kind in the page's second table.
struct Row {
    kind: String,
    /// The words of the column `type`.
    shape: String,
    /// The names, each with the text of the page about it.
    text: String,
}

impl Row {
    fn names(&self) -> impl Iterator<Item = &str> {
        let known = field_names(Kind::named(&self.kind).unwrap());
        // Values and inner fields follow the name after a colon.
        let items = self.text.split("; ").filter_map(|item| item.split(": ").next());
        let quoted = items.flat_map(|item| item.split('`').skip(1).step_by(2));
        quoted.filter(|name| known.contains(name) || *name == "token")
    }

    /// The fields with a default. The default follows the name in parentheses or precedes `(default)`.
    fn defaults(&self) -> Vec<(String, Value)> {
        let mut found = Vec::new();
        let stated = |name| self.text.split_once(&format!("`{name}`"))?.1.split("; ").next();
        for (name, rest) in self.names().filter_map(|name| Some((name, stated(name)?))) {
            let first = rest
                .strip_prefix(" (")
                .and_then(|inner| inner.split([',', ')']).next());
            let only = rest
                .strip_prefix(": `")
                .and_then(|listed| listed.split_once("` (default)"));
            let default = match (first, only) {
                (_, Some((before, _))) => before.rsplit('`').next().unwrap(),
                (Some(first), _) => first.trim_matches('`'),
                _ => continue,
            };
            let is_default = only.is_some()
                || first.is_some_and(|first| first.starts_with('`'))
                || default.parse::<u64>().is_ok();
            if is_default && !field_names(Kind::named(&self.kind).unwrap()).contains(&default) {
                let is_text = self.shape == "text" || self.shape == "one of";
                let value = if is_text {
                    json!(default)
                } else {
                    serde_json::from_str(default).unwrap()
                };
                found.push((name.to_owned(), value));
            }
        }
        found
    }
}

/// The rows of the page's table of fields. A cell with several types has the fields of each.
fn listed() -> Vec<Row> {
    let page = fs::read_to_string(root().join("docs/records.md")).unwrap();
    let rows = page
        .lines()
        .skip_while(|line| !line.starts_with("| kind | type |"))
        .skip(2);
    let (mut found, mut last) = (Vec::new(), String::new());
    for row in rows.take_while(|row| row.starts_with('|')) {
        let cells: Vec<_> = row.trim_matches('|').split('|').map(str::trim).collect();
        if !cells[0].is_empty() {
            cells[0].trim_matches('`').clone_into(&mut last);
        }
        let shapes: Vec<_> = cells[1].split("; ").collect();
        let texts = cells[2].splitn(shapes.len(), "; ");
        found.extend(shapes.iter().zip(texts).map(|(shape, text)| Row {
            kind: last.clone(),
            shape: (*shape).to_owned(),
            text: text.to_owned(),
        }));
    }
    found
}

/// Each field of each kind is in the page's table.
#[test]
fn the_page_lists_every_field() {
    let rows = listed();
    for kind in KINDS {
        let known = field_names(Kind::named(kind).unwrap());
        assert!(!known.is_empty(), "{kind}");
        let page: BTreeSet<_> = rows
            .iter()
            .filter(|row| row.kind == kind)
            .flat_map(Row::names)
            .collect();
        let missing: Vec<_> = known.iter().filter(|name| !page.contains(**name)).collect();
        assert_eq!(missing, [&""; 0], "{kind}");
    }
}

/// A value that fits none of the types; `None` if the type accepts any value.
fn unfit(shape: &str) -> Option<Value> {
    match shape {
        "any value" => None,
        "text" | "text or number" | "number or text" | "text, number or flag" => Some(json!({})),
        "0 or 1" => Some(json!(7)),
        _ => Some(json!("x")),
    }
}

/// A line of each kind of the sample.
fn of_each_kind() -> BTreeMap<String, Map<String, Value>> {
    let lines = sample();
    let lines = lines.lines().map(|line| serde_json::from_str(line).unwrap());
    let kind = |line: Map<String, Value>| (line["kind"].as_str().unwrap().to_owned(), line);
    lines.map(kind).collect()
}

#[test]
fn types_are_those_of_the_page() {
    let (bench, sample) = (Bench::with_sample(), of_each_kind());
    let (mut lines, mut expected) = (Vec::new(), Vec::new());
    for row in listed() {
        let Some(value) = unfit(&row.shape) else { continue };
        for name in row.names() {
            let mut line = sample[&row.kind].clone();
            if name == "tokenHash" {
                line.shift_remove("token");
            }
            line.insert(name.to_owned(), value.clone());
            lines.push(Value::Object(line).to_string());
            expected.push(format!("{}.{name} is {}", row.kind, row.shape));
        }
    }
    assert!(expected.len() > 180, "{}", expected.len());
    let answer = bench.import(&lines.join("\n")).document();
    let refused = answer["refused"].as_array().unwrap().iter();
    let refused: BTreeSet<_> = refused.filter_map(|refused| refused["line"].as_u64()).collect();
    let taken = expected
        .iter()
        .zip(1..)
        .filter(|(_, line)| !refused.contains(line));
    assert_eq!(
        taken.map(|(field, _)| field).collect::<Vec<_>>(),
        [&""; 0],
        "{answer:#}"
    );
}

/// A line that omits a field is stored like one with the default.
#[test]
fn defaults_are_those_of_the_page() {
    let (bench, required) = (Bench::with_sample(), required());
    let sample = of_each_kind();
    let mut checked = 0;
    for row in listed() {
        for (name, default) in row.defaults() {
            let mut line = bare(&sample[&row.kind], &required[&row.kind]);
            bench.import(&Value::Object(line.clone()).to_string()).done();
            line.insert(name.clone(), default.clone());
            let answer = bench.import(&Value::Object(line).to_string()).done().document();
            assert_eq!(
                answer["unchanged"], 1,
                "{}.{name} = {default}: {answer:#}",
                row.kind
            );
            checked += 1;
        }
    }
    assert!(checked >= 20, "{checked}");
}

/// Complete command lines parse.
#[test]
fn command_lines_parse() {
    let mut shown = 0;
    for (path, text) in documents() {
        let mut fenced = false;
        for line in text.lines() {
            if line.trim_start().starts_with("```") {
                fenced = !fenced;
            }
            if !fenced || !line.starts_with("funil ") || line.contains('…') {
                continue;
            }
            shown += 1;
            let understood = grammar().try_get_matches_from(words(line));
            assert!(
                understood.is_ok(),
                "{}: {line}: {}",
                path.display(),
                understood.unwrap_err()
            );
        }
    }
    assert!(shown >= 15, "{shown}");
}

/// Commands and options named in a sentence exist.
#[test]
fn named_commands_exist() {
    let mut named = 0;
    for (path, text) in documents() {
        for span in text
            .split('`')
            .skip(1)
            .step_by(2)
            .filter(|span| span.starts_with("funil "))
        {
            // The place of the data may precede the command.
            let words = span.split_whitespace().skip(1);
            let is_placed = ["funil --data ", "funil --endpoint"]
                .iter()
                .any(|place| span.starts_with(place));
            let skipped = if is_placed { 2 } else { 0 };
            let (mut command, mut rest) = (grammar(), words.skip(skipped).peekable());
            command.build();
            while let Some(inner) = rest
                .peek()
                .and_then(|word| command.find_subcommand(word))
                .cloned()
            {
                command = inner;
                rest.next();
            }
            assert_ne!(command.get_name(), "funil", "{}: `{span}`", path.display());
            for option in rest
                .filter_map(|word| word.strip_prefix("--"))
                .filter(|option| *option != "help")
            {
                let known = command
                    .get_arguments()
                    .any(|argument| argument.get_long() == Some(option));
                assert!(known, "{}: `{span}` has no --{option}", path.display());
            }
            named += 1;
        }
    }
    assert!(named >= 10, "{named}");
}
