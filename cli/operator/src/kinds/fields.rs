//! The fields of a line: names, types, rules and the kinds of records that they refer to. A line is read by this
//! description, and docs/records.md is printed from it.

use serde::de::DeserializeOwned;
use serde_json::Value;
use shared::input::person_text;
use shared::number::storable;
use shared::phone::digits;

use super::Kind;
use crate::line::{self, Fields};

/// Fields with the same properties.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// The names, separated by spaces. A field inside another one has a path: `access.users`, `actions[].user`.
    names: &'static str,
    /// The type.
    pub shape: Shape,
    /// Whether a line must have the fields.
    pub needed: bool,
    /// The default as JSON; `None` for null and for an empty list or object.
    pub default: Option<&'static str>,
    /// A remark for the documentation.
    pub note: &'static str,
    /// An example of a value for the reasons of refusals.
    example: &'static str,
    /// Maximum characters of a text.
    max: usize,
    /// Whether a text must not be empty.
    is_filled: bool,
    /// Whether responses contain the record, or the list of records, that the field refers to.
    is_embedded: bool,
    pub(super) refers: Option<Refers>,
}

/// The type of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of the documentation")]
pub enum Shape {
    Id,
    Ids,
    Text,
    /// Text of a person, which every door reads alike (C-108).
    Person,
    /// Text of which only the digits are kept.
    Digits,
    TextOrNumber,
    Scalar,
    /// A number that the table stores exactly, also as text (C-6).
    Number,
    NumberOrText,
    Amount,
    Integer,
    Flag,
    ZeroOrOne,
    Time,
    /// One of these values, separated by spaces.
    OneOf(&'static str),
    Texts,
    List,
    Object,
    Objects,
    Any,
    /// A field of responses that an import ignores.
    ReadOnly,
}

/// The records that fields refer to.
#[derive(Debug, Clone, Copy)]
pub(super) enum Refers {
    /// Records of a kind, which an import requires.
    To(Kind),
    /// Records of a kind, which the decision of the line requires.
    Decided(Kind),
    /// Columns of the funnel that a neighbouring field names, or of any funnel without such a field.
    Column(&'static str),
}

/// A description of fields that a line may omit.
pub(super) const fn field(shape: Shape, names: &'static str) -> Field {
    Field {
        names,
        shape,
        needed: false,
        default: None,
        note: "",
        example: "",
        max: usize::MAX,
        is_filled: false,
        is_embedded: false,
        refers: None,
    }
}

/// The description of an `id` that every line has.
pub(super) const ID: Field = field(Shape::Id, "id").needed();

impl Field {
    /// A line must have the fields.
    pub(super) const fn needed(mut self) -> Self {
        self.needed = true;
        self
    }

    /// The default as JSON.
    pub(super) const fn or(mut self, default: &'static str) -> Self {
        self.default = Some(default);
        self
    }

    /// A remark for the documentation.
    pub(super) const fn note(mut self, note: &'static str) -> Self {
        self.note = note;
        self
    }

    /// An example of a value.
    pub(super) const fn such_as(mut self, example: &'static str) -> Self {
        self.example = example;
        self
    }

    /// Texts have at most `max` characters.
    pub(super) const fn up_to(mut self, max: usize) -> Self {
        self.max = max;
        self
    }

    /// Texts must not be empty.
    pub(super) const fn filled(mut self) -> Self {
        self.is_filled = true;
        self
    }

    /// Responses contain the record in place of its id.
    pub(super) const fn embedded(mut self) -> Self {
        self.is_embedded = true;
        self
    }

    /// The fields are ids of records that an import requires.
    pub(super) const fn refers(mut self, kind: Kind) -> Self {
        self.refers = Some(Refers::To(kind));
        self
    }

    /// The fields are ids of records that the decision of the line requires.
    pub(super) const fn decided(mut self, kind: Kind) -> Self {
        self.refers = Some(Refers::Decided(kind));
        self
    }

    /// The fields are columns of the funnel in the neighbouring field `funnel`, or of any if there is none.
    pub(super) const fn column_of(mut self, funnel: &'static str) -> Self {
        self.refers = Some(Refers::Column(funnel));
        self
    }

    /// The names.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.names.split(' ')
    }

    /// Whether the fields are inside another one.
    #[must_use]
    pub fn is_inner(&self) -> bool {
        self.names.contains('.')
    }

    /// Whether a line has the fields, and an import reads them.
    #[must_use]
    pub fn is_read(&self) -> bool {
        !self.is_inner() && self.shape != Shape::ReadOnly
    }

    /// Maximum characters of a text, if there is one.
    #[must_use]
    pub fn max(&self) -> Option<usize> {
        (self.max < usize::MAX).then_some(self.max)
    }

    /// Whether a text must not be empty.
    #[must_use]
    pub fn is_filled(&self) -> bool {
        self.is_filled
    }

    /// Whether the fields may refer to records of a kind. Columns belong to funnels.
    #[must_use]
    pub fn may_refer_to(&self, kind: Kind) -> bool {
        match self.refers {
            Some(Refers::To(referred) | Refers::Decided(referred)) => referred == kind,
            Some(Refers::Column(_)) => kind == Kind::Funnels,
            None => false,
        }
    }

    /// Brings a value into the form in which the record has it. A value of another type stays for the reader of the record.
    fn read(&self, value: &mut Value) -> Result<(), String> {
        // Empty text stays, because an export may hold it.
        if matches!(self.shape, Shape::Person | Shape::Digits)
            && *value != ""
            && let Ok(text) = person_text(value)
        {
            *value = text.into();
        }
        let own = match (self.shape, &*value) {
            (Shape::Digits, Value::String(text)) => Some(digits(text).into()),
            (Shape::Number, Value::String(text)) => text.trim().parse().ok().map(Value::Number),
            _ => None,
        };
        if let Some(own) = own {
            *value = own;
        }
        match value {
            Value::Number(number) if matches!(self.shape, Shape::Number | Shape::NumberOrText) => {
                *number = storable(number).map_err(ToString::to_string)?;
            }
            Value::String(text) if self.is_filled && text.is_empty() => {
                return Err("must not be empty".to_owned());
            }
            Value::String(text) if text.len() > self.max && text.chars().count() > self.max => {
                return Err(format!("must have at most {} characters", self.max));
            }
            _ => {}
        }
        Ok(())
    }
}

impl Shape {
    /// The name in the documentation.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Id => "id",
            Self::Ids => "list of ids",
            Self::Text | Self::Person | Self::Digits => "text",
            Self::TextOrNumber => "text or number",
            Self::Scalar => "text, number or flag",
            Self::Number => "number",
            Self::NumberOrText => "number or text",
            Self::Amount => "amount, number or text",
            Self::Integer => "integer",
            Self::Flag => "flag",
            Self::ZeroOrOne => "0 or 1",
            Self::Time => "time",
            Self::OneOf(_) => "one of",
            Self::Texts => "list of texts",
            Self::List => "list",
            Self::Object => "object",
            Self::Objects => "list of objects",
            Self::Any => "any value",
            Self::ReadOnly => "read-only",
        }
    }
}

/// An example of a field's value; empty if it needs none.
pub fn example(described: &[Field], name: &str) -> &'static str {
    let described = described
        .iter()
        .find(|field| field.names().any(|own| own == name));
    described.map_or("", |field| field.example)
}

/// Accepts a record in the form of responses (C-105): removes read-only fields, and replaces embedded records by their ids.
pub fn reduce(described: &[Field], fields: &mut Fields) {
    for field in described {
        for name in field.names() {
            if field.shape == Shape::ReadOnly {
                fields.shift_remove(name);
            }
            match fields.get_mut(name).filter(|_| field.is_embedded) {
                Some(Value::Array(list)) => list.iter_mut().for_each(replace_by_id),
                Some(value) => replace_by_id(value),
                None => {}
            }
        }
    }
}

/// Replaces an embedded record by its id.
fn replace_by_id(value: &mut Value) {
    if let Some(id) = value.get("id").filter(|_| value.is_object()).cloned() {
        *value = id;
    }
}

/// Reads a record by the description of its fields. An error begins with the field's name.
pub fn read<T: DeserializeOwned>(described: &[Field], mut fields: Fields) -> Result<T, String> {
    let mut broken = None;
    for field in described {
        for name in field.names() {
            if let Some(value) = fields.get_mut(name)
                && let Err(rule) = field.read(value)
            {
                broken.get_or_insert_with(|| format!("{name}: {rule}"));
            }
        }
    }
    let record = line::read(fields)?;
    broken.map_or(Ok(record), Err)
}
