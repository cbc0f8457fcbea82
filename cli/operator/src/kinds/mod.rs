//! The kinds of records. A kind is one file here, which describes its lines, references, storage, import and export, and
//! a name in [`each_kind`].

mod automations;
mod calendars;
mod calls;
mod companies;
mod dated;
mod directory;
mod events;
pub(crate) mod faults;
mod fields;
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
mod references;
mod reports;
pub(crate) mod storage;
mod tickets;
pub(crate) mod users;

#[cfg(test)]
mod tests;

use std::borrow::Borrow as _;

use serde_json::Value;
use shared::ids::{CallId, EventId, LeadId, MAX_ID, MAX_IMPORTED_ID};
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
pub use fields::{Field, Shape};
pub use files::Files;
pub use funnels::Funnels;
pub use hooks::Hooks;
pub use kind::{ANOTHER_RECORD, LineOf, RecordKind, StoredKind, Written};
pub use labels::{LossReasons, Tags};
pub use leads::Leads;
pub use meetings::Meetings;
pub use opportunities::Opportunities;
pub use profiles::Profiles;
pub(crate) use references::{Reference, References, Referent};
pub use reports::Reports;
pub(crate) use storage::Storage;
pub use tickets::Tickets;
pub use users::Users;

/// Gives the list of kinds to a macro, after its other input. The order is that of imports and exports: each kind after
/// those to which it refers.
macro_rules! each_kind {
    ($then:ident $($input:tt)*) => {
        $then! { $($input)*
            [Settings "setting", Departments "department", Groups "group"]
            [Users "user", Profiles "profile", Tags "tag", LossReasons "lossReason", Companies "company", Leads "lead",
            Funnels "funnel", Opportunities "opportunity", Calendars "calendar", Meetings "meeting", Tickets "ticket",
            Files "file", Hooks "hook", Calls "call", Events "event", Reports "report", Automations "automation"]
        }
    };
}
pub(crate) use each_kind;

macro_rules! declare {
    ([$($part:ident $part_name:literal),*] [$($stored:ident $name:literal),*]) => {
        /// The kinds, in the order of imports and exports.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        #[expect(missing_docs, reason = "the names are those of the records")]
        pub enum Kind { $($part,)* $($stored),* }

        impl Kind {
            /// All kinds.
            pub const ALL: &[Self] = &[$(Self::$part,)* $(Self::$stored),*];
            /// The kinds with records of their own. The others are parts of the directory.
            pub const STORED: &[Self] = &[$(Self::$stored),*];

            /// The name, as in a line of an import.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$part => $part_name,)* $(Self::$stored => $name),* }
            }
        }
    };
}
each_kind!(declare);

/// Evaluates an expression with `$K` as the type of a kind.
macro_rules! with_kind {
    (($kind:expr, $K:ident => $body:expr) [$($part:ident $_p:literal),*] [$($stored:ident $_s:literal),*]) => {
        match $kind {
            $($crate::kinds::Kind::$part => { type $K = $crate::kinds::$part; $body })*
            $($crate::kinds::Kind::$stored => { type $K = $crate::kinds::$stored; $body })*
        }
    };
    ($kind:expr, $K:ident => $body:expr) => { $crate::kinds::each_kind!(with_kind ($kind, $K => $body)) };
}
#[cfg(any(feature = "fuzzing", test))]
pub(crate) use with_kind;

/// As [`with_kind`], for the kinds with records of their own; for the others `$other`.
macro_rules! with_stored {
    (($kind:expr, $K:ident => $body:expr, $other:expr) [$($part:ident $_p:literal),*] [$($stored:ident $_s:literal),*]) => {
        match $kind {
            $($crate::kinds::Kind::$part)|* => $other,
            $($crate::kinds::Kind::$stored => { type $K = $crate::kinds::$stored; $body })*
        }
    };
    ($kind:expr, $K:ident => $body:expr, $other:expr) => {
        $crate::kinds::each_kind!(with_stored ($kind, $K => $body, $other))
    };
}
pub(crate) use with_stored;

impl Kind {
    /// The kind with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.name() == name)
    }

    /// The fields of a line.
    #[must_use]
    pub fn fields(self) -> &'static [Field] {
        with_kind!(self, K => K::FIELDS)
    }

    /// The names of the fields that a line may have, without custom fields.
    #[must_use]
    pub fn field_names(self) -> Vec<&'static str> {
        let fields = self.fields().iter().filter(|field| field.is_read());
        fields.flat_map(Field::names).collect()
    }

    /// The storage of the records; `None` for a part of the directory.
    pub(crate) fn storage(self) -> Option<&'static Storage> {
        with_stored!(self, K => Some(&K::STORAGE), None)
    }
}

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
    let record = line.borrow();
    if K::GROWS {
        line::limits::size(&K::export(record).unwrap_or_default())?;
    }
    Ok(CheckedLine {
        kind: K::KIND,
        identity: K::identity(record),
        event: K::event(record).map(|(event, _)| event),
        lead: K::lead(record),
        custom: K::custom(record).map(str::to_owned).collect(),
        warnings: K::warnings(record),
        merges,
    })
}

/// The kind of a line and its other fields.
pub(crate) fn open(text: &str) -> Result<(Kind, Fields), String> {
    open_merging(text).map(|(kind, fields, _)| (kind, fields))
}

/// The kind of a line, its other fields, and whether an existing record gets only what it lacks.
pub(crate) fn open_merging(text: &str) -> Result<(Kind, Fields, bool), String> {
    let (name, mut fields) = line::open(text)?;
    let kind = Kind::named(&name).ok_or_else(|| unknown_kind(name))?;
    with_kind!(kind, K => fields::reduce(K::FIELDS, &mut fields));
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
