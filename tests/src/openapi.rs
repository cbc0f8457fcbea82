//! `openapi.yaml`, and validation of responses against it.
//!
//! [`World`](crate::World) validates every response, so each end-to-end test also tests the document. A
//! status, header, media type or property that is not declared is a violation.

#![expect(
    clippy::expect_used,
    clippy::missing_panics_doc,
    reason = "a document that cannot be used must stop the tests, and say where"
)]

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use http::{HeaderMap, HeaderValue, header};
use jsonschema::{Registry, Validator};
use serde_json::{Value, json};

use crate::{Answer, yaml};

/// The document, parsed once per process.
pub static INTERFACE: LazyLock<Interface> = LazyLock::new(|| Interface::of(yaml::parse(documents::TEXT)));

/// Methods of operations.
pub const METHODS: [&str; 4] = ["get", "post", "put", "delete"];
/// Headers of the message, not of the operation. The version and the rules for caches and browsers are in the document's
/// introduction.
const OF_MESSAGES: [&str; 6] = [
    "cache-control",
    "content-encoding",
    "content-type",
    "content-length",
    "x-content-type-options",
    "x-funil-version",
];
/// Base URI of the document in references.
const BASE: &str = "https://funil.invalid/openapi";

/// A document with its compiled schemas.
#[derive(Debug)]
pub struct Interface {
    document: Value,
    registry: Registry<'static>,
    compiled: Mutex<HashMap<String, Arc<Validator>>>,
}

/// An operation of the document.
#[derive(Debug, Clone, Copy)]
pub struct Operation<'a> {
    /// In upper case: `GET`.
    pub method: &'a str,
    /// With parameters in braces: `/leads/{id}`.
    pub path: &'a str,
    /// The operation's value.
    pub value: &'a Value,
}

impl Interface {
    /// From a document.
    #[must_use]
    pub fn of(document: Value) -> Self {
        let registry = Registry::new()
            .add(BASE, document.clone())
            .expect("the document can be referred to");
        Self {
            document,
            registry: registry.prepare().expect("the document's references can be read"),
            compiled: Mutex::default(),
        }
    }

    /// The whole document.
    #[must_use]
    pub fn document(&self) -> &Value {
        &self.document
    }

    /// The operations, by path, then method, in the document's order.
    pub fn operations(&self) -> impl Iterator<Item = Operation<'_>> {
        members(&self.document["paths"]).flat_map(|(path, item)| {
            let methods = METHODS.into_iter();
            methods.filter_map(move |method| {
                let value = item.get(method)?;
                let method = match method {
                    "get" => "GET",
                    "post" => "POST",
                    "put" => "PUT",
                    _ => "DELETE",
                };
                Some(Operation { method, path, value })
            })
        })
    }

    /// The parameters of an operation and of its path.
    #[must_use]
    pub fn parameters(&self, operation: Operation<'_>) -> Vec<&Value> {
        let shared = &self.document["paths"][operation.path]["parameters"];
        let own = &self.operation(operation)["parameters"];
        let all = [shared, own].into_iter().filter_map(Value::as_array).flatten();
        all.map(|parameter| self.resolve(parameter)).collect()
    }

    /// Follows a reference; returns any other value itself.
    #[must_use]
    pub fn resolve<'a>(&'a self, value: &'a Value) -> &'a Value {
        self.follow(value).map_or(value, |(_, target)| target)
    }

    /// The validator of the schema at a JSON Pointer.
    #[must_use]
    pub fn validator(&self, pointer: &str) -> Arc<Validator> {
        let mut compiled = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        let compile = || {
            // URI fragments cannot contain the braces of paths.
            let fragment = pointer.replace('{', "%7B").replace('}', "%7D");
            let schema = json!({ "$ref": format!("{BASE}#{fragment}") });
            let options = jsonschema::options().with_registry(&self.registry);
            Arc::new(options.build(&schema).expect("a schema that can be compiled"))
        };
        Arc::clone(compiled.entry(pointer.to_owned()).or_insert_with(compile))
    }

    /// Validates a response against the operation.
    ///
    /// # Errors
    /// Undeclared parts, as a sentence.
    pub fn judge(&self, method: &str, path: &str, answer: &Answer) -> Result<(), String> {
        let status = answer.status.as_u16();
        let (pointer, response) = self.declared(method, path, status)?;
        self.judge_headers(&pointer, response, &answer.headers)?;
        let Some(content) = response.get("content") else {
            let empty = answer.body.is_null();
            return empty
                .then_some(())
                .ok_or_else(|| format!("{status} has no body: {}", answer.body));
        };
        let kind = answer
            .headers
            .get(header::CONTENT_TYPE)
            .and_then(|kind| kind.to_str().ok());
        let kind = kind
            .and_then(|kind| kind.split(';').next())
            .ok_or("there is no content type")?;
        if content.get(kind).is_none() {
            return Err(format!("{status} is not {kind}"));
        }
        let schema = format!("{pointer}/content/{}/schema", escaped(kind));
        self.judge_value(&schema, &answer.body)
            .map_err(|breach| format!("{status}: {breach}"))
    }

    /// JSON Pointer and value of the declaration of a status.
    fn declared(&self, method: &str, path: &str, status: u16) -> Result<(String, &Value), String> {
        let slashed = || {
            let (pointer, item) = self.item(path.strip_suffix('/')?)?;
            let redirects = method == "GET" && item.get("x-slash").is_some();
            redirects.then(|| (format!("{pointer}/x-slash"), 308))
        };
        let (pointer, expected) = match self.item(path) {
            _ if method == "OPTIONS" => ("/x-preflight".to_owned(), 204),
            None => slashed().unwrap_or_else(|| ("/x-unknown-path".to_owned(), 404)),
            Some((pointer, item)) => {
                let name = method.to_lowercase();
                if METHODS.contains(&name.as_str()) && item.get(&name).is_some() {
                    (format!("{pointer}/{name}/responses/{status}"), status)
                } else {
                    (format!("{pointer}/x-other-methods"), 405)
                }
            }
        };
        let declared = self.document.pointer(&pointer).filter(|_| status == expected);
        let declared = declared.ok_or_else(|| format!("{status} is not declared"))?;
        Ok(self.follow(declared).unwrap_or((pointer, declared)))
    }

    /// The path item of a concrete path; paths without parameters come first.
    fn item(&self, path: &str) -> Option<(String, &Value)> {
        let mut fitting: Vec<_> = members(&self.document["paths"])
            .filter(|(template, _)| fits(template, path))
            .collect();
        fitting.sort_by_key(|(template, _)| template.contains('{'));
        let (template, item) = *fitting.first()?;
        Some((format!("/paths/{}", escaped(template)), item))
    }

    fn judge_headers(&self, pointer: &str, response: &Value, headers: &HeaderMap) -> Result<(), String> {
        let declared = &response["headers"];
        for name in headers.keys() {
            let name = name.as_str();
            if declared.get(name).is_none() && !OF_MESSAGES.contains(&name) {
                return Err(format!("the header {name} is not declared"));
            }
        }
        for (name, one) in members(declared) {
            let place = format!("{pointer}/headers/{}", escaped(name));
            let (place, one) = self.follow(one).unwrap_or((place, one));
            let Some(value) = headers.get(name) else {
                if one["required"] == true {
                    return Err(format!("the header {name} is absent"));
                }
                continue;
            };
            self.judge_value(&format!("{place}/schema"), &read(value, &one["schema"]))
                .map_err(|breach| format!("the header {name}: {breach}"))?;
        }
        Ok(())
    }

    fn judge_value(&self, pointer: &str, value: &Value) -> Result<(), String> {
        let validator = self.validator(pointer);
        let breaches: Vec<_> = validator
            .iter_errors(value)
            .map(|error| format!("{} {error}", error.instance_path()))
            .collect();
        let sound = breaches.is_empty();
        sound.then_some(()).ok_or_else(|| breaches.join("; "))
    }

    fn operation(&self, operation: Operation<'_>) -> &Value {
        &self.document["paths"][operation.path][operation.method.to_lowercase()]
    }

    /// Pointer and value that a reference refers to.
    fn follow(&self, value: &Value) -> Option<(String, &Value)> {
        let pointer = value.get("$ref")?.as_str()?.strip_prefix('#')?;
        let target = self.document.pointer(pointer);
        Some((
            pointer.to_owned(),
            target.expect("a reference leads to something"),
        ))
    }
}

/// The members of an object; empty for other values.
pub fn members(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let members = value.as_object().into_iter().flatten();
    members.map(|(name, value)| (name.as_str(), value))
}

/// Whether a concrete path matches a template.
fn fits(template: &str, path: &str) -> bool {
    let (mut wanted, mut given) = (template.split('/'), path.split('/'));
    let fit = wanted.by_ref().zip(given.by_ref()).all(|(wanted, given)| {
        let parameter = wanted.starts_with('{');
        wanted == given || (parameter && !given.is_empty())
    });
    fit && template.matches('/').count() == path.matches('/').count()
}

/// A name escaped for a JSON Pointer.
fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// A header's value, parsed by its schema.
fn read(value: &HeaderValue, schema: &Value) -> Value {
    let text = String::from_utf8_lossy(value.as_bytes());
    let number = text.parse::<u64>().ok().filter(|_| schema["type"] == "integer");
    number.map_or_else(|| text.as_ref().into(), Value::from)
}
