//! The documents match the command: their command lines parse, and docs/records.md has the table of the kinds' fields.

use std::fs;
use std::path::{Path, PathBuf};

use funil::command::grammar;
use operator::kinds::{Field, Kind, Shape};

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

/// The page's table of fields, as the descriptions of the kinds state them.
fn table_of_fields() -> String {
    let mut table = "| kind | type | fields |\n| --- | --- | --- |\n".to_owned();
    for kind in Kind::ALL {
        let mut rows: Vec<(&str, Vec<String>)> = Vec::new();
        for field in kind.fields().iter().filter(|field| field.is_read()) {
            let shape = field.shape.name();
            let cells = field.names().map(|name| cell(field, name));
            match rows.iter_mut().find(|(other, _)| *other == shape) {
                Some((_, row)) => row.extend(cells),
                None => rows.push((shape, cells.collect())),
            }
        }
        for (at, (shape, cells)) in rows.iter().enumerate() {
            let kind = if at == 0 {
                format!("`{}` ", kind.name())
            } else {
                String::new()
            };
            table.extend(["| ", &kind, "| ", shape, " | ", &cells.join(", "), " |\n"]);
        }
    }
    table
}

/// A field's name, in bold if a line needs it, with its rules and default.
fn cell(field: &Field, name: &str) -> String {
    let mut rules = Vec::new();
    if let Shape::OneOf(values) = field.shape
        && !values.is_empty()
    {
        let values = values.split(' ').map(|value| format!("`{value}`"));
        rules.push(values.collect::<Vec<_>>().join(", "));
    }
    rules.extend(field.max().map(|max| format!("up to {max} characters")));
    rules.extend(Some(field.note.to_owned()).filter(|note| !note.is_empty()));
    let rules = if rules.is_empty() {
        String::new()
    } else {
        format!(" ({})", rules.join("; "))
    };
    let default = field
        .default
        .map(|json| format!(" [default: `{}`]", json.trim_matches('"')));
    let name = if field.needed {
        format!("**`{name}`**")
    } else {
        format!("`{name}`")
    };
    name + &rules + &default.unwrap_or_default()
}

/// `KEEP_RECORDS=1` writes the table.
#[test]
fn the_page_lists_every_field() {
    let path = root().join("docs/records.md");
    let page = fs::read_to_string(&path).unwrap();
    let from = page.find("| kind | type | fields |").unwrap();
    let until = from + page[from..].find("\n\n").unwrap() + 1;
    let printed = table_of_fields();
    if std::env::var_os("KEEP_RECORDS").is_some() {
        fs::write(&path, format!("{}{printed}{}", &page[..from], &page[until..])).unwrap();
        return;
    }
    assert_eq!(page[from..until], printed);
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
