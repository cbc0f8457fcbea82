//! From the acknowledgement on, no endpoint and no export shows the lead or a copy (C-24), before and after
//! the erasure.

use serde_json::{Value, json};
use tests::bookings::{FREE, booking};
use tests::sales::page;
use tests::{Answer, Wallet, World};

use super::{PERSON, betrayed, call, delete_person, erase, exported, is_erased, stage, tend};

/// An opportunity of funnel 3 from endpoint 10.
pub async fn opportunity(world: &World, id: u64) -> Value {
    let uri = format!(
        "/crm/opportunities/3?i=acme&apitoken={}",
        world.wallet(7).await.key
    );
    let body = page(1, 100, &json!({ "columnId": 31 }));
    let answer = world.call("POST", &uri).json(&body).send().await;
    let list = answer.body.as_array().expect("a list").iter();
    list.into_iter()
        .find(|one| one["id"] == id)
        .expect("it is there")
        .clone()
}

/// Creates an opportunity of the person with an idempotency key (endpoint 7).
async fn make(world: &World, wallet: &Wallet) -> Answer {
    let body = json!({ "title": "Pedido", "crm_column": 31, "lead_id": PERSON });
    let request = world.call("POST", "/crmopportunity?id=3&i=acme").with(wallet);
    request.header("idempotency-key", "k").json(&body).send().await
}

/// Books a meeting of the person with an idempotency key (endpoint 13).
async fn meet(world: &World) -> Answer {
    let body = booking(FREE[1], &json!({ "leadId": PERSON, "formData": null }));
    let request = world
        .call("POST", "/calendarmeeting?i=acme")
        .header("idempotency-key", "k");
    request.json(&body).send().await
}

/// The responses of all endpoints that show leads, and the export.
async fn everything(world: &World, wallet: &Wallet) -> Vec<(String, String)> {
    let mut said = Vec::new();
    for uri in [
        "/leads?i=acme&allFields=1&limit=200",
        "/leads?i=acme&archived=true&allFields=1",
        "/leads?i=acme&search=zulmira",
        "/leads?i=acme&search=segredo",
        "/leads?i=acme&search=977776666",
        "/leads?i=acme&query={total,leads{id,firstname,email,phone}}",
        "/leads/2001?i=acme",
        "/leads/2001?i=acme&allFields=1",
        "/leads/2001?i=acme&query={lead{id,firstname,email}}",
        "/sac360/list_file_attendance/501?i=acme",
    ] {
        said.push((
            uri.to_owned(),
            world.get(uri).with(wallet).send().await.body.to_string(),
        ));
    }
    for more in [
        json!({}),
        json!({ "columnId": 31 }),
        json!({ "search": "zulmira", "searchBy": "lead" }),
        json!({ "columnId": 31, "search": "977776666", "searchBy": "lead" }),
        json!({ "columnId": 31, "filterByUsers": [8] }),
    ] {
        let uri = format!("/crm/opportunities/3?i=acme&apitoken={}", wallet.key);
        let answer = world.call("POST", &uri).json(&page(1, 25, &more)).send().await;
        said.push((more.to_string(), answer.body.to_string()));
    }
    for id in 1..=2 {
        let uri = format!("/crmopportunity/{id}?id=3&i=acme");
        let answer = world.call("PUT", &uri).with(wallet).json(&json!({})).send().await;
        assert_eq!(answer.status, 200);
        said.push((uri, answer.body.to_string()));
    }
    for rest in [
        "from=1900-01-01T00:00:00Z",
        "from=1900-01-01T00:00:00Z&limit=1&page=1",
    ] {
        let uri = format!("/calendarmeeting/5?{rest}&apitoken={}", wallet.key);
        said.push((uri.clone(), world.get(&uri).send().await.body.to_string()));
    }
    said.push(("7 again".to_owned(), make(world, wallet).await.body.to_string()));
    said.push(("13 again".to_owned(), meet(world).await.body.to_string()));
    said.push(("export".to_owned(), exported(world).await));
    said
}

/// Complete bodies of endpoints that name the lead, and of those that created its records.
async fn answers_as_if_it_had_never_been(world: &World, wallet: &Wallet) {
    for rest in ["", "&allFields=1", "&query={lead{id}}"] {
        let answer = world.read(wallet, &format!("/leads/{PERSON}?i=acme{rest}")).await;
        answer.is(404, &json!({ "error": "Not found" }));
    }
    let uri = format!("/crm/opportunities/3?i=acme&apitoken={}", wallet.key);
    for term in ["zulmira", "quaresma", "segredo", "977776666"] {
        let search = json!({ "columnId": 31, "search": term, "searchBy": "lead" });
        world
            .call("POST", &uri)
            .json(&page(1, 25, &search))
            .send()
            .await
            .is(200, &json!([]));
        let found = world.read(wallet, &format!("/leads?i=acme&search={term}")).await;
        found.is(200, &json!({ "data": { "total": 0, "leads": [] } }));
    }
    let answer = make(world, wallet).await;
    assert_eq!(answer.headers["idempotent-replayed"], "true");
    let record = (
        &answer.body["id"],
        &answer.body["lead_id"],
        &answer.body["dataLead"],
    );
    assert_eq!(record, (&json!(2), &Value::Null, &Value::Null));
    let answer = meet(world).await;
    assert_eq!(answer.headers["idempotent-replayed"], "true");
    let data = &answer.body["data"];
    let meeting = (&data["id"], &data["leadId"], &data["formData"]);
    assert_eq!(meeting, (&json!(2), &Value::Null, &Value::Null));
    for (body, refused) in [
        (
            json!({ "title": "Outro", "crm_column": 31, "lead_id": PERSON }),
            "/crmopportunity?id=3&i=acme",
        ),
        (
            booking(FREE[2], &json!({ "leadId": PERSON, "formData": null })),
            "/calendarmeeting?i=acme",
        ),
    ] {
        let answer = world.call("POST", refused).with(wallet).json(&body).send().await;
        assert_eq!(answer.status, 400, "{refused}: {}", answer.body);
    }
    for id in [1, 2] {
        let change = json!({ "lead_id": PERSON });
        let call = world.call("PUT", &format!("/crmopportunity/{id}?id=3&i=acme"));
        call.with(wallet)
            .json(&change)
            .send()
            .await
            .is(400, &json!({ "error": "Invalid request" }));
    }
    let archive = json!({ "archived": true, "id": PERSON });
    let uri = format!("/lead/archive?i=acme&apitoken={}", wallet.key);
    world
        .call("POST", &uri)
        .json(&archive)
        .send()
        .await
        .is(404, &json!({ "error": "Not found" }));
    let tickets = world
        .get(&format!("/sac360/lead/{PERSON}?i=acme"))
        .header("apitoken", &wallet.key);
    tickets
        .send()
        .await
        .is(400, &json!({ "error": "Invalid request" }));
}

#[tokio::test]
async fn no_endpoint_and_no_export_shows_the_lead() {
    let world = stage().await;
    let wallet = world.wallet(7).await;
    assert_eq!(make(&world, &wallet).await.status, 200);
    assert_eq!(meet(&world).await.status, 200);
    let before = everything(&world, &wallet).await;
    let telling = before
        .iter()
        .filter(|(_, text)| !betrayed(text).is_empty())
        .count();
    assert!(telling > 15, "{telling}");
    delete_person(&world, &wallet).await;
    // At first; after the erasure, with its marker; after the marker is deleted.
    for round in 0..3 {
        for (what, text) in everything(&world, &wallet).await {
            assert_eq!(betrayed(&text), [""; 0], "{round}, {what}: {text}");
            let named = format!("\"leadId\":{PERSON}");
            assert!(!text.contains(&named), "{round}, {what}: {text}");
        }
        answers_as_if_it_had_never_been(&world, &wallet).await;
        world.is_sound().await;
        tend(&world).await;
        if round == 1 {
            erase(&world).await;
        }
    }
    is_erased(&world).await;
}

/// Records changed before the erasure are written without the lead, and the erasure keeps the changes.
#[tokio::test]
async fn records_can_be_changed_before_the_erasure() {
    let world = stage().await;
    let wallet = world.wallet(7).await;
    let meeting = meet(&world).await.body["data"].clone();
    delete_person(&world, &wallet).await;
    let change = json!({ "title": "Outro título", "status": "gain" });
    let answer = world
        .write(&wallet, "PUT", "/crmopportunity/1?id=3&i=acme", &change)
        .await;
    let data = &answer.body["data"];
    assert_eq!(
        (&data["title"], &data["dataLead"]),
        (&json!("Outro título"), &Value::Null)
    );
    let proof = json!({ "rescheduleMeetingId": meeting["id"], "rescheduleKey": meeting["rescheduleKey"] });
    let moved = booking(
        FREE[2],
        &json!({ "leadId": 1001, "formData": null, "properties": proof }),
    );
    let answer = tests::bookings::book(&world, &moved).await;
    let data = &answer.body["data"];
    assert_eq!(
        (&data["leadId"], &data["date"]),
        (&Value::Null, &json!(FREE[2])),
        "{}",
        answer.body
    );
    world.is_sound().await;
    erase(&world).await;
    is_erased(&world).await;
    assert_eq!(opportunity(&world, 1).await["title"], "Outro título");
}

/// It is stored without a lead and an event (C-74).
#[tokio::test]
async fn a_call_for_a_deleted_lead_is_stored_without_it() {
    let world = stage().await;
    let wallet = world.wallet(7).await;
    delete_person(&world, &wallet).await;
    let sent = json!({ "lead": PERSON, "leadPhone": "", "leadName": "x" });
    call(&world, &sent)
        .await
        .is(201, &json!({ "msg": "created", "id": 3 }));
    assert_eq!(world.calls().await[2].lead, None);
    erase(&world).await;
    is_erased(&world).await;
}
