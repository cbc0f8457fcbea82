//! Text as HTML.

/// Text with what HTML reserves written out.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            _ => escaped.push(character),
        }
    }
    escaped
}

/// Text in code.
pub fn code(text: &str) -> String {
    format!("<code>{}</code>", escape(text))
}

/// A line of prose: what stands between backticks is code, between pairs of asterisks strong.
pub fn line(text: &str) -> String {
    let mut shown = String::new();
    for (at, part) in text.split('`').enumerate() {
        if at % 2 == 1 {
            shown.push_str(&code(part));
            continue;
        }
        for (at, part) in part.split("**").enumerate() {
            let (open, close) = if at % 2 == 1 {
                ("<strong>", "</strong>")
            } else {
                ("", "")
            };
            shown.extend([open, &escape(part), close]);
        }
    }
    shown
}

/// Paragraphs, which blank lines divide.
pub fn prose(text: &str) -> String {
    let paragraphs = text.trim().split("\n\n").filter(|part| !part.is_empty());
    let lines = paragraphs.map(line);
    lines
        .flat_map(|line| ["<p>".to_owned(), line, "</p>\n".to_owned()])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_text_is_markup() {
        assert_eq!(
            escape("<a href=\"x\">&'"),
            "&lt;a href=&quot;x&quot;&gt;&amp;&#39;"
        );
        assert_eq!(
            line("a `<b>` **<c>** d"),
            "a <code>&lt;b&gt;</code> <strong>&lt;c&gt;</strong> d"
        );
        assert_eq!(line("`a ** b`"), "<code>a ** b</code>");
        assert_eq!(prose("a\nb\n\n`c`\n"), "<p>a\nb</p>\n<p><code>c</code></p>\n");
    }
}
