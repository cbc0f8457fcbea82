//! AJV's first error, found by another method than the service's (C-41, C-70): the crate `jsonschema` finds
//! all errors of a body, unordered, and the first in AJV's order is chosen.

use jsonschema::error::ValidationErrorKind as Kind;
use jsonschema::paths::Location;
use jsonschema::{ValidationError, Validator};
use serde_json::{Map, Value};
use shared::http::query::json_schema::Schema;

/// Position of an error in AJV's order: at each level the keyword and the item or property.
type Place = Vec<(usize, usize)>;

/// AJV's order of keywords at one level, each validated completely before the next.
const KEYWORDS: [&str; 8] = [
    "type",
    "enum",
    "maximum",
    "minimum",
    "items",
    "required",
    "additionalProperties",
    "properties",
];

/// A schema compiled by both implementations.
pub struct Judges {
    document: Value,
    all: Validator,
    first: &'static Schema,
}

impl Judges {
    /// Compiles a schema's text; `None` if it is invalid.
    pub fn new(text: &str, first: &'static Schema) -> Option<Self> {
        let document: Value = serde_json::from_str(text).ok()?;
        let all = jsonschema::draft7::new(&document).ok()?;
        Some(Self { document, all, first })
    }

    /// Compares the results for a body, and returns whether it is accepted.
    pub fn judge(&self, body: &Value) -> bool {
        let found = self.first.check(body);
        let errors = self.all.iter_errors(body).map(|error| self.place(&error, body));
        let expected = errors.min_by(|(one, _), (other, _)| one.cmp(other));
        let told = found.as_ref().err().map(|violation| {
            let missing = &violation.params["missingProperty"];
            let unknown = &violation.params["additionalProperty"];
            let name = missing.as_str().or(unknown.as_str()).unwrap_or_default();
            let path = violation.schema_path.trim_start_matches('#');
            (path.to_owned(), violation.instance_path.clone(), name.to_owned())
        });
        assert_eq!(told, expected.map(|(_, error)| error), "{body}");
        if let Err(violation) = &found {
            assert!(
                violation
                    .schema_path
                    .ends_with(&format!("/{}", violation.keyword)),
                "{violation:?}"
            );
        }
        found.is_ok()
    }

    /// Position of an error, with its schema path, its instance path and the property that it names.
    fn place(&self, error: &ValidationError, body: &Value) -> (Place, (String, String, String)) {
        let instance = error.instance_path().as_str().to_owned();
        let (named, at) = match error.kind() {
            Kind::Required { property } => {
                let property = property.as_str().unwrap_or_default().to_owned();
                let required = self.schema(error.schema_path().as_str());
                let names = required.and_then(Value::as_array).into_iter().flatten();
                let at = names.take_while(|name| **name != property).count();
                (property, at)
            }
            Kind::AdditionalProperties { unexpected } => {
                let object = body.pointer(&instance).and_then(Value::as_object);
                (first_in_javascript(object, unexpected), 0)
            }
            _ => (String::new(), 0),
        };
        let path = schema_path(error.schema_path());
        let place = self.ranks(&path, &instance, at);
        (place, (path, instance, named))
    }

    fn schema(&self, path: &str) -> Option<&Value> {
        self.document.pointer(path)
    }

    /// A schema path as numbers that sort in AJV's order.
    fn ranks(&self, path: &str, instance: &str, last: usize) -> Place {
        let (mut ranks, mut level) = (Place::new(), &self.document);
        let mut parts = path.split('/').skip(1);
        let mut body = instance.split('/').skip(1);
        while let Some(keyword) = parts.next() {
            let rank = KEYWORDS
                .iter()
                .position(|known| *known == keyword)
                .unwrap_or(KEYWORDS.len());
            level = &level[keyword];
            let at = match keyword {
                "items" => body
                    .next()
                    .and_then(|index| index.parse().ok())
                    .unwrap_or_default(),
                "properties" => {
                    let name = parts.next().unwrap_or_default();
                    body.next();
                    let names = level.as_object().into_iter().flat_map(Map::keys);
                    let at = names.take_while(|known| *known != name).count();
                    level = &level[name];
                    at
                }
                _ => last,
            };
            ranks.push((rank, at));
        }
        ranks
    }
}

fn schema_path(path: &Location) -> String {
    path.as_str().to_owned()
}

/// The first unknown name in JavaScript's key order: array indices ascending, then others as written.
fn first_in_javascript(object: Option<&Map<String, Value>>, unexpected: &[String]) -> String {
    let index = |name: &&String| {
        let plain = name.as_str() == "0"
            || (!name.starts_with('0') && name.bytes().all(|byte| byte.is_ascii_digit()));
        plain
            .then(|| name.parse::<u32>().ok())
            .flatten()
            .filter(|index| *index < u32::MAX)
    };
    let unknown = || {
        object
            .into_iter()
            .flat_map(Map::keys)
            .filter(|name| unexpected.contains(name))
    };
    let least = unknown().filter(|name| index(name).is_some()).min_by_key(index);
    least.or_else(|| unknown().next()).cloned().unwrap_or_default()
}
