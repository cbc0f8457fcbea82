//! Bodies that nobody sends in good faith: the answer is honest, and nothing is written.

use serde_json::json;
use tests::records::opportunity;

use super::{body, post, post_bytes, total, world};

/// C-4, C-6: what is not one JSON value in UTF-8.
#[tokio::test]
async fn not_json() {
    let world = world().await;
    let admin = world.wallet(7).await;
    let good = body(&json!({})).to_string();
    let with_title = |title: &[u8]| [b"{\"crm_column\":31,\"lead_id\":1001,\"title\":", title, b"}"].concat();
    let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    let deep = |levels: usize| good.replace('}', &format!(",\"x\":{}}}", nested(levels)));
    for bytes in [
        Vec::new(),
        b" ".to_vec(),
        b"{".to_vec(),
        b"title=Reforma&crm_column=31&lead_id=1001".to_vec(),
        b"\xFF\xFE".to_vec(),
        format!("{good}{good}").into_bytes(),
        format!("{good}\u{0}").into_bytes(),
        good.replace('"', "'").into_bytes(),
        good.replace('}', ",}").into_bytes(),
        good.replace("31", "031").into_bytes(),
        good.replace("31", "NaN").into_bytes(),
        with_title(b"\"\xC3\""),
        with_title(b"\"\xED\xA0\x80\""),
        with_title(b"\"\xC0\xAF\""),
        with_title(b"\"a\x00b\""),
        with_title(b"\"\\ud800\""),
        with_title(b"\"\\udc00\\ud800\""),
        deep(200).into_bytes(),
        "[".repeat(200_000).into_bytes(),
        "{\"fields\":".repeat(20_000).into_bytes(),
    ] {
        let start = String::from_utf8_lossy(&bytes[..bytes.len().min(80)]).into_owned();
        let answer = post_bytes(&world, &admin, bytes).await;
        assert_eq!(
            (answer.status.as_u16(), &answer.body),
            (400, &json!({ "msg": "body: must be JSON" })),
            "{start}"
        );
    }
    assert_eq!(total(&world, &admin).await, 0);
    for number in ["1e999", &"9".repeat(400), "12345678901234567890123"] {
        let answer = post_bytes(&world, &admin, good.replace("31", number).into_bytes()).await;
        let must = "crm_column: must be a whole number from 1 to 999999999999999";
        answer.is(400, &json!({ "msg": must }));
    }
    // What nobody asks for may be nested as far as JSON is read at all, and hold any number.
    assert_eq!(post_bytes(&world, &admin, deep(100)).await.status, 200);
    let marked = format!("\u{feff}{}", good.replacen('{', "{\"x\":1e999,", 1));
    assert_eq!(post_bytes(&world, &admin, marked.into_bytes()).await.status, 200);
}

/// C-4: JSON that is no object.
#[tokio::test]
async fn no_object() {
    let world = world().await;
    let admin = world.wallet(7).await;
    let array = format!("[{}]", body(&json!({})));
    for text in ["null", "true", "0", "\"{}\"", "[]", &array] {
        let answer = post_bytes(&world, &admin, text).await;
        answer.is(400, &json!({ "msg": "body: must be a JSON object" }));
    }
    assert_eq!(total(&world, &admin).await, 0);
}

/// Of properties with one name the last counts, as everywhere in JSON.
#[tokio::test]
async fn duplicate_properties() {
    let world = world().await;
    let seller = world.wallet(8).await;
    let text = r#"{"title":5,"crm_column":99,"title":"Reforma","lead_id":1001,"crm_column":31,"fields":[],
        "fields":{"Origem do Lead":{},"Origem do Lead":"b"}}"#;
    let answer = post_bytes(&world, &seller, text).await;
    answer.is(
        200,
        &opportunity(&json!({ "user": 8, "fields": { "Origem do Lead": "b" } })),
    );
}

/// Escapes are what they stand for: a pair of surrogates is one character.
#[tokio::test]
async fn escapes() {
    let world = world().await;
    let seller = world.wallet(8).await;
    let text = r#"{"title":"\ud83d\ude00\u0000\u00e3","crm_column":31,"lead_id":1001,
        "fields":{"\u0020N\u00famero do pedido ":1}}"#;
    let answer = post_bytes(&world, &seller, text).await;
    let kept = json!({ "user": 8, "title": "😀\u{0}ã", "fields": { " Número do pedido ": 1 } });
    answer.is(200, &opportunity(&kept));
    world.is_sound().await;
}

/// C-6: 256 KiB are read, one byte more is not.
#[tokio::test]
async fn the_limit_of_a_body() {
    let world = world().await;
    let seller = world.wallet(8).await;
    let padded = |length: usize| {
        let mut bytes = body(&json!({})).to_string().into_bytes();
        bytes.resize(length, b' ');
        bytes
    };
    let answer = post_bytes(&world, &seller, padded(256 * 1024)).await;
    answer.is(200, &opportunity(&json!({ "user": 8 })));
    for length in [256 * 1024 + 1, 9 * 1024 * 1024] {
        let answer = post_bytes(&world, &seller, padded(length)).await;
        answer.is(413, &json!({ "msg": "Payload too large" }));
        assert!(answer.cost.calls.is_empty());
    }
    assert_eq!(total(&world, &seller).await, 1);
}

/// C-30: a custom field holds no lists and objects, however deep; a name may be anything and comes back as it was sent.
#[tokio::test]
async fn hostile_custom_fields() {
    let world = world().await;
    let admin = world.wallet(7).await;
    let custom = "must be text of at most 10000 characters, a number, a boolean or null";
    let mut deep = json!(1);
    for _ in 0..9 {
        deep = json!({ "a": deep });
    }
    for (fields, msg) in [
        (
            json!({ "Origem do Lead": deep }),
            format!("fields.Origem do Lead: {custom}"),
        ),
        (
            json!({ "Origem do Lead": [1] }),
            format!("fields.Origem do Lead: {custom}"),
        ),
        (
            json!({ "Origem do Lead": "ã".repeat(10_001) }),
            format!("fields.Origem do Lead: {custom}"),
        ),
        (json!({ "": 1 }), "fields.: is not a field of funnel 3".to_owned()),
        (
            json!({ "\u{0}\"": 1 }),
            "fields.\u{0}\": is not a field of funnel 3".to_owned(),
        ),
        (
            json!({ "__proto__": 1 }),
            "fields.__proto__: is not a field of funnel 3".to_owned(),
        ),
    ] {
        let answer = post(&world, &admin, &body(&json!({ "fields": fields }))).await;
        answer.is(400, &json!({ "msg": msg }));
    }
    let many: serde_json::Map<_, _> = (0..5000).map(|at| (format!("f{at}"), json!(at))).collect();
    let answer = post(&world, &admin, &body(&json!({ "fields": many }))).await;
    answer.is(400, &json!({ "msg": "fields.f0: is not a field of funnel 3" }));
    assert_eq!(total(&world, &admin).await, 0);
    world.is_sound().await;
}
