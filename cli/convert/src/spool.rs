//! Lines of converted records in a temporary file, so that memory does not grow with them.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, BufWriter, Seek as _, Write};

use serde_json::{Value, json};

use super::people::RecordFields;

/// Lines of one kind.
#[derive(Debug)]
pub struct Spool {
    kind: &'static str,
    out: BufWriter<File>,
    /// Number of lines.
    pub len: u64,
}

impl Spool {
    /// A spool without lines.
    ///
    /// # Errors
    /// The system's error.
    pub fn new(kind: &'static str) -> io::Result<Self> {
        Ok(Self {
            kind,
            out: BufWriter::with_capacity(1 << 16, tempfile::tempfile()?),
            len: 0,
        })
    }

    /// Adds a record.
    ///
    /// # Errors
    /// The system's error.
    pub fn add(&mut self, fields: RecordFields) -> io::Result<()> {
        self.len += 1;
        writeln!(self.out, "{}", line(self.kind, fields))
    }

    /// Writes all lines, each with further fields. A field that the line has gets a number at its end.
    ///
    /// # Errors
    /// The system's error.
    pub fn copy<F: Iterator<Item = (&'static str, Value)>>(
        &mut self,
        out: &mut dyn Write,
        further: impl Fn(usize) -> F,
    ) -> io::Result<()> {
        self.out.flush()?;
        let file = self.out.get_mut();
        file.rewind()?;
        for (at, line) in BufReader::with_capacity(1 << 16, file).lines().enumerate() {
            let mut line = line?;
            for (field, value) in further(at) {
                let (mut name, mut number) = (field.to_owned(), 1);
                while line.contains(&format!("\"{name}\":")) {
                    number += 1;
                    name = format!("{field}_{number}");
                }
                line.truncate(line.len() - 1);
                let _ = write!(line, ",\"{name}\":{value}}}");
            }
            writeln!(out, "{line}")?;
        }
        Ok(())
    }
}

/// A record as a line that begins with `kind` and `id`.
#[must_use]
pub fn line(kind: &str, fields: RecordFields) -> String {
    let mut line = RecordFields::from_iter([("kind".to_owned(), json!(kind))]);
    line.extend(fields.get("id").cloned().map(|id| ("id".to_owned(), id)));
    line.extend(fields);
    Value::Object(line).to_string()
}
