//! Text of answers: aligned columns with headings, indented JSON, and colours on a terminal.

use std::io::{self, IsTerminal};

use serde_json::Value;

/// Whether text has colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Colours(bool);

impl Colours {
    #[cfg(test)]
    pub const ALWAYS: Self = Self(true);
    #[cfg(test)]
    pub const NEVER: Self = Self(false);

    /// Colours if the output is a terminal and `NO_COLOR` is not set.
    pub fn of(output: &impl IsTerminal) -> Self {
        let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self(output.is_terminal() && !refused)
    }

    pub fn bold(self, text: &str) -> String {
        self.coloured("1", text)
    }

    /// The text with a colour of ANSI X3.64, such as 31 for red.
    pub fn coloured(self, colour: &str, text: &str) -> String {
        if self.0 {
            format!("\u{1b}[{colour}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }
}

/// Rows in aligned columns. Headings are shown only on a terminal, so that scripts read rows only.
pub fn table<const N: usize>(headings: [&str; N], rows: &[[String; N]]) -> String {
    let stdout = io::stdout();
    let with_headings = stdout.is_terminal() && !rows.is_empty();
    aligned(with_headings.then_some(headings), rows, Colours::of(&stdout))
}

/// Lines of cells padded to the widths of their columns, under bold headings if there are any.
fn aligned<const N: usize>(headings: Option<[&str; N]>, rows: &[[String; N]], colours: Colours) -> String {
    let headings = headings.map(|headings| headings.map(str::to_owned));
    let mut widths = [0; N];
    for line in headings.iter().chain(rows) {
        for (width, cell) in widths.iter_mut().zip(line.iter()) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let padded = |line: &[String; N]| {
        let cells = line.iter().zip(widths);
        let cells: Vec<_> = cells.map(|(cell, width)| format!("{cell:width$}")).collect();
        cells.join("  ").trim_end().to_owned()
    };
    let headings = headings.iter().map(|line| colours.bold(&padded(line)));
    headings
        .chain(rows.iter().map(padded))
        .collect::<Vec<_>>()
        .join("\n")
}

/// JSON with an indentation of two spaces.
pub fn pretty(value: &Value, colours: Colours) -> String {
    let mut text = String::new();
    write_value(&mut text, value, "\n", colours);
    text
}

/// Writes a value; `line` is a line break with the indentation of the value.
fn write_value(text: &mut String, value: &Value, line: &str, colours: Colours) {
    let deeper = format!("{line}  ");
    match value {
        Value::Array(values) if !values.is_empty() => {
            let items = values.iter().map(|value| (None, value));
            text.push('[');
            write_items(text, items, &deeper, colours);
            text.push_str(line);
            text.push(']');
        }
        Value::Object(fields) if !fields.is_empty() => {
            let items = fields.iter().map(|(name, value)| (Some(name), value));
            text.push('{');
            write_items(text, items, &deeper, colours);
            text.push_str(line);
            text.push('}');
        }
        Value::String(_) => text.push_str(&colours.coloured("32", &escaped(value))),
        Value::Null => text.push_str(&colours.coloured("2", "null")),
        Value::Bool(_) | Value::Number(_) => text.push_str(&colours.coloured("33", &value.to_string())),
        Value::Array(_) | Value::Object(_) => text.push_str(&value.to_string()),
    }
}

/// Writes the elements of a list, or the fields of an object with their names.
fn write_items<'a>(
    text: &mut String,
    items: impl Iterator<Item = (Option<&'a String>, &'a Value)>,
    line: &str,
    colours: Colours,
) {
    for (at, (name, value)) in items.enumerate() {
        if at > 0 {
            text.push(',');
        }
        text.push_str(line);
        if let Some(name) = name {
            let name = escaped(&Value::from(name.as_str()));
            text.push_str(&colours.coloured("34", &name));
            text.push_str(": ");
        }
        write_value(text, value, line, colours);
    }
}

/// A JSON string without characters that control a terminal. JSON itself permits control characters from U+007F on.
fn escaped(value: &Value) -> String {
    let text = value.to_string();
    let escape = |character: char| {
        if character.is_control() {
            format!("\\u{:04x}", u32::from(character))
        } else {
            character.to_string()
        }
    };
    text.chars().map(escape).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn columns_are_aligned_by_characters() {
        let rows = [["1", "João", "-"], ["1000", "B", "x"]].map(|row| row.map(str::to_owned));
        let headings = Some(["ID", "NAME", "E"]);
        assert_eq!(
            aligned(headings, &rows, Colours::NEVER),
            "ID    NAME  E\n1     João  -\n1000  B     x"
        );
        assert_eq!(
            aligned(None, &rows, Colours::ALWAYS),
            "1     João  -\n1000  B     x"
        );
        assert!(aligned(headings, &rows, Colours::ALWAYS).starts_with("\u{1b}[1mID    NAME  E\u{1b}[0m\n1 "));
    }

    #[test]
    fn json_is_indented_like_the_library_does_it() {
        let value = json!({ "a": [1, 2.5, null, true], "b": { "c\"": "é\n", "d": {} }, "e": [] });
        assert_eq!(
            pretty(&value, Colours::NEVER),
            serde_json::to_string_pretty(&value).unwrap()
        );
        assert_eq!(
            pretty(&json!({ "a": ["x", 1, null] }), Colours::ALWAYS),
            "{\n  \u{1b}[34m\"a\"\u{1b}[0m: [\n    \u{1b}[32m\"x\"\u{1b}[0m,\n    \u{1b}[33m1\u{1b}[0m,\n    \
             \u{1b}[2mnull\u{1b}[0m\n  ]\n}"
        );
    }

    #[test]
    fn no_text_controls_the_terminal() {
        assert_eq!(
            pretty(&json!(["\u{9b}31m\u{7f}"]), Colours::NEVER),
            "[\n  \"\\u009b31m\\u007f\"\n]"
        );
    }
}
