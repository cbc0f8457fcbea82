//! What endpoint 7 refuses beside properties: what is not there, and who is not let in. Nothing is written.

use serde_json::{Value, json};
use tests::properties::ID;

use super::{body, total, world};

/// C-30, C-82: what must exist, be the funnel's, or be seen by the key.
#[tokio::test]
async fn what_is_not_there() {
    let world = world().await;
    let (admin, own, all) = (
        world.wallet(7).await,
        world.wallet(9).await,
        world.wallet(14).await,
    );
    let (looker, none) = (world.wallet(15).await, world.wallet(13).await);
    let good = body(&json!({}));
    let undefined = |name: &str| body(&json!({ "fields": { "Origem do Lead": 1, name: "x" } }));
    for (wallet, query, body, msg) in [
        (&admin, "", good.clone(), format!("id: {ID}")),
        (&admin, "&id=", good.clone(), format!("id: {ID}")),
        (&admin, "&id=03", good.clone(), format!("id: {ID}")),
        (&admin, "&id=3.0", good.clone(), format!("id: {ID}")),
        (&admin, "&id=%FF", good.clone(), format!("id: {ID}")),
        (&admin, "&id=1000000000000000", good.clone(), format!("id: {ID}")),
        (
            &admin,
            "&id=3&id=3",
            good.clone(),
            "id: must not be repeated".to_owned(),
        ),
        (
            &admin,
            "&id=9",
            good.clone(),
            "id: funnel 9 does not exist".to_owned(),
        ),
        (
            &all,
            "&id=4",
            body(&json!({ "crm_column": 41 })),
            "id: funnel 4 does not exist".to_owned(),
        ),
        (
            &own,
            "&id=5",
            body(&json!({ "crm_column": 51 })),
            "id: funnel 5 does not exist".to_owned(),
        ),
        (
            &none,
            "&id=3",
            good.clone(),
            "id: funnel 3 does not exist".to_owned(),
        ),
        (
            &admin,
            "&id=3",
            body(&json!({ "crm_column": 41 })),
            "crm_column: column 41 is not one of funnel 3".to_owned(),
        ),
        (
            &admin,
            "&id=4",
            good.clone(),
            "crm_column: column 31 is not one of funnel 4".to_owned(),
        ),
        (
            &admin,
            "&id=3",
            body(&json!({ "crm_column": 3 })),
            "crm_column: column 3 is not one of funnel 3".to_owned(),
        ),
        (
            &admin,
            "&id=3",
            body(&json!({ "lead_id": 9 })),
            "lead_id: lead 9 does not exist".to_owned(),
        ),
        (
            &own,
            "&id=3",
            good.clone(),
            "lead_id: lead 1001 does not exist".to_owned(),
        ),
        (
            &all,
            "&id=3",
            body(&json!({ "lead_id": 1004 })),
            "lead_id: lead 1004 does not exist".to_owned(),
        ),
        (
            &admin,
            "&id=3",
            body(&json!({ "user": 99 })),
            "user: user 99 does not exist".to_owned(),
        ),
        (
            &admin,
            "&id=3",
            undefined("Número do pedido"),
            "fields.Número do pedido: is not a field of funnel 3".to_owned(),
        ),
        (
            &admin,
            "&id=3",
            undefined(" Número do pedido"),
            "fields. Número do pedido: is not a field of funnel 3".to_owned(),
        ),
        (
            &admin,
            "&id=3",
            undefined(" Nu\u{301}mero do pedido "),
            "fields. Nu\u{301}mero do pedido : is not a field of funnel 3".to_owned(),
        ),
        (
            &admin,
            "&id=3",
            undefined("origem do lead"),
            "fields.origem do lead: is not a field of funnel 3".to_owned(),
        ),
        (
            &admin,
            "&id=4",
            body(&json!({ "crm_column": 41, "fields": { "Origem do Lead": 1 } })),
            "fields.Origem do Lead: is not a field of funnel 4".to_owned(),
        ),
        (
            &admin,
            "&id=3",
            body(&json!({ "fields": { "Nunca": null } })),
            "fields.Nunca: is not a field of funnel 3".to_owned(),
        ),
        (
            &looker,
            "&id=3",
            good.clone(),
            "editOpportunities: the user does not have this permission".to_owned(),
        ),
    ] {
        let call = world
            .call("POST", &format!("/crmopportunity?i=acme{query}"))
            .with(wallet);
        let answer = call.json(&body).send().await;
        assert_eq!(
            (answer.status.as_u16(), &answer.body),
            (400, &json!({ "msg": msg })),
            "{query} {body}"
        );
    }
    for funnel in [3, 4, 5] {
        let uri = format!("/crm/opportunities/{funnel}?i=acme&apitoken={}", admin.key);
        let board = world
            .call("POST", &uri)
            .json(&tests::sales::page(1, 1, &Value::Null))
            .send()
            .await
            .body;
        assert!(
            board
                .as_array()
                .expect("columns")
                .iter()
                .all(|column| column["total"] == 0)
        );
    }
    world.is_sound().await;
}

/// C-1, C-4: `i`, credentials and the method, each in `msg`; credentials come before everything else but `i`.
#[tokio::test]
async fn who_is_not_let_in() {
    let world = world().await;
    let admin = world.wallet(7).await;
    let good = body(&json!({})).to_string();
    for (uri, key, token, status, msg) in [
        (
            "/crmopportunity?id=3",
            &admin.key,
            &admin.token,
            400,
            "i: must name the instance, once",
        ),
        (
            "/crmopportunity?id=3&i=",
            &admin.key,
            &admin.token,
            400,
            "i: must name the instance, once",
        ),
        (
            "/crmopportunity?id=3&i=nobody",
            &admin.key,
            &admin.token,
            401,
            "Unauthorized",
        ),
        (
            "/crmopportunity?id=3&i=acme",
            &admin.token,
            &admin.key,
            401,
            "Unauthorized",
        ),
        (
            "/crmopportunity?i=acme",
            &admin.key,
            &admin.key,
            401,
            "Unauthorized",
        ),
    ] {
        let call = world.call("POST", uri).header("apitoken", key);
        let call = call.header("authorization", &format!("Bearer {token}"));
        let answer = call
            .header("idempotency-key", "")
            .bytes(good.clone())
            .send()
            .await;
        answer.is(status, &json!({ "msg": msg }));
    }
    let query = format!("/crmopportunity?id=3&i=acme&apitoken={}", admin.key);
    let answer = world.call("POST", &query).bytes(good).send().await;
    answer.is(401, &json!({ "msg": "Unauthorized" }));
    let answer = world
        .call("PUT", "/crmopportunity?id=3&i=acme")
        .with(&admin)
        .send()
        .await;
    answer.is(405, &json!({ "msg": "Method not allowed" }));
    assert_eq!(total(&world, &admin).await, 0);
}
