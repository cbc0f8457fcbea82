//! The body of a notification: JSON with placeholders (C-102).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::ids::{ColumnId, FunnelId, LeadId, OpportunityId, UserId};
use crate::instance::InstanceName;
use crate::lead::{Lead, LeadView};
use crate::opportunity::Opportunity;
use crate::time::Timestamp;

/// Maximum placeholders of a template, because each may become a long text.
const MAX_PLACEHOLDERS: usize = 100;

/// JSON whose strings may contain `{op=<field>}` and `{contactfield=<field>}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Template(Value);

/// The record that a placeholder takes its value from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PlaceholderSource {
    /// `op`: the opportunity.
    Opportunity,
    /// `contactfield`: the lead.
    Lead,
}

/// A placeholder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Placeholder<'a> {
    /// The record.
    pub source: PlaceholderSource,
    /// The name of the field.
    pub field: &'a str,
}

/// The values of placeholders.
#[derive(Debug, Clone, Default)]
pub struct Values {
    /// Fields of the opportunity.
    pub opportunity: Map<String, Value>,
    /// Fields of the lead.
    pub lead: Map<String, Value>,
}

impl Template {
    /// The placeholders, in order.
    ///
    /// # Errors
    /// The reason why the template is invalid.
    pub fn placeholders(&self) -> Result<Vec<Placeholder<'_>>, String> {
        let mut found = Vec::new();
        collect_placeholders(&self.0, &mut found)?;
        if found.len() > MAX_PLACEHOLDERS {
            return Err(format!("must have at most {MAX_PLACEHOLDERS} placeholders"));
        }
        Ok(found)
    }

    /// The JSON with values in place of the placeholders. Absent and null values become the empty text; values that are
    /// not text become their JSON text.
    #[must_use]
    pub fn render(&self, values: &Values) -> Value {
        rendered_value(&self.0, values)
    }
}

impl Placeholder<'_> {
    /// Whether every record has a field of this name, as opposed to a custom field.
    #[must_use]
    pub fn is_fixed(&self) -> bool {
        match self.source {
            PlaceholderSource::Opportunity => example_opportunity().contains_key(self.field),
            PlaceholderSource::Lead => example_lead().contains_key(self.field),
        }
    }
}

impl Values {
    /// The text that replaces a placeholder. A custom field of an opportunity is found only if no fixed field has its
    /// name.
    fn text_of(&self, placeholder: Placeholder<'_>) -> String {
        let field = placeholder.field;
        let value = match placeholder.source {
            PlaceholderSource::Lead => self.lead.get(field),
            PlaceholderSource::Opportunity => {
                let custom = self.opportunity.get("fields");
                let custom = custom.and_then(|fields| fields.get(field));
                self.opportunity.get(field).or(custom)
            }
        };
        match value {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        }
    }
}

/// The fields of a lead as notifications contain them: the full view without its secret (C-21).
#[must_use]
pub fn lead_fields(lead: &Lead, instance: &InstanceName) -> Map<String, Value> {
    let mut fields = into_fields(json!(LeadView::full(lead, instance)));
    fields.shift_remove("initial_password");
    fields
}

/// The fields of an opportunity as notifications contain them, without its lead and company.
#[must_use]
pub fn opportunity_fields(opportunity: &Opportunity) -> Map<String, Value> {
    into_fields(json!(opportunity))
}

/// The members of an object; none of any other value.
fn into_fields(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

/// The fixed fields of a lead, with the values of an arbitrary one.
fn example_lead() -> Map<String, Value> {
    let example = || {
        let lead = Lead::new(LeadId::new(1)?, Timestamp::from_unix_millis(0)?);
        Some(lead_fields(&lead, &InstanceName::parse("example")?))
    };
    example().unwrap_or_default()
}

/// The fixed fields of an opportunity, with the values of an arbitrary one.
fn example_opportunity() -> Map<String, Value> {
    let example = || {
        let place = (FunnelId::new(1)?, ColumnId::new(1)?);
        let (id, lead, user) = (OpportunityId::new(1)?, LeadId::new(1)?, UserId::new(1)?);
        let opportunity = Opportunity::new(id, place, lead, user, Timestamp::from_unix_millis(0)?);
        Some(opportunity_fields(&opportunity))
    };
    example().unwrap_or_default()
}

/// Adds the placeholders of all strings in `value` to `found`. Names of members have none.
///
/// # Errors
/// The first unknown placeholder, with its text.
fn collect_placeholders<'a>(value: &'a Value, found: &mut Vec<Placeholder<'a>>) -> Result<(), String> {
    match value {
        Value::String(text) => {
            let mut rest = text.as_str();
            while let Some(span) = first_span(rest) {
                let unknown = || format!("{{{}={}}} is no placeholder", span.source, span.field);
                found.push(span.placeholder().ok_or_else(unknown)?);
                rest = span.after;
            }
            Ok(())
        }
        Value::Array(list) => list
            .iter()
            .try_for_each(|value| collect_placeholders(value, found)),
        Value::Object(fields) => fields
            .values()
            .try_for_each(|value| collect_placeholders(value, found)),
        _ => Ok(()),
    }
}

/// The value with the placeholders of all its strings replaced. Names of members are unchanged.
fn rendered_value(template: &Value, values: &Values) -> Value {
    match template {
        Value::String(text) => Value::String(rendered_text(text, values)),
        Value::Array(list) => list.iter().map(|item| rendered_value(item, values)).collect(),
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| (name.clone(), rendered_value(value, values)))
            .collect(),
        other => other.clone(),
    }
}

/// The text with its placeholders replaced. Unknown placeholders, which an import rejects, become empty.
fn rendered_text(template: &str, values: &Values) -> String {
    let mut text = String::new();
    let mut rest = template;
    while let Some(span) = first_span(rest) {
        text += span.before;
        if let Some(placeholder) = span.placeholder() {
            text += &values.text_of(placeholder);
        }
        rest = span.after;
    }
    text + rest
}

/// The first part of a text with the form `{<letters>=<text>}`, and the text before and after it. Other braces are
/// ordinary text.
struct PlaceholderSpan<'a> {
    before: &'a str,
    source: &'a str,
    field: &'a str,
    after: &'a str,
}

impl<'a> PlaceholderSpan<'a> {
    /// `None` if the source is unknown or the field is empty.
    fn placeholder(&self) -> Option<Placeholder<'a>> {
        let source = match self.source {
            "op" => PlaceholderSource::Opportunity,
            "contactfield" => PlaceholderSource::Lead,
            _ => return None,
        };
        if self.field.is_empty() {
            return None;
        }
        Some(Placeholder {
            source,
            field: self.field,
        })
    }
}

fn first_span(text: &str) -> Option<PlaceholderSpan<'_>> {
    let mut from = 0;
    // Each round examines the text up to the next closing brace.
    loop {
        let close = from + text.get(from..)?.find('}')?;
        // The last opening brace before the closing one belongs to it.
        if let Some(open) = text.get(from..close)?.rfind('{').map(|at| from + at)
            && let Some((source, field)) = text.get(open + 1..close)?.split_once('=')
            && !source.is_empty()
            && source.bytes().all(|byte| byte.is_ascii_alphabetic())
        {
            return Some(PlaceholderSpan {
                before: text.get(..open)?,
                source,
                field,
                after: text.get(close + 1..)?,
            });
        }
        from = close + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn template(value: Value) -> Template {
        Template(value)
    }

    fn values() -> Values {
        Values {
            opportunity: into_fields(
                json!({ "title": "Plano \"A\"", "value": "12.50", "fields": { "Cor {x}": "azul", "title": "no" } }),
            ),
            lead: into_fields(json!({ "id": 7, "firstname": "Ana", "phone": null, "tags": [1, 2] })),
        }
    }

    #[test]
    fn placeholders_become_text() {
        for (text, expected) in [
            ("{op=title}: {op=value}", "Plano \"A\": 12.50"),
            ("{contactfield=id}", "7"),
            ("<{contactfield=phone}{contactfield=none}{op=none}>", "<>"),
            ("{contactfield=tags}", "[1,2]"),
            ("{{contactfield=firstname}}", "{Ana}"),
            ("{} {a} {1=2} {op=title", "{} {a} {1=2} {op=title"),
            ("}{op=title}{", "}Plano \"A\"{"),
            ("ação {contactfield=firstname} ç", "ação Ana ç"),
        ] {
            let body = template(json!({ "a": [text, 1, null], "{op=title}": true }));
            let expected = json!({ "a": [expected, 1, null], "{op=title}": true });
            assert_eq!(body.render(&values()), expected, "{text}");
        }
    }

    #[test]
    fn unknown_and_too_many_placeholders_are_refused() {
        for (text, told) in [
            ("{deal=title}", "{deal=title} is no placeholder"),
            ("{op=}", "{op=} is no placeholder"),
            ("{OP=title}", "{OP=title} is no placeholder"),
        ] {
            let body = template(json!(["{op=title}", { "a": text }]));
            assert_eq!(body.placeholders().unwrap_err(), told);
        }
        let many = |count| template(json!("{op=title}".repeat(count)));
        assert_eq!(many(100).placeholders().unwrap().len(), 100);
        assert_eq!(
            many(101).placeholders().unwrap_err(),
            "must have at most 100 placeholders"
        );
    }

    /// The password is never sent (C-21).
    #[test]
    fn fixed_fields_are_those_of_every_record() {
        let fixed = |source, field| Placeholder { source, field }.is_fixed();
        for (field, known) in [
            ("fullname", true),
            ("phone", true),
            ("initial_password", false),
            ("cpf", false),
        ] {
            assert_eq!(fixed(PlaceholderSource::Lead, field), known, "{field}");
        }
        for (field, known) in [("title", true), ("crm_column", true), ("cpf", false)] {
            assert_eq!(fixed(PlaceholderSource::Opportunity, field), known, "{field}");
        }
    }
}
