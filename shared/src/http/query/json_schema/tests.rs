use super::*;

#[derive(Deserialize)]
struct Vector {
    name: String,
    schema: String,
    body: Value,
    valid: bool,
    error: Value,
}

fn hold(vectors: &str, name: &str, schema: &Schema) {
    let vectors: Vec<Vector> = serde_json::from_str(vectors).unwrap();
    assert!(!vectors.is_empty());
    for vector in vectors {
        assert_eq!(vector.schema, name);
        let found = schema.check(&vector.body).err();
        assert_eq!(found.is_none(), vector.valid, "{}", vector.name);
        assert_eq!(json!(found), vector.error, "{}", vector.name);
    }
}

/// Schema path and instance path of the first violation, or two empty texts.
fn breach(schema: &str, body: &str) -> (String, String) {
    let body = serde_json::from_str(body).unwrap();
    let found = Schema::compile(schema).unwrap().check(&body).err();
    found
        .map(|found| (found.schema_path, found.instance_path))
        .unwrap_or_default()
}

fn accepts(schema: &str, body: &str) -> bool {
    breach(schema, body) == (String::new(), String::new())
}

fn refusal(schema: &str) -> String {
    Schema::compile(schema).unwrap_err().to_string()
}

#[test]
fn every_call_webhook_vector_gets_the_recorded_error() {
    hold(
        include_str!("../../../../vectors/ajv-call-webhook.json"),
        "call-webhook",
        &CALL_WEBHOOK,
    );
}

#[test]
fn every_list_opportunities_vector_gets_the_recorded_error() {
    hold(
        include_str!("../../../../vectors/ajv-list-opportunities.json"),
        "list-opportunities",
        &LIST_OPPORTUNITIES,
    );
}

#[test]
fn a_violation_is_written_with_ajvs_names_in_ajvs_order() {
    let found = LIST_OPPORTUNITIES
        .check(&json!({ "page": 1, "limit": 101 }))
        .unwrap_err();
    assert_eq!(
        serde_json::to_string(&found).unwrap(),
        r##"{"instancePath":"/limit","schemaPath":"#/properties/limit/maximum","keyword":"maximum","params":{"comparison":"<=","limit":100},"message":"must be <= 100"}"##
    );
}

#[test]
fn a_schema_that_could_be_misread_is_refused() {
    assert!(refusal(r#"{"pattern":"^a"}"#).contains("unknown field `pattern`"));
    assert!(
        refusal(r#"{"properties":{"a":{"items":{"format":"date"}}}}"#).contains("unknown field `format`")
    );
    for schema in [
        "true",
        r#"{"$schema":"https://json-schema.org/draft/2020-12/schema"}"#,
        r#"{"type":"decimal"}"#,
        r#"{"items":[{}]}"#,
        r#"{"additionalProperties":{"type":"string"}}"#,
        r#"{"minimum":"0"}"#,
    ] {
        refusal(schema);
    }
    for mixed in [
        r#"{"enum":[1],"minimum":0}"#,
        r#"{"items":{"properties":{"a":{"items":{},"required":["b"]}}}}"#,
    ] {
        assert!(refusal(mixed).contains("different kinds"));
    }
}

#[test]
fn integers_are_whole_doubles_however_written() {
    let schema = r#"{"type":"integer"}"#;
    for body in [
        "0",
        "-0",
        "-0.0",
        "1.0",
        "1e2",
        "120e-1",
        "1e30",
        "-1e300",
        "18446744073709551616",
        "1e-400",
    ] {
        assert!(accepts(schema, body), "{body}");
    }
    for body in ["0.5", "1e-2", "-1.000001", "\"1\"", "true", "null", "[1]"] {
        assert!(!accepts(schema, body), "{body}");
    }
}

#[test]
fn limits_apply_to_numbers_of_any_size_and_only_to_numbers() {
    let schema = r#"{"minimum":0,"maximum":100}"#;
    for body in ["-0.0", "0", "100.0", "1e2", "\"x\"", "null", "[101]", "{}"] {
        assert!(accepts(schema, body), "{body}");
    }
    for (body, keyword) in [
        ("100.5", "#/maximum"),
        ("18446744073709551615", "#/maximum"),
        ("1e300", "#/maximum"),
        ("-1", "#/minimum"),
        ("-9223372036854775808", "#/minimum"),
        ("-1e-300", "#/minimum"),
    ] {
        assert_eq!(breach(schema, body).0, keyword, "{body}");
    }
}

#[test]
fn enum_members_are_compared_deeply_and_numbers_by_value() {
    let schema = r#"{"enum":[1,null,"é",[2,{"a":3,"b":[]}]]}"#;
    for body in ["1.0", "null", "\"\\u00e9\"", r#"[2.0,{"b":[],"a":3}]"#] {
        assert!(accepts(schema, body), "{body}");
    }
    for body in [
        "\"1\"",
        "true",
        "\"e\\u0301\"",
        r#"[2,{"a":3}]"#,
        r#"[2,{"a":3,"b":[],"c":1}]"#,
        "[2]",
    ] {
        assert!(!accepts(schema, body), "{body}");
    }
}

#[test]
fn the_first_unknown_property_is_the_first_javascript_would_list() {
    let schema = Schema::compile(r#"{"additionalProperties":false,"properties":{"7":{}}}"#).unwrap();
    for (body, first) in [
        (r#"{"b":0,"a":0}"#, "b"),
        (r#"{"b":0,"10":0,"7":0,"9":0}"#, "9"),
        (r#"{"4294967295":0,"00":0,"4294967294":0}"#, "4294967294"),
        (r#"{"+1":0,"01":0,"-1":0," 1":0,"1.5":0,"1e3":0,"":0}"#, "+1"),
        (
            r#"{"18446744073709551616":0,"4294967295":0}"#,
            "18446744073709551616",
        ),
        (r#"{"b":0,"a":0,"b":1}"#, "b"),
        (r#"{"7":0,"__proto__":{},"toString":0}"#, "__proto__"),
    ] {
        let found = schema.check(&serde_json::from_str(body).unwrap()).unwrap_err();
        assert_eq!(found.params, json!({ "additionalProperty": first }), "{body}");
    }
}

#[test]
fn properties_are_checked_in_javascripts_order_of_the_schema() {
    let schema = r#"{"properties":{"b":{"type":"null"},"10":{"type":"null"},"9":{"type":"null"}}}"#;
    assert_eq!(breach(schema, r#"{"10":0,"b":0}"#).1, "/10");
    assert_eq!(breach(schema, r#"{"b":0,"10":0,"9":0}"#).1, "/9");
}

#[test]
fn paths_are_escaped_as_pointers_and_percent_encoded_in_the_schema() {
    let schema = r#"{"properties":{"a/b~c %é'()*!":{"items":{"items":{"type":"null"}}}}}"#;
    let (in_schema, in_body) = breach(schema, r#"{"a/b~c %é'()*!":[[],[null,0]]}"#);
    assert_eq!(
        in_schema,
        "#/properties/a~1b~0c%20%25%C3%A9'()*!/items/items/type"
    );
    assert_eq!(in_body, "/a~1b~0c %é'()*!/1/1");
}

#[test]
fn a_type_list_is_reported_as_written() {
    for (types, message) in [
        (json!("null"), "must be null"),
        (json!(["null"]), "must be null"),
        (json!(["null", "array"]), "must be null,array"),
    ] {
        let schema = Schema::compile(&json!({ "type": types }).to_string()).unwrap();
        let found = schema.check(&json!(1)).unwrap_err();
        assert_eq!(
            (found.params, found.message.as_str()),
            (json!({ "type": types }), message)
        );
    }
}
