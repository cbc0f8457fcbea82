//! Texts with placeholders: the body of a notification, its address and headers, and the title of a new opportunity
//! (C-102).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::ids::{ColumnId, FunnelId, LeadId, OpportunityId, UserId};
use crate::instance::InstanceName;
use crate::lead::{Lead, LeadView};
use crate::opportunity::Opportunity;
use crate::time::Timestamp;

/// Maximum placeholders of a template, because each may become a long text.
const MAX_PLACEHOLDERS: usize = 100;

/// Further names of an opportunity's values, which notifications of other systems use: the column's name, `gain_date`,
/// the user's id and first name, and the funnel.
pub const OPPORTUNITY_NAMES: [&str; 5] = ["etapa", "gainDate", "user_id", "userFirstName", "funil_id"];
/// Maximum bytes of a header's value with its placeholders replaced.
const MAX_HEADER: usize = 1000;

/// JSON whose strings may contain `{op=<field>}`, `{contactfield=<field>}` and `{form=<field>}`.
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
    /// `form`: the submission.
    Form,
}

impl PlaceholderSource {
    /// Its name in placeholders.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Opportunity => "op",
            Self::Lead => "contactfield",
            Self::Form => "form",
        }
    }
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
    /// Fields of the submission.
    pub form: Map<String, Value>,
}

impl Template {
    /// The placeholders, in order.
    ///
    /// # Errors
    /// The reason why the template is invalid.
    pub fn placeholders(&self) -> Result<Vec<Placeholder<'_>>, String> {
        let mut found = Vec::new();
        collect_placeholders(&self.0, &mut found)?;
        limited(found)
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
        self.fixed_names().iter().any(|name| name == self.field)
    }

    /// The names that stand for fixed fields of its source.
    #[must_use]
    pub fn fixed_names(&self) -> Vec<String> {
        match self.source {
            PlaceholderSource::Opportunity => {
                let more = OPPORTUNITY_NAMES.map(str::to_owned);
                example_opportunity()
                    .into_iter()
                    .map(|(name, _)| name)
                    .chain(more)
                    .collect()
            }
            PlaceholderSource::Lead => example_lead().into_iter().map(|(name, _)| name).collect(),
            PlaceholderSource::Form => Vec::new(),
        }
    }
}

fn limited(found: Vec<Placeholder<'_>>) -> Result<Vec<Placeholder<'_>>, String> {
    if found.len() > MAX_PLACEHOLDERS {
        return Err(format!("must have at most {MAX_PLACEHOLDERS} placeholders"));
    }
    Ok(found)
}

/// The placeholders of a text, in order.
///
/// # Errors
/// The reason why the text is invalid.
pub fn placeholders_of(text: &str) -> Result<Vec<Placeholder<'_>>, String> {
    let mut found = Vec::new();
    collect_from_text(text, &mut found)?;
    limited(found)
}

/// A text with its placeholders replaced.
#[must_use]
pub fn rendered(text: &str, values: &Values) -> String {
    rendered_text(text, |placeholder| values.text_of(placeholder))
}

/// Path and query of an address with its placeholders replaced by percent-encoded values.
///
/// # Errors
/// The reason why nothing may be sent: a value makes a segment of the path that leads elsewhere.
pub fn rendered_path(path: &str, values: &Values) -> Result<String, &'static str> {
    // Values have no such character, and an address has none outside of placeholders.
    const MARK: char = '\0';
    let marked = rendered_text(path, |placeholder| {
        format!("{MARK}{}", percent_encode(&values.text_of(placeholder)))
    });
    let path = marked.split_once('?').map_or(marked.as_str(), |(path, _)| path);
    for segment in path.split('/').filter(|segment| segment.contains(MARK)) {
        let segment = segment.replace(MARK, "").replace("%2e", ".").replace("%2E", ".");
        if ["", ".", ".."].contains(&segment.as_str()) {
            return Err("a value makes an empty segment of the address, or one of dots");
        }
    }
    Ok(marked.replace(MARK, ""))
}

/// A text with a letter in place of each placeholder.
#[must_use]
pub fn with_example_values(text: &str) -> String {
    rendered_text(text, |_| "x".to_owned())
}

/// The value of a header with its placeholders replaced, without control characters, cut at [`MAX_HEADER`] bytes.
#[must_use]
pub fn rendered_header(text: &str, values: &Values) -> String {
    let mut header = String::new();
    let mut text = rendered(text, values);
    text.retain(|character| !character.is_control());
    for byte in text.bytes() {
        let encoded = match byte {
            b' '..=b'~' => char::from(byte).to_string(),
            _ => format!("%{byte:02X}"),
        };
        if header.len() + encoded.len() > MAX_HEADER {
            break;
        }
        header.push_str(&encoded);
    }
    header.trim().to_owned()
}

/// All bytes but unreserved ones of RFC 3986 as `%XX`.
fn percent_encode(text: &str) -> String {
    let encoded = text.bytes().map(|byte| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    });
    encoded.collect()
}

impl Values {
    /// The text that replaces a placeholder. A custom field of an opportunity is found only if no fixed field has its
    /// name.
    fn text_of(&self, placeholder: Placeholder<'_>) -> String {
        let field = placeholder.field;
        let value = match placeholder.source {
            PlaceholderSource::Lead => self.lead.get(field),
            PlaceholderSource::Form => self.form.get(field),
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

/// Adds the placeholders of all strings in `value` to `found`.
///
/// # Errors
/// The first unknown placeholder, or the first in the name of a member, with its text.
fn collect_placeholders<'a>(value: &'a Value, found: &mut Vec<Placeholder<'a>>) -> Result<(), String> {
    match value {
        Value::String(text) => collect_from_text(text, found),
        Value::Array(list) => list
            .iter()
            .try_for_each(|value| collect_placeholders(value, found)),
        Value::Object(fields) => fields.iter().try_for_each(|(name, value)| {
            if let Some(PlaceholderSpan { source, field, .. }) = first_span(name) {
                return Err(format!(
                    "{{{source}={field}}} must not stand in the name of a field"
                ));
            }
            collect_placeholders(value, found)
        }),
        _ => Ok(()),
    }
}

/// Adds the placeholders of a text to `found`.
fn collect_from_text<'a>(text: &'a str, found: &mut Vec<Placeholder<'a>>) -> Result<(), String> {
    let mut rest = text;
    while let Some(span) = first_span(rest) {
        let unknown = || format!("{{{}={}}} is no placeholder", span.source, span.field);
        found.push(span.placeholder().ok_or_else(unknown)?);
        rest = span.after;
    }
    Ok(())
}

/// The value with the placeholders of all its strings replaced. Names of members are unchanged.
fn rendered_value(template: &Value, values: &Values) -> Value {
    match template {
        Value::String(text) => Value::String(rendered(text, values)),
        Value::Array(list) => list.iter().map(|item| rendered_value(item, values)).collect(),
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| (name.clone(), rendered_value(value, values)))
            .collect(),
        other => other.clone(),
    }
}

/// The text with its placeholders replaced. Unknown placeholders, which an import rejects, become empty.
fn rendered_text(template: &str, value: impl Fn(Placeholder<'_>) -> String) -> String {
    let mut text = String::new();
    let mut rest = template;
    while let Some(span) = first_span(rest) {
        text += span.before;
        if let Some(placeholder) = span.placeholder() {
            text += &value(placeholder);
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
            "form" => PlaceholderSource::Form,
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
            form: into_fields(json!({ "mensagem": "Olá, a/b?\r\nx:\u{85} y", "a/b?": "c" })),
        }
    }

    /// C-102.
    #[test]
    fn addresses_and_headers_take_no_more_than_values() {
        for (path, rendered) in [
            ("/a?id=eq.{op=value}", Ok("/a?id=eq.12.50")),
            ("/{contactfield=firstname}/x", Ok("/Ana/x")),
            (
                "/{form=mensagem}?q={form=mensagem}",
                Ok(
                    "/Ol%C3%A1%2C%20a%2Fb%3F%0D%0Ax%3A%C2%85%20y?q=Ol%C3%A1%2C%20a%2Fb%3F%0D%0Ax%3A%C2%85%20y",
                ),
            ),
            ("/x/{contactfield=phone}", Err(())),
            ("/x?{contactfield=phone}", Ok("/x?")),
            ("/{form=a/b?}/{form=a/b?}?{form=a/b?}", Ok("/c/c?c")),
            ("//x/", Ok("//x/")),
        ] {
            let found = rendered_path(path, &values()).map_err(|_| ());
            assert_eq!(found, rendered.map(str::to_owned), "{path}");
        }
        let dots = Values {
            form: into_fields(json!({ "a": "..", "b": "." })),
            ..values()
        };
        for path in [
            "/{form=a}/x",
            "/{form=b}",
            "/.{form=b}/",
            "/x/{form=b}{form=b}",
            "/%2e{form=b}",
            "/{form=b}%2E/x",
        ] {
            assert!(rendered_path(path, &dots).is_err(), "{path}");
        }
        assert_eq!(
            rendered_header("id {contactfield=id}; {form=mensagem}", &values()),
            "id 7; Ol%C3%A1, a/b?x: y"
        );
        let long = Values {
            form: into_fields(json!({ "a": "ã".repeat(500) })),
            ..values()
        };
        assert_eq!(rendered_header("{form=a}", &long), "%C3%A3".repeat(166) + "%C3");
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
        let named = template(json!([{ "a": { "x {op=title}": 1 } }]));
        let told = "{op=title} must not stand in the name of a field";
        assert_eq!(named.placeholders().unwrap_err(), told);
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
