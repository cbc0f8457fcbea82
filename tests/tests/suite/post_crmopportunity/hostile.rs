//! Hostile bodies: they are rejected, and nothing is written.

use serde_json::json;
use tests::records::opportunity;

use super::{body, post, post_bytes, total, world};

/// C-6: numbers out of range are rejected; unknown properties may have any value.
#[tokio::test]
async fn numbers_out_of_range_are_rejected() {
    let world = world().await;
    let admin = world.wallet(7).await;
    let good = body(&json!({})).to_string();
    let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    let deep = |levels: usize| good.replace('}', &format!(",\"x\":{}}}", nested(levels)));
    for number in ["1e999", &"9".repeat(400), "12345678901234567890123"] {
        let answer = post_bytes(&world, &admin, good.replace("31", number).into_bytes()).await;
        let must = "crm_column: must be a whole number from 1 to 999999999999999";
        answer.is(400, &json!({ "msg": must }));
    }
    // Ignored values may be nested up to the parser's limit, and contain any number.
    assert_eq!(post_bytes(&world, &admin, deep(100)).await.status, 200);
    let marked = format!("\u{feff}{}", good.replacen('{', "{\"x\":1e999,", 1));
    assert_eq!(post_bytes(&world, &admin, marked.into_bytes()).await.status, 200);
}

/// The last property of a name counts.
#[tokio::test]
async fn the_last_of_duplicate_properties_counts() {
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

/// A surrogate pair is one character.
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

/// C-30: a custom field contains no lists and objects at any depth; a name may be any text and is returned
/// verbatim.
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
