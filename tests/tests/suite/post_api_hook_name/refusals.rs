//! What a form refuses.

use serde_json::{Value, json};
use tests::forms::{TOKEN, address, received, submit};

use super::{NEW, world};

fn invalid(details: &str) -> Value {
    json!({ "error": "Invalid request", "details": details })
}

/// A form that does not exist, a wrong token and an unknown instance are one answer, before the body is judged. Of the
/// instance at most the directory is read (C-86).
#[tokio::test]
async fn wrong_names_and_tokens_are_not_found() {
    let world = world(&json!({})).await;
    let good = json!({ "nome": "Bia" }).to_string();
    let before = world.raw().items().len();
    for uri in [
        "/api/hook/contact?i=acme".to_owned(),
        "/api/hook/contact?i=acme&access_token=".to_owned(),
        "/api/hook/contact?i=acme&access_token=wrong".to_owned(),
        format!("/api/hook/contact?i=acme&access_token={TOKEN}x"),
        format!("/api/hook/contact?i=acme&access_token={TOKEN}&access_token={TOKEN}"),
        format!("/api/hook/contact?i=acme&token={TOKEN}"),
        format!("/api/hook/nowhere?i=acme&access_token={TOKEN}"),
        format!("/api/hook/CONTACT?i=acme&access_token={TOKEN}"),
        format!("/api/hook/a%20b?i=acme&access_token={TOKEN}"),
        format!("/api/hook/contact?i=nobody&access_token={TOKEN}"),
        format!("/api/hook/contact?i=ACME&access_token={TOKEN}"),
        format!("/api/hook/contact?i=%23&access_token={TOKEN}"),
    ] {
        for body in [good.as_str(), "{", ""] {
            let answer = world.call("POST", &uri).bytes(body.to_owned()).send().await;
            answer.is(404, &json!({ "error": "Not found" }));
            assert!(answer.cost.read_units() <= 4.0, "{uri}: {:?}", answer.cost);
            assert!(answer.cost.write_units() <= 0.0, "{uri}: {:?}", answer.cost);
        }
    }
    assert_eq!(world.raw().items().len(), before);
    for i in ["", "i=", "i=acme&i=acme"] {
        let uri = format!("/api/hook/contact?{i}&access_token={TOKEN}");
        let answer = world.call("POST", &uri).send().await;
        answer.is(400, &invalid("i: must name the instance, once"));
    }
}

#[tokio::test]
async fn the_missing_or_invalid_field_is_named() {
    let world = world(&json!({ "fields": [{ "name": "nome", "to": "firstname", "required": true },
        { "name": "e-mail", "to": "email", "required": true }, { "name": "cidade", "to": "city" }, { "name": "cargo" }] }))
    .await;
    let before = world.raw().items().len();
    let with = |changes: Value| {
        let mut sent = json!({ "nome": "Bia", "e-mail": "bia@example.com" });
        for (name, value) in changes.as_object().expect("fields") {
            sent[name] = value.clone();
        }
        sent
    };
    for (sent, details) in [
        (json!({}), "nome: is required"),
        (json!({ "nome": "Bia" }), "e-mail: is required"),
        (with(json!({ "nome": " " })), "nome: is required"),
        (with(json!({ "e-mail": null })), "e-mail: is required"),
        (
            with(json!({ "nome": "x".repeat(256) })),
            "nome: must have at most 255 characters",
        ),
        (with(json!({ "nome": true })), "nome: must be text or null"),
        (
            with(json!({ "cidade": "ã".repeat(501) })),
            "cidade: must have at most 1000 bytes",
        ),
        (with(json!({ "cidade": [["a"]] })), "cidade: must be text or null"),
        (
            with(json!({ "cargo": "x".repeat(10_001) })),
            "cargo: must have at most 10000 characters",
        ),
        (
            with(json!({ "cargo": {} })),
            "cargo: must be text, a number, true, false, null or a list of these",
        ),
        (
            with(json!({ "utm_x": [[1]] })),
            "utm_x: must be text, a number, true, false, null or a list of these",
        ),
        (
            with(json!({ "x": "x".repeat(65_600) })),
            "body: must have at most 64 KB in all fields",
        ),
        (
            with(json!({ "x": "\"".repeat(45_000) })),
            "body: must have at most 90 KB in all fields as JSON",
        ),
    ] {
        submit(&world, &sent).await.is(400, &invalid(details));
    }
    for (media_type, body, details) in [
        (
            "multipart/form-data; boundary=x",
            "--x",
            "body: must be a whole multipart/form-data",
        ),
        ("application/json", "nome=Bia", "body: must be JSON"),
        ("application/json", "[]", "body: must be a JSON object"),
        ("text/plain", "{\"nome\":", "body: must be JSON"),
        ("text/plain", "", "nome: is required"),
    ] {
        let call = world
            .call("POST", &address(""))
            .header("content-type", media_type);
        call.bytes(body.to_owned())
            .send()
            .await
            .is(400, &invalid(details));
    }
    let form = |charset: &str| format!("application/x-www-form-urlencoded; charset={charset}");
    let call = world
        .call("POST", &address(""))
        .header("content-type", &form("koi8-r"));
    let refused = call.bytes("nome=%C1".to_owned()).send().await;
    assert_eq!(refused.status, 415);
    assert_eq!(world.raw().items().len(), before);
    // Browsers send Windows-1252 for pages in Latin-1.
    let call = world
        .call("POST", &address(""))
        .header("content-type", &form("ISO-8859-1"));
    let taken = call
        .bytes("e-mail=a%40b.c&nome=Jo%E3o+%96+%93a%94".to_owned())
        .send()
        .await;
    assert_eq!(taken.status, 200);
}

#[tokio::test]
async fn a_lead_must_be_named() {
    let world = world(&json!({ "fields": [{ "name": "cidade", "to": "city" }, { "name": "email" }] })).await;
    let details = "body: must have a firstname, lastname, email, phone, mobile or chatapp";
    submit(&world, &json!({ "cidade": "Recife" }))
        .await
        .is(400, &invalid(details));
    submit(&world, &json!({ "email": "a@b.c" }))
        .await
        .is(200, &received(NEW));
}
