//! YAML as JSON.

#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot read a document has to stop and say where"
)]

use saphyr::{LoadableYamlNode as _, ScalarOwned, YamlOwned};
use serde_json::{Value, json};

/// Parses a document. Intrinsic functions get their long form: `!Ref Table` is `{"Ref": "Table"}`.
pub(crate) fn parse(text: &str) -> Value {
    let documents = YamlOwned::load_from_str(text).expect("the text is YAML");
    to_json(&documents.into_iter().next().expect("the document is not empty"))
}

fn to_json(yaml: &YamlOwned) -> Value {
    match yaml {
        YamlOwned::Value(ScalarOwned::Null) => Value::Null,
        YamlOwned::Value(ScalarOwned::Boolean(value)) => json!(value),
        YamlOwned::Value(ScalarOwned::Integer(value)) => json!(value),
        YamlOwned::Value(ScalarOwned::FloatingPoint(value)) => json!(value.into_inner()),
        YamlOwned::Value(ScalarOwned::String(value)) => json!(value),
        YamlOwned::Sequence(items) => items.iter().map(to_json).collect(),
        YamlOwned::Mapping(fields) => {
            let fields = fields.iter().map(|(name, value)| {
                let name = name.as_str().expect("a name is plain text");
                (name.to_owned(), to_json(value))
            });
            Value::Object(fields.collect())
        }
        YamlOwned::Tagged(tag, value) => match tag.suffix.as_str() {
            name @ ("Ref" | "Condition") => json!({ name: to_json(value) }),
            name => json!({ format!("Fn::{name}"): to_json(value) }),
        },
        other => panic!("neither text nor list nor mapping: {other:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intrinsic_functions_are_written_out() {
        let short = "{ a: !Ref T, b: [!GetAtt T.Arn, 1.5], c: !If [C, !Sub '${T}', ~], d: !Condition C, e: yes, f: 2 }";
        let long = json!({
            "a": { "Ref": "T" }, "b": [{ "Fn::GetAtt": "T.Arn" }, 1.5],
            "c": { "Fn::If": ["C", { "Fn::Sub": "${T}" }, null] }, "d": { "Condition": "C" }, "e": "yes", "f": 2,
        });
        assert_eq!(parse(short), long);
    }
}
