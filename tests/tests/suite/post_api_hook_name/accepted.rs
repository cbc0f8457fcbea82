//! How fields are sent, and what becomes of them.

use serde_json::{Value, json};
use tests::forms::{address, received, submission, submit};

use super::{NEW, lead, world};

/// Fields of a lead in a response.
fn shown(lead: &Value, names: &[&str]) -> Value {
    names
        .iter()
        .map(|name| ((*name).to_owned(), lead[*name].clone()))
        .collect()
}

/// Every form in which a browser sends fields without a preflight, JSON, and the query.
#[tokio::test]
async fn fields_come_in_the_query_and_in_every_kind_of_body() {
    let json =
        json!({ "nome": "Bia Sá", "email": "bia@example.com", "cargo": "CEO & sócia", "utm_source": "ads" });
    let (json, pairs) = (
        json.to_string(),
        "nome=Bia+S%C3%A1&email=bia%40example.com&cargo=CEO+%26+s%C3%B3cia&utm_source=ads",
    );
    let marked = format!("\u{feff} {json}");
    // The body of a page's form with `enctype="text/plain"`.
    let lines = "nome=Bia Sá\r\nemail=bia@example.com\r\ncargo=CEO & sócia\r\nutm_source=ads\r\n";
    for (query, media_type, body) in [
        (format!("&{pairs}"), None, ""),
        (format!("&{pairs}"), Some("application/json"), " "),
        (String::new(), Some("application/json"), json.as_str()),
        (String::new(), Some("application/json; charset=utf-8"), &marked),
        (String::new(), Some("text/plain;charset=UTF-8"), &json),
        (String::new(), Some("application/x-www-form-urlencoded"), &json),
        (String::new(), None, &json),
        (
            String::new(),
            Some("application/x-www-form-urlencoded;charset=UTF-8"),
            pairs,
        ),
        (String::new(), Some("text/plain;charset=UTF-8"), pairs),
        (String::new(), Some("text/plain"), lines),
        (String::new(), None, pairs),
        (
            "&nome=Outro&cargo=CEO+%26+s%C3%B3cia".to_owned(),
            None,
            "nome=Bia+S%C3%A1&email=bia%40example.com&utm_source=ads",
        ),
    ] {
        let world = world(&json!({})).await;
        let mut call = world
            .call("POST", &address(&query))
            .header("origin", "https://site.example");
        if let Some(media_type) = media_type {
            call = call.header("content-type", media_type);
        }
        let answer = call.bytes(body.to_owned()).send().await;
        answer.is(200, &received(NEW));
        assert_eq!(answer.headers["access-control-allow-origin"], "*");
        let made = lead(&world, NEW).await;
        let names = [
            "firstname",
            "email",
            "cargo",
            "utmTags",
            "createdByType",
            "owner",
            "city",
        ];
        assert_eq!(
            shown(&made, &names),
            json!({ "firstname": "Bia Sá", "email": "bia@example.com", "cargo": "CEO & sócia",
                "utmTags": [{ "utm_source": "ads" }], "createdByType": "form", "owner": null, "city": null }),
            "{query} {media_type:?} {body}"
        );
        world.is_sound().await;
    }
}

/// Undeclared and blank fields do not reach the lead; numbers in text fields are text; checkboxes are joined.
#[tokio::test]
async fn only_declared_fields_reach_the_lead() {
    let world = world(&json!({ "owner": 8 })).await;
    let sent = json!({ "nome": " Bia ", "whatsapp": 5_541_988_880_001_u64, "cidade": " ", "cargo": true,
        "points": 99, "owner": 7, "initial_password": "x", "outro": [1, { "a": 2 }], "utm_medium": "" });
    submit(&world, &sent).await.is(200, &received(NEW));
    let made = lead(&world, NEW).await;
    let names = [
        "firstname",
        "chatapp",
        "city",
        "cargo",
        "points",
        "owner",
        "initial_password",
        "utmTags",
    ];
    assert_eq!(
        shown(&made, &names),
        json!({ "firstname": "Bia", "chatapp": "5541988880001", "city": null, "cargo": true, "points": 0, "owner": 8,
            "initial_password": null, "utmTags": [] })
    );
    assert!(made.get("outro").is_none());
    let pairs = "nome=Ana&cargo=a&cargo=b&cargo=";
    let call = world.call("POST", &address("")).bytes(pairs);
    call.send().await.is(200, &received(NEW + 1));
    assert_eq!(lead(&world, NEW + 1).await["cargo"], "a, b");
}

/// A form without a list of fields takes those that bookings take.
#[tokio::test]
async fn without_fields_the_public_ones_are_taken() {
    let world = world(&json!({ "fields": [] })).await;
    let sent = json!({ "lastname": "Sá", "zipcode": 80_000, "preferred_locale": "en", "cargo": "CEO" });
    submit(&world, &sent).await.is(200, &received(NEW));
    let made = lead(&world, NEW).await;
    assert_eq!(
        shown(&made, &["lastname", "zipcode", "preferred_locale"]),
        json!({ "lastname": "Sá", "zipcode": "80000", "preferred_locale": "en" })
    );
    assert!(made.get("cargo").is_none());
    let named = json!({ "firstname": "Bia", "whatsapp": "5541988880001" });
    submit(&world, &named).await.is(200, &received(NEW + 1));
    assert_eq!(lead(&world, NEW + 1).await["chatapp"], "5541988880001");
    let both = json!({ "firstname": "Bia", "whatsapp": "5541988880001", "chatapp": "5541988880002" });
    let details = "whatsapp: must be the same as chatapp";
    submit(&world, &both)
        .await
        .is(400, &json!({ "error": "Invalid request", "details": details }));
}

/// C-10: with a key, equal submissions make one lead even without `unique`.
#[tokio::test]
async fn a_key_makes_a_submission_repeatable() {
    let world = world(&json!({ "unique": [] })).await;
    let sent = json!({ "nome": "Bia", "email": "bia@example.com" });
    let keyed = |body: &Value| submission(&world, body).header("idempotency-key", "k").send();
    let first = keyed(&sent).await;
    first.is(200, &received(NEW));
    assert!(first.headers.get("idempotent-replayed").is_none());
    let again = keyed(&sent).await;
    again.is(200, &received(NEW));
    assert_eq!(again.headers["idempotent-replayed"], "true");
    let other = keyed(&json!({ "nome": "Ana" })).await;
    other.is(
        422,
        &json!({ "error": "Idempotency-Key was used with another body" }),
    );
    submit(&world, &sent).await.is(200, &received(NEW));
    assert_eq!(world.form_events().await.len(), 1);
    // Another key of an equal submission holds too.
    let keyed = |body: &Value| submission(&world, body).header("idempotency-key", "l").send();
    keyed(&sent).await.is(200, &received(NEW));
    keyed(&sent).await.is(200, &received(NEW));
    assert_eq!(keyed(&json!({ "nome": "Ana" })).await.status, 422);
    world.is_sound().await;
}

/// C-10: also where the first submission found a lead.
#[tokio::test]
async fn a_key_holds_for_a_lead_that_was_found() {
    let world = world(&json!({})).await;
    let sent = json!({ "nome": "Bia", "email": "lead1001@example.com", "cargo": "CEO" });
    let keyed = |body: &Value| submission(&world, body).header("idempotency-key", "k").send();
    for is_replay in [false, true, true] {
        let answer = keyed(&sent).await;
        answer.is(200, &received(1001));
        assert_eq!(answer.headers.contains_key("idempotent-replayed"), is_replay);
    }
    let other = keyed(&json!({ "nome": "Bia", "email": "lead1002@example.com" })).await;
    other.is(
        422,
        &json!({ "error": "Idempotency-Key was used with another body" }),
    );
    world.is_sound().await;
}
