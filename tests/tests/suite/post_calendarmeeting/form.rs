//! The form of a new contact (C-54): required fields, fields of the lead, and fields of the meeting.

use serde_json::{Map, Value, json};
use shared::meeting::NewContact;
use tests::bookings::{FREE, book, booking, invalid, made, meetings, shown};

use super::{book_bytes, everything, world};

const LEAD: [&str; 13] = NewContact::FIELDS;
const NAMED: &str = "formData: must have a firstname or an email that is not blank";
const OBJECT: &str = "formData: must be an object with a firstname or an email where leadId is null";

/// Only the thirteen fields are stored in the lead; every other key remains in the meeting, in order.
#[tokio::test]
async fn thirteen_fields_reach_the_lead() {
    let world = world().await;
    let admin = world.wallet(7).await;
    let text = r#"{"keyName":"demo","date":"2026-11-23T09:00:00Z","leadId":null,"formData":{
        "owner":7,"zz":"último","id":1001,"firstname":"Bia","points":99,"lastname":"Dias","email":"bia@example.com",
        "phone":"+55 41 3333-2211","mobile":"41988776655","chatapp":"5541988776655","address":"Rua A","city":"Ibiporã",
        "state":"PR","country":"Brasil","zipcode":"86200-000","timezone":"America/Sao_Paulo","preferred_locale":"en-US",
        "archived":true,"initial_password":"x","acquisition_channel":"ads","createdByType":"user","Firstname":"Eva",
        "fullname":"Eva","aa":0.1,"":0,"company":"Ltda","lead_id":5,"firstname ":"Eva","__proto__":"x"}}"#;
    let (meeting, _) = made(&book_bytes(&world, text).await);
    let rest = r#"{"owner":7,"zz":"último","id":1001,"points":99,"archived":true,"initial_password":"x","acquisition_channel":"ads","createdByType":"user","Firstname":"Eva","fullname":"Eva","aa":0.1,"":0,"company":"Ltda","lead_id":5,"firstname ":"Eva","__proto__":"x"}"#;
    assert_eq!(meeting["formData"].to_string(), rest);
    let form: Value = serde_json::from_str(rest).expect("JSON");
    assert_eq!(meeting, shown(&json!({ "formData": form })));
    assert_eq!(meetings(&world, &admin, 5).await[0]["formData"].to_string(), rest);
    let lead = world.read(&admin, "/leads/1013?i=acme&allFields=1").await;
    let channel =
        json!({ "mainChannel": false, "disabled": false, "frequencyValue": null, "frequencyUnits": "DAY" });
    let expected = json!({
        "_id": "lead-1013", "fullname": "Bia Dias", "id": 1013, "firstname": "Bia", "lastname": "Dias",
        "email": "bia@example.com", "phone": "+55 41 3333-2211", "chatapp": "5541988776655", "whatsapp": "5541988776655", "tags": [], "mobile": "41988776655",
        "points": 0, "owner": null, "stage": null, "photoUrl": null, "company": null, "userAccess": [],
        "departmentAccess": [], "ignoreSubDepartments": false, "address": "Rua A", "city": "Ibiporã", "state": "PR",
        "country": "Brasil", "zipcode": "86200-000", "timezone": "America/Sao_Paulo", "archived": false,
        "acquisition_channel": null,
        "channelRestrictions": { "social_photo": channel, "chatapp": channel, "email": channel, "social_chat": channel },
        "createDate": "2026-11-21T12:00:00.000Z", "lastActive": "2026-11-21T12:00:00.000Z", "createdBy": null,
        "createdByName": null, "createdByType": "booking", "updatedBy": null, "updatedByName": null, "updatedDate": null,
        "ips": [], "link_instancia": null, "preferred_locale": "en-US", "initial_password": null,
        "role": null, "department": null, "instance_active": "true", "lead_online": "false", "partner_instance": null,
        "instancedomain": "acme", "utmTags": [],
    });
    lead.is(200, &json!({ "data": { "lead": expected } }));
    world.is_sound().await;
}

/// A first name or an e-mail address suffices; null counts as absent.
#[tokio::test]
async fn a_name_or_an_email_suffices() {
    let world = world().await;
    let admin = world.wallet(7).await;
    for (at, (form, fullname, email)) in [
        (json!({ "firstname": "Bia" }), "Bia", Value::Null),
        (json!({ "email": "b@example.com" }), "", json!("b@example.com")),
        (
            json!({ "firstname": null, "email": "b@example.com", "city": null }),
            "",
            json!("b@example.com"),
        ),
        (
            json!({ "firstname": "Bia", "email": " ", "lastname": "Dias" }),
            "Bia Dias",
            Value::Null,
        ),
    ]
    .into_iter()
    .enumerate()
    {
        made(&book(&world, &booking(FREE[at], &json!({ "formData": form }))).await);
        let id = 1013 + at;
        let lead = world.read(&admin, &format!("/leads/{id}?i=acme")).await;
        lead.is(
            200,
            &json!({ "data": { "lead": { "id": id, "fullname": fullname, "email": email } } }),
        );
    }
    world.is_sound().await;
}

fn of_keys(count: usize) -> Value {
    let keys = (1..count).map(|at| (format!("k{at}"), json!("x")));
    let mut form: Map<_, _> = keys.collect();
    form.insert("email".to_owned(), json!("b@example.com"));
    form.into()
}

/// 50 keys including the lead's, texts of 1,000 characters regardless of bytes, and 16 KB in total.
#[tokio::test]
async fn the_maximum_form_is_accepted() {
    let world = world().await;
    let long = |count: usize| "😀".repeat(count);
    let mut largest =
        json!({ "email": "b", "a": long(1000), "b": long(1000), "c": long(1000), "d": long(1000), "e": "" });
    let rest = 16 * 1024 - largest.to_string().len();
    largest["e"] = format!("{}{}", long(rest / 4), "x".repeat(rest % 4)).into();
    for (at, form) in [
        of_keys(50),
        json!({ "firstname": long(255), "lastname": long(255), "email": long(255), "city": long(250), "note": long(1000) }),
        json!({ "email": "b@example.com", long(64): "x" }),
        largest,
    ]
    .into_iter()
    .enumerate()
    {
        let (meeting, _) = made(&book(&world, &booking(FREE[at], &json!({ "formData": form }))).await);
        let mut rest = form;
        rest.as_object_mut()
            .expect("a form")
            .retain(|name, _| !LEAD.contains(&name.as_str()));
        assert_eq!(meeting["formData"], rest);
    }
    world.is_sound().await;
}

/// Numbers may be as long as any text, and occur in several fields.
#[tokio::test]
async fn long_numbers() {
    let world = world().await;
    let long = "7".repeat(1000);
    let form = json!({ "firstname": "Bia", "phone": long, "mobile": long, "chatapp": "٣".repeat(500) });
    made(&book(&world, &booking(FREE[0], &json!({ "formData": form }))).await);
    let leads = world.leads().await;
    let lead = leads.last().expect("a lead");
    let numbers = [&lead.phone, &lead.mobile].map(Option::as_deref);
    assert_eq!(numbers, [Some(long.as_str()); 2]);
    world.is_sound().await;
}

/// C-90: `whatsapp` is another name of `chatapp`.
#[tokio::test]
async fn whatsapp_reaches_the_lead_as_chatapp() {
    let world = world().await;
    let form = json!({ "firstname": "Bia", "whatsapp": "41988776655", "note": "x" });
    let (meeting, _) = made(&book(&world, &booking(FREE[0], &json!({ "formData": form }))).await);
    assert_eq!(meeting["formData"], json!({ "note": "x" }));
    let leads = world.leads().await;
    let lead = leads.last().expect("a lead");
    assert_eq!(lead.chatapp.as_deref(), Some("41988776655"));
    world.is_sound().await;
}

/// The error names the field, and nothing is written.
#[tokio::test]
async fn invalid_forms_are_rejected() {
    let world = world().await;
    let admin = world.wallet(7).await;
    let before = everything(&world, &admin).await;
    let long = "ã".repeat(1001);
    let name = "must have at most 255 characters";
    let mut large = json!({ "email": "b@example.com" });
    for at in 0..9 {
        large[format!("{at}")] = "ã".repeat(910).into();
    }
    let text = "must be text or null";
    let plain = "must be text, a number, true, false, null or a list of these";
    let thousand = "must have at most 1000 characters";
    let mut cases = vec![
        (Value::Null, OBJECT.to_owned()),
        (json!([]), NAMED.to_owned()),
        (json!("firstname"), OBJECT.to_owned()),
        (json!(true), OBJECT.to_owned()),
        (json!([["firstname", "Bia"]]), OBJECT.to_owned()),
        (json!({}), NAMED.to_owned()),
        (json!({ "firstname": "", "email": null }), NAMED.to_owned()),
        (
            json!({ "firstname": " \u{a0}\t", "email": "\n" }),
            NAMED.to_owned(),
        ),
        (
            json!({ "lastname": "Dias", "phone": "4133332211" }),
            NAMED.to_owned(),
        ),
        (json!({ "Email": "b@example.com" }), NAMED.to_owned()),
        (
            json!({ "email": "b", "chatapp": "1", "whatsapp": "2" }),
            "formData.whatsapp: must be the same as chatapp".to_owned(),
        ),
        (of_keys(51), "formData: must have at most 50 keys".to_owned()),
        (
            json!({ "email": "b", "note": long }),
            format!("formData.note: {thousand}"),
        ),
        (
            json!({ "email": "ã".repeat(256) }),
            format!("formData.email: {name}"),
        ),
        (
            json!({ "firstname": long }),
            format!("formData.firstname: {name}"),
        ),
        (
            json!({ "email": "b", "lastname": "ã".repeat(256) }),
            format!("formData.lastname: {name}"),
        ),
        (
            json!({ "email": "b", "city": "ã".repeat(501) }),
            "formData.city: must have at most 1000 bytes".to_owned(),
        ),
        (
            large,
            "formData: must have at most 16 KB together with properties".to_owned(),
        ),
        (
            json!({ "email": "b", "note": [["x"]] }),
            format!("formData.note: {plain}"),
        ),
        (
            json!({ "email": "b", "note": { "x": 1 } }),
            format!("formData.note: {plain}"),
        ),
        (
            json!({ "email": "b", "ã".repeat(65): 1 }),
            format!(
                "formData.{}: must have a name of at most 64 characters",
                "ã".repeat(64)
            ),
        ),
    ];
    for field in LEAD {
        for value in [json!(true), json!([[]]), json!({})] {
            let mut form = json!({ "firstname": "Bia", "email": "b" });
            form[field] = value;
            cases.push((form, format!("formData.{field}: {text}")));
        }
    }
    for (form, details) in cases {
        let answer = book(&world, &booking(FREE[0], &json!({ "formData": form }))).await;
        answer.is(400, &invalid(&details));
        assert!(answer.cost.read_units() <= 1.0, "{details}");
    }
    assert_eq!(everything(&world, &admin).await, before);
}

#[tokio::test]
async fn a_form_with_a_lead_must_be_empty() {
    let world = world().await;
    let refused = invalid("formData: must not be sent with a leadId");
    for lead in [1001, 4711, 0, -3] {
        for form in [
            json!({ "email": "b" }),
            json!({ "note": null }),
            json!([1]),
            json!(""),
            json!(0),
            json!(false),
        ] {
            let body = booking(FREE[0], &json!({ "leadId": lead, "formData": form }));
            book(&world, &body).await.is(400, &refused);
        }
    }
}
