//! A CSV file as rows of text: encoding, separator and shape (C-105).

use csv::ReaderBuilder;
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

use super::columns::plain;

/// First values of lines of totals.
const TOTALS: [&str; 6] = [
    "total",
    "totais",
    "total geral",
    "subtotal",
    "soma",
    "grand total",
];
/// The separators that are recognised.
const SEPARATORS: [u8; 3] = [b',', b';', b'\t'];

/// The rows of a file. Rows that cannot be read are in `faults`.
#[derive(Debug)]
pub struct Sheet {
    /// Name of the file, without its directory.
    pub name: String,
    /// Encoding as shown.
    pub encoding: &'static str,
    /// The separator.
    pub separator: u8,
    /// Names of the columns, each once.
    pub headings: Vec<String>,
    /// Each row has a cell for every heading.
    pub rows: Vec<SheetRow>,
    /// Rows that cannot be read, by line.
    pub faults: Vec<(u64, String)>,
}

/// A row with its line in the file, from 1.
#[derive(Debug)]
pub struct SheetRow {
    /// The line on which it begins.
    pub line: u64,
    /// Trimmed values.
    pub cells: Vec<String>,
}

impl SheetRow {
    /// Whether the first value is the name of a line of totals.
    pub fn is_totals(&self) -> bool {
        let first = self.cells.iter().find(|cell| !cell.is_empty());
        let name = first.map(|cell| plain(cell)).unwrap_or_default();
        TOTALS.contains(&name.as_str())
    }
}

impl Sheet {
    /// Reads a file's bytes.
    ///
    /// # Errors
    /// A message, if the file has no heading.
    pub fn read(name: String, bytes: &[u8]) -> Result<Self, String> {
        let (text, encoding) = decoded(bytes);
        let (text, named_separator, skipped) = without_separator_line(&text);
        let separator = named_separator.unwrap_or_else(|| separator(text));
        let mut reader = ReaderBuilder::new()
            .delimiter(separator)
            .flexible(true)
            .has_headers(false)
            .from_reader(text.as_bytes());
        let mut records = reader.records();
        let heading = records.next().and_then(Result::ok).unwrap_or_default();
        if heading.iter().all(|cell| cell.trim().is_empty()) {
            return Err("has no heading; the first line must name the columns".to_owned());
        }
        let mut sheet = Self {
            name,
            encoding,
            separator,
            headings: distinct(heading.iter()),
            rows: Vec::new(),
            faults: Vec::new(),
        };
        let mut counted = LineCount {
            text,
            byte: 0,
            line: 1 + skipped,
        };
        for record in records {
            match record {
                Ok(record) => {
                    let byte = record.position().map_or(0, csv::Position::byte);
                    sheet.add_row(&record, counted.at(byte));
                }
                Err(error) => sheet.faults.push((counted.line, error.to_string())),
            }
        }
        Ok(sheet)
    }

    /// Adds a row, or a fault if it has another number of cells than the heading. Ignores blank rows and surplus empty
    /// cells.
    fn add_row(&mut self, record: &csv::StringRecord, line: u64) {
        let mut cells: Vec<_> = record.iter().map(|cell| cell.trim().to_owned()).collect();
        let width = self.headings.len();
        while cells.len() > width && cells.last().is_some_and(String::is_empty) {
            cells.pop();
        }
        if cells.iter().all(String::is_empty) {
            return;
        }
        if cells.len() == width {
            self.rows.push(SheetRow { line, cells });
        } else {
            let fault = format!(
                "has {} values, and the heading has {width}; is a text with the separator in it not quoted?",
                cells.len()
            );
            self.faults.push((line, fault));
        }
    }
}

/// The line of a byte position in a text. The count of the CSV reader is one too low after `\r\n`.
struct LineCount<'a> {
    text: &'a str,
    byte: usize,
    line: u64,
}

impl LineCount<'_> {
    /// The line of the first row at or after a position. The positions of successive calls must not decrease.
    fn at(&mut self, byte: u64) -> u64 {
        let byte = usize::try_from(byte).unwrap_or(usize::MAX);
        for next in self.text.bytes().skip(self.byte) {
            if self.byte >= byte && !matches!(next, b'\r' | b'\n') {
                break;
            }
            self.byte += 1;
            self.line += u64::from(next == b'\n');
        }
        self.line
    }
}

/// The text of a file, and the name of its encoding. Other bytes than Unicode are read as Windows-1252, which includes
/// Latin-1 and gives every byte a character.
fn decoded(bytes: &[u8]) -> (String, &'static str) {
    let encoding = match Encoding::for_bom(bytes) {
        Some((encoding, _)) => encoding,
        None if str::from_utf8(bytes).is_ok() && !bytes.contains(&0) => UTF_8,
        None if is_wide(bytes, 1) => UTF_16LE,
        None if is_wide(bytes, 0) => UTF_16BE,
        None => WINDOWS_1252,
    };
    (encoding.decode(bytes).0.into_owned(), encoding.name())
}

/// Whether the text looks like UTF-16 without a mark: most high bytes, every second one from `from` on, are zero.
fn is_wide(bytes: &[u8], from: usize) -> bool {
    let high: Vec<_> = bytes.iter().skip(from).step_by(2).take(200).collect();
    let zeros: usize = high.iter().map(|byte| usize::from(**byte == 0)).sum();
    zeros * 2 > high.len()
}

/// The text after a first line such as `sep=;`, which spreadsheets write; its separator; and the number of skipped
/// lines.
fn without_separator_line(text: &str) -> (&str, Option<u8>, u64) {
    let separator = |line: &str| match line.trim_end_matches('\r').strip_prefix("sep=")?.as_bytes() {
        [separator] => Some(*separator),
        _ => None,
    };
    match text.split_once('\n') {
        Some((first, rest)) if separator(first).is_some() => (rest, separator(first), 1),
        _ => (text, None, 0),
    }
}

/// The separator that occurs most often in the heading, outside quotes.
fn separator(text: &str) -> u8 {
    let mut counts = [0_usize; SEPARATORS.len()];
    let mut is_quoted = false;
    for byte in text.bytes() {
        match byte {
            b'"' => is_quoted = !is_quoted,
            b'\n' if !is_quoted => break,
            _ if is_quoted => {}
            _ => {
                if let Some(at) = SEPARATORS.iter().position(|separator| *separator == byte) {
                    counts[at] += 1;
                }
            }
        }
    }
    let max = counts.iter().copied().max().unwrap_or_default();
    // The first of several with the same count.
    let at = counts.iter().position(|count| *count == max);
    SEPARATORS[at.unwrap_or_default()]
}

/// The headings. A repeated one gets a number, and an empty one a name.
fn distinct<'a>(headings: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (at, heading) in headings.enumerate() {
        let heading = match heading.trim() {
            "" => format!("column {}", at + 1),
            heading => heading.to_owned(),
        };
        let numbered = |number: usize| match number {
            1 => heading.clone(),
            _ => format!("{heading} ({number})"),
        };
        let free = (1..=names.len() + 1)
            .map(numbered)
            .find(|name| !names.contains(name));
        names.extend(free);
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Sheet {
        Sheet::read("a.csv".to_owned(), bytes).unwrap()
    }

    #[test]
    fn encodings() {
        let text = "Nome;Situação\nJoão;ação\n";
        let (latin, ..) = WINDOWS_1252.encode(text);
        let wide = |bytes: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(bytes).collect::<Vec<_>>();
        let marked = |mark: &[u8], bytes: &[u8]| [mark, bytes].concat();
        for (bytes, encoding) in [
            (text.as_bytes().to_vec(), "UTF-8"),
            (marked(b"\xEF\xBB\xBF", text.as_bytes()), "UTF-8"),
            (latin.to_vec(), "windows-1252"),
            (marked(b"\xFF\xFE", &wide(u16::to_le_bytes)), "UTF-16LE"),
            (marked(b"\xFE\xFF", &wide(u16::to_be_bytes)), "UTF-16BE"),
            (wide(u16::to_le_bytes), "UTF-16LE"),
            (wide(u16::to_be_bytes), "UTF-16BE"),
        ] {
            let sheet = read(&bytes);
            assert_eq!((sheet.encoding, sheet.separator), (encoding, b';'));
            assert_eq!(sheet.headings, ["Nome", "Situação"]);
            assert_eq!(sheet.rows[0].cells, ["João", "ação"], "{encoding}");
        }
    }

    #[test]
    fn separators_lines_and_lengths() {
        let sheet = read(b"sep=;\r\na,b;c\r\n1;2\r\n\r\n;;\r\n1;2;\r\n1;2;3\r\n\"x\ny\";2\r\n4\r\n");
        assert_eq!(sheet.headings, ["a,b", "c"]);
        let lines: Vec<_> = sheet.rows.iter().map(|row| row.line).collect();
        assert_eq!(lines, [3, 6, 8]);
        let faults: Vec<_> = sheet.faults.iter().map(|(line, _)| *line).collect();
        assert_eq!(faults, [7, 10]);
        assert_eq!(read(b"a\tb\n1\t2\n").separator, b'\t');
        assert_eq!(read(b"\"a;b;c\",d\n1,2\n").separator, b',');
        assert_eq!(read(b"a,a,,a\n").headings, ["a", "a (2)", "column 3", "a (3)"]);
        assert!(Sheet::read("a.csv".to_owned(), b"").is_err());
    }
}
