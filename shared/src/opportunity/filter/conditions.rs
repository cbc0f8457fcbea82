//! Conditions on custom fields (C-44).
//!
//! What must stay true:
//! - A condition is kept whole or discarded whole: a discarded one neither filters nor joins.
//! - Joining has no precedence: each condition is joined to the result of all before it.
//! - A field that the funnel does not define meets no condition, `!=` included.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::funnel::Funnel;
use crate::json::number_text;

/// One condition on a custom field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    join: Join,
    /// The field's name; `None` where the funnel does not define it.
    field: Option<String>,
    test: Test,
    /// What the field is compared with, in lower case.
    value: String,
}

/// How a condition is joined to the result of those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Join {
    And,
    Or,
}

/// How a field is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Test {
    Equal,
    Different,
    Contains,
}

/// Conditions on custom fields, joined from left to right.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Conditions(Vec<Condition>);

impl Conditions {
    /// Reads `filters`; with it, how many conditions were discarded.
    #[must_use]
    pub fn read(filters: &[Value]) -> (Self, usize) {
        let kept: Vec<_> = filters.iter().filter_map(Condition::read).collect();
        let discarded = filters.len() - kept.len();
        (Self(kept), discarded)
    }

    /// The same with the fields that a funnel does not define known as such: a condition on one is false for every
    /// record.
    #[must_use]
    pub fn of(mut self, funnel: &Funnel) -> Self {
        for condition in &mut self.0 {
            condition.field = condition.field.take().filter(|name| funnel.defines(name));
        }
        self
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the fields of an opportunity meet them; none are always met.
    #[must_use]
    pub fn hold(&self, fields: &Map<String, Value>) -> bool {
        let Some((first, rest)) = self.0.split_first() else {
            return true;
        };
        let mut texts = Texts {
            fields,
            lowered: Vec::new(),
        };
        let mut met = first.is_met(&mut texts);
        for condition in rest {
            met = match condition.join {
                Join::And => met && condition.is_met(&mut texts),
                Join::Or => met || condition.is_met(&mut texts),
            };
        }
        met
    }
}

/// What the fields of one opportunity are compared by: each is put into lower case once, however many conditions ask for it.
struct Texts<'r> {
    fields: &'r Map<String, Value>,
    lowered: Vec<(&'r str, Option<String>)>,
}

impl<'r> Texts<'r> {
    /// `None` where the field has no value.
    fn of(&mut self, field: &'r str) -> Option<&str> {
        let known = self.lowered.iter().position(|(name, _)| *name == field);
        let at = known.unwrap_or_else(|| {
            let text = self.fields.get(field).and_then(text_of);
            let text = text.map(|text| lowered(&text).collect());
            self.lowered.push((field, text));
            self.lowered.len() - 1
        });
        self.lowered.get(at)?.1.as_deref()
    }
}

impl Condition {
    /// Reads one of `filters`; `None` where it is discarded.
    fn read(filter: &Value) -> Option<Self> {
        let filter = filter.as_object()?;
        let properties = filter.get("properties")?.as_object()?;
        let category = present(filter, "category").is_none_or(|category| category == "opportunity");
        let kept = category && filter.get("filterType")? == "opField";
        kept.then_some(Self {
            join: Join::read(filter.get("operator")),
            field: Some(properties.get("field")?.as_str()?.to_owned()),
            test: Test::read(present(properties, "operator"))?,
            value: lowered(properties.get("value")?.as_str()?).collect(),
        })
    }

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
    /// Whatever is not OR is AND.
    fn read(operator: Option<&Value>) -> Self {
        match operator.and_then(Value::as_str) {
            Some(operator) if operator.eq_ignore_ascii_case("or") => Self::Or,
            _ => Self::And,
        }
    }
}

impl Test {
    /// `None` for an operator that does not filter.
    fn read(operator: Option<&Value>) -> Option<Self> {
        match operator.map_or(Some("="), Value::as_str)? {
            "=" => Some(Self::Equal),
            "!=" => Some(Self::Different),
            "contains" => Some(Self::Contains),
            _ => None,
        }
    }
}

/// A member that is there and not null.
fn present<'a>(object: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    object.get(name).filter(|value| !value.is_null())
}

/// What a field is compared by: text as it is, a number in its one spelling, a boolean as its JSON text; `None` where there
/// is no value.
fn text_of(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(Cow::Borrowed(text)),
        Value::Number(number) => Some(Cow::Owned(number_text(number))),
        other => Some(Cow::Owned(other.to_string())),
    }
}

/// Each character in lower case by itself: a part of a text then stays a part of it, while [`str::to_lowercase`] writes
/// a Greek sigma by its place in the word.
fn lowered(text: &str) -> impl Iterator<Item = char> {
    text.chars().flat_map(char::to_lowercase)
}

#[cfg(test)]
mod tests;
