//! Records of a list with every field (spec.md, Opportunity; C-33).

use operator::kinds::Companies;
use serde_json::{Value, json};
use shared::opportunity::Opportunity;
use shared::people::Company;
use tests::people::{add_leads, plain_lead};
use tests::sales::{add_opportunities, page};
use tests::world::at;

use super::{Client, IGNORED, four, ids, shop};

/// An import line with every field set.
fn line() -> Value {
    json!({
        "id": 70, "title": "Reforma do salão", "value": "213.20", "crm_column": 32, "crm_id": 3, "lead_id": 1100,
        "sequence": 5, "status": "gain", "loss_reason": "preço", "gain_reason": "prazo",
        "expectedCloseDate": "2026-12-24T03:00:00.000Z", "sale_channel": "site", "campaign": "verão", "user": 8,
        "last_column_change": "2026-02-01T00:00:00.000Z", "last_status_change": "2026-02-02T00:00:00.000Z",
        "gain_date": "2026-02-02T00:00:00.000Z", "lost_date": "2026-01-20T00:00:00.000Z",
        "reopen_date": "2026-01-25T00:00:00.000Z", "await_column_approved": 1, "await_column_approved_user": 7,
        "reject_appro": 0, "reject_appro_desc": "sem verba", "createDate": "2026-01-15T10:00:00.123Z",
        "updateDate": "2026-02-03T10:00:00.456Z", "archived": 0, "service_permission": "users",
        "service_permission_user": 8, "service_permission_department": 2, "service_permission_users": [8, 9],
        "service_permission_users_select": [{ "id": 8, "name": "Bruno" }], "service_permission_departments": [1],
        "service_permission_departments_select": [{ "id": 1 }],
        "dataCompanyExtra": [{ "id": 9, "companyname": "Filial Sul" }],
        "fields": { " Número do pedido ": 77, "Origem do Lead": "Google" }, "files": ["a.pdf"],
        "filesData": [{ "name": "a.pdf" }], "conf_installment": [{ "n": 1 }],
    })
}

fn company(id: u64, name: &str) -> Value {
    json!({
        "id": id, "cnpj": null, "companyaddress": null, "companyannualrevenue": null, "companycity": null,
        "companycountry": null, "companyemail": null, "companyindustry": null, "companyname": name,
        "companynemployees": null, "companyphone": null, "companystate": null, "companyzipcode": null,
        "createDate": null, "createdBy": null, "createdByName": null, "pain_points": null, "owner": null,
        "photoUrl": null, "points": null, "customer_count": null, "updatedBy": null, "updatedByName": null,
        "updatedDate": null,
    })
}

fn embedded_lead() -> Value {
    let channel =
        json!({ "mainChannel": false, "disabled": false, "frequencyValue": null, "frequencyUnits": "DAY" });
    json!({
        "_id": "lead-1100", "id": 1100, "fullname": "Nair Prado", "firstname": "Nair", "lastname": "Prado",
        "email": "nair@example.com", "phone": null, "chatapp": null, "whatsapp": null, "tags": [], "mobile": null, "points": 0, "owner": 9,
        "stage": null, "photoUrl": null, "company": 2, "userAccess": [], "departmentAccess": [],
        "ignoreSubDepartments": false, "address": null, "city": "Londrina", "state": null, "country": null,
        "zipcode": null, "timezone": null, "archived": false, "acquisition_channel": null,
        "channelRestrictions": { "social_photo": channel, "chatapp": channel, "email": channel, "social_chat": channel },
        "createDate": "2026-03-11T12:00:01.123Z", "lastActive": "2026-03-11T12:00:01.123Z", "createdBy": null,
        "createdByName": null, "createdByType": null, "updatedBy": null, "updatedByName": null, "updatedDate": null,
        "instancedomain": "acme", "ips": [], "link_instancia": null, "preferred_locale": "pt-BR",
        "initial_password": null, "utmTags": [{ "utm_source": "ads" }], "role": null, "department": null,
        "instance_active": "true", "lead_online": "false", "partner_instance": null,
    })
}

/// A flat array of complete records: with the lead without custom fields, and companies with `_id` in
/// `dataCompany` only.
#[tokio::test]
async fn every_field_of_a_record() {
    let world = shop().await;
    let operator = world.operator("acme");
    let firm: Company = serde_json::from_value(json!({ "id": 2, "companyname": "Alfa" })).expect("a company");
    operator
        .import::<Companies>(&[firm], false)
        .await
        .expect("companies");
    let mut lead = shared::lead::Lead {
        email: Some("nair@example.com".to_owned()),
        city: Some("Londrina".to_owned()),
        company: shared::ids::CompanyId::new(2),
        utm_tags: vec![json!({ "utm_source": "ads" })],
        ..plain_lead(1100, "Nair", "Prado", Some(9))
    };
    lead.custom.insert("filial".to_owned(), json!("Apucarana"));
    add_leads(&operator, vec![lead]).await;
    let full: Opportunity = serde_json::from_value(line()).expect("an opportunity");
    let plain = Opportunity::new(
        tests::sales::opportunity_id(71),
        (tests::sales::funnel(3), tests::sales::column(32)),
        tests::people::lead(1100),
        tests::people::user(7),
        at("2026-01-14T00:00:00Z"),
    );
    add_opportunities(&operator, vec![full, plain]).await;

    let mut company_of_lead = company(2, "Alfa");
    company_of_lead["_id"] = json!("company-2");
    let mut expected = line();
    expected["dataCompanyExtra"] = json!([company(9, "Filial Sul")]);
    let none = json!({
        "id": 71, "title": "", "value": "0.00", "crm_column": 32, "crm_id": 3, "lead_id": 1100, "sequence": 0,
        "status": "open", "loss_reason": null, "gain_reason": null, "expectedCloseDate": null, "sale_channel": null,
        "campaign": null, "user": 7, "last_column_change": null, "last_status_change": null, "gain_date": null,
        "lost_date": null, "reopen_date": null, "await_column_approved": null, "await_column_approved_user": null,
        "reject_appro": null, "reject_appro_desc": null, "createDate": "2026-01-14T00:00:00.000Z",
        "updateDate": "2026-01-14T00:00:00.000Z", "archived": 0, "service_permission": "all",
        "service_permission_user": null, "service_permission_department": null, "service_permission_users": [],
        "service_permission_users_select": [], "service_permission_departments": [],
        "service_permission_departments_select": [], "dataCompanyExtra": [], "fields": {}, "files": [],
        "filesData": [], "conf_installment": [],
    });
    let expected = [expected, none].map(|mut record| {
        record["dataLead"] = embedded_lead();
        record["dataCompany"] = company_of_lead.clone();
        record
    });
    let answer = Client::of(&world, 7)
        .await
        .ask(3, &page(1, 25, &json!({ "columnId": 32 })))
        .await;
    answer.is(200, &json!(expected));
    assert_eq!(answer.headers[IGNORED], "0");
    world.is_sound().await;
}

/// C-33.
#[tokio::test]
async fn archived_is_0_or_1() {
    let world = four().await;
    let admin = Client::of(&world, 7).await;
    admin.must_change(2, &json!({ "archived": true })).await;
    for (only, found, flag) in [(true, vec![2], 1), (false, vec![3, 1], 0)] {
        let body = page(1, 25, &json!({ "columnId": 31, "onlyArchived": only }));
        let answer = admin.ask(3, &body).await;
        assert_eq!(ids(&answer.body), found);
        let records = answer.body.as_array().expect("a list");
        assert!(records.iter().all(|record| record["archived"] == json!(flag)));
    }
    world.is_sound().await;
}

/// C-33: they differ only in `value`, which is text in a list and a number in endpoint 8.
#[tokio::test]
async fn a_list_and_an_update_show_the_same_record() {
    let world = four().await;
    let admin = Client::of(&world, 7).await;
    let list = admin.ask(3, &page(1, 1, &json!({ "columnId": 31 }))).await.body;
    let mut record = admin.change(3, &json!({})).await.body["data"].clone();
    assert_eq!(record["value"], json!(3.01));
    record["value"] = json!("3.01");
    assert_eq!(list, json!([record]));
}

/// C-21: in lists and on the board.
#[tokio::test]
async fn only_admins_see_initial_passwords() {
    let world = four().await;
    for (who, password) in [(7, json!("s3nh4-inicial")), (15, Value::Null)] {
        let client = Client::of(&world, who).await;
        let list = client.ask(3, &page(1, 1, &json!({ "columnId": 31 }))).await.body;
        let board = client.ask(3, &page(1, 1, &Value::Null)).await.body;
        let shown = [&list[0], &board[0]["items"][0]].map(|record| &record["dataLead"]["initial_password"]);
        assert_eq!(shown, [&password, &password], "user {who}");
    }
}
