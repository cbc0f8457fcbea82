//! Hostile submissions: stored as text, or refused without a write.

use serde_json::json;
use tests::forms::{address, received, submit};

use super::{NEW, lead, world};

/// Names of attributes, delimiters, markup, control characters.
#[tokio::test]
async fn any_text_is_stored_verbatim() {
    let world = world(&json!({})).await;
    for (turn, text) in [
        "#",
        ":pk",
        "$where",
        "<script>alert(1)</script>",
        "'; DROP TABLE leads; --",
        "a\u{0}b",
        "set-cookie: a=b\r\nx: y",
        "\u{202e}x",
        "😀",
        "{{7*7}}",
        "=1+1",
        "\"}]",
    ]
    .into_iter()
    .enumerate()
    {
        let id = NEW + turn as u64;
        submit(&world, &json!({ "nome": "x", "cargo": text }))
            .await
            .is(200, &received(id));
        assert_eq!(lead(&world, id).await["cargo"], text);
    }
    world.is_sound().await;
}

/// Bodies that are neither JSON nor pairs make no lead, and none ends in an error of the service.
#[tokio::test]
async fn odd_bodies_are_refused() {
    let world = world(&json!({})).await;
    let nested = format!("{{\"nome\":{}{}}}", "[".repeat(200), "]".repeat(200));
    let before = world.raw().items().len();
    let mut bodies: Vec<Vec<u8>> = vec![
        nested.into(),
        "&".repeat(200_000).into(),
        "{\"nome\":".repeat(20_000).into(),
    ];
    let short: [&[u8]; 13] = [
        b"",
        b"{",
        b"{}{}",
        b"{}\0",
        b"null",
        b"=",
        b"&&=&=&",
        b"nome",
        b"nome=",
        b"nome=%",
        b"\xFF\xFE",
        b"%00=%00",
        b"{\"nome\":1e400}",
    ];
    bodies.extend(short.map(<[u8]>::to_vec));
    let mut refused = 0;
    for body in bodies {
        let start = String::from_utf8_lossy(&body[..body.len().min(40)]).into_owned();
        let answer = world.call("POST", &address("")).bytes(body).send().await;
        if start == "nome=%" {
            answer.is(200, &received(NEW));
            continue;
        }
        assert_eq!(answer.status, 400, "{start}: {}", answer.body);
        refused += 1;
    }
    assert_eq!(refused, 15);
    assert!(world.raw().items().len() > before);
    let too_large = world.call("POST", &address("")).bytes(vec![b'x'; 256 * 1024 + 1]);
    too_large
        .send()
        .await
        .is(413, &json!({ "error": "Payload too large" }));
}

/// A name must not be able to set what only the service writes.
#[tokio::test]
async fn names_of_the_service_are_no_fields() {
    let world = world(&json!({ "fields": [] })).await;
    let mut sent = json!({ "email": "a@b.c" });
    for name in [
        "id",
        "owner",
        "points",
        "initial_password",
        "createdByType",
        "userAccess",
        "archived",
        "tags",
        "_id",
        "fullname",
    ] {
        sent[name] = json!(7);
    }
    submit(&world, &sent).await.is(200, &received(NEW));
    let made = lead(&world, NEW).await;
    assert_eq!(made["owner"], json!(null));
    assert_eq!(
        (&made["points"], &made["createdByType"]),
        (&json!(0), &json!("form"))
    );
    assert_eq!(made["id"], NEW);
}
