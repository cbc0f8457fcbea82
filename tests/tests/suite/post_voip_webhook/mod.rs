//! `POST /voip/webhook`: endpoint 19.

mod idempotency;
mod refusals;

use serde_json::{Value, json};
use shared::lead::Lead;
use tests::World;
use tests::people::{add_leads, lead, plain_lead};

/// The body of a stored call, with changes to its `data`; null removes a field.
fn body(changes: &Value) -> Value {
    let mut data = json!({
        "user": 8, "leadPhone": "+55 11 97326-3471", "type": "INCOMING", "status": "COMPLETE", "duration": 65,
        "record": true, "service": "acme-voip",
    });
    let fields = data.as_object_mut().expect("an object");
    for (name, value) in changes.as_object().expect("changes are an object") {
        match value {
            Value::Null => fields.shift_remove(name),
            value => fields.insert(name.clone(), value.clone()),
        };
    }
    json!({ "event": "call", "data": data })
}

fn created(id: u64) -> Value {
    json!({ "msg": "created", "id": id })
}

fn as_json(record: impl serde::Serialize) -> Value {
    serde_json::to_value(record).expect("records are JSON")
}

/// spec.md, endpoint 19: call, event and response; C-75's event; C-73's `lastActive`.
#[tokio::test]
async fn a_call_of_a_known_lead_is_recorded() {
    let world = World::new().await;
    let changes =
        json!({ "leadName": "Dona Maria", "userName": "Bruno", "callId": "c-9", "description": "retorno" });
    world.webhook(&body(&changes)).send().await.is(201, &created(1));
    let calls = world.calls().await;
    let call = json!({
        "id": 1, "user": 8, "leadPhone": "5511973263471", "type": "INCOMING", "status": "COMPLETE", "duration": 65,
        "record": true, "service": "acme-voip", "lead": 1001, "leadName": "Dona Maria", "userName": "Bruno",
        "callId": "c-9", "description": "retorno", "createDate": "2026-11-21T12:00:00.000Z",
    });
    assert_eq!(calls.iter().map(as_json).collect::<Vec<_>>(), [call]);
    let event = json!({
        "id": 1, "lead": 1001, "name": "voip.call_incoming", "operator": 8, "phone": "5511973263471",
        "status": "COMPLETE", "duration": 65, "callId": "c-9", "service": "acme-voip", "call": 1,
        "createDate": "2026-11-21T12:00:00.000Z",
    });
    assert_eq!(
        world.events().await.iter().map(as_json).collect::<Vec<_>>(),
        [event]
    );
    let wallet = world.wallet(7).await;
    let lead = world
        .read(&wallet, "/leads/1001?i=acme&query={lead{fullname,lastActive}}")
        .await;
    let shown = json!({ "fullname": "Maria Silva", "lastActive": "2026-11-21T12:00:00.000Z" });
    lead.is(200, &json!({ "data": { "lead": shown } }));
}

/// spec.md: outgoing and unanswered calls; no deduplication by `callId`; sequential ids (C-11).
#[tokio::test]
async fn every_call_is_a_separate_record() {
    let world = World::new().await;
    let missed = json!({ "type": "OUTGOING", "status": "INCOMPLETE", "duration": 0, "callId": "same" });
    for id in 1..=3 {
        world.webhook(&body(&missed)).send().await.is(201, &created(id));
    }
    let events = world.events().await;
    assert_eq!(
        events.iter().map(|event| as_json(event.name)).collect::<Vec<_>>(),
        ["voip.call_outgoing"; 3]
    );
    assert_eq!(world.calls().await.len(), 3);
}

/// C-72, C-73: the next call from either form of the number finds the lead.
#[tokio::test]
async fn a_call_from_an_unknown_number_creates_a_lead() {
    let world = World::new().await;
    let call = |phone: &str| body(&json!({ "leadPhone": phone, "leadName": "Kept in the call only" }));
    world
        .webhook(&call("+55 (41) 98888-0001"))
        .send()
        .await
        .is(201, &created(1));
    world
        .webhook(&call("554188880001"))
        .send()
        .await
        .is(201, &created(2));
    world
        .webhook(&call("41988880001"))
        .send()
        .await
        .is(201, &created(3));
    let linked: Vec<_> = world.calls().await.into_iter().map(|call| call.lead).collect();
    assert_eq!(
        linked,
        [Some(lead(1013)); 3],
        "imported ids are kept and later ids start above them (C-11)"
    );
    let made = world.leads().await.pop().expect("a lead");
    let expected = Lead {
        firstname: Some("5541988880001".to_owned()),
        phone: Some("5541988880001".to_owned()),
        acquisition_channel: Some("VoIP".to_owned()),
        created_by_type: Some("voip".to_owned()),
        ..Lead::new(lead(1013), world.clock.get())
    };
    assert_eq!(made, expected);
    let wallet = world.wallet(7).await;
    let list = world.read(&wallet, "/leads?i=acme&search=88880001").await;
    let shown = json!({ "id": 1013, "fullname": "5541988880001", "email": null });
    list.is(200, &json!({ "data": { "total": 1, "leads": [shown] } }));
    let total = world.read(&wallet, "/leads?i=acme&query={total}").await;
    total.is(200, &json!({ "data": { "total": 7 } }));
    world.is_sound().await;
}

/// C-72: a foreign number that would be read as Brazilian without its `+` is the same line in the next call.
#[tokio::test]
async fn foreign_numbers_that_look_brazilian() {
    let world = World::new().await;
    for id in 1..=2 {
        world
            .webhook(&body(&json!({ "leadPhone": "+31 97 012 3456" })))
            .send()
            .await
            .is(201, &created(id));
    }
    world
        .webhook(&body(&json!({ "leadPhone": "31970123456" })))
        .send()
        .await
        .is(201, &created(3));
    let linked: Vec<_> = world.calls().await.into_iter().map(|call| call.lead).collect();
    assert_eq!(linked, [Some(lead(1013)), Some(lead(1013)), Some(lead(1014))]);
    let phones: Vec<_> = world
        .leads()
        .await
        .into_iter()
        .rev()
        .take(2)
        .map(|lead| lead.phone)
        .collect();
    assert_eq!(
        phones,
        [Some("31970123456".to_owned()), Some("+31970123456".to_owned())]
    );
}

/// A number removed from a lead that a call created is free again.
#[tokio::test]
async fn a_removed_number_is_free_again() {
    let world = World::new().await;
    let unknown = body(&json!({ "leadPhone": "5541988880001" }));
    world.webhook(&unknown).send().await.is(201, &created(1));
    let without = Lead {
        create_date: world.clock.get(),
        ..plain_lead(1013, "Sem", "Número", None)
    };
    add_leads(&world.operator("acme"), vec![without]).await;
    for id in 2..=3 {
        world.webhook(&unknown).send().await.is(201, &created(id));
    }
    let linked: Vec<_> = world.calls().await.into_iter().map(|call| call.lead).collect();
    assert_eq!(linked, [Some(lead(1013)), Some(lead(1014)), Some(lead(1014))]);
}

/// C-73: the messaging profile names the lead; its number is matched like a lead's.
#[tokio::test]
async fn a_profile_names_the_new_lead() {
    let world = World::new().await;
    for phone in ["+55 11 98700-1122", "+55 11 99123-4567"] {
        world.webhook(&body(&json!({ "leadPhone": phone }))).send().await;
    }
    let leads = world.leads().await;
    let named = leads
        .iter()
        .rev()
        .take(2)
        .map(|lead| (lead.firstname.as_deref(), lead.photo_url.as_deref()));
    let expected = [
        (Some("Cliente do Zap"), None),
        (Some("Zé Ribeiro"), Some("https://photos.example/ze.jpg")),
    ];
    assert_eq!(named.collect::<Vec<_>>(), expected);
}

/// C-72: exact before twin, then not archived, then the lowest id.
#[tokio::test]
async fn the_best_match_of_several_leads() {
    let world = World::new().await;
    let with = |id, phone: &str, archived| Lead {
        mobile: Some(phone.to_owned()),
        archived,
        ..plain_lead(id, "P", "Q", None)
    };
    let (nine, eight) = ("5531987654321", "553187654321");
    let operator = world.operator("acme");
    let linked = async |phone: &str| {
        world.webhook(&body(&json!({ "leadPhone": phone }))).send().await;
        world
            .calls()
            .await
            .pop()
            .and_then(|call| call.lead)
            .map(shared::ids::LeadId::get)
    };
    add_leads(&operator, vec![with(3001, eight, false)]).await;
    assert_eq!(linked(nine).await, Some(3001), "a twin, where nothing is exact");
    add_leads(&operator, vec![with(3005, "+55 31 98765-4321", true)]).await;
    assert_eq!(linked(nine).await, Some(3005), "exact though archived");
    add_leads(
        &operator,
        vec![with(3004, "(31) 98765-4321", false), with(3003, nine, false)],
    )
    .await;
    assert_eq!(linked(nine).await, Some(3003), "not archived, then the lowest id");
    assert_eq!(linked(eight).await, Some(3001));
    let moved = Lead {
        phone: Some(eight.to_owned()),
        mobile: None,
        ..plain_lead(3003, "P", "Q", None)
    };
    add_leads(&operator, vec![moved]).await;
    assert_eq!(
        linked("31987654321").await,
        Some(3004),
        "a number that was taken away"
    );
}

/// C-73, C-74: no digits, an unknown lead, and invalid ids.
#[tokio::test]
async fn calls_can_be_stored_without_a_lead() {
    let world = World::new().await;
    let before = world.leads().await;
    for (at, changes) in [
        json!({ "leadPhone": "anonymous" }),
        json!({ "leadPhone": "" }),
        json!({ "lead": 4711 }),
        json!({ "lead": 0 }),
        json!({ "lead": -3 }),
        json!({ "lead": 1e300 }),
        json!({ "leadPhone": "9".repeat(33) }),
    ]
    .iter()
    .enumerate()
    {
        world
            .webhook(&body(changes))
            .send()
            .await
            .is(201, &created(at as u64 + 1));
    }
    assert!(world.calls().await.iter().all(|call| call.lead.is_none()));
    assert!(world.events().await.is_empty());
    assert_eq!(world.leads().await, before);
    world
        .webhook(&body(&json!({ "lead": 1002, "leadPhone": "x" })))
        .send()
        .await
        .is(201, &created(8));
    assert_eq!(
        world.calls().await.pop().and_then(|call| call.lead),
        Some(lead(1002))
    );
}

/// C-71: text is cut to its limit in characters; durations and numbers of any size are accepted.
#[tokio::test]
async fn oversized_values_are_cut() {
    let world = World::new().await;
    let long = "😀".repeat(3000);
    let changes = json!({
        "service": long, "leadName": long, "userName": long, "callId": long, "description": long, "duration": 1e300,
    });
    world.webhook(&body(&changes)).send().await.is(201, &created(1));
    let call = world.calls().await.remove(0);
    let texts = [
        Some(call.service),
        call.lead_name,
        call.user_name,
        call.call_id,
        call.description,
    ];
    let lengths = texts.map(|text| text.map_or(0, |text| text.chars().count()));
    assert_eq!(
        (lengths, call.duration),
        ([32, 64, 64, 64, 1000], 9_007_199_254_740_991)
    );
}
