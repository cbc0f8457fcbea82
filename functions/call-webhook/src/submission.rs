//! A submission: fields in the query and in the body (C-101), with the limits of C-54.
//!
//! A body that begins with `{` is JSON with any content type, because browsers send JSON and forms as `text/plain`,
//! which needs no preflight, and command-line clients send JSON as form-encoded.

use serde_json::{Map, Value};
use shared::auth::claimed_form;
use shared::calendar::LinkName;
use shared::form::{Form, Submitted, Target, TokenHash};
use shared::http::{InvalidField, RawRequest, RequestError, decoded, parse_object};
use shared::json::{MUST_BE_TEXT, inexact};
use shared::store::{IdempotencyKey, Reader};
use shared::text::{cut, fits};

/// Maximum number of fields, of characters of a name, and of bytes of all names and values.
const MAX_KEYS: usize = 50;
const MAX_NAME: usize = 64;
const MAX_BYTES: usize = 16 * 1024;
/// Maximum characters of a text. Names and the e-mail address of the lead have at most `MAX_LEAD_NAME` characters, its
/// other fields at most `MAX_LEAD_FIELD` bytes.
const MAX_TEXT: usize = 1000;
const NAMES: [&str; 3] = ["firstname", "lastname", "email"];
const MAX_LEAD_NAME: usize = 255;
const MAX_LEAD_FIELD: usize = 1000;
/// Parameters of the route. They are not fields of the submission.
const RESERVED: [&str; 2] = ["i", "access_token"];
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// A submission as it was sent.
#[derive(Debug)]
pub struct Submission {
    /// The fields by name; those of the body replace those of the query.
    fields: Map<String, Value>,
    key: Option<String>,
    /// Name and token of the form.
    form: Option<(LinkName, TokenHash)>,
}

impl Submission {
    /// Reads the query and the body.
    pub fn read(request: &RawRequest) -> Result<Self, RequestError> {
        let mut fields = grouped(request.params.iter());
        fields.retain(|name, _| !RESERVED.contains(&name.as_str()));
        fields.extend(body(request)?);
        let length = |(name, value): (&String, &Value)| {
            name.len() + value.as_str().map_or_else(|| value.to_string().len(), str::len)
        };
        if fields.len() > MAX_KEYS {
            return Err(InvalidField::new("body", "must have at most 50 fields").into());
        }
        if fields.iter().map(length).sum::<usize>() > MAX_BYTES {
            return Err(InvalidField::new("body", "must have at most 16 KB in all fields").into());
        }
        Ok(Self {
            fields,
            key: request.idempotency_key()?.map(str::to_owned),
            form: claimed_form(request),
        })
    }

    /// The form as this process last saw it.
    pub fn hinted_form(&self, reader: &Reader) -> Option<Form> {
        let (name, token) = self.form.as_ref()?;
        reader.hinted_form(name, token)
    }

    /// The claim of the `Idempotency-Key`, in the scope of the form.
    pub fn claim(&self, form: &Form) -> Option<IdempotencyKey> {
        let fields = Value::Object(self.fields.clone()).to_string();
        let endpoint = "POST /api/hook/{name}";
        let key = self.key.as_ref()?;
        Some(IdempotencyKey::new(
            endpoint,
            &form.id.to_string(),
            key,
            fields.as_bytes(),
        ))
    }

    /// The values that reach the lead. Fields that the form does not accept are ignored, and blank ones are absent.
    pub fn accepted(&self, form: &Form) -> Result<Submitted, InvalidField> {
        let mut accepted = Submitted::default();
        for field in form.accepted() {
            let value = self.fields.get(&field.name).filter(|value| !is_blank(value));
            let Some((value, target)) = value.zip(field.target()) else {
                if field.required {
                    return Err(InvalidField::new(field.name, "is required"));
                }
                continue;
            };
            match target {
                Target::Field(name) => {
                    let text = Value::from(lead_text(&field.name, &name, value)?);
                    // Only `whatsapp` and `chatapp` are names of one field.
                    if accepted.fields.get(&name).is_some_and(|other| *other != text) {
                        return Err(InvalidField::new(field.name, "must be the same as chatapp"));
                    }
                    accepted.fields.insert(name, text);
                }
                Target::Custom(alias) => {
                    validate_text(&field.name, value)?;
                    accepted.custom.insert(alias, value.clone());
                }
            }
        }
        for (name, value) in self.fields.iter().filter(|(name, _)| name.starts_with("utm_")) {
            validate_text(name, value)?;
            if !is_blank(value) {
                accepted.utm.insert(name.clone(), value.clone());
            }
        }
        if !accepted.is_named() {
            let rule = "must have a firstname, lastname, email, phone, mobile or chatapp";
            return Err(InvalidField::new("body", rule));
        }
        Ok(accepted)
    }
}

/// The fields of a body: JSON or form-encoded, empty if the body is. See the head of this file.
fn body(request: &RawRequest) -> Result<Map<String, Value>, RequestError> {
    let bytes = request.body.as_ref();
    let text = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes).trim_ascii();
    let media_type = request
        .headers
        .get("content-type")
        .and_then(|value| value.to_str().ok());
    let media_type = media_type.unwrap_or_default().trim().to_ascii_lowercase();
    if text.is_empty() {
        return Ok(Map::new());
    }
    if media_type.starts_with("multipart/") {
        let rule = "must be JSON or application/x-www-form-urlencoded";
        return Err(InvalidField::new("body", rule).into());
    }
    if text.starts_with(b"{") || media_type.starts_with("application/json") {
        return parse_object(bytes);
    }
    Ok(grouped(decoded(text).into_iter()))
}

/// Groups pairs by name. Joins the values of a repeated name, for example those of checkboxes.
fn grouped<T: Into<String>>(pairs: impl Iterator<Item = (T, T)>) -> Map<String, Value> {
    let mut fields = Map::new();
    for (name, value) in pairs {
        let (name, value): (String, String) = (name.into(), value.into());
        match fields.get_mut(&name) {
            Some(Value::String(text)) => {
                text.push_str(", ");
                text.push_str(&value);
            }
            _ => {
                fields.insert(name, value.into());
            }
        }
    }
    fields
}

fn is_blank(value: &Value) -> bool {
    value.is_null() || value.as_str().is_some_and(|text| text.trim().is_empty())
}

/// The text of a fixed field of the lead, whose name in the submission is `name`. A number, such as a telephone
/// number, is converted to text.
fn lead_text(name: &str, field: &str, value: &Value) -> Result<String, InvalidField> {
    let invalid = |rule| Err(InvalidField::new(cut(name, MAX_NAME).to_owned(), rule));
    let text = match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        _ => return invalid("must be text"),
    };
    let is_name = NAMES.contains(&field);
    if is_name && !fits(&text, MAX_LEAD_NAME) {
        return invalid("must have at most 255 characters");
    }
    if !is_name && text.len() > MAX_LEAD_FIELD {
        return invalid("must have at most 1000 bytes");
    }
    Ok(text)
}

/// Checks the name and the value of a custom field or `utm_*` parameter.
fn validate_text(name: &str, value: &Value) -> Result<(), InvalidField> {
    let invalid = |rule| Err(InvalidField::new(cut(name, MAX_NAME).to_owned(), rule));
    match value {
        _ if !fits(name, MAX_NAME) => invalid("must have a name of at most 64 characters"),
        Value::String(text) if !fits(text, MAX_TEXT) => invalid("must have at most 1000 characters"),
        Value::Object(_) if inexact(value).is_some() => invalid(MUST_BE_TEXT),
        Value::Array(_) | Value::Object(_) => invalid("must be text, a number, true, false or null"),
        _ => Ok(()),
    }
}
