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
    let flags = [json!(0), json!(1), json!("true"), json!("1"), json!([])];
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
    for bad in [json!([]), json!({}), json!("ã".repeat(10_001))] {
        let body = json!({ "title": "Nova", "fields": { "Origem do Lead": bad } });
        refused(
            &put(&world, &admin, 1, &body).await,
            &format!("fields.Origem do Lead: {custom}"),
        );
    }
    assert_eq!(record(&world, 1).await, first(&json!({})));
    world.is_sound().await;
}

/// C-30, C-31, C-82: records must exist, belong to the funnel, and be visible to the key.
#[tokio::test]
async fn unknown_and_invisible_records_are_rejected() {
    let world = world().await;
    let (admin, looker, own) = (
        world.wallet(7).await,
        world.wallet(15).await,
        world.wallet(9).await,
    );
    let (all, none, stranger) = (
        world.wallet(14).await,
        world.wallet(13).await,
        world.wallet(8).await,
    );
    let nova = json!({ "title": "Nova" });
    let missing =
        |id: u64, funnel: u64| format!("opportunity_id: opportunity {id} does not exist in funnel {funnel}");
    for (wallet, uri, body, details) in [
        (&admin, "abc?id=3", &nova, format!("opportunity_id: {ID}")),
        (&admin, "0?id=3", &nova, format!("opportunity_id: {ID}")),
        (&admin, "01?id=3", &nova, format!("opportunity_id: {ID}")),
        (&admin, "1.0?id=3", &nova, format!("opportunity_id: {ID}")),
        (&admin, "-1?id=3", &nova, format!("opportunity_id: {ID}")),
        (&admin, "%FF?id=3", &nova, format!("opportunity_id: {ID}")),
        (&admin, "1%00?id=3", &nova, format!("opportunity_id: {ID}")),
        (
            &admin,
            "1000000000000000?id=3",
            &nova,
            format!("opportunity_id: {ID}"),
        ),
        (&admin, "1?", &nova, format!("id: {ID}")),
        (&admin, "1?id=x", &nova, format!("id: {ID}")),
        (
            &admin,
            "1?id=3&id=3",
            &nova,
            "id: must not be repeated".to_owned(),
        ),
        (&admin, "1?id=9", &nova, "id: funnel 9 does not exist".to_owned()),
        (&all, "5?id=4", &nova, "id: funnel 4 does not exist".to_owned()),
        (&none, "1?id=3", &nova, "id: funnel 3 does not exist".to_owned()),
        (&admin, "1?id=4", &nova, missing(1, 4)),
        (&admin, "5?id=3", &nova, missing(5, 3)),
        (&admin, "9?id=3", &nova, missing(9, 3)),
        (
            &admin,
            "999999999999999?id=3",
            &nova,
            missing(999_999_999_999_999, 3),
        ),
        (&stranger, "1?id=3", &nova, missing(1, 3)),
        (&stranger, "4?id=3", &nova, missing(4, 3)),
        (
            &admin,
            "1?id=3",
            &json!({ "lead_id": 9 }),
            "lead_id: lead 9 does not exist".to_owned(),
        ),
        (
            &own,
            "1?id=3",
            &json!({ "lead_id": 1006 }),
            "lead_id: lead 1006 does not exist".to_owned(),
        ),
        (
            &admin,
            "1?id=3",
            &json!({ "user": 99 }),
            "user: user 99 does not exist".to_owned(),
        ),
        (
            &admin,
            "1?id=3",
            &json!({ "crm_column": 41 }),
            "crm_column: column 41 is not one of funnel 3".to_owned(),
        ),
        (
            &admin,
            "5?id=4",
            &json!({ "crm_column": 31 }),
            "crm_column: column 31 is not one of funnel 4".to_owned(),
        ),
        (
            &admin,
            "1?id=3",
            &json!({ "fields": { "Número do pedido": 1 } }),
            "fields.N%C3%BAmero do pedido: is not a field of funnel 3".to_owned(),
        ),
        (
            &admin,
            "1?id=3",
            &json!({ "title": "Nova", "fields": { "a\r\nSet-Cookie: b": 1 } }),
            "fields.a%0D%0ASet-Cookie: b: is not a field of funnel 3".to_owned(),
        ),
        (
            &looker,
            "1?id=3",
            &json!({}),
            "editOpportunities: the user does not have this permission".to_owned(),
        ),
        (
            &looker,
            "9?id=3",
            &nova,
            "editOpportunities: the user does not have this permission".to_owned(),
        ),
    ] {
        let call = world
            .call("PUT", &format!("/crmopportunity/{uri}&i=acme"))
            .with(wallet);
        refused(&call.json(body).send().await, &details);
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
