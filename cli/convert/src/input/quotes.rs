//! Quotation marks of a text file that are no quotes (C-105). The CSV reader takes them for quotes, so that a cell may
//! contain other rows.

/// The reason why the quotes of a row cannot be read, if they cannot. `raw` is its text, `width` the number of its cells.
pub fn fault(raw: &[u8], separator: u8, width: usize, line: u64) -> Option<String> {
    if !raw.contains(&b'"') {
        return None;
    }
    let row = raw.trim_ascii_end();
    let reason = match quotes(row, separator) {
        None => "has a quotation mark that neither begins nor ends a value",
        Some(has_breaks) if has_breaks && are_rows(row, separator, width) => {
            "has a quoted text of which each line looks like a row"
        }
        Some(_) => return None,
    };
    let last = line + lines(row).count() as u64 - 1;
    let taken = if last > line {
        format!(", and is read up to line {last}")
    } else {
        String::new()
    };
    Some(format!(
        "{reason}{taken}; write \"\" for a quotation mark in a quoted text, or remove it"
    ))
}

/// Whether a quoted value has a line break; `None` if text follows the end of one, or if one has no end.
fn quotes(row: &[u8], separator: u8) -> Option<bool> {
    let mut has_breaks = false;
    let mut rest = row;
    loop {
        if let Some(quoted) = rest.strip_prefix(b"\"") {
            let mut at = 0;
            loop {
                at += quoted[at..].iter().position(|byte| *byte == b'"')?;
                if quoted.get(at + 1) != Some(&b'"') {
                    break;
                }
                at += 2;
            }
            has_breaks |= quoted[..at].iter().any(|byte| is_break(*byte));
            rest = quoted[at + 1..].trim_ascii_start();
            // A tab is white space and a separator.
            if separator == b'\t' {
                rest = &quoted[at + 1..];
            }
            if !rest.is_empty() && !rest.starts_with(&[separator]) {
                return None;
            }
        }
        let Some(end) = rest.iter().position(|byte| *byte == separator) else {
            return Some(has_breaks);
        };
        rest = &rest[end + 1..];
    }
}

/// Whether each line has the cells of a row if no quotation mark is a quote. White space follows a comma of a text.
fn are_rows(row: &[u8], separator: u8, width: usize) -> bool {
    let is_row = |line: &[u8]| {
        let mut cells = line.split(|byte| *byte == separator);
        let is_text = |cell: &[u8]| cell.first().is_some_and(u8::is_ascii_whitespace);
        line.split(|byte| *byte == separator).count() == width && !cells.any(is_text)
    };
    width > 1 && lines(row).all(is_row)
}

fn lines(row: &[u8]) -> impl Iterator<Item = &[u8]> {
    let lines = row.split(|byte| *byte == b'\n');
    let lines = lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    lines.flat_map(|line| line.split(|byte| *byte == b'\r'))
}

fn is_break(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stray_quotes_take_no_other_row() {
        let read = |text: &str, width| fault(text.as_bytes(), b';', width, 7);
        for (text, width) in [
            ("a;\"b;c\";\"d \"\"e\"\"\"\r\n", 3),
            ("a;\"b\nc\";d\n", 3),
            ("a;\"b\r\n\r\nc\" ;\"\"\n", 3),
            ("a;\"b; c\nd; e\";f\n", 3),
            ("a;\"b;c;d\ne\";f", 3),
            ("a;TV 32\";b", 3),
        ] {
            assert_eq!(read(text, width), None, "{text}");
        }
        for (text, width, reason) in [
            ("N1;Ana;\"TV 50;1;o\nN2;Bia;TV 32\";2;g\n", 5, "up to line 8"),
            (
                "N1;Ana;\"TV 50;1;o\r\nN2;x;y;1;o\r\nN2;Bia;TV 32\";2;g\r\n",
                5,
                "up to line 9",
            ),
            (
                "Ana;1;\"urgente\nBia;2;ok\nRui;3;\"urgente\n",
                3,
                "neither begins nor ends a value, and is read up to line 9",
            ),
            ("\"Ana \"Bia\" Souza\";1;x\n", 3, "ends a value; write"),
            ("Ana;1;\"urgente\nBia;2;ok\n", 3, "neither begins nor ends"),
        ] {
            let shown = read(text, width);
            assert!(
                shown.as_ref().is_some_and(|shown| shown.contains(reason)),
                "{text}: {shown:?}"
            );
        }
    }
}
