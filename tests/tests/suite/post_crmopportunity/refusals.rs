//! Errors of endpoint 7 other than properties: unknown records and invalid credentials. Nothing is written.

use serde_json::{Value, json};
use tests::properties::ID;

use super::{body, world};

/// C-30, C-82: records must exist, belong to the funnel, and be visible to the key.
#[tokio::test]
async fn unknown_and_invisible_records_are_rejected() {
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
