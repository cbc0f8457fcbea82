//! `PUT /crmopportunity/{id}`: endpoint 8.

mod fields;
mod leads;
mod refusals;
mod sight;
mod transitions;

use serde_json::{Value, json};
use shared::opportunity::{Opportunity, ServicePermission, Status};
use shared::people::Company;
use tests::people::{department, user};
use tests::records::{add_companies, bare_company, embedded, full_company, helena, opportunity, with};
use tests::sales::{add_opportunities, column, funnel, open_shop, page, plain_opportunity};
use tests::world::{Answer, at};
use tests::{Wallet, World};

/// Creation time of the opportunities.
const BEGUN: &str = "2026-01-01T00:00:00.000Z";
/// Time of the changes.
const NOW: &str = tests::NOW;

/// Opportunities of funnel 3: 1 is open, 2 won, 3 lost, all of user 9; 4 is user 7's and also visible to user
/// 8; 5 is in funnel 4; 6 is user 8's, of lead 2001, with every field that can be imported.
async fn world() -> World {
    let world = World::new().await;
    let operator = world.operator("acme");
    open_shop(&operator).await;
    add_companies(&operator).await;
    let begun = |id, responsible, status| {
        let mut opportunity = plain_opportunity(id, responsible, 0);
        opportunity.begin_as(status);
        opportunity
    };
    let narrowed = Opportunity {
        service_permission: ServicePermission::Users,
        service_permission_users: vec![user(8)],
        ..plain_opportunity(4, 7, 0)
    };
    let elsewhere = Opportunity {
        crm_id: funnel(4),
        crm_column: column(41),
        ..plain_opportunity(5, 7, 0)
    };
    let opportunities = vec![
        begun(1, 9, Status::Open),
        begun(2, 9, Status::Gain),
        begun(3, 9, Status::Lost),
        narrowed,
        elsewhere,
        imported(),
    ];
    add_opportunities(&operator, opportunities).await;
    world
}

fn imported() -> Opportunity {
    let text = |text: &str| Some(text.to_owned());
    let company = |company: Value| serde_json::from_value::<Company>(company).expect("a company");
    let mut fields = serde_json::Map::new();
    fields.insert("Origem do Lead".to_owned(), json!("site"));
    fields.insert("Extinto".to_owned(), json!(1.5));
    Opportunity {
        lead_id: shared::ids::LeadId::new(2001),
        sale_channel: text("loja"),
        campaign: text("natal"),
        loss_reason: text("preço"),
        await_column_approved: json!(32),
        await_column_approved_user: json!({ "id": 7 }),
        reject_appro: json!(true),
        reject_appro_desc: json!("não"),
        service_permission: ServicePermission::Departments,
        service_permission_user: Some(user(7)),
        service_permission_department: Some(department(2)),
        service_permission_users: vec![user(9)],
        service_permission_users_select: vec![json!({ "id": 9 })],
        service_permission_departments: vec![department(2)],
        service_permission_departments_select: vec![json!("x")],
        data_company_extra: vec![company(bare_company()), company(full_company())],
        fields,
        files: vec![json!("a.pdf")],
        files_data: vec![json!({ "name": "a.pdf" })],
        conf_installment: vec![json!(3)],
        last_column_change: Some(at("2026-01-02T00:00:00Z")),
        ..plain_opportunity(6, 8, 0)
    }
}

/// Opportunity 1 for a user who is not an admin, with changes.
fn first(changes: &Value) -> Value {
    let record = opportunity(
        &json!({ "title": "Pedido 001", "value": 1.01, "user": 9, "createDate": BEGUN,
        "updateDate": BEGUN }),
    );
    with(record, changes)
}

/// Opportunity 6 for a user who is not an admin.
fn sixth() -> Value {
    opportunity(&json!({
        "id": 6, "title": "Pedido 006", "value": 6.01, "user": 8, "lead_id": 2001, "createDate": BEGUN,
        "updateDate": BEGUN, "sale_channel": "loja", "campaign": "natal", "loss_reason": "preço",
        "await_column_approved": 32, "await_column_approved_user": { "id": 7 }, "reject_appro": true,
        "reject_appro_desc": "não", "service_permission": "departments", "service_permission_user": 7,
        "service_permission_department": 2, "service_permission_users": [9],
        "service_permission_users_select": [{ "id": 9 }], "service_permission_departments": [2],
        "service_permission_departments_select": ["x"], "dataCompanyExtra": [bare_company(), full_company()],
        "fields": { "Origem do Lead": "site", "Extinto": 1.5 }, "files": ["a.pdf"],
        "filesData": [{ "name": "a.pdf" }], "conf_installment": [3],
        "last_column_change": "2026-01-02T00:00:00.000Z", "dataLead": helena(),
        "dataCompany": embedded(full_company()),
    }))
}

/// The response of endpoint 8 with a record.
fn updated(record: &Value) -> Value {
    json!({ "msg": "updated", "data": record })
}

async fn put(world: &World, wallet: &Wallet, id: u64, body: &Value) -> Answer {
    let call = world.call("PUT", &format!("/crmopportunity/{id}?id=3&i=acme"));
    call.with(wallet).json(body).send().await
}

/// The record for a user who is not an admin, from an empty change.
async fn record(world: &World, id: u64) -> Value {
    let mut answer = put(world, &world.wallet(7).await, id, &json!({})).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer.body["data"]["dataLead"]["initial_password"].take();
    answer.body["data"].take()
}

/// A page of a column of funnel 3.
async fn listed(world: &World, wallet: &Wallet, column: u64, more: &Value) -> Value {
    let uri = format!("/crm/opportunities/3?i=acme&apitoken={}", wallet.key);
    let body = page(1, 100, &with(json!({ "columnId": column }), more));
    world.call("POST", &uri).json(&body).send().await.body
}

/// Requires a rejection with this reason; the body has no more (spec.md, Errors).
#[track_caller]
fn refused(answer: &Answer, details: &str) {
    answer.is(400, &json!({ "error": "Invalid request" }));
    assert_eq!(answer.headers["x-error-details"], details);
}

/// C-31: exactly the named properties change; the response is the complete record.
#[tokio::test]
async fn exactly_the_named_properties_change() {
    let world = world().await;
    let (seller, admin) = (world.known(9).await, world.wallet(7).await);
    let changes = json!({
        "title": "Nova", "value": "213.20", "crm_column": "32", "sequence": 4.0, "status": "gain", "lead_id": 1002,
        "user": "8", "gain_reason": "preço", "loss_reason": "", "expectedCloseDate": "2026-12-24", "archived": true,
        "fields": { "Origem do Lead": "site" }, "unknown": 1,
    });
    let answer = put(&world, &seller, 1, &changes).await;
    let lead = answer.body["data"]["dataLead"].clone();
    let expected = first(&json!({
        "title": "Nova", "value": 213.2, "crm_column": 32, "sequence": 4, "status": "gain", "lead_id": 1002, "user": 8,
        "gain_reason": "preço", "loss_reason": "", "expectedCloseDate": "2026-12-24T00:00:00.000Z", "archived": 1,
        "fields": { "Origem do Lead": "site" }, "last_column_change": NOW, "last_status_change": NOW,
        "gain_date": NOW, "updateDate": NOW, "dataLead": lead,
    }));
    answer.is(200, &updated(&expected));
    assert_eq!(
        (&lead["fullname"], answer.cost.round_trips),
        (&json!("João Pereira"), 2)
    );
    assert_eq!(record(&world, 1).await, expected);
    let shown = with(expected, &json!({ "value": "213.20" }));
    assert_eq!(
        listed(&world, &admin, 32, &json!({ "onlyArchived": true })).await,
        json!([shown])
    );
    world.is_sound().await;
}

/// C-31: an empty object, or unchanged values, change nothing, not even `updateDate`; nothing is written.
#[tokio::test]
async fn unchanged_values_are_not_written() {
    let world = world().await;
    let seller = world.known(9).await;
    let same = json!({ "title": "Pedido 001", "value": "1.01", "crm_column": "31", "lead_id": 1001, "sequence": 0,
        "status": "open", "expectedCloseDate": null, "user": 9, "gain_reason": null, "archived": false, "fields": {} });
    // A complete record may be sent back, with the flag as a boolean.
    let mut whole = first(&json!({}));
    whole["archived"] = json!(false);
    for body in [json!({}), json!({ "unknown": 5, "dataLead": null }), same, whole] {
        let answer = put(&world, &seller, 1, &body).await;
        answer.is(200, &updated(&first(&json!({}))));
        assert!(
            answer.cost.round_trips <= 2 && answer.cost.write_units() <= 0.0,
            "{body}"
        );
    }
    world.is_sound().await;
}

/// C-21: the value of `initial_password`.
#[tokio::test]
async fn only_admins_see_secrets() {
    let world = world().await;
    let (admin, seller) = (world.wallet(7).await, world.wallet(9).await);
    for (wallet, password) in [(&admin, json!("s3nh4-inicial")), (&seller, Value::Null)] {
        for body in [json!({}), json!({ "sequence": 5 }), json!({ "sequence": 6 })] {
            let answer = put(&world, wallet, 1, &body).await;
            assert_eq!(answer.body["data"]["dataLead"]["initial_password"], password);
        }
    }
}

/// C-30: imported fields are kept, and endpoint 8 does not change them.
#[tokio::test]
async fn import_only_fields_are_kept() {
    let world = world().await;
    let seller = world.wallet(8).await;
    put(&world, &seller, 6, &json!({}))
        .await
        .is(200, &updated(&sixth()));
    let ignored = json!({ "id": 9, "crm_id": 4, "sale_channel": "x", "campaign": null, "await_column_approved": null,
        "await_column_approved_user": 1, "reject_appro": false, "reject_appro_desc": 5, "service_permission": "all",
        "service_permission_user": null, "service_permission_users": [7], "service_permission_departments": [],
        "dataCompanyExtra": [], "dataCompany": null, "dataLead": {}, "files": [], "filesData": null,
        "conf_installment": [], "createDate": NOW, "updateDate": NOW, "gain_date": NOW, "last_column_change": null });
    put(&world, &seller, 6, &ignored)
        .await
        .is(200, &updated(&sixth()));
    let renamed = with(sixth(), &json!({ "title": "Nova", "updateDate": NOW }));
    let answer = put(&world, &seller, 6, &with(ignored, &json!({ "title": "Nova" }))).await;
    answer.is(200, &updated(&renamed));
    assert_eq!(
        listed(&world, &seller, 31, &json!({})).await,
        json!([with(renamed, &json!({ "value": "6.01" }))])
    );
    world.is_sound().await;
}

/// C-10 applies to endpoint 7; here `Idempotency-Key` is an unknown header (C-6).
#[tokio::test]
async fn an_idempotency_key_is_ignored() {
    let world = world().await;
    let seller = world.known(9).await;
    for title in ["A", "B", "A"] {
        let call = world.call("PUT", "/crmopportunity/1?id=3&i=acme").with(&seller);
        let answer = call
            .header("idempotency-key", "k")
            .json(&json!({ "title": title }))
            .send()
            .await;
        answer.is(
            200,
            &updated(&first(&json!({ "title": title, "updateDate": NOW }))),
        );
    }
    world.is_sound().await;
}
