//! Errors of endpoint 8: the body is fixed, the header `x-error-details` has the reason, and nothing is
//! written.

use serde_json::{Value, json};
use tests::properties::{ID, bad_properties};

use super::{first, put, record, refused, sixth, updated, world};

/// C-7, C-30, C-31: the rest of the body is not applied either.
#[tokio::test]
async fn invalid_properties_are_rejected() {
    let world = world().await;
    let admin = world.wallet(7).await;
    let reasons = [
        json!(5),
        json!(false),
        json!([]),
        json!({}),
        json!("ã".repeat(10_001)),
    ];
    let flags = [json!(2), json!("yes"), json!([])];
    let reason = "must be text of at most 10000 characters, or null";
    let mut bad = bad_properties();
    for name in ["gain_reason", "loss_reason"] {
        bad.extend(reasons.iter().map(|bad| (name, bad.clone(), reason)));
    }
    bad.extend(flags.map(|bad| ("archived", bad, "must be true or false")));
    for (name, bad, must) in bad {
        let mut body = json!({ "title": "Nova", "value": 9, "fields": { "Origem do Lead": "x" } });
        body[name] = bad;
        refused(&put(&world, &admin, 1, &body).await, &format!("{name}: {must}"));
    }
    let custom = "must be text of at most 10000 characters, a number, a boolean or null";
    for bad in [json!([1]), json!({}), json!("ã".repeat(10_001))] {
        let body = json!({ "title": "Nova", "fields": { "Origem do Lead": bad } });
        refused(
            &put(&world, &admin, 1, &body).await,
            &format!("fields.Origem do Lead: {custom}"),
        );
    }
    assert_eq!(record(&world, 1).await, first(&json!({})));
    world.is_sound().await;
}

/// Refused requests: user, id and query, body, details.
const REFUSED: &str = r#"
7 | 1? | {"title":"Nova"} | id: ID
7 | 1?id=x | {"title":"Nova"} | id: ID
7 | 1?id=3&id=3 | {"title":"Nova"} | id: must not be repeated
7 | 1?id=9 | {"title":"Nova"} | id: funnel 9 does not exist
14 | 5?id=4 | {"title":"Nova"} | id: funnel 4 does not exist
13 | 1?id=3 | {"title":"Nova"} | id: funnel 3 does not exist
7 | 1?id=4 | {"title":"Nova"} | opportunity_id: opportunity 1 does not exist in funnel 4
7 | 5?id=3 | {"title":"Nova"} | opportunity_id: opportunity 5 does not exist in funnel 3
7 | 9?id=3 | {"title":"Nova"} | opportunity_id: opportunity 9 does not exist in funnel 3
7 | 999999999999999?id=3 | {"title":"Nova"} | opportunity_id: opportunity 999999999999999 does not exist in funnel 3
8 | 1?id=3 | {"title":"Nova"} | opportunity_id: opportunity 1 does not exist in funnel 3
8 | 4?id=3 | {"title":"Nova"} | opportunity_id: opportunity 4 does not exist in funnel 3
7 | 1?id=3 | {"lead_id":9} | lead_id: lead 9 does not exist
9 | 1?id=3 | {"lead_id":1006} | lead_id: lead 1006 does not exist
7 | 1?id=3 | {"user":99} | user: user 99 does not exist
7 | 1?id=3 | {"crm_column":41} | crm_column: column 41 is not one of funnel 3
7 | 5?id=4 | {"crm_column":31} | crm_column: column 31 is not one of funnel 4
7 | 1?id=3 | {"fields":{"Número do pedido":1}} | fields.N%C3%BAmero do pedido: is not a field of funnel 3
7 | 1?id=3 | {"title":"Nova","fields":{"nope":null}} | fields.nope: is not a field of funnel 3
7 | 1?id=3 | {"title":"Nova","fields":{"a\r\nSet-Cookie: b":1}} | fields.a%0D%0ASet-Cookie: b: is not a field of funnel 3
15 | 1?id=3 | {} | editOpportunities: the user does not have this permission
15 | 9?id=3 | {"title":"Nova"} | editOpportunities: the user does not have this permission
"#;

/// C-30, C-31, C-82: records must exist, belong to the funnel, and be visible to the key.
#[tokio::test]
async fn unknown_and_invisible_records_are_rejected() {
    let world = world().await;
    for line in REFUSED.trim().lines() {
        let parts: Vec<_> = line.split(" | ").collect();
        let [user, uri, body, details] = parts[..] else {
            panic!("{line}");
        };
        let wallet = world.wallet(user.parse().expect("an id")).await;
        let uri = format!("/crmopportunity/{uri}&i=acme");
        let call = world.call("PUT", &uri).with(&wallet);
        let body = serde_json::from_str(body).expect("an object");
        refused(&call.json(&body).send().await, &details.replace("ID", ID));
    }
    assert_eq!(record(&world, 1).await, first(&json!({})));
    assert_eq!(record(&world, 6).await, sixth());
    world.is_sound().await;
}

/// C-6: the last property of a name counts, and 256 KiB are accepted.
#[tokio::test]
async fn invalid_bodies_are_rejected() {
    let world = world().await;
    let seller = world.wallet(9).await;
    let put_bytes = async |bytes: &[u8]| {
        let call = world.call("PUT", "/crmopportunity/1?id=3&i=acme").with(&seller);
        call.bytes(bytes.to_vec()).send().await
    };
    put_bytes(b"{\"title\":null,\"title\":\"Pedido 001\"}")
        .await
        .is(200, &updated(&first(&json!({}))));
    let mut full = b"{}".to_vec();
    full.resize(256 * 1024, b'\n');
    put_bytes(&full).await.is(200, &updated(&first(&json!({}))));
    world.is_sound().await;
}

/// The header of a refusal stays short, whatever names a caller sends.
#[tokio::test]
async fn details_in_headers_are_cut() {
    let world = world().await;
    let admin = world.wallet(7).await;
    let name = "ã".repeat(5000);
    let answer = put(&world, &admin, 1, &json!({ "fields": { name: 1 } })).await;
    answer.is(400, &json!({ "error": "Invalid request" }));
    let details = answer.headers["x-error-details"].to_str().expect("ASCII");
    assert_eq!(details, format!("fields.{}", "%C3%A3".repeat(193)));
    let unused: Value = record(&world, 1).await;
    assert_eq!(unused, first(&json!({})));
}
