//! The kinds of records in lines. A new kind is a file here, a name in [`Kind`] and a line in `with_kind`.

mod answers;
mod automations;
mod calendars;
mod calls;
mod companies;
mod dated;
mod directory;
mod events;
pub(crate) mod faults;
mod files;
mod funnels;
mod hooks;
mod kind;
mod labels;
mod leads;
mod meetings;
mod opportunities;
mod placeholders;
mod prelude;
mod profiles;
pub(crate) mod references;
mod reports;
mod tickets;
pub(crate) mod users;

#[cfg(test)]
mod tests;

use std::borrow::Borrow as _;

use serde_json::Value;
use shared::ids::{CallId, EventId, LeadId, MAX_ID};
use shared::input::flag;

use crate::line::{self, Fields};

pub use crate::batch::Mode;
pub use automations::Automations;
pub use calendars::Calendars;
pub use calls::{CallLine, Calls};
pub use companies::Companies;
pub use dated::Dated;
pub use directory::{Departments, Groups, Settings};
pub use events::Events;
pub use faults::nearest;
pub use files::Files;
pub use funnels::Funnels;
pub use hooks::Hooks;
pub use kind::{ANOTHER_RECORD, ExportKind, ImportKind, Kind, LineOf, RecordKind, Written};
pub use labels::{LossReasons, Tags};
pub use leads::Leads;
pub use meetings::Meetings;
pub use opportunities::Opportunities;
pub use profiles::Profiles;
pub use reports::Reports;
pub use tickets::Tickets;
pub use users::Users;

/// Evaluates an expression with `$K` as the type of a kind.
macro_rules! with_kind {
    ($kind:expr, $K:ident => $body:expr) => {
        with_kind!($kind, $K => $body; Settings Departments Groups Users Profiles Tags LossReasons Companies Leads Funnels
            Opportunities Calendars Meetings Tickets Files Calls Events Reports Hooks Automations)
    };
    ($kind:expr, $K:ident => $body:expr; $($name:ident)*) => {
        match $kind { $(Kind::$name => { type $K = $name; $body })* }
    };
}
#[cfg(feature = "fuzzing")]
pub(crate) use with_kind;

/// The largest id of an imported record, so that a sequence continues above it (C-11).
const MAX_IMPORTED_ID: u64 = 899_999_999_999_999;

/// An import's note of a valid line, to compare it with the other lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CheckedLine {
    pub kind: Kind,
    pub identity: u64,
    pub event: Option<EventId>,
    pub lead: Option<LeadId>,
    /// Names of custom fields.
    pub custom: Vec<String>,
    /// Its warnings, without the number of the line.
    pub warnings: Vec<String>,
    /// Whether an existing record gets only what it lacks.
    pub merges: bool,
}

/// Checks a line by itself. An error contains all faults of the line, for the import's report.
pub(crate) fn check_line(text: &str) -> Result<CheckedLine, String> {
    let (kind, fields, merges) = open_merging(text)?;
    with_kind!(kind, K => check_line_as::<K>(fields, text, merges))
}

fn check_line_as<K: RecordKind>(fields: Fields, text: &str, merges: bool) -> Result<CheckedLine, String> {
    let line = match K::parse(fields) {
        Ok(line) => line,
        Err(reason) => return Err(faults::all::<K>(&open(text)?.1, reason)),
    };
    Ok(CheckedLine {
        kind: K::KIND,
        identity: K::identity(line.borrow()),
        event: K::event(line.borrow()).map(|(event, _)| event),
        lead: K::lead(line.borrow()),
        custom: K::custom(line.borrow()).map(str::to_owned).collect(),
        warnings: K::warnings(line.borrow()),
        merges,
    })
}

/// The fields that lines of a kind may have, without custom fields. Empty if the kind's type does not state them.
#[must_use]
pub fn field_names(kind: Kind) -> &'static [&'static str] {
    with_kind!(kind, K => K::field_names())
}

/// The kind of a line and its other fields.
pub(crate) fn open(text: &str) -> Result<(Kind, Fields), String> {
    open_merging(text).map(|(kind, fields, _)| (kind, fields))
}

/// The kind of a line, its other fields, and whether an existing record gets only what it lacks.
pub(crate) fn open_merging(text: &str) -> Result<(Kind, Fields, bool), String> {
    let (name, mut fields) = line::open(text)?;
    let kind = Kind::named(&name).ok_or_else(|| unknown_kind(name))?;
    answers::reduce(kind, &mut fields);
    if fields
        .get("id")
        .and_then(Value::as_u64)
        .is_some_and(|id| (MAX_IMPORTED_ID + 1..=MAX_ID).contains(&id))
    {
        return Err(format!(
            "id: must be at most {MAX_IMPORTED_ID}, because later records get higher ids"
        ));
    }
    let may_merge = with_kind!(kind, K => K::MERGES);
    let merge = if may_merge {
        fields.shift_remove("merge")
    } else {
        None
    };
    let merges = match merge {
        None | Some(Value::Null) => false,
        Some(value) => flag(&value).ok_or("merge: must be true or false")?,
    };
    Ok((kind, fields, merges))
}

/// The reason for an unknown kind, with the one that it may mean, or with all.
fn unknown_kind(name: String) -> String {
    let known: Vec<_> = Kind::ALL.iter().map(|kind| kind.name()).collect();
    let advice = match faults::nearest(&name, &known) {
        Some(near) => format!("did you mean {near}?"),
        None => format!("the kinds are {}", known.join(", ")),
    };
    format!("unknown kind {}; {advice}", serde_json::Value::from(name))
}

/// Reads a line of a kind; `None` if the line is of another kind.
pub(crate) fn parse<K: RecordKind>(text: &str) -> Option<Result<K::Line, String>> {
    match open(text) {
        Ok((kind, fields)) => (kind == K::KIND).then(|| K::parse(fields)),
        Err(reason) => Some(Err(reason)),
    }
}

/// The call of an event's line; `None` for other kinds.
pub(crate) fn call_of<K: RecordKind>(line: &K::Line) -> Option<CallId> {
    K::event(line.borrow()).map(|(_, call)| call)
}
