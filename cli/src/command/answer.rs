//! How a command answers: to a person in words, to a program in one JSON document; and how it ends.

use std::io::{self, Write as _};
use std::process::ExitCode;

use serde_json::{Value, json};
use shared::store::StoreError;
use shared::store::operator::OperatorError;

/// What a command that did something answers.
#[derive(Debug, Default)]
pub struct Answer {
    /// For a person, on standard output.
    pub text: String,
    /// Remarks for a person, on standard error.
    pub note: String,
    /// For a program; `None` where standard output is taken by the data itself.
    pub document: Option<Value>,
    /// Not everything was done.
    pub partly: bool,
}

/// Why a command did nothing.
#[derive(Debug)]
pub enum Failure {
    /// It was understood and refused, or the table failed.
    Refused(String),
    /// It makes no sense.
    Usage(String),
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

    /// Prints the answer and ends the command.
    pub(super) fn give(self, as_json: bool) -> ExitCode {
        let (out, remark) = match (as_json, self.document) {
            (true, Some(document)) => (document.to_string(), String::new()),
            _ => (self.text, self.note),
        };
        if !remark.is_empty() {
            let _ = writeln!(io::stderr(), "{remark}");
        }
        let printed = if out.is_empty() {
            Ok(())
        } else {
            writeln!(io::stdout(), "{out}")
        };
        match printed {
            Ok(()) if !self.partly => ExitCode::SUCCESS,
            _ => ExitCode::from(1),
        }
    }
}

/// Says why nothing was done and ends the command.
pub(super) fn fail(failure: &Failure, as_json: bool) -> ExitCode {
    let (reason, code) = match failure {
        Failure::Refused(reason) => (reason, 1),
        Failure::Usage(reason) => (reason, 2),
    };
    if as_json {
        let _ = writeln!(io::stdout(), "{}", json!({ "error": reason }));
    } else {
        let _ = writeln!(io::stderr(), "error: {reason}");
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
        Self::Refused(advice(&error))
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Refused(error.to_string())
    }
}

/// What the SDK's errors mean to an operator.
const MEANINGS: [(&str, &str); 9] = [
    (
        "ResourceNotFoundException",
        "there is no such table; deploy it first, or name another with --table or --endpoint",
    ),
    (
        "AccessDenied",
        "AWS does not let you; use credentials that may read and write the table",
    ),
    (
        "UnrecognizedClient",
        "AWS does not know these credentials; check AWS_PROFILE or AWS_ACCESS_KEY_ID",
    ),
    (
        "InvalidSignature",
        "AWS does not accept these credentials; check AWS_SECRET_ACCESS_KEY",
    ),
    ("ExpiredToken", "the AWS credentials have expired; sign in again"),
    (
        "Missing Region",
        "no AWS region is set; set AWS_REGION, or name a DynamoDB API with --endpoint",
    ),
    (
        "credential provider was not enabled",
        "there are no AWS credentials; set AWS_PROFILE, or name a DynamoDB API with --endpoint",
    ),
    (
        "loading credentials",
        "the AWS credentials cannot be had; check AWS_PROFILE, or name a DynamoDB API with --endpoint",
    ),
    (
        "not reached:",
        "DynamoDB cannot be reached; check the network and --endpoint",
    ),
];

/// The most characters of the SDK's own words that are shown.
const SDK_WORDS: usize = 300;

fn advice(error: &StoreError) -> String {
    let text = error.to_string();
    let meaning = MEANINGS.iter().find(|(sign, _)| text.contains(sign));
    meaning.map_or_else(
        || shared::text::cut(&text, SDK_WORDS).to_owned(),
        |(_, meaning)| (*meaning).to_owned(),
    )
}
