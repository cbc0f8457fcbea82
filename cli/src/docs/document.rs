//! The document as the page reads it: references followed, parameters of path and operation together.

use serde_json::Value;

/// The methods of operations, as a path has them.
const METHODS: [&str; 4] = ["get", "post", "put", "delete"];

/// A document, and where the service answers that it describes.
#[derive(Debug, Clone, Copy)]
pub struct Document<'a> {
    /// The document.
    pub value: &'a Value,
    /// The address of the service.
    pub url: &'a str,
}

impl<'a> Document<'a> {
    /// What a value refers to, if it is a reference, else itself.
    pub fn resolve(&self, value: &'a Value) -> &'a Value {
        let pointer = value["$ref"]
            .as_str()
            .and_then(|reference| reference.strip_prefix('#'));
        pointer
            .and_then(|pointer| self.value.pointer(pointer))
            .unwrap_or(value)
    }

    /// The parameters of an operation, its path's first.
    pub fn parameters(&self, path: &str, operation: &'a Value) -> Vec<&'a Value> {
        let shared = &self.value["paths"][path]["parameters"];
        let all = [shared, &operation["parameters"]]
            .into_iter()
            .filter_map(Value::as_array)
            .flatten();
        all.map(|parameter| self.resolve(parameter)).collect()
    }

    /// The operations of a tag: method, path and itself.
    pub fn operations(&self, tag: &str) -> Vec<(String, &'a str, &'a Value)> {
        let mut found = Vec::new();
        for (path, item) in self.value["paths"].as_object().into_iter().flatten() {
            for method in METHODS {
                if item[method]["tags"][0] == tag {
                    found.push((method.to_uppercase(), path.as_str(), &item[method]));
                }
            }
        }
        found
    }
}

/// A value that is text; blank where it is anything else.
pub fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
