//! Effects of a booking on leads (C-54, C-73): it creates one, or sets `lastActive` of the given one.

use serde_json::{Value, json};
use shared::ids::LeadId;
use tests::bookings::{FREE, TAKEN, book, booking, made, open_calendars, unavailable};
use tests::records::{maria, with};
use tests::sales::{add_opportunities, open_shop, page, plain_opportunity};
use tests::world::at;
use tests::{Wallet, World};

use super::{everything, world};

async fn get(world: &World, wallet: &Wallet, uri: &str) -> Value {
    let answer = world.get(uri).with(wallet).send().await;
    assert_eq!(answer.status, 200, "{uri}: {}", answer.body);
    answer.body["data"].clone()
}

fn call(phone: &str) -> Value {
    json!({ "event": "call", "data": { "user": 8, "leadPhone": phone, "type": "INCOMING", "status": "COMPLETE",
        "duration": 1, "record": false, "service": "x" } })
}

/// C-12: in the list, by name, address and number, and as the lead of a call.
#[tokio::test]
async fn a_new_lead_is_found_everywhere() {
    let world = world().await;
    let admin = world.wallet(7).await;
    let total = get(&world, &admin, "/leads?i=acme").await["total"].clone();
    let form = json!({
        "firstname": "Beatriz", "lastname": "Antunes", "email": "bia@novo.example", "phone": "(41) 3333-2211",
        "mobile": "41 98877-6655", "chatapp": "+1 555 0100 200",
    });
    made(&book(&world, &booking(FREE[0], &json!({ "formData": form }))).await);
    let lead = json!({ "id": 1013, "fullname": "Beatriz Antunes", "email": "bia@novo.example" });
    let list = get(&world, &admin, "/leads?i=acme&limit=200").await;
    assert_eq!(list["total"].as_u64(), total.as_u64().map(|total| total + 1));
    assert_eq!(
        list["leads"].as_array().and_then(|leads| leads.last()),
        Some(&lead)
    );
    for term in [
        "beatriz%20ant",
        "NOVO.example",
        "3333-2211",
        "988776655",
        "0100200",
    ] {
        let found = get(&world, &admin, &format!("/leads?i=acme&search={term}")).await;
        assert_eq!(found, json!({ "total": 1, "leads": [lead] }), "{term}");
    }
    for (at, phone) in ["554133332211", "+55 41 8877-6655", "41988776655", "+15550100200"]
        .iter()
        .enumerate()
    {
        let answer = world.webhook(&call(phone)).send().await;
        assert_eq!(answer.status, 201);
        assert_eq!(
            world.calls().await[at].lead.map(LeadId::get),
            Some(1013),
            "{phone}"
        );
    }
    world.is_sound().await;
}

/// C-73: users who see only their own leads do not see it.
#[tokio::test]
async fn a_new_lead_has_no_owner() {
    let world = world().await;
    made(&book(&world, &booking(FREE[0], &json!({}))).await);
    let query = "query={lead{owner,createdByType,acquisition_channel,createDate,lastActive}}";
    let admin = world.wallet(7).await;
    let lead = json!({
        "owner": null, "createdByType": "booking", "acquisition_channel": null,
        "createDate": "2026-11-21T12:00:00.000Z", "lastActive": "2026-11-21T12:00:00.000Z",
    });
    assert_eq!(
        get(&world, &admin, &format!("/leads/1013?i=acme&{query}")).await,
        json!({ "lead": lead })
    );
    let own = world.wallet(8).await;
    let answer = world.get("/leads/1013?i=acme").with(&own).send().await;
    answer.is(404, &json!({ "error": "Not found" }));
}

/// Even two bookings of the same person.
#[tokio::test]
async fn each_booking_creates_a_lead() {
    let world = world().await;
    let form = json!({ "formData": { "email": "lead1001@example.com", "phone": "554136782554" } });
    for (at, lead) in [(0, 1013), (1, 1014)] {
        let (meeting, _) = made(&book(&world, &booking(FREE[at], &form)).await);
        assert_eq!(meeting["leadId"], lead);
    }
    world.is_sound().await;
}

/// C-73, C-12: a booking sets `lastActive` of its lead, and opportunities show it at once.
#[tokio::test]
async fn a_known_lead_becomes_active() {
    let world = World::new().await;
    let operator = world.operator("acme");
    open_calendars(&operator).await;
    open_shop(&operator).await;
    add_opportunities(&operator, vec![plain_opportunity(1, 8, 0)]).await;
    let (admin, seller) = (world.wallet(7).await, world.wallet(8).await);
    let before = get(&world, &admin, "/leads/1001?i=acme&allFields=1").await;
    let uri = format!("/crm/opportunities/3?i=acme&apitoken={}", seller.key);
    let embedded = async || {
        let column = page(1, 25, &json!({ "columnId": 31 }));
        world.call("POST", &uri).json(&column).send().await.body[0]["dataLead"].clone()
    };
    assert_eq!(embedded().await, maria());
    world.clock.set(at("2026-11-22T08:00:00Z"));
    let known = json!({ "leadId": 1001, "formData": null });
    let (_, key) = made(&book(&world, &booking(FREE[0], &known)).await);
    let active = |time: &str| json!({ "lastActive": time });
    let first = active("2026-11-22T08:00:00.000Z");
    assert_eq!(embedded().await, with(maria(), &first));
    let after = get(&world, &admin, "/leads/1001?i=acme&allFields=1").await;
    assert_eq!(after["lead"], with(before["lead"].clone(), &first));
    world.clock.set(at("2026-11-22T09:00:00Z"));
    book(&world, &booking(FREE[0], &known))
        .await
        .is(409, &unavailable(TAKEN));
    assert_eq!(embedded().await, with(maria(), &first));
    let moved = json!({
        "leadId": 1001, "formData": null, "properties": { "rescheduleMeetingId": 1, "rescheduleKey": key },
    });
    made(&book(&world, &booking(FREE[1], &moved)).await);
    assert_eq!(
        embedded().await,
        with(maria(), &active("2026-11-22T09:00:00.000Z"))
    );
    assert_eq!(world.store.refresh_copies().await.expect("refreshed"), 1);
    assert_eq!(
        embedded().await,
        with(maria(), &active("2026-11-22T09:00:00.000Z"))
    );
    world.is_sound().await;
}

/// C-54: nor does it use an id.
#[tokio::test]
async fn a_rejected_booking_leaves_no_lead() {
    let world = world().await;
    let admin = world.wallet(7).await;
    made(&book(&world, &booking(FREE[0], &json!({}))).await);
    let before = everything(&world, &admin).await;
    for date in [FREE[0], "2026-11-20T09:00:00Z", "2026-11-23T09:39:00Z"] {
        assert_eq!(
            book(&world, &booking(date, &json!({}))).await.status,
            409,
            "{date}"
        );
    }
    assert_eq!(everything(&world, &admin).await, before);
    let (meeting, _) = made(&book(&world, &booking(FREE[1], &json!({}))).await);
    assert_eq!((&meeting["id"], &meeting["leadId"]), (&json!(2), &json!(1014)));
    world.is_sound().await;
}
