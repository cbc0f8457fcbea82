//! Validation of request bodies with JSON Schema draft-07, reporting the first error of AJV 8 (C-41, C-70).
//!
//! A schema is compiled into a tree once. Validation visits the tree and allocates only for an error.
//!
//! Invariants:
//! - A schema with an unsupported keyword, or with keywords whose order is not implemented, does not compile.
//! - The order is AJV's: `type`, `enum`, `maximum`, `minimum`, `items` by index, `required`, `additionalProperties`,
//!   `properties` in JavaScript's key order, each validated completely before the next.
//! - Numbers are JavaScript's doubles: `1.0`, `1e30` and `-0.0` are integers, and `1e400` has no type.

use std::sync::LazyLock;
use std::{fmt, slice};

use serde::de::{Error as _, IgnoredAny};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Number, Value, json};

use crate::json::inexact;

/// Body of endpoint 19, a completed call (C-70).
pub static CALL_WEBHOOK: LazyLock<Schema> =
    LazyLock::new(|| built_in(include_str!("../../../schemas/call-webhook.schema.json")));

/// Body of endpoint 10, the opportunities of a funnel (C-41).
pub static LIST_OPPORTUNITIES: LazyLock<Schema> =
    LazyLock::new(|| built_in(include_str!("../../../schemas/list-opportunities.schema.json")));

/// A compiled schema.
#[derive(Debug)]
pub struct Schema {
    root: Node,
}

/// The first error, with AJV's fields.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Violation {
    /// JSON Pointer to the invalid value; empty for the body itself.
    pub instance_path: String,
    /// Path of the failed keyword in the schema: `#` and a JSON Pointer, percent-encoded.
    pub schema_path: String,
    /// The failed keyword.
    pub keyword: &'static str,
    /// Parameters of the keyword's error.
    pub params: Value,
    /// AJV's message.
    pub message: String,
}

impl Schema {
    /// Validates a body.
    ///
    /// # Errors
    ///
    /// AJV's first error.
    #[expect(
        clippy::result_large_err,
        reason = "made once per refused request and moved straight into the answer"
    )]
    pub fn check(&self, body: &Value) -> Result<(), Violation> {
        match self.root.first_violation(body) {
            None => Ok(()),
            Some(violation) => Err(violation.within("", "#")),
        }
    }

    fn compile(text: &str) -> serde_json::Result<Self> {
        let root: Node = serde_json::from_str(text)?;
        if root.mixes_types() {
            return Err(serde_json::Error::custom(
                "keywords for different kinds of value in one schema object",
            ));
        }
        Ok(Self { root })
    }
}

#[expect(
    clippy::expect_used,
    reason = "the text is part of the program, and the tests compile both"
)]
fn built_in(text: &str) -> Schema {
    Schema::compile(text).expect("a schema file of this crate uses known keywords only")
}

/// One schema object with all keywords; absent ones are empty.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct Node {
    #[serde(rename = "$schema")]
    _draft: Option<Draft>,
    #[serde(rename = "title")]
    _title: IgnoredAny,
    #[serde(rename = "type")]
    types: Option<Types>,
    #[serde(rename = "enum")]
    allowed: Option<Vec<Value>>,
    maximum: Option<Number>,
    minimum: Option<Number>,
    items: Option<Box<Node>>,
    required: Vec<String>,
    additional_properties: Option<bool>,
    #[serde(deserialize_with = "in_javascript_order")]
    properties: Vec<(String, Node)>,
}

/// The only supported draft.
#[derive(Debug, Deserialize)]
enum Draft {
    #[serde(rename = "http://json-schema.org/draft-07/schema#")]
    Seven,
}

/// The keyword `type`. An error reports a list of one type as a list.
#[derive(Debug, Deserialize, Serialize)]
#[serde(untagged)]
enum Types {
    One(Type),
    Many(Vec<Type>),
}

#[derive(Debug, Clone, Copy, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
enum Type {
    Null,
    Boolean,
    Integer,
    Number,
    String,
    Array,
    Object,
}

impl Node {
    /// The first error in AJV's order, with paths relative to this value.
    fn first_violation(&self, value: &Value) -> Option<Violation> {
        self.wrong_type(value)
            .or_else(|| self.not_allowed(value))
            .or_else(|| match value {
                Value::Number(number) => self.above(number).or_else(|| self.below(number)),
                Value::Array(items) => self.bad_item(items),
                // An inexact number is an object with a marker. It has no type.
                Value::Object(object) if inexact(value).is_none() => self
                    .missing(object)
                    .or_else(|| self.unknown(object))
                    .or_else(|| self.bad_property(object)),
                Value::Null | Value::Bool(_) | Value::String(_) | Value::Object(_) => None,
            })
    }

    fn wrong_type(&self, value: &Value) -> Option<Violation> {
        let types = self
            .types
            .as_ref()
            .filter(|types| !types.listed().iter().any(|one| one.admits(value)))?;
        Some(Violation::of(
            "type",
            json!({ "type": types }),
            format!("must be {types}"),
        ))
    }

    fn not_allowed(&self, value: &Value) -> Option<Violation> {
        let allowed = self
            .allowed
            .as_ref()
            .filter(|allowed| !allowed.iter().any(|one| equal(one, value)))?;
        let message = "must be equal to one of the allowed values".to_owned();
        Some(Violation::of(
            "enum",
            json!({ "allowedValues": allowed }),
            message,
        ))
    }

    fn above(&self, number: &Number) -> Option<Violation> {
        let limit = self
            .maximum
            .as_ref()
            .filter(|limit| number.as_f64() > limit.as_f64())?;
        Some(Violation::of_limit("maximum", "<=", limit))
    }

    fn below(&self, number: &Number) -> Option<Violation> {
        let limit = self
            .minimum
            .as_ref()
            .filter(|limit| number.as_f64() < limit.as_f64())?;
        Some(Violation::of_limit("minimum", ">=", limit))
    }

    fn bad_item(&self, items: &[Value]) -> Option<Violation> {
        let node = self.items.as_ref()?;
        items.iter().enumerate().find_map(|(index, item)| {
            let violation = node.first_violation(item)?;
            Some(violation.within(&format!("/{index}"), "/items"))
        })
    }

    fn missing(&self, object: &Map<String, Value>) -> Option<Violation> {
        let name = self.required.iter().find(|name| !object.contains_key(*name))?;
        let message = format!("must have required property '{name}'");
        Some(Violation::of(
            "required",
            json!({ "missingProperty": name }),
            message,
        ))
    }

    fn unknown(&self, object: &Map<String, Value>) -> Option<Violation> {
        if self.additional_properties != Some(false) {
            return None;
        }
        let is_known = |name: &String| self.properties.iter().any(|(property, _)| property == name);
        // The first in JavaScript's key order: `min_by_key` returns the first of equal ranks.
        let name = object
            .keys()
            .filter(|name| !is_known(name))
            .min_by_key(|name| javascript_rank(name))?;
        let message = "must NOT have additional properties".to_owned();
        Some(Violation::of(
            "additionalProperties",
            json!({ "additionalProperty": name }),
            message,
        ))
    }

    fn bad_property(&self, object: &Map<String, Value>) -> Option<Violation> {
        self.properties.iter().find_map(|(name, node)| {
            let violation = node.first_violation(object.get(name)?)?;
            // Escaped as in a JSON Pointer.
            let escaped = name.replace('~', "~0").replace('/', "~1");
            let schema_path = format!("/properties/{}", encode_uri_component(&escaped));
            Some(violation.within(&format!("/{escaped}"), &schema_path))
        })
    }

    /// Whether this schema or a nested one combines keywords for different types of values. AJV then checks keywords in
    /// an order that [`Node::first_violation`] does not implement.
    fn mixes_types(&self) -> bool {
        let used_groups = [
            self.allowed.is_some(),
            self.maximum.is_some() || self.minimum.is_some(),
            self.items.is_some(),
            !self.required.is_empty() || self.additional_properties.is_some() || !self.properties.is_empty(),
        ];
        used_groups.into_iter().filter(|used| *used).count() > 1
            || self.items.as_ref().is_some_and(|node| node.mixes_types())
            || self.properties.iter().any(|(_, node)| node.mixes_types())
    }
}

impl Types {
    fn listed(&self) -> &[Type] {
        match self {
            Self::One(one) => slice::from_ref(one),
            Self::Many(many) => many,
        }
    }
}

impl fmt::Display for Types {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, one) in self.listed().iter().enumerate() {
            f.write_str(if index == 0 { "" } else { "," })?;
            one.serialize(&mut *f)?;
        }
        Ok(())
    }
}

impl Type {
    fn admits(self, value: &Value) -> bool {
        match self {
            Self::Null => value.is_null(),
            Self::Boolean => value.is_boolean(),
            Self::Integer => value.as_f64().is_some_and(|number| number.fract() == 0.0),
            Self::Number => value.is_number(),
            Self::String => value.is_string(),
            Self::Array => value.is_array(),
            Self::Object => value.is_object() && inexact(value).is_none(),
        }
    }
}

impl Violation {
    fn of(keyword: &'static str, params: Value, message: String) -> Self {
        Self {
            instance_path: String::new(),
            schema_path: format!("/{keyword}"),
            keyword,
            params,
            message,
        }
    }

    fn of_limit(keyword: &'static str, comparison: &str, limit: &Number) -> Self {
        let params = json!({ "comparison": comparison, "limit": limit });
        Self::of(keyword, params, format!("must be {comparison} {limit}"))
    }

    /// The same error relative to the parent: both paths with these prefixes.
    fn within(mut self, instance_prefix: &str, schema_prefix: &str) -> Self {
        self.instance_path.insert_str(0, instance_prefix);
        self.schema_path.insert_str(0, schema_prefix);
        self
    }
}

/// JavaScript's `encodeURIComponent`.
fn encode_uri_component(text: &str) -> String {
    let encode = |byte: u8| {
        if byte.is_ascii_alphanumeric() || b"-_.!~*'()".contains(&byte) {
            char::from(byte).to_string()
        } else {
            format!("%{byte:02X}")
        }
    };
    text.bytes().map(encode).collect()
}

/// Rank of a name in the key order of a JavaScript object: array indices (`0` to `4294967294`, without
/// leading zeros) ascending, then others as written.
fn javascript_rank(name: &str) -> u32 {
    name.parse()
        .ok()
        .filter(|index: &u32| index.to_string() == name)
        .unwrap_or(u32::MAX)
}

/// Deserializes the properties of a schema in JavaScript's key order, which AJV follows.
fn in_javascript_order<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<(String, Node)>, D::Error> {
    let mut properties = Map::deserialize(from)?
        .into_iter()
        .map(|(name, node)| Ok((name, Node::deserialize(node).map_err(D::Error::custom)?)))
        .collect::<Result<Vec<_>, _>>()?;
    properties.sort_by_key(|(name, _)| javascript_rank(name));
    Ok(properties)
}

/// JavaScript's deep equality: numbers by value, members in any order.
fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| equal(a, b)))
        }
        _ => a == b,
    }
}

#[cfg(test)]
mod tests;
