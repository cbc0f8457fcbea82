//! A line of an import without a table: the reason why it is refused, and its exported form.

use std::any::Any;
use std::borrow::Borrow as _;
use std::fmt;
use std::io;

use shared::time::Timestamp;

use crate::export;
use crate::import::report::ImportTally;
use crate::kinds::{Kind, LineOf as _, RecordKind, open, with_kind};

/// A line that is good by itself.
pub struct FuzzedLine {
    kind: Kind,
    line: Box<dyn Any>,
}

impl FuzzedLine {
    /// Reads a line.
    ///
    /// # Errors
    /// The reason, as the import's report has it.
    pub fn read(text: &str) -> Result<Self, String> {
        parsed(text).map_err(|reason| {
            let mut tally = ImportTally::default();
            tally.refuse(1, reason);
            let refused = tally.report().refused.into_iter();
            refused.map(|refused| refused.reason).collect()
        })
    }

    /// The line as an empty table stores it at `now`; `None` if it removes something and nothing is stored.
    #[must_use]
    pub fn kept(self, now: Timestamp) -> Option<Self> {
        let kind = self.kind;
        with_kind!(kind, K => kept::<K>(self.into::<K>()?, now).map(Self::of::<K>))
    }

    /// The exported line.
    ///
    /// # Errors
    /// The reason why it cannot be written.
    pub fn written(self) -> Result<String, String> {
        with_kind!(self.kind, K => exported::<K>(self.get::<K>())).map_err(|error| error.to_string())
    }

    fn of<K: RecordKind>(line: K::Line) -> Self {
        let (kind, line) = (K::KIND, Box::new(line));
        Self { kind, line }
    }

    fn into<K: RecordKind>(self) -> Option<K::Line> {
        self.line.downcast().ok().map(|line| *line)
    }

    fn get<K: RecordKind>(&self) -> Option<&K::Line> {
        self.line.downcast_ref()
    }
}

fn kept<K: RecordKind>(line: K::Line, now: Timestamp) -> Option<K::Line> {
    K::kept(line.dated(now))
}

fn exported<K: RecordKind>(line: Option<&K::Line>) -> io::Result<String> {
    let mut out = Vec::new();
    if let Some(line) = line {
        export::write::<K>(&mut out, line.borrow())?;
    }
    String::from_utf8(out).map_err(io::Error::other)
}

fn parsed(text: &str) -> Result<FuzzedLine, String> {
    let (kind, fields) = open(text)?;
    with_kind!(kind, K => K::parse(fields).map(FuzzedLine::of::<K>))
}

impl PartialEq for FuzzedLine {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind && with_kind!(self.kind, K => self.get::<K>() == other.get::<K>())
    }
}

impl fmt::Debug for FuzzedLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        with_kind!(self.kind, K => self.get::<K>().fmt(f))
    }
}
