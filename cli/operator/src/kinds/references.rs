//! The records that a line refers to.

use std::borrow::Cow;
use std::fmt;

/// The records that a line refers to, in the order in which they are checked.
#[derive(Debug, Default)]
pub struct References(Vec<Reference>);

/// A field and the record that it refers to.
#[derive(Debug)]
pub struct Reference {
    field: Cow<'static, str>,
    /// The record.
    pub target: Referent,
}

/// A record by its number, which may be no valid id.
#[derive(Debug, Clone, Copy)]
pub enum Referent {
    User(u64),
    Department(u64),
    Group(u64),
    Company(u64),
    Tag(u64),
    Lead(u64),
    Hook(u64),
    Opportunity(u64),
    Calendar(u64),
    Ticket(u64),
    Funnel(u64),
    /// A column of any funnel.
    Column(u64),
    /// A column of a funnel, and the fault if the funnel lacks it.
    ColumnOf {
        funnel: u64,
        column: u64,
        lacking: fn(u64, u64) -> String,
    },
}

impl Reference {
    /// The field.
    pub fn field(&self) -> &str {
        &self.field
    }
}

impl References {
    /// Adds the records that a field refers to.
    pub fn add<I: Into<u64>>(
        &mut self,
        field: &'static str,
        target: fn(u64) -> Referent,
        ids: impl IntoIterator<Item = I>,
    ) {
        for id in ids {
            self.push(field, target(id.into()));
        }
    }

    /// Adds one record.
    pub fn push(&mut self, field: impl Into<Cow<'static, str>>, target: Referent) {
        let field = field.into();
        self.0.push(Reference { field, target });
    }

    /// Adds the references of a part of the line. Their fields get the prefix `part`.
    pub fn add_within(&mut self, part: &str, references: Self) {
        for Reference { field, target } in references.0 {
            self.push(format!("{part}.{field}"), target);
        }
    }

    /// The references in their order.
    pub fn iter(&self) -> std::slice::Iter<'_, Reference> {
        self.0.iter()
    }
}

/// The reason to refuse a line if the record does not exist.
impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, id) = match self.target {
            Referent::User(id) => ("user", id),
            Referent::Department(id) => ("department", id),
            Referent::Group(id) => ("group", id),
            Referent::Company(id) => ("company", id),
            Referent::Tag(id) => ("tag", id),
            Referent::Lead(id) => ("lead", id),
            Referent::Hook(id) => ("hook", id),
            Referent::Opportunity(id) => ("opportunity", id),
            Referent::Calendar(id) => ("calendar", id),
            Referent::Ticket(id) => ("ticket", id),
            Referent::Funnel(id) => ("funnel", id),
            Referent::Column(id) => ("column", id),
            Referent::ColumnOf {
                funnel,
                column,
                lacking,
            } => return write!(f, "{}: {}", self.field, lacking(funnel, column)),
        };
        write!(f, "{}: {kind} {id} does not exist", self.field)
    }
}
