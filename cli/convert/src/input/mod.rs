//! Files as rows of cells: recognition by content, encoding, separator, heading, and what is no row (C-105).

mod book;
mod encoding;
mod grid;
mod quotes;
mod sheet;
mod shown;
mod text;

pub use book::{UNSOLVED, serial_date};
pub use encoding::TextEncoding;
pub use grid::{Cell, CellType, Row};
pub use sheet::Sheet;

/// Maximum bytes of a file.
const MAX_FILE: usize = 1 << 30;

/// Options of reading.
#[derive(Debug, Default, Clone, Copy)]
pub struct ReadOptions<'a> {
    /// The encoding of text files.
    pub encoding: Option<TextEncoding>,
    /// The sheet of workbooks.
    pub sheet: Option<&'a str>,
}

/// Files that are neither text nor workbook, by their first bytes, with the reason.
const OTHERS: [(&[u8], &str); 6] = [
    (
        b"\xD0\xCF\x11\xE0",
        "is an old Excel workbook (.xls) or one with a password; save it as .xlsx without a password, or as CSV",
    ),
    (b"%PDF", "is a PDF document; export the records as CSV or .xlsx"),
    (b"\x1F\x8B", "is compressed by gzip; unpack it first"),
    (b"\x89PNG", "is an image; export the records as CSV or .xlsx"),
    (b"Rar!", "is an archive; unpack it and name the files in it"),
    (b"7z\xBC\xAF", "is an archive; unpack it and name the files in it"),
];

/// Reads a file's bytes. The content decides, not the name.
///
/// # Errors
/// The reason, if it is no table.
pub fn read(name: String, bytes: Vec<u8>, options: ReadOptions<'_>) -> Result<Sheet, String> {
    if bytes.len() > MAX_FILE {
        return Err("has more than 1 GB; split it".to_owned());
    }
    if let Some((_, reason)) = OTHERS.iter().find(|(start, _)| bytes.starts_with(start)) {
        return Err((*reason).to_owned());
    }
    if bytes.starts_with(b"PK\x03\x04") {
        return book::read(name, bytes, options.sheet);
    }
    let (text, encoding) = encoding::decoded(bytes, options.encoding)?;
    let text = text.trim_start_matches('\u{feff}');
    if let Some(reason) = other_text(text) {
        return Err(reason.to_owned());
    }
    text::read(name, text, encoding)
}

/// The reason why a text is no table with separators, if it looks like another format.
fn other_text(text: &str) -> Option<&'static str> {
    let start: String = text.trim_start().chars().take(4096).collect();
    let lower = start.to_ascii_lowercase();
    let first = lower.lines().next().unwrap_or_default();
    if lower.starts_with('<') && lower.contains("<workbook") {
        return Some(
            "is a workbook in XML, whatever its name ends with; open it in a spreadsheet and save it as .xlsx",
        );
    }
    if first.starts_with("<!doctype html")
        || lower.starts_with('<') && (lower.contains("<html") || lower.contains("<table"))
    {
        return Some(
            "is a web page, whatever its name ends with; open it in a spreadsheet and save it as .xlsx",
        );
    }
    if first.starts_with("<?xml") {
        return Some("is an XML document; open it in a spreadsheet and save it as .xlsx");
    }
    if first.starts_with("{\"kind\"") {
        return Some("has the lines of an import; use funil import");
    }
    if first.starts_with("{\"") || first.starts_with("[{") || first == "[" || first == "{" {
        return Some("is JSON; export the records as CSV or .xlsx");
    }
    if first.starts_with("{\\rtf") {
        return Some("is a text document; export the records as CSV or .xlsx");
    }
    first
        .starts_with("begin:vcard")
        .then_some("has visiting cards (vCard); export the contacts as CSV")
}

#[cfg(test)]
mod tests;
