//! Conditions on custom fields (C-44).
//!
//! Invariants:
//! - A condition is kept whole or discarded whole: a discarded one neither filters nor joins.
//! - Joining has no precedence: each condition is joined to the result of all before it.
//! - A field that the funnel does not define matches no condition, not even `!=`.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::funnel::Funnel;
use crate::json::number_text;

/// One condition on a custom field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CustomFieldCondition {
    join: Join,
    /// `None` if the funnel does not define the field.
    field: Option<String>,
    test: Test,
    /// The value to compare with, in lower case.
    value: String,
}

/// How a condition is joined to the result of the conditions before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Join {
    And,
    Or,
}

/// The comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Test {
    Equal,
    Different,
    Contains,
}

/// Conditions on custom fields, joined from left to right.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Conditions(Vec<CustomFieldCondition>);

impl Conditions {
    /// Parses `filters`. Also returns the number of discarded ones, which are malformed or not on fields of
    /// opportunities (C-44).
    #[must_use]
    pub fn read(filters: &[Value]) -> (Self, usize) {
        let kept: Vec<_> = filters.iter().filter_map(CustomFieldCondition::read).collect();
        let discarded = filters.len() - kept.len();
        (Self(kept), discarded)
    }

    /// Marks fields that the funnel does not define. Their conditions are false for every record.
    #[must_use]
    pub fn of(mut self, funnel: &Funnel) -> Self {
        for condition in &mut self.0 {
            condition.field = condition.field.take().filter(|name| funnel.defines(name));
        }
        self
    }

    /// Whether there are no conditions.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether an opportunity's fields match; true without conditions.
    #[must_use]
    pub fn are_met(&self, fields: &Map<String, Value>) -> bool {
        let Some((first, rest)) = self.0.split_first() else {
            return true;
        };
        let mut texts = Texts {
            fields,
            lowered: Vec::new(),
        };
        let mut are_met = first.is_met(&mut texts);
        for condition in rest {
            are_met = match condition.join {
                Join::And => are_met && condition.is_met(&mut texts),
                Join::Or => are_met || condition.is_met(&mut texts),
            };
        }
        are_met
    }
}

/// The comparable texts of an opportunity's fields, each converted to lower case once.
struct Texts<'r> {
    fields: &'r Map<String, Value>,
    /// The texts already converted, by field; `None` for a field without value.
    lowered: Vec<(&'r str, Option<String>)>,
}

impl<'r> Texts<'r> {
    /// The comparable text of a field; `None` if it has no value.
    fn of(&mut self, field: &'r str) -> Option<&str> {
        let known = self.lowered.iter().position(|(name, _)| *name == field);
        let index = known.unwrap_or_else(|| {
            let text = self.fields.get(field).and_then(text_of);
            let in_lower_case = text.map(|text| lowered(&text).collect());
            self.lowered.push((field, in_lower_case));
            self.lowered.len() - 1
        });
        let (_, text) = self.lowered.get(index)?;
        text.as_deref()
    }
}

impl CustomFieldCondition {
    /// Parses one filter; `None` if it is discarded.
    fn read(filter: &Value) -> Option<Self> {
        let filter = filter.as_object()?;
        let properties = filter.get("properties")?.as_object()?;
        let is_of_opportunity = present(filter, "category").is_none_or(|category| category == "opportunity");
        if !is_of_opportunity || filter.get("filterType")? != "opField" {
            return None;
        }
        Some(Self {
            join: Join::read(filter.get("operator")),
            field: Some(properties.get("field")?.as_str()?.to_owned()),
            test: Test::read(present(properties, "operator"))?,
            value: lowered(properties.get("value")?.as_str()?).collect(),
        })
    }

    /// A field without value meets only `!=`.
    fn is_met<'r>(&'r self, texts: &mut Texts<'r>) -> bool {
        let Some(field) = &self.field else {
            return false;
        };
        let Some(text) = texts.of(field) else {
            return self.test == Test::Different;
        };
        match self.test {
            Test::Equal => text == self.value,
            Test::Different => text != self.value,
            Test::Contains => text.contains(&self.value),
        }
    }
}

impl Join {
    /// Operators other than OR are AND.
    fn read(operator: Option<&Value>) -> Self {
        match operator.and_then(Value::as_str) {
            Some(operator) if operator.eq_ignore_ascii_case("or") => Self::Or,
            _ => Self::And,
        }
    }
}

impl Test {
    /// `None` for an unknown operator.
    fn read(operator: Option<&Value>) -> Option<Self> {
        match operator.map_or(Some("="), Value::as_str)? {
            "=" => Some(Self::Equal),
            "!=" => Some(Self::Different),
            "contains" => Some(Self::Contains),
            _ => None,
        }
    }
}

/// A member that is present and not null.
fn present<'a>(object: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    object.get(name).filter(|value| !value.is_null())
}

/// The comparable text of a value: text, the canonical text of a number, or the JSON text of another value; `None` for
/// null.
fn text_of(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(Cow::Borrowed(text)),
        Value::Number(number) => Some(Cow::Owned(number_text(number))),
        other => Some(Cow::Owned(other.to_string())),
    }
}

/// Converts each character to lower case separately, so that substrings stay substrings. [`str::to_lowercase`] converts
/// a Greek sigma by its position in the word.
fn lowered(text: &str) -> impl Iterator<Item = char> {
    text.chars().flat_map(char::to_lowercase)
}

#[cfg(test)]
mod tests;
