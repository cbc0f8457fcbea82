//! Maximum size of an opportunity (C-30), within the table's limits.

use operator::kinds::Companies;
use serde_json::{Map, Value, json};
use shared::funnel::{CustomField, Funnel, FunnelAccess};
use shared::ids::CompanyId;
use shared::lead::Lead;
use tests::people::{add_leads, plain_lead};
use tests::records::{opportunity, with};
use tests::sales::{add_funnels, columns, funnel, page};

use super::{body, world};

/// A funnel with 400 custom fields.
fn wide() -> Funnel {
    let field = |at: u64| CustomField {
        name: format!("Campo {at:03} ç"),
        kind: "text".to_owned(),
    };
    Funnel {
        id: funnel(6),
        name: "Fichas".to_owned(),
        columns: columns(&[(61, "Ficha", 1), (62, "Arquivo", 2)]),
        fields: (0..400).map(field).collect(),
        access: FunnelAccess::default(),
    }
}

/// All of them, each with this number of two-byte characters.
fn filled(characters: usize) -> Value {
    let fields = wide().fields.into_iter();
    let fields: Map<String, Value> = fields
        .map(|field| (field.name, json!("ã".repeat(characters))))
        .collect();
    Value::Object(fields)
}

/// C-30: up to 100 KB, in bytes; rejected changes have no effect, on 8 as on 7.
#[tokio::test]
async fn records_are_limited_to_100_kilobytes() {
    let world = world().await;
    add_funnels(&world.operator("acme"), &[wide()]).await;
    let seller = world.wallet(8).await;
    let send = async |method: &str, path: &str, body: &Value| {
        let call = world.call(method, &format!("/crmopportunity{path}?id=6&i=acme"));
        call.with(&seller).json(body).send().await
    };
    let ask = |fields: &Value| body(&json!({ "crm_column": 61, "fields": fields }));
    let msg = "fields: the record must not be larger than 100 KB";
    // With 18 bytes for each name, values of 228 are 98,400 bytes, and values of 240 are 103,200.
    send("POST", "", &ask(&filled(120)))
        .await
        .is(400, &json!({ "msg": msg }));
    let (fields, kept) = (filled(114), json!({ "crm_id": 6, "crm_column": 61, "user": 8 }));
    let made = send("POST", "", &ask(&fields)).await;
    let expected = with(
        opportunity(&kept),
        &json!({ "id": made.body["id"], "fields": fields }),
    );
    made.is(200, &expected);
    let id = &made.body["id"];
    let longer = json!({ "Campo 000 ç": "x".repeat(5000) });
    let answer = send(
        "PUT",
        &format!("/{id}"),
        &json!({ "fields": longer, "title": "Outra" }),
    )
    .await;
    answer.is(400, &json!({ "error": "Invalid request" }));
    assert_eq!(answer.headers["x-error-details"], msg);
    let answer = send("PUT", &format!("/{id}"), &json!({})).await;
    answer.is(200, &json!({ "msg": "updated", "data": expected }));
    let renamed = send("PUT", &format!("/{id}"), &json!({ "title": "Outra" })).await;
    renamed.is(
        200,
        &json!({ "msg": "updated", "data": with(expected, &json!({ "title": "Outra" })) }),
    );
    let uri = format!("/crm/opportunities/6?i=acme&apitoken={}", seller.key);
    let mut list = world
        .call("POST", &uri)
        .json(&page(1, 9, &json!({ "columnId": 61 })))
        .send()
        .await
        .body;
    list[0]["value"] = json!(0);
    assert_eq!(list, json!([renamed.body["data"]]));
    world.is_sound().await;
}

/// The maximum lead, company and opportunity together fit the table: such an opportunity is created, moved
/// and listed.
#[tokio::test]
async fn the_largest_records_fit_the_table() {
    let world = world().await;
    let operator = world.operator("acme");
    add_funnels(&operator, &[wide()]).await;
    let company = json!({ "id": 8, "companyname": "Pesada", "pain_points": "ã".repeat(49_000) });
    let company = serde_json::from_value(company).expect("a company");
    operator
        .import::<Companies>(&[company], false)
        .await
        .expect("the company can be written");
    let heavy = Lead {
        company: CompanyId::new(8),
        utm_tags: vec![json!("ã".repeat(49_000))],
        ..plain_lead(2008, "Peso", "Pesado", None)
    };
    add_leads(&operator, vec![heavy]).await;
    let admin = world.wallet(7).await;
    let new = body(&json!({ "crm_column": 61, "lead_id": 2008, "fields": filled(114) }));
    let call = world.call("POST", "/crmopportunity?id=6&i=acme").with(&admin);
    let made = call.json(&new).send().await;
    assert_eq!(made.status, 200, "{:.300}", made.body.to_string());
    for (name, value) in [("status", "gain"), ("user", "8"), ("crm_column", "62")] {
        let call = world.call("PUT", "/crmopportunity/1?id=6&i=acme").with(&admin);
        let answer = call.json(&json!({ name: value })).send().await;
        assert_eq!(answer.status, 200, "{name}: {:.300}", answer.body.to_string());
    }
    let uri = format!("/crm/opportunities/6?i=acme&apitoken={}", admin.key);
    let asked = page(1, 100, &json!({ "columnId": 62 }));
    let list = world.call("POST", &uri).json(&asked).send().await.body;
    assert!(
        list[0]["dataLead"] == made.body["dataLead"] && list[0]["dataCompany"] == made.body["dataCompany"]
    );
    assert!(list[0]["fields"] == made.body["fields"] && list[0]["fields"] == filled(114));
    world.is_sound().await;
}
