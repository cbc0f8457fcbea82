//! Examples match their schemas.

use funil::demo::{self, Demo};
use serde_json::Value;
use tests::openapi::{INTERFACE, Operation, members};
use tests::{Wallet, World};

/// Everything in the document with a schema and examples, by JSON Pointer.
fn exemplified() -> Vec<(String, &'static Value)> {
    fn walk(pointer: &str, value: &'static Value, found: &mut Vec<(String, &'static Value)>) {
        if value.get("schema").is_some() {
            found.push((pointer.to_owned(), value));
        }
        for (name, value) in members(value) {
            let name = name.replace('~', "~0").replace('/', "~1");
            walk(&format!("{pointer}/{name}"), value, found);
        }
        for (at, value) in value.as_array().into_iter().flatten().enumerate() {
            walk(&format!("{pointer}/{at}"), value, found);
        }
    }
    let mut found = Vec::new();
    walk("", INTERFACE.document(), &mut found);
    found
}

#[test]
fn examples_are_valid() {
    let mut count = 0;
    for (pointer, value) in exemplified() {
        let named = members(&value["examples"]).map(|(_, example)| &example["value"]);
        for example in value.get("example").into_iter().chain(named) {
            let validator = INTERFACE.validator(&format!("{pointer}/schema"));
            let breach = validator.validate(example).err().map(|error| error.to_string());
            assert_eq!(breach, None, "{pointer}: {example}");
            count += 1;
        }
    }
    assert!(count > 80, "{count}");
}

/// For first requests made from the document.
#[test]
fn every_body_and_response_has_an_example() {
    for (pointer, value) in exemplified() {
        let shown = value.get("example").is_some() || value.get("examples").is_some();
        let needed = pointer.contains("/content/") || value["required"] == true && value["in"].is_string();
        assert!(shown || !needed, "{pointer}");
    }
}

/// The request that the page of `/docs` sends: the first example of everything, under the first security requirement.
fn request<'w>(world: &'w World, operation: Operation<'_>, wallet: &Wallet) -> tests::world::Request<'w> {
    let (mut path, mut query) = (operation.path.to_owned(), Vec::new());
    for parameter in INTERFACE.parameters(operation) {
        let name = parameter["name"].as_str().expect("a name");
        let example = match &parameter["example"] {
            Value::Null => continue,
            Value::String(text) => text.replace(' ', "%20"),
            other => other.to_string(),
        };
        match parameter["in"].as_str() {
            Some("path") => path = path.replace(&format!("{{{name}}}"), &example),
            Some("query") => query.push(format!("{name}={example}")),
            _ => {}
        }
    }
    let schemes = members(&operation.value["security"][0]).map(|(scheme, _)| scheme);
    let schemes: Vec<_> = schemes.collect();
    if schemes.contains(&"apiKeyQuery") {
        query.push(format!("apitoken={}", wallet.key));
    }
    let mut call = world.call(operation.method, &format!("{path}?{}", query.join("&")));
    if schemes.contains(&"apiKeyHeader") {
        call = call.header("apitoken", &wallet.key);
    }
    if schemes.contains(&"accessToken") {
        call = call.header("authorization", &format!("Bearer {}", wallet.token));
    }
    let body = &INTERFACE.resolve(&operation.value["requestBody"])["content"]["application/json"];
    let first = members(&body["examples"])
        .next()
        .map(|(_, example)| &example["value"]);
    match body.get("example").or(first) {
        Some(body) => call.json(body),
        None => call,
    }
}

/// Every operation succeeds on the demo with the document's own examples and the demo's credentials.
#[tokio::test]
async fn every_operation_accepts_its_examples() {
    let world = World::empty().await;
    let Ok(Demo::Created { key, token }) = demo::load(&world.store).await else {
        panic!("the demo is loaded");
    };
    let wallet = Wallet {
        key,
        token,
        key_id: String::new(),
        token_id: String::new(),
    };
    for operation in INTERFACE.operations() {
        let answer = request(&world, operation, &wallet).send().await;
        let (method, path) = (operation.method, operation.path);
        assert!(
            answer.status.is_success(),
            "{method} {path}: {} {}",
            answer.status,
            answer.body
        );
    }
}
