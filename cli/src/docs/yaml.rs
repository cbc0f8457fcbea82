//! YAML as JSON: the document uses no more of YAML than JSON has.

use saphyr::{LoadableYamlNode as _, ScalarOwned, YamlOwned};
use serde_json::{Map, Number, Value};

/// Text that is not one YAML document, or has what JSON has not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BadYaml;

/// Reads a document.
pub fn read(text: &str) -> Result<Value, BadYaml> {
    let documents = YamlOwned::load_from_str(text).map_err(|_| BadYaml)?;
    match documents.as_slice() {
        [document] => value(document),
        _ => Err(BadYaml),
    }
}

fn value(node: &YamlOwned) -> Result<Value, BadYaml> {
    match node {
        YamlOwned::Value(scalar) => self::scalar(scalar),
        YamlOwned::Sequence(items) => items.iter().map(value).collect(),
        YamlOwned::Mapping(members) => {
            let members = members.iter().map(|(name, member)| {
                let name = name.as_str().ok_or(BadYaml)?;
                Ok((name.to_owned(), value(member)?))
            });
            members.collect::<Result<Map<_, _>, _>>().map(Value::Object)
        }
        _ => Err(BadYaml),
    }
}

fn scalar(scalar: &ScalarOwned) -> Result<Value, BadYaml> {
    match scalar {
        ScalarOwned::Null => Ok(Value::Null),
        ScalarOwned::Boolean(flag) => Ok((*flag).into()),
        ScalarOwned::Integer(number) => Ok((*number).into()),
        ScalarOwned::FloatingPoint(number) => {
            let number = Number::from_f64(number.into_inner()).ok_or(BadYaml)?;
            Ok(Value::Number(number))
        }
        ScalarOwned::String(text) => Ok(text.as_str().into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_json_has_is_read() {
        let text = "a: [1, 2.5, true, null, \"200\", text]\n\"200\": { b: {} }\nc: >-\n  two\n  lines\n";
        let expected =
            json!({ "a": [1, 2.5, true, null, "200", "text"], "200": { "b": {} }, "c": "two lines" });
        assert_eq!(read(text), Ok(expected));
    }

    #[test]
    fn what_json_has_not_is_refused() {
        for text in ["", "200: a", "[a]: b", "a: .nan", "a: 1\n---\nb: 2", "a: [", "*a"] {
            assert_eq!(read(text), Err(BadYaml), "{text}");
        }
    }
}
