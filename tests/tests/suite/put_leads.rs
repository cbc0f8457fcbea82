//! `PUT /leads/{id}` and `PUT /leads` (C-91).

use operator::kinds::{Companies, Tags};
use serde_json::{Value, json};
use shared::labels::Tag;
use shared::people::Company;
use tests::people::lead as lead_id;
use tests::sales::{add_opportunities, open_shop, page, plain_opportunity};
use tests::{Answer, Wallet, World};

use crate::delete_leads_id::{allow, listed};

pub async fn put(world: &World, wallet: &Wallet, id: u64, body: &Value) -> Answer {
    let uri = format!("/leads/{id}?i=acme");
    world.call("PUT", &uri).with(wallet).json(body).send().await
}

async fn full(world: &World, wallet: &Wallet, id: u64) -> Value {
    let uri = format!("/leads/{id}?i=acme&allFields=1");
    let answer = world.get(&uri).with(wallet).send().await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer.body["data"]["lead"].clone()
}

/// `acme` with company 5 and tags 1 and 2.
async fn world() -> World {
    let world = World::new().await;
    let operator = world.operator("acme");
    let firm: Company = serde_json::from_value(json!({ "id": 5, "companyname": "Alfa" })).expect("a company");
    operator
        .import::<Companies>(&[firm], false)
        .await
        .expect("an import");
    let tags = [1, 2].map(|id| json!({ "id": id, "tag": format!("T{id}") }));
    let tags = tags.map(|tag| serde_json::from_value::<Tag>(tag).expect("a tag"));
    operator.import::<Tags>(&tags, false).await.expect("an import");
    world
}

fn invalid(details: &str) -> Value {
    json!({ "error": "Invalid request", "details": details })
}

/// What is absent stays; the answer is the full view, as the next read shows it.
#[tokio::test]
async fn a_lead_is_changed() {
    let world = world().await;
    let admin = world.wallet(7).await;
    world.clock.set(world.clock.get().plus_seconds(60));
    let mut expected = full(&world, &admin, 1001).await;
    let body = json!({
        "owner": "9", "userAccess": [8, 9, 8], "departmentAccess": [2], "ignoreSubDepartments": true, "archived": true,
        "tags": [2, 1], "company": 5, "stage": 4, "points": 2.5, "firstname": "Mariana", "photoUrl": "https://p.example/1",
        "address": "Rua A", "preferred_locale": "en-US", "link_instancia": "x", "cor": "azul", "filial": null, "n": 1e2,
    });
    let answer = put(&world, &admin, 1001, &body).await;
    for (name, value) in body.as_object().expect("an object") {
        expected[name] = value.clone();
    }
    expected.as_object_mut().expect("a lead").shift_remove("filial");
    for (name, value) in [
        ("owner", json!(9)),
        ("userAccess", json!([8, 9])),
        ("fullname", json!("Mariana Silva")),
        ("updatedBy", json!(7)),
        ("updatedByName", json!("Ana Souza")),
        ("updatedDate", json!("2026-11-21T12:01:00.000Z")),
    ] {
        expected[name] = value;
    }
    answer.is(200, &json!({ "msg": "updated", "data": expected }));
    assert_eq!(full(&world, &admin, 1001).await, expected);
    assert_eq!(listed(&world, true).await, [1001, 1003, 1012]);
    world.is_sound().await;
}

/// With the id in the body, as a number or text.
#[tokio::test]
async fn the_id_may_be_in_the_body() {
    let world = World::new().await;
    let admin = world.wallet(7).await;
    for (id, city) in [(json!(1001), "Londrina"), (json!("1001"), "Ibiporã")] {
        let call = world.call("PUT", "/leads?i=acme").with(&admin);
        let answer = call.json(&json!({ "id": id, "city": city })).send().await;
        assert_eq!(
            (answer.status.as_u16(), &answer.body["msg"]),
            (200, &json!("updated"))
        );
        assert_eq!(answer.body["data"]["city"], city);
    }
    for body in [json!({ "city": "x" }), json!({ "id": 0 }), json!({ "id": null })] {
        let answer = world.call("PUT", "/leads?i=acme").with(&admin).json(&body);
        let details = "id: must be a whole number from 1 to 999999999999999";
        answer.send().await.is(400, &invalid(details));
    }
    let answer = put(&world, &admin, 1002, &json!({ "id": 1001, "city": "Assaí" })).await;
    assert_eq!(answer.body["data"]["id"], 1002, "the id in the path counts");
}

/// A lead that was read can be sent back, with imported values that no request could set, by a user without
/// `archiveLeads`. Nothing is written.
#[tokio::test]
async fn a_lead_that_was_read_can_be_sent_back() {
    let world = World::new().await;
    allow(&world, 1, true, false).await;
    let wallet = world.wallet(14).await;
    for id in [1001, 1002, 1003, 1007] {
        let lead = full(&world, &wallet, id).await;
        let before = world.raw().items();
        put(&world, &wallet, id, &lead)
            .await
            .is(200, &json!({ "msg": "updated", "data": lead }));
        let answer = put(&world, &wallet, id, &json!({})).await;
        answer.is(200, &json!({ "msg": "updated", "data": lead }));
        assert_eq!(world.raw().items().len(), before.len());
        assert!(answer.cost.write_units() <= 0.0);
    }
    let answer = put(&world, &wallet, 1001, &json!({ "archived": true })).await;
    answer.is(403, &json!({ "error": "Forbidden" }));
}

/// Empty text leaves numbers and the address as they are; null clears them.
#[tokio::test]
async fn empty_text_is_not_null() {
    let world = World::new().await;
    let admin = world.wallet(7).await;
    let body = json!({ "mobile": "", "email": "", "phone": "", "whatsapp": "", "city": "", "lastname": "" });
    let answer = put(&world, &admin, 1001, &body).await;
    let shown = |answer: &Answer| {
        ["mobile", "email", "phone", "chatapp", "city"].map(|name| answer.body["data"][name].clone())
    };
    let (mobile, email) = (json!("+55 11 97326-3471"), json!("lead1001@example.com"));
    assert_eq!(
        shown(&answer),
        [mobile, email, Value::Null, Value::Null, json!("")]
    );
    assert_eq!(answer.body["data"]["fullname"], "Maria");
    let body = json!({ "mobile": null, "email": null, "city": null, "owner": null, "points": null, "preferred_locale": null });
    let answer = put(&world, &admin, 1001, &body).await;
    assert_eq!(shown(&answer), [(); 5].map(|()| Value::Null));
    let others = ["owner", "points", "preferred_locale"].map(|name| answer.body["data"][name].clone());
    assert_eq!(others, [Value::Null, json!(0), json!("pt-BR")]);
    world.is_sound().await;
}

/// C-12: the next call finds the new number and no longer the old one.
#[tokio::test]
async fn a_changed_number_is_found_at_once() {
    let world = World::new().await;
    let admin = world.wallet(7).await;
    let answer = put(&world, &admin, 1001, &json!({ "mobile": "5541988880009" })).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    for phone in ["554188880009", "+55 11 97326-3471"] {
        let call = json!({ "event": "call", "data": { "user": 8, "leadPhone": phone, "type": "INCOMING",
            "status": "COMPLETE", "duration": 1, "record": false, "service": "x" } });
        assert_eq!(world.webhook(&call).send().await.status, 201);
    }
    let leads: Vec<_> = world.calls().await.iter().map(|call| call.lead).collect();
    assert_eq!(leads, [Some(lead_id(1001)), Some(lead_id(1013))]);
    world.is_sound().await;
}

/// C-12: opportunities show the changed lead and its company at once, and after their copies were refreshed.
#[tokio::test]
async fn copies_follow() {
    let world = world().await;
    let operator = world.operator("acme");
    open_shop(&operator).await;
    add_opportunities(&operator, vec![plain_opportunity(1, 8, 0)]).await;
    let admin = world.wallet(7).await;
    let body = json!({ "firstname": "Mariana", "company": 5, "whatsapp": "41988880009", "tags": [1] });
    assert_eq!(put(&world, &admin, 1001, &body).await.status, 200);
    for refreshed in [0, 1] {
        let uri = format!("/crm/opportunities/3?i=acme&apitoken={}", admin.key);
        let column = page(1, 25, &json!({ "columnId": 31 }));
        let answer = world.call("POST", &uri).json(&column).send().await;
        let record = &answer.body[0];
        let lead = ["fullname", "chatapp", "whatsapp", "tags"].map(|name| record["dataLead"][name].clone());
        let expected = [
            json!("Mariana Silva"),
            json!("41988880009"),
            json!("41988880009"),
            json!([1]),
        ];
        assert_eq!(lead, expected, "{refreshed}");
        assert_eq!(record["dataCompany"]["companyname"], "Alfa", "{refreshed}");
        world.store.refresh_copies().await.expect("refreshed");
    }
    world.is_sound().await;
}

/// Access decides at once: who loses a lead gets the last answer and then a 404 (C-23).
#[tokio::test]
async fn access_follows() {
    let world = World::new().await;
    let (admin, own) = (world.wallet(7).await, world.wallet(8).await);
    let missing = json!({ "error": "Not found" });
    put(&world, &own, 1002, &json!({ "city": "x" }))
        .await
        .is(404, &missing);
    put(&world, &own, 4711, &json!({ "city": "x" }))
        .await
        .is(404, &missing);
    let answer = put(&world, &own, 1001, &json!({ "owner": 9 })).await;
    assert_eq!(
        (answer.status.as_u16(), &answer.body["data"]["owner"]),
        (200, &json!(9))
    );
    put(&world, &own, 1001, &json!({ "city": "x" }))
        .await
        .is(404, &missing);
    let total = async |wallet| {
        let answer = world.get("/leads?i=acme").with(wallet).send().await;
        let ids = answer.body["data"]["leads"].as_array().expect("leads").len();
        assert_eq!(answer.body["data"]["total"], ids);
        ids
    };
    let before = total(&own).await;
    assert_eq!(
        put(&world, &admin, 1001, &json!({ "owner": 8 })).await.status,
        200
    );
    assert_eq!(total(&own).await, before + 1);
    world.is_sound().await;
}

/// Each breach names its field, and nothing is written.
#[tokio::test]
async fn invalid_changes_name_the_field() {
    let world = world().await;
    let admin = world.wallet(7).await;
    let ids = "must be a list of at most 200 ids";
    let before = world.raw().items().len();
    for (body, details) in [
        (json!([]), "body: must be a JSON object".to_owned()),
        (json!({ "owner": 99 }), "owner: user 99 does not exist".to_owned()),
        (
            json!({ "company": 9 }),
            "company: company 9 does not exist".to_owned(),
        ),
        (
            json!({ "userAccess": [8, 99] }),
            "userAccess: user 99 does not exist".to_owned(),
        ),
        (
            json!({ "departmentAccess": [9] }),
            "departmentAccess: department 9 does not exist".to_owned(),
        ),
        (json!({ "tags": [1, 3] }), "tags: tag 3 does not exist".to_owned()),
        (json!({ "tags": vec![1; 201] }), format!("tags: {ids}")),
        (json!({ "userAccess": 8 }), format!("userAccess: {ids}")),
        (json!({ "tags": ["x"] }), format!("tags: {ids}")),
        (
            json!({ "archived": 2 }),
            "archived: must be true or false".to_owned(),
        ),
        (json!({ "points": "dez" }), "points: must be a number".to_owned()),
        (
            json!({ "points": 1e16 }),
            "points: must be from -1e15 to 1e15".to_owned(),
        ),
        (json!({ "city": true }), "city: must be text or null".to_owned()),
        (
            json!({ "email": "ã".repeat(256) }),
            "email: must have at most 255 characters".to_owned(),
        ),
        (
            json!({ "city": "ã".repeat(1001) }),
            "city: must have at most 1000 characters".to_owned(),
        ),
        (
            json!({ "": 1 }),
            ": must have a name of 1 to 64 characters".to_owned(),
        ),
        (
            json!({ "x": {} }),
            "x: must be text, a number, true, false, null or a list of these".to_owned(),
        ),
        (
            json!({ "whatsapp": "1", "chatapp": "2" }),
            "whatsapp: must be the same as chatapp".to_owned(),
        ),
    ] {
        put(&world, &admin, 1001, &body).await.is(400, &invalid(&details));
    }
    let long: serde_json::Map<_, _> = (0..12)
        .map(|at| (format!("f{at}"), json!("x".repeat(9000))))
        .collect();
    let details = "body: the record must not be larger than 100 KB";
    put(&world, &admin, 1001, &json!(long))
        .await
        .is(400, &invalid(details));
    assert_eq!(world.raw().items().len(), before);
    world.is_sound().await;
}
