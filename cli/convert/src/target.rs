//! The use of a column.

use std::sync::LazyLock;

use domain::ids::LeadId;
use domain::lead::{DERIVED_FIELDS, Lead, WHATSAPP};
use domain::opportunity::Status;
use domain::time::Timestamp;
use serde_json::{Value, json};

use super::kind::FileKind;
use super::names::{self, ColumnField};

/// The use of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ColumnTarget {
    /// A field of a record.
    Field(FileKind, &'static str),
    /// A custom field of leads or opportunities.
    Custom(FileKind, String),
    /// No use, for this reason.
    LeftOut(&'static str),
}

/// The way in which a column may state that an opportunity is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Closing {
    /// By the word of a status.
    Word,
    /// By a value that is no "no". The first status is the likely one.
    Value(&'static [Status]),
    /// By a value, as the map states.
    Map(Status),
}

impl ColumnTarget {
    /// The field that it fills.
    pub const fn field(&self) -> Option<ColumnField> {
        match self {
            Self::Field(part, field) => Some((*part, *field)),
            _ => None,
        }
    }

    /// Parses an entry of a map: a field such as `lead.email`, a custom field such as `lead:ALIAS`, or nothing.
    ///
    /// # Errors
    /// The reason with the entries that are possible.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Ok(Self::LeftOut("by the map"));
        }
        if let Some((part, field)) = names::field(text) {
            return Ok(Self::Field(part, field));
        }
        let custom = text.split_once(':').filter(|(_, name)| !name.is_empty());
        match custom {
            Some(("lead", alias)) if !is_fixed(alias) => Ok(Self::Custom(FileKind::Lead, alias.to_owned())),
            // Any name: an opportunity's custom fields are in an object of their own.
            Some(("opportunity", name)) => Ok(Self::Custom(FileKind::Opportunity, name.to_owned())),
            _ => {
                let fields = FileKind::ALL.iter().flat_map(|part| {
                    names::fields(*part).map(move |field| format!("{}.{field}", part.name()))
                });
                let fields = fields.collect::<Vec<_>>().join(", ");
                Err(format!(
                    "{text:?} is no field; use lead:ALIAS or opportunity:NAME for a custom field, an empty text to leave the column out, or one of {fields}"
                ))
            }
        }
    }

    /// The text of a map.
    pub fn written(&self) -> String {
        match self {
            Self::Field(part, field) => format!("{}.{field}", part.name()),
            Self::Custom(part, name) => format!("{}:{name}", part.name()),
            Self::LeftOut(_) => String::new(),
        }
    }

    /// Its text in the report.
    pub fn shown(&self) -> String {
        match self {
            Self::Field(..) => self.written(),
            Self::Custom(part, name) => format!("{} custom field {name}", part.name()),
            Self::LeftOut(reason) => format!("left out: {reason}"),
        }
    }
}

/// Whether a lead has a field of this name, which no custom field can have.
pub fn is_fixed(alias: &str) -> bool {
    static FIXED: LazyLock<Value> = LazyLock::new(|| {
        let lead = LeadId::new(1).zip(Timestamp::parse("1970-01-01T00:00:00Z"));
        lead.map_or(Value::Null, |(id, date)| json!(Lead::new(id, date)))
    });
    FIXED.get(alias).is_some()
        || DERIVED_FIELDS.contains(&alias)
        || [WHATSAPP, "utmTags", "kind", "merge"].contains(&alias)
}
