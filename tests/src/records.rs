//! Records in responses of endpoints 7 and 8, written out: every field of spec.md, Opportunity, Lead and
//! Company, with the defaults of C-21, C-30 and C-33.

#![expect(
    clippy::expect_used,
    clippy::missing_panics_doc,
    clippy::must_use_candidate,
    clippy::too_many_lines,
    reason = "a test that cannot be set up must fail, and say where; a record has as many lines as it has fields"
)]

use operator::Operator;
use operator::kinds::Companies;
use serde_json::{Map, Value, json};
use shared::ids::CompanyId;
use shared::lead::{Channel, ChannelRestrictions, Lead};
use shared::people::Company;

use crate::people::{NOW, add_leads, department, lead, plain_lead, user};
use crate::world::at;

/// A record with changes.
#[track_caller]
pub fn with(mut record: Value, changes: &Value) -> Value {
    for (name, value) in changes.as_object().expect("changes are an object") {
        record[name] = value.clone();
    }
    record
}

/// Opportunity 1 as user 7 creates it with only the required properties, visible to a user who is not an
/// admin, with changes.
pub fn opportunity(changes: &Value) -> Value {
    let record = json!({
        "id": 1, "title": "Reforma", "value": 0, "crm_column": 31, "crm_id": 3, "lead_id": 1001, "sequence": 0,
        "status": "open", "loss_reason": null, "gain_reason": null, "expectedCloseDate": null, "sale_channel": null,
        "campaign": null, "user": 7, "last_column_change": null, "last_status_change": null, "gain_date": null,
        "lost_date": null, "reopen_date": null, "await_column_approved": null, "await_column_approved_user": null,
        "reject_appro": null, "reject_appro_desc": null, "createDate": NOW, "updateDate": NOW, "archived": 0,
        "service_permission": "all", "service_permission_user": null, "service_permission_department": null,
        "service_permission_users": [], "service_permission_users_select": [], "service_permission_departments": [],
        "service_permission_departments_select": [], "dataLead": maria(), "dataCompany": null, "dataCompanyExtra": [],
        "fields": {}, "files": [], "filesData": [], "conf_installment": [],
    });
    with(record, changes)
}

/// Lead 1001 embedded in an opportunity, for a user who is not an admin.
pub fn maria() -> Value {
    let channel =
        json!({ "mainChannel": false, "disabled": false, "frequencyValue": null, "frequencyUnits": "DAY" });
    json!({
        "_id": "lead-1001", "fullname": "Maria Silva", "id": 1001, "firstname": "Maria", "lastname": "Silva",
        "email": "lead1001@example.com", "phone": null, "chatapp": null, "whatsapp": null, "tags": [], "mobile": "+55 11 97326-3471", "points": 0,
        "owner": 8, "stage": null, "photoUrl": null, "company": null, "userAccess": [], "departmentAccess": [],
        "ignoreSubDepartments": false, "address": null, "city": "Curitiba", "state": null, "country": null,
        "zipcode": null, "timezone": null, "archived": false, "acquisition_channel": null,
        "channelRestrictions": {
            "social_photo": channel, "chatapp": channel, "email": channel, "social_chat": channel,
        },
        "createDate": "2026-03-11T12:00:01.123Z", "lastActive": "2026-03-11T12:00:01.123Z", "createdBy": null,
        "createdByName": null, "createdByType": null, "updatedBy": null, "updatedByName": null, "updatedDate": null,
        "ips": [], "link_instancia": null, "preferred_locale": "pt-BR", "initial_password": null,
        "role": null, "department": null, "instance_active": "true", "lead_online": "false", "partner_instance": null,
        "instancedomain": "acme", "utmTags": [{ "utm_source": "ads" }],
    })
}

/// Lead 2001, with every field set, embedded in an opportunity, for a user who is not an admin.
pub fn helena() -> Value {
    let channel =
        json!({ "mainChannel": false, "disabled": false, "frequencyValue": null, "frequencyUnits": "DAY" });
    let limited =
        json!({ "mainChannel": true, "disabled": true, "frequencyValue": 3, "frequencyUnits": "WEEK" });
    json!({
        "_id": "lead-2001", "fullname": "Helena D'Ávila 😀", "id": 2001, "firstname": "Helena", "lastname": "D'Ávila 😀",
        "email": "helena@example.com", "phone": "554133221100", "chatapp": "5541999887766", "whatsapp": "5541999887766", "tags": [], "mobile": "5541988776655",
        "points": 12.5, "owner": 8, "stage": 4, "photoUrl": "https://photos.example/h.jpg", "company": 5,
        "userAccess": [8, 14], "departmentAccess": [2, 1], "ignoreSubDepartments": true, "address": "Rua A, 1",
        "city": "Ibiporã", "state": "PR", "country": "Brasil", "zipcode": "86200-000", "timezone": "America/Sao_Paulo",
        "archived": true, "acquisition_channel": "VoIP",
        "channelRestrictions": {
            "social_photo": channel, "chatapp": limited, "email": channel, "social_chat": channel,
        },
        "createDate": "2026-01-02T03:04:05.678Z", "lastActive": "2026-02-03T04:05:06.789Z", "createdBy": 7,
        "createdByName": "Ana Souza", "createdByType": "user", "updatedBy": 9, "updatedByName": "Carla Mendes",
        "updatedDate": "2026-02-02T00:00:00.000Z", "ips": ["203.0.113.9"], "link_instancia": "https://acme.example",
        "preferred_locale": "en-US", "initial_password": null, "role": 6, "department": 2, "instance_active": "false",
        "lead_online": "true", "partner_instance": 11, "instancedomain": "acme",
        "utmTags": [{ "utm_source": "ads", "": [null, 1.5] }, "solta"],
    })
}

/// Company 5, with every field set, as imported and in `dataCompanyExtra`.
pub fn full_company() -> Value {
    json!({
        "id": 5, "cnpj": "11.222.333/0001-81", "companyaddress": "Av. B, 2", "companyannualrevenue": "1-5 mi",
        "companycity": "Londrina", "companycountry": "Brasil", "companyemail": "contato@obra.example",
        "companyindustry": "Construção", "companyname": "Obra & Cia", "companynemployees": 42,
        "companyphone": "554333221100", "companystate": "PR", "companyzipcode": "86010-000",
        "createDate": "2025-12-01T00:00:00.000Z", "createdBy": 7, "createdByName": "Ana Souza",
        "pain_points": "prazo", "owner": 8, "photoUrl": "https://photos.example/o.jpg", "points": 7.5,
        "customer_count": 3, "updatedBy": 8, "updatedByName": "Bruno Lima", "updatedDate": "2026-01-01T00:00:00.000Z",
    })
}

/// Company 6, with a name only, in `dataCompanyExtra`.
pub fn bare_company() -> Value {
    let mut company = full_company();
    for (_, value) in company.as_object_mut().expect("a company") {
        value.take();
    }
    with(company, &json!({ "id": 6, "companyname": "Só Nome" }))
}

/// A company in `dataCompany`.
pub fn embedded(company: Value) -> Value {
    let id = format!("company-{}", company["id"]);
    with(company, &json!({ "_id": id }))
}

/// Imports companies 5 and 6, lead 2001 of company 5 with every field set, and lead 2002 of company 6.
pub async fn add_companies(operator: &Operator) {
    let read = |company: Value| serde_json::from_value::<Company>(company).expect("a company");
    operator
        .import::<Companies>(&[read(full_company()), read(bare_company())], false)
        .await
        .expect("the companies can be written");
    let other = Lead {
        company: CompanyId::new(6),
        ..plain_lead(2002, "Rui", "Sem Firma", Some(8))
    };
    add_leads(operator, vec![full_lead(), other]).await;
}

fn full_lead() -> Lead {
    let text = |text: &str| Some(text.to_owned());
    let limited = Channel {
        main_channel: true,
        disabled: true,
        frequency_value: Some(3),
        frequency_units: "WEEK".to_owned(),
    };
    let mut custom = Map::new();
    custom.insert("filial".to_owned(), json!("Apucarana"));
    custom.insert("Origem do Lead".to_owned(), json!("site"));
    Lead {
        firstname: text("Helena"),
        lastname: text("D'Ávila 😀"),
        email: text("helena@example.com"),
        phone: text("554133221100"),
        chatapp: text("5541999887766"),
        mobile: text("5541988776655"),
        points: serde_json::from_str("12.5").expect("a number"),
        owner: Some(user(8)),
        stage: Some(4),
        photo_url: text("https://photos.example/h.jpg"),
        company: CompanyId::new(5),
        user_access: vec![user(8), user(14)],
        department_access: vec![department(2), department(1)],
        ignore_sub_departments: true,
        address: text("Rua A, 1"),
        city: text("Ibiporã"),
        state: text("PR"),
        country: text("Brasil"),
        zipcode: text("86200-000"),
        timezone: text("America/Sao_Paulo"),
        archived: true,
        acquisition_channel: text("VoIP"),
        channel_restrictions: ChannelRestrictions {
            chatapp: limited,
            ..ChannelRestrictions::default()
        },
        last_active: at("2026-02-03T04:05:06.789Z"),
        created_by: Some(7),
        created_by_name: text("Ana Souza"),
        created_by_type: text("user"),
        updated_by: Some(9),
        updated_by_name: text("Carla Mendes"),
        updated_date: Some(at("2026-02-02T00:00:00Z")),
        ips: vec!["203.0.113.9".to_owned()],
        link_instancia: text("https://acme.example"),
        preferred_locale: "en-US".to_owned(),
        initial_password: text("h3l3n4"),
        role: Some(6),
        department: Some(department(2)),
        instance_active: "false".to_owned(),
        lead_online: "true".to_owned(),
        partner_instance: Some(11),
        utm_tags: vec![json!({ "utm_source": "ads", "": [null, 1.5] }), json!("solta")],
        custom,
        ..Lead::new(lead(2001), at("2026-01-02T03:04:05.678Z"))
    }
}
