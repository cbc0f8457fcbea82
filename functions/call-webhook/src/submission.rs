//! A submission: fields in the query and in the body (C-101). The middleware has read a multipart body as a form-encoded
//! one.
//!
//! A body that begins with `{` is JSON with any content type, because browsers send JSON and forms as `text/plain`,
//! which needs no preflight, and command-line clients send JSON as form-encoded.

use std::collections::BTreeSet;

use serde_json::{Map, Value};
use shared::auth::claimed_form;
use shared::calendar::LinkName;
use shared::form::{Form, Submitted, Target, TokenHash};
use shared::http::{FilesIgnored, InvalidField, RawRequest, RequestError, decoded, parse_object};
use shared::input::{person_text, person_value};
use shared::store::{IdempotencyKey, Reader};
use shared::text::{cut, fits, without_index};

/// Maximum characters of a name, and of bytes of all names and values.
const MAX_NAME: usize = 64;
const MAX_BYTES: usize = 64 * 1024;
/// Maximum bytes as JSON, in which a line break has two: the event's record has at most 100 KB (C-30).
const MAX_JSON: usize = 90_000;
/// Maximum characters of a custom field, and of a `utm_*` parameter, which is cut. Names and the e-mail address of the
/// lead have at most `MAX_LEAD_NAME` characters, its other fields at most `MAX_LEAD_FIELD` bytes.
const MAX_TEXT: usize = 10_000;
const MAX_UTM: usize = 255;
const NAMES: [&str; 3] = ["firstname", "lastname", "email"];
const MAX_LEAD_NAME: usize = 255;
const MAX_LEAD_FIELD: usize = 1000;
/// Parameters of the route. They are not fields of the submission.
const RESERVED: [&str; 2] = ["i", "access_token"];
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// A submission as it was sent.
#[derive(Debug)]
pub struct Submission {
    /// The fields by name. A list has the values of a repeated name, those of the body first.
    fields: Map<String, Value>,
    key: Option<String>,
    /// The files of its body, which are dropped.
    pub files_ignored: FilesIgnored,
    /// Name and token of the form.
    form: Option<(LinkName, TokenHash)>,
}

impl Submission {
    /// Reads the query and the body.
    pub fn read(request: &RawRequest) -> Result<Self, RequestError> {
        let query = request.params.iter();
        let query = query.filter(|(name, _)| !RESERVED.contains(&without_index((*name).to_owned()).as_str()));
        let query = query.map(|(name, value)| (name.to_owned(), Value::from(value)));
        let fields = grouped(body(request)?.into_iter().chain(query));
        let length = |(name, value): (&String, &Value)| {
            name.len() + value.as_str().map_or_else(|| value.to_string().len(), str::len)
        };
        if fields.iter().map(length).sum::<usize>() > MAX_BYTES {
            return Err(InvalidField::new("body", "must have at most 64 KB in all fields").into());
        }
        if serde_json::to_vec(&fields).map_or(usize::MAX, |json| json.len()) > MAX_JSON {
            return Err(InvalidField::new("body", "must have at most 90 KB in all fields as JSON").into());
        }
        Ok(Self {
            fields,
            key: request.idempotency_key()?.map(str::to_owned),
            files_ignored: request.files_ignored,
            form: claimed_form(request),
        })
    }

    /// Whether it has an `Idempotency-Key`.
    pub fn has_key(&self) -> bool {
        self.key.is_some()
    }

    /// The form as this process last saw it.
    pub fn hinted_form(&self, reader: &Reader) -> Option<Form> {
        let (name, token) = self.form.as_ref()?;
        reader.hinted_form(name, token)
    }

    /// The claims that equal submissions of a form share: of its `Idempotency-Key`, if it has one, and of its content, if
    /// that tells who sent it (C-101).
    pub fn claims(&self, form: &Form, submitted: &Submitted) -> Vec<IdempotencyKey> {
        let form = form.id.to_string();
        let of_key = self.key.as_ref().map(|key| {
            let fields = Value::Object(self.fields.clone()).to_string();
            IdempotencyKey::new("POST /api/hook/{name}", &form, key, fields.as_bytes())
        });
        let content = submitted.content_of_person();
        let of_content = content.map(|content| IdempotencyKey::new("form", &form, &content, b""));
        of_key.into_iter().chain(of_content).collect()
    }

    /// The values that a form accepts, without blank ones.
    pub fn accepted(&self, form: &Form) -> Result<Submitted, InvalidField> {
        let mut accepted = Submitted::default();
        let mut known = BTreeSet::new();
        for field in form.accepted() {
            let value = self.fields.get(&field.name);
            let read = value
                .zip(field.target())
                .map(|(value, target)| {
                    let (sent, read) = read_field(&field.name, &target, value)?;
                    Ok::<_, InvalidField>((sent, read, target))
                })
                .transpose()?
                .filter(|(sent, ..)| !sent.is_null());
            known.insert(field.name.clone());
            let Some((sent, value, target)) = read else {
                if field.required {
                    return Err(InvalidField::new(field.name, "is required"));
                }
                continue;
            };
            accepted.values.insert(field.name.clone(), sent);
            match target {
                Target::Field(name) => {
                    // Only `whatsapp` and `chatapp` are names of one field.
                    if accepted.fields.get(&name).is_some_and(|other| *other != value) {
                        return Err(InvalidField::new(field.name, "must be the same as chatapp"));
                    }
                    accepted.fields.insert(name, value);
                }
                Target::Custom(alias) => {
                    accepted.custom.insert(alias, value);
                }
            }
        }
        let (utm, others): (Vec<_>, Vec<_>) = self
            .fields
            .iter()
            .partition(|(name, _)| name.starts_with("utm_") && fits(name, MAX_NAME));
        accepted.utm = read_utm(utm)?;
        let ignored = others.into_iter().filter(|(name, _)| !known.contains(*name));
        accepted.ignored = u32::try_from(ignored.count()).unwrap_or(u32::MAX);
        if !accepted.is_named() {
            let rule = "must have a firstname, lastname, email, phone, mobile or chatapp";
            return Err(InvalidField::new("body", rule));
        }
        Ok(accepted)
    }
}

fn read_utm(fields: Vec<(&String, &Value)>) -> Result<Map<String, Value>, InvalidField> {
    let mut utm = Map::new();
    for (name, value) in fields {
        match person_value(value.clone()).map_err(|rule| invalid(name, rule))? {
            Value::Null => None,
            Value::String(text) => utm.insert(name.clone(), cut(&text, MAX_UTM).into()),
            value => utm.insert(name.clone(), value),
        };
    }
    Ok(utm)
}

/// The fields of a body: JSON or form-encoded, empty if the body is. See the head of this file.
fn body(request: &RawRequest) -> Result<Vec<(String, Value)>, RequestError> {
    let bytes = request.body.as_ref();
    let text = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes).trim_ascii();
    let media_type = request
        .headers
        .get("content-type")
        .and_then(|value| value.to_str().ok());
    let media_type = media_type.unwrap_or_default().trim().to_ascii_lowercase();
    if text.is_empty() {
        return Ok(Vec::new());
    }
    if text.starts_with(b"{") || media_type.starts_with("application/json") {
        return Ok(parse_object(bytes)?.into_iter().collect());
    }
    let pairs = match std::str::from_utf8(text) {
        Ok(text) if media_type.starts_with("text/plain") && text.contains('\n') => lines(text),
        _ => decoded(text),
    };
    let pairs = pairs.into_iter();
    Ok(pairs.map(|(name, value)| (name, value.into())).collect())
}

/// The fields of a page's form with `enctype="text/plain"`: lines `name=value` without encoding. A form-encoded body has no
/// line break. A line without `=` continues a value.
fn lines(text: &str) -> Vec<(String, String)> {
    let mut fields: Vec<(String, String)> = Vec::new();
    for line in text.lines() {
        match (line.split_once('='), fields.last_mut()) {
            (Some((name, value)), _) => fields.push((name.to_owned(), value.to_owned())),
            (None, Some((_, value))) => {
                value.push('\n');
                value.push_str(line);
            }
            (None, None) => {}
        }
    }
    fields
}

/// Groups pairs by name. A repeated name has a list of its values.
fn grouped(pairs: impl Iterator<Item = (String, Value)>) -> Map<String, Value> {
    let mut fields: Map<String, Value> = Map::new();
    for (name, value) in pairs {
        let name = without_index(name);
        let Some(former) = fields.get_mut(&name) else {
            fields.insert(name, value);
            continue;
        };
        let listed = |value| match value {
            Value::Array(values) => values,
            value => vec![value],
        };
        let mut values = listed(former.take());
        values.extend(listed(value));
        *former = Value::Array(values);
    }
    fields
}

/// All values of a field whose name in the submission is `name`, and the one that its lead gets; null if they are blank.
fn read_field(name: &str, target: &Target, value: &Value) -> Result<(Value, Value), InvalidField> {
    let invalid = |rule| invalid(name, rule);
    let Target::Field(field) = target else {
        return match person_value(value.clone()).map_err(invalid)? {
            Value::String(text) if !fits(&text, MAX_TEXT) => {
                Err(invalid("must have at most 10000 characters"))
            }
            value => Ok((value.clone(), value)),
        };
    };
    let text = person_text(value).map_err(invalid)?;
    let all = match value {
        Value::Array(_) => person_value(value.clone()).map_err(invalid)?,
        _ => text.clone().into(),
    };
    let is_name = NAMES.contains(&field.as_str());
    match &text {
        Some(text) if is_name && !fits(text, MAX_LEAD_NAME) => {
            Err(invalid("must have at most 255 characters"))
        }
        Some(text) if !is_name && text.len() > MAX_LEAD_FIELD => Err(invalid("must have at most 1000 bytes")),
        _ => Ok((all, text.into())),
    }
}

/// The name may be the caller's, so it is cut.
fn invalid(name: &str, rule: &'static str) -> InvalidField {
    InvalidField::new(cut(name, MAX_NAME).to_owned(), rule)
}
