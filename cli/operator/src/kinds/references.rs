//! The records that a record refers to, by the description of its fields.

use std::fmt;

use serde_json::Value;
use shared::integer::whole_or_text;

use super::Kind;
use super::fields::{Field, Refers};
use crate::line::Fields;

/// A record that another one refers to, by its number, which may be no valid id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Referent {
    /// A record of a kind.
    Record(Kind, u64),
    /// A column of a funnel, or of any.
    Column {
        /// The funnel.
        funnel: Option<u64>,
        /// The column.
        column: u64,
    },
}

/// A field and the record that it refers to.
#[derive(Debug)]
pub struct Reference {
    /// The field.
    pub field: String,
    /// The record.
    pub target: Referent,
    /// Whether the decision of the line requires the record, so that it need not be looked up before.
    pub is_decided: bool,
}

/// The records that a record refers to, in the order in which they are checked.
#[derive(Debug, Default)]
pub struct References(Vec<Reference>);

impl References {
    /// The references in the fields of a record.
    pub(super) fn of(described: &[Field], record: &Fields) -> Self {
        let mut found = Vec::new();
        for field in described {
            let Some(refers) = field.refers else { continue };
            for (place, parent, name) in field.names().flat_map(|path| places(record, path)) {
                for id in parent.get(name).map(ids).unwrap_or_default() {
                    let target = match refers {
                        Refers::To(kind) | Refers::Decided(kind) => Referent::Record(kind, id),
                        Refers::Column(funnel) => Referent::Column {
                            funnel: parent.get(funnel).and_then(whole_or_text),
                            column: id,
                        },
                    };
                    found.push(Reference {
                        field: format!("{place}{name}"),
                        target,
                        is_decided: matches!(refers, Refers::Decided(_)),
                    });
                }
            }
        }
        Self(found)
    }

    /// Those that are looked up before the decision of the line.
    pub fn undecided(&self) -> impl Iterator<Item = &Reference> {
        self.0.iter().filter(|reference| !reference.is_decided)
    }

    /// Those that the decision of the line requires.
    pub fn decided(&self) -> impl Iterator<Item = &Reference> {
        self.0.iter().filter(|reference| reference.is_decided)
    }

    /// The references in their order.
    pub fn iter(&self) -> std::slice::Iter<'_, Reference> {
        self.0.iter()
    }
}

/// The objects that contain the last name of a path, each with its place in the record.
fn places<'v>(record: &'v Fields, path: &'static str) -> Vec<(String, &'v Fields, &'static str)> {
    let Some((outer, name)) = path.split_once('.') else {
        return vec![(String::new(), record, path)];
    };
    let Some(list) = outer.strip_suffix("[]") else {
        let object = record.get(outer).and_then(Value::as_object);
        return object
            .map(|object| (format!("{outer}."), object, name))
            .into_iter()
            .collect();
    };
    let elements = record.get(list).and_then(Value::as_array).into_iter().flatten();
    let objects = elements.enumerate();
    let objects =
        objects.filter_map(|(at, element)| Some((format!("{list}[{at}]."), element.as_object()?, name)));
    objects.collect()
}

/// The ids that a value contains.
fn ids(value: &Value) -> Vec<u64> {
    match value {
        Value::Array(values) => values.iter().filter_map(whole_or_text).collect(),
        value => whole_or_text(value).into_iter().collect(),
    }
}

/// The reason to refuse a line if the record does not exist.
impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let field = &self.field;
        match self.target {
            Referent::Record(kind, id) => write!(f, "{field}: {} {id} does not exist", kind.name()),
            Referent::Column { funnel: None, column } => write!(f, "{field}: column {column} does not exist"),
            Referent::Column {
                funnel: Some(funnel),
                column,
            } => write!(f, "{field}: column {column} is not one of funnel {funnel}"),
        }
    }
}
