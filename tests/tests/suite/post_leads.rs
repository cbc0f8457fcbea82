//! `POST /leads` (C-92).

use serde_json::{Value, json};
use tests::people::lead as lead_id;
use tests::{Answer, Wallet, World};

use crate::delete_leads_id::{delete, listed};

pub async fn post(world: &World, wallet: &Wallet, unique: &str, body: &Value) -> Answer {
    let uri = format!("/leads?i=acme&unique={unique}");
    world.call("POST", &uri).with(wallet).json(body).send().await
}

fn call(phone: &str) -> Value {
    json!({ "event": "call", "data": { "user": 8, "leadPhone": phone, "type": "INCOMING", "status": "COMPLETE",
        "duration": 1, "record": false, "service": "x" } })
}

fn is_existing(answer: &Answer) -> bool {
    answer
        .headers
        .get("x-lead-existing")
        .is_some_and(|value| value == "true")
}

/// The answer is the full view, as `GET /leads/{id}?allFields=1` shows it (C-12).
#[tokio::test]
async fn a_lead_is_made_and_found_everywhere() {
    let world = World::new().await;
    let admin = world.wallet(7).await;
    let body = json!({
        "firstname": "Nara", "lastname": "Vidal", "email": "Nara@Example.com", "whatsapp": "41 98877-6655", "owner": 8,
        "points": 2.0, "city": "Ibiporã", "cor": "azul", "vip": true, "id": 5, "createdByType": "ads", "fullname": "X",
    });
    let answer = post(&world, &admin, "", &body).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert!(!is_existing(&answer));
    let shown = &answer.body;
    for (name, value) in [
        ("id", json!(1013)),
        ("_id", json!("lead-1013")),
        ("fullname", json!("Nara Vidal")),
        ("chatapp", json!("41 98877-6655")),
        ("whatsapp", json!("41 98877-6655")),
        ("owner", json!(8)),
        ("points", json!(2)),
        ("cor", json!("azul")),
        ("vip", json!(true)),
        ("createdBy", json!(7)),
        ("createdByName", json!("Ana Souza")),
        ("createdByType", json!("user")),
        ("createDate", json!("2026-11-21T12:00:00.000Z")),
    ] {
        assert_eq!(shown[name], value, "{name}");
    }
    let read = world.read(&admin, "/leads/1013?i=acme&allFields=1").await;
    read.is(200, &json!({ "data": { "lead": shown } }));
    assert!(listed(&world, false).await.contains(&1013));
    assert_eq!(world.webhook(&call("5541988776655")).send().await.status, 201);
    assert_eq!(world.calls().await[0].lead, Some(lead_id(1013)));
    world.is_sound().await;
}

/// Each of the six names suffices; blank text and other fields do not.
#[tokio::test]
async fn a_lead_needs_a_name_a_number_or_an_address() {
    let world = World::new().await;
    let admin = world.wallet(7).await;
    for (at, name) in ["firstname", "lastname", "email", "phone", "mobile", "chatapp"]
        .into_iter()
        .enumerate()
    {
        let answer = post(&world, &admin, "", &json!({ name: "1" })).await;
        let shown = (&answer.body["id"], &answer.body[name], &answer.body["owner"]);
        assert_eq!(shown, (&json!(1013 + at), &json!("1"), &Value::Null));
    }
    let details = "body: must have a firstname, lastname, email, phone, mobile or chatapp that is not blank";
    let refused = json!({ "error": "Invalid request", "details": details });
    for body in [
        json!({}),
        json!({ "firstname": " ", "email": "" }),
        json!({ "phone": null, "city": "Ibiporã" }),
    ] {
        post(&world, &admin, "", &body).await.is(400, &refused);
    }
    world.is_sound().await;
}

/// A number in either form and in any field, and an address in any case.
#[tokio::test]
async fn an_existing_lead_is_returned() {
    let world = World::new().await;
    let admin = world.wallet(7).await;
    for (unique, body, id) in [
        ("phone", json!({ "phone": "11973263471" }), 1001),
        ("phone", json!({ "chatapp": "551173263471" }), 1001),
        (
            "phone",
            json!({ "phone": "1", "mobile": "+55 (11) 7162-9072" }),
            1005,
        ),
        ("email", json!({ "email": " LEAD1001@example.COM " }), 1001),
        ("email", json!({ "email": "lead1003@example.com" }), 1003),
        (
            "email,phone",
            json!({ "email": "lead1006@example.com", "phone": "551171629072" }),
            1005,
        ),
    ] {
        let answer = post(&world, &admin, unique, &body).await;
        assert_eq!(
            (answer.status.as_u16(), &answer.body["id"]),
            (200, &json!(id)),
            "{body}"
        );
        assert!(is_existing(&answer), "{body}");
        let uri = format!("/leads/{id}?i=acme&allFields=1");
        let read = world.get(&uri).with(&admin).send().await;
        read.is(200, &json!({ "data": { "lead": answer.body } }));
    }
    assert_eq!(world.leads().await.len(), 8, "nothing was made");
    for (unique, body) in [
        ("email", json!({ "phone": "11973263471" })),
        ("phone", json!({ "email": "lead1001@example.com" })),
        (
            "",
            json!({ "email": "lead1001@example.com", "phone": "11973263471" }),
        ),
    ] {
        let answer = post(&world, &admin, unique, &body).await;
        assert!(answer.status == 200 && !is_existing(&answer), "{body}");
    }
    world.is_sound().await;
}

/// C-23: nothing is said of a lead that the key may not see.
#[tokio::test]
async fn an_invisible_lead_is_a_conflict() {
    let world = World::new().await;
    let own = world.wallet(9).await;
    let body = json!({ "email": "lead1001@example.com" });
    post(&world, &own, "email", &body)
        .await
        .is(409, &json!({ "error": "Conflict" }));
    let answer = post(&world, &own, "email", &json!({ "email": "lead1002@example.com" })).await;
    assert!(is_existing(&answer));
    assert_eq!(answer.body["id"], 1002);
    assert_eq!(world.leads().await.len(), 8);
}

/// The address and the number of a deleted lead are free again, and so are those that a lead gave up.
#[tokio::test]
async fn a_number_can_be_used_again() {
    let world = World::new().await;
    let admin = world.wallet(7).await;
    let body = json!({ "phone": "5541988880007", "email": "nara@example.com" });
    let made = async || {
        let answer = post(&world, &admin, "phone,email", &body).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        (answer.body["id"].clone(), is_existing(&answer))
    };
    assert_eq!(made().await, (json!(1013), false));
    assert_eq!(made().await, (json!(1013), true));
    assert_eq!(delete(&world, &admin, "1013").await.status, 200);
    assert_eq!(made().await, (json!(1014), false));
    let other = json!({ "phone": "5541988880008", "email": null });
    let answer = world.call("PUT", "/leads/1014?i=acme").with(&admin).json(&other);
    assert_eq!(answer.send().await.status, 200);
    assert_eq!(made().await, (json!(1015), false));
    world.is_sound().await;
}

/// A call finds the lead, and a request finds the lead of a call.
#[tokio::test]
async fn calls_and_requests_find_each_others_leads() {
    let world = World::new().await;
    let admin = world.wallet(7).await;
    post(&world, &admin, "phone", &json!({ "phone": "5541988880001" })).await;
    for phone in ["554188880001", "5541988880002"] {
        assert_eq!(world.webhook(&call(phone)).send().await.status, 201);
    }
    let leads: Vec<_> = world.calls().await.iter().map(|call| call.lead).collect();
    assert_eq!(leads, [Some(lead_id(1013)), Some(lead_id(1014))]);
    let answer = post(&world, &admin, "phone", &json!({ "mobile": "41988880002" })).await;
    assert_eq!((&answer.body["id"], is_existing(&answer)), (&json!(1014), true));
    world.is_sound().await;
}

/// C-10: the first answer is kept, and with it that the lead existed.
#[tokio::test]
async fn an_existing_lead_is_replayed() {
    let world = World::new().await;
    let admin = world.wallet(7).await;
    let keyed = async |email: &str| {
        let call = world.call("POST", "/leads?i=acme&unique=email").with(&admin);
        let call = call.header("idempotency-key", "k");
        call.json(&json!({ "email": email })).send().await
    };
    let first = keyed("lead1001@example.com").await;
    assert!(is_existing(&first) && first.headers.get("idempotent-replayed").is_none());
    let body = json!({ "email": null });
    let change = world.call("PUT", "/leads/1001?i=acme").with(&admin).json(&body);
    assert_eq!(change.send().await.status, 200);
    let again = keyed("lead1001@example.com").await;
    assert_eq!((again.status.as_u16(), &again.body["id"]), (200, &json!(1001)));
    assert!(is_existing(&again) && again.headers["idempotent-replayed"] == "true");
    let used = json!({ "error": "Idempotency-Key was used with another body" });
    keyed("lead1002@example.com").await.is(422, &used);
    assert_eq!(world.leads().await.len(), 8);
    world.is_sound().await;
}

/// The user who made a lead, and sees only its own, gets the replay while the lead is there (C-10, C-92).
#[tokio::test]
async fn a_replay_needs_the_lead_and_the_permission() {
    let world = World::new().await;
    let own = world.wallet(8).await;
    let keyed = async || {
        let call = world.call("POST", "/leads?i=acme").with(&own);
        let call = call.header("idempotency-key", "k");
        call.json(&json!({ "firstname": "Nara" })).send().await
    };
    let first = keyed().await;
    assert_eq!(
        (first.status.as_u16(), &first.body["owner"]),
        (200, &json!(8)),
        "{}",
        first.body
    );
    keyed().await.is(200, &first.body);
    let admin = world.wallet(7).await;
    for (owner, status) in [(9, 404), (8, 200)] {
        let uri = "/leads/1013?i=acme";
        let moved = world.write(&admin, "PUT", uri, &json!({ "owner": owner })).await;
        assert_eq!(moved.status, 200, "{}", moved.body);
        assert_eq!(keyed().await.status, status, "owner {owner}");
    }
    assert_eq!(delete(&world, &world.wallet(7).await, "1013").await.status, 200);
    keyed().await.is(404, &json!({ "error": "Not found" }));
}

#[tokio::test]
async fn invalid_requests_name_the_field() {
    let world = World::new().await;
    let admin = world.wallet(7).await;
    let unique = "unique: must be phone, email or phone,email";
    for (unique, body, details) in [
        ("mobile", json!({ "firstname": "A" }), unique),
        ("phone,", json!({ "firstname": "A" }), unique),
        ("", json!([]), "body: must be a JSON object"),
        (
            "",
            json!({ "firstname": true }),
            "firstname: must be text or null",
        ),
        (
            "",
            json!({ "firstname": "A", "owner": 99 }),
            "owner: user 99 does not exist",
        ),
        (
            "",
            json!({ "chatapp": "1", "whatsapp": "2" }),
            "whatsapp: must be the same as chatapp",
        ),
    ] {
        let refused = json!({ "error": "Invalid request", "details": details });
        post(&world, &admin, unique, &body).await.is(400, &refused);
    }
    assert_eq!(world.leads().await.len(), 8);
}
