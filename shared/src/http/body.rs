//! Bodies that must be JSON.

use serde_json::{Map, Value};

use super::error::{InvalidField, NotJson, RequestError};
use crate::opportunity_edit::FieldChange;
use crate::{input, json};

impl NotJson {
    /// Why a body that cannot be parsed is not JSON.
    fn of(body: &[u8]) -> Self {
        // gzip and Zstandard.
        if body.starts_with(b"\x1F\x8B") || body.starts_with(b"\x28\xB5\x2F\xFD") {
            return Self::Compressed;
        }
        // UTF-16 is UTF-8 with zeros if its text is ASCII.
        let zero = body.iter().position(|byte| *byte == 0);
        let invalid = std::str::from_utf8(body).err().map(|error| error.valid_up_to());
        match zero.into_iter().chain(invalid).min() {
            Some(at) => Self::Encoding(at + 1),
            None => Self::Syntax,
        }
    }
}

/// Parses a body as one JSON value. Accepts every content type or none (C-6), and ignores a leading byte order mark. A
/// number without an exact representation matches no field ([`json::inexact`]).
///
/// # Errors
/// [`NotJson`] for anything else.
pub fn parse_json(body: &[u8]) -> Result<Value, NotJson> {
    json::parse(body).map_err(|_| NotJson::of(body))
}

/// Parses a body for a JSON Schema. Numbers are doubles, as in JavaScript (C-41, C-70).
///
/// # Errors
/// [`NotJson`] for anything else.
pub fn parse_json_doubles(body: &[u8]) -> Result<Value, NotJson> {
    json::parse_doubles(body).map_err(|_| NotJson::of(body))
}

/// A field of a body, parsed by `parse`.
///
/// # Errors
/// [`InvalidField`] with `rule` if the field is absent or `parse` rejects it.
pub fn required<T>(
    body: &Map<String, Value>,
    name: &'static str,
    rule: &'static str,
    parse: impl FnOnce(&Value) -> Option<T>,
) -> Result<T, InvalidField> {
    let value = body.get(name).and_then(parse);
    value.ok_or(InvalidField::new(name, rule))
}

/// Parses a body that must be a JSON object.
///
/// # Errors
/// [`RequestError::NotJson`], or an [`InvalidField`] if the value is not an object.
pub fn parse_object(body: &[u8]) -> Result<Map<String, Value>, RequestError> {
    match parse_json(body)? {
        Value::Object(object) => Ok(object),
        _ => Err(InvalidField::new("body", "must be a JSON object").into()),
    }
}

/// A JSON object, parsed property by property. Unknown properties are ignored (C-4).
#[derive(Debug)]
pub struct JsonObject(Map<String, Value>);

impl JsonObject {
    /// Reads a body.
    ///
    /// # Errors
    /// Those of [`parse_object`].
    pub fn parse(body: &[u8]) -> Result<Self, RequestError> {
        parse_object(body).map(Self)
    }

    /// Treats null as absent.
    #[must_use]
    pub fn without_nulls(mut self) -> Self {
        self.0.retain(|_, value| !value.is_null());
        self
    }

    /// Treats blank text in these properties as absent (C-6).
    #[must_use]
    pub fn without_blanks(mut self, names: &[&str]) -> Self {
        let is_blank = |value: &Value| value.is_string() && input::is_blank(value);
        self.0
            .retain(|name, value| !(names.contains(&name.as_str()) && is_blank(value)));
        self
    }

    /// Removes and returns a property.
    pub fn take(&mut self, name: &str) -> Option<Value> {
        self.0.shift_remove(name)
    }

    /// A property parsed by `read`; `None` if absent.
    ///
    /// # Errors
    /// [`InvalidField`] with the rule that `read` returns.
    pub fn optional<T>(
        &self,
        name: &'static str,
        read: impl FnOnce(&Value) -> Result<T, &'static str>,
    ) -> Result<Option<T>, InvalidField> {
        let value = self.0.get(name).map(read).transpose();
        value.map_err(|rule| InvalidField::new(name, rule))
    }

    /// A required property.
    ///
    /// # Errors
    /// [`InvalidField`] if the property is absent, or with the rule that `read` returns.
    pub fn required<T>(
        &self,
        name: &'static str,
        read: impl FnOnce(&Value) -> Result<T, &'static str>,
    ) -> Result<T, InvalidField> {
        let value = self.optional(name, read)?;
        value.ok_or(InvalidField::new(name, "is required"))
    }

    /// A property that null clears.
    ///
    /// # Errors
    /// [`InvalidField`] with the rule that `read` returns.
    pub fn change<T>(
        &self,
        name: &'static str,
        read: impl FnOnce(&Value) -> Result<T, &'static str>,
    ) -> Result<FieldChange<T>, InvalidField> {
        if self.0.get(name) == Some(&Value::Null) {
            return Ok(FieldChange::Clear);
        }
        let value = self.optional(name, read)?;
        Ok(value.map_or(FieldChange::Keep, FieldChange::Set))
    }
}
