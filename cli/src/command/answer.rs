//! The answers of commands, as text or as one JSON document, and their exit codes.

use std::io::{self, Write as _};
use std::process::ExitCode;

use database::DatabaseError;
use operator::OperatorError;
use serde_json::{Value, json};
use shared::store::StoreError;

use super::advice;
use super::text::{printable, printable_json};

/// The answer of a command.
#[derive(Debug, Default)]
pub struct Answer {
    /// Text for standard output.
    pub text: String,
    /// Remarks for standard error.
    pub note: String,
    /// The document for `--json`; `None` if standard output already contains the data.
    pub document: Option<Value>,
    /// Whether a part was left undone, so that the exit code is 1.
    pub partly: bool,
}

/// The failure of a command.
#[derive(Debug)]
pub enum Failure {
    /// The command was refused, or the table failed.
    Refused(String),
    /// Wrong usage.
    Usage(String),
    /// Standard output was closed by its reader, so nothing is printed.
    Unread,
}

impl Failure {
    /// The failure with another reason.
    #[must_use]
    pub fn map(self, change: impl Fn(String) -> String) -> Self {
        match self {
            Self::Refused(reason) => Self::Refused(change(reason)),
            Self::Usage(reason) => Self::Usage(change(reason)),
            Self::Unread => Self::Unread,
        }
    }
}

impl Answer {
    /// An answer with its two forms.
    #[must_use]
    pub fn new(text: impl Into<String>, document: Value) -> Self {
        Self {
            text: text.into(),
            document: Some(document),
            ..Self::default()
        }
    }

    /// The answer with a remark.
    #[must_use]
    pub fn noting(self, note: impl Into<String>) -> Self {
        Self {
            note: note.into(),
            ..self
        }
    }

    /// The answer with a remark about a list without rows.
    #[must_use]
    pub fn noting_none(self, note: impl FnOnce() -> String) -> Self {
        if self.text.is_empty() {
            self.noting(note())
        } else {
            self
        }
    }

    /// Prints the answer and ends the command.
    pub(super) fn give(self, as_json: bool) -> ExitCode {
        let (out, remark) = match (as_json, self.document) {
            (true, Some(document)) => (printable_json(&document.to_string()).into_owned(), String::new()),
            _ => (printable(&self.text), self.note),
        };
        if !remark.is_empty() {
            let _ = writeln!(io::stderr(), "{}", printable(&remark));
        }
        let printed = if out.is_empty() {
            Ok(())
        } else {
            writeln!(io::stdout(), "{out}")
        };
        match printed {
            Ok(()) if !self.partly => ExitCode::SUCCESS,
            Err(cause) if cause.kind() != io::ErrorKind::BrokenPipe => {
                let _ = writeln!(
                    io::stderr(),
                    "error: the answer cannot be written to standard output: {cause}"
                );
                ExitCode::from(1)
            }
            _ => ExitCode::from(1),
        }
    }
}

/// Prints the failure and ends the command.
pub(super) fn fail(failure: &Failure, as_json: bool) -> ExitCode {
    let (reason, code) = match failure {
        Failure::Refused(reason) => (reason, 1),
        Failure::Usage(reason) => (reason, 2),
        Failure::Unread => return ExitCode::from(1),
    };
    if as_json {
        let _ = writeln!(
            io::stdout(),
            "{}",
            printable_json(&json!({ "error": reason }).to_string())
        );
    } else {
        let _ = writeln!(io::stderr(), "error: {}", printable(reason));
    }
    ExitCode::from(code)
}

impl From<OperatorError> for Failure {
    fn from(error: OperatorError) -> Self {
        match error {
            OperatorError::Store(error) => error.into(),
            other => Self::Refused(other.to_string()),
        }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Refused(advice::on(&error))
    }
}

impl From<DatabaseError> for Failure {
    fn from(error: DatabaseError) -> Self {
        Self::Refused(error.to_string())
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Refused(error.to_string())
    }
}
