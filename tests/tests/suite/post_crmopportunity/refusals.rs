//! Errors of endpoint 7 other than properties: unknown records and invalid credentials. Nothing is written.

use serde_json::{Value, json};
use tests::properties::ID;
use tests::{Wallet, World};

use super::{body, world};

/// Requests with other fields than a good one: user, query, fields, message.
const REFUSED: &str = r#"
7 |  | {} | id: ID
7 | &id= | {} | id: ID
7 | &id=03 | {} | id: ID
7 | &id=3.0 | {} | id: ID
7 | &id=%FF | {} | id: ID
7 | &id=1000000000000000 | {} | id: ID
7 | &id=3&id=3 | {} | id: must not be repeated
7 | &id=9 | {} | id: funnel 9 does not exist
14 | &id=4 | {"crm_column":41} | id: funnel 4 does not exist
9 | &id=5 | {"crm_column":51} | id: funnel 5 does not exist
13 | &id=3 | {} | id: funnel 3 does not exist
7 | &id=3 | {"crm_column":41} | crm_column: column 41 is not one of funnel 3
7 | &id=4 | {} | crm_column: column 31 is not one of funnel 4
7 | &id=3 | {"crm_column":3} | crm_column: column 3 is not one of funnel 3
7 | &id=3 | {"lead_id":9} | lead_id: lead 9 does not exist
9 | &id=3 | {} | lead_id: lead 1001 does not exist
14 | &id=3 | {"lead_id":1004} | lead_id: lead 1004 does not exist
7 | &id=3 | {"user":99} | user: user 99 does not exist
7 | &id=4 | {"crm_column":41,"fields":{"Origem do Lead":1}} | fields.Origem do Lead: is not a field of funnel 4
7 | &id=3 | {"fields":{"Nunca":null}} | fields.Nunca: is not a field of funnel 3
15 | &id=3 | {} | editOpportunities: the user does not have this permission
"#;

async fn assert_refused(world: &World, wallet: &Wallet, query: &str, fields: &Value, message: &str) {
    let uri = format!("/crmopportunity?i=acme{query}");
    let call = world.call("POST", &uri).with(wallet);
    let answer = call.json(&body(fields)).send().await;
    let refused = (answer.status.as_u16(), &answer.body);
    assert_eq!(refused, (400, &json!({ "msg": message })), "{query} {fields}");
}

/// C-30, C-82: records must exist, belong to the funnel, and be visible to the key.
#[tokio::test]
async fn unknown_and_invisible_records_are_rejected() {
    let world = world().await;
    for line in REFUSED.trim().lines() {
        let parts: Vec<_> = line.split(" | ").collect();
        let [user, query, fields, message] = parts[..] else {
            panic!("{line}");
        };
        let wallet = world.wallet(user.parse().expect("an id")).await;
        let fields = serde_json::from_str(fields).expect("an object");
        assert_refused(&world, &wallet, query, &fields, &message.replace("ID", ID)).await;
    }
    let admin = world.wallet(7).await;
    for name in [
        "Número do pedido",
        " Número do pedido",
        " Nu\u{301}mero do pedido ",
        "origem do lead",
    ] {
        let fields = json!({ "fields": { "Origem do Lead": 1, name: "x" } });
        let message = format!("fields.{name}: is not a field of funnel 3");
        assert_refused(&world, &admin, "&id=3", &fields, &message).await;
    }
    for funnel in [3, 4, 5] {
        let uri = format!("/crm/opportunities/{funnel}?i=acme&apitoken={}", admin.key);
        let page = tests::sales::page(1, 1, &Value::Null);
        let board = world.call("POST", &uri).json(&page).send().await.body;
        let columns = board.as_array().expect("columns");
        assert!(columns.iter().all(|column| column["total"] == 0));
    }
    world.is_sound().await;
}
