//! Events of leads, opportunities and meetings (C-102): raised once by every write of a client, with their filters.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use dynamodb::faults::{Fault, FaultPlan};
use futures_util::future::join_all;
use serde_json::{Value, json};
use shared::automation::Automation;
use tests::bookings::{FREE, book, booking, made, open_calendars};
use tests::forms::{add_form, submit};
use tests::sales::{add_opportunities, open_shop, plain_opportunity};
use tests::world::{Answer, over_sdk};
use tests::{ACME, Wallet, World};

use super::notify::{Receiver, deliver};
use super::{MARIA, call, install, outbox, receive};

/// Every event of a write.
pub const EVENTS: [(&str, &str); 11] = [
    ("lead", "created"),
    ("lead", "updated"),
    ("lead", "ownerChanged"),
    ("lead", "archived"),
    ("opportunity", "created"),
    ("opportunity", "updated"),
    ("opportunity", "columnChanged"),
    ("opportunity", "statusChanged"),
    ("meeting", "booked"),
    ("meeting", "moved"),
    ("meeting", "canceled"),
];

/// Writes of a client of which each has one transaction, the first of which a fault may meet.
const WRITES: usize = 8;

pub fn on(id: u64, (trigger, event): (&str, &str), filters: &Value, actions: &Value) -> Automation {
    let line = json!({ "id": id, "name": "Avisar", "trigger": trigger, "event": event, "filters": filters,
        "actions": actions });
    serde_json::from_value(line).expect("an automation")
}

pub fn notify(more: &Value) -> Value {
    let mut action =
        json!({ "type": "notify", "url": "https://erp.example/hook", "secret": "whsec_s3gr3do" });
    for (name, value) in more.as_object().into_iter().flatten() {
        action[name] = value.clone();
    }
    json!([action])
}

/// A world with funnels, calendars and opportunity 1 of user 7, and these automations.
pub async fn world(automations: &[Automation]) -> (World, Wallet) {
    let world = World::new().await;
    let operator = world.operator(ACME);
    open_shop(&operator).await;
    open_calendars(&operator).await;
    add_opportunities(&operator, vec![plain_opportunity(1, 7, 0)]).await;
    install(&world, automations).await;
    let wallet = world.wallet(7).await;
    (world, wallet)
}

/// A world with a notification of every event.
pub async fn listening() -> (World, Wallet) {
    let all: Vec<_> = EVENTS
        .iter()
        .zip(1..)
        .map(|(event, id)| on(id, *event, &json!({}), &notify(&json!({}))))
        .collect();
    world(&all).await
}

async fn create(world: &World, wallet: &Wallet) -> Answer {
    let body = json!({ "title": "Reforma", "crm_column": 31, "lead_id": 1001 });
    let call = world.call("POST", "/crmopportunity?id=3&i=acme").with(wallet);
    call.json(&body).send().await
}

pub async fn update(world: &World, wallet: &Wallet, body: &Value) -> Answer {
    let call = world.call("PUT", "/crmopportunity/1?id=3&i=acme").with(wallet);
    call.json(body).send().await
}

pub async fn archive(world: &World, wallet: &Wallet, archived: bool) -> Answer {
    let uri = format!("/lead/archive?i=acme&apitoken={}", wallet.key);
    let body = json!({ "id": 1001, "archived": archived });
    world.call("POST", &uri).json(&body).send().await
}

async fn call_leads(world: &World, wallet: &Wallet, method: &str, uri: &str, body: &Value) -> Value {
    let answer = world.call(method, uri).with(wallet).json(body).send().await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer.body
}

async fn reschedule(world: &World, key: &str, date: &str) -> Answer {
    let properties = json!({ "rescheduleMeetingId": 1, "rescheduleKey": key });
    let body = json!({ "keyName": "demo", "date": date, "leadId": 1001, "properties": properties });
    book(world, &body).await
}

/// The bodies that arrive once all is delivered.
pub async fn delivered(world: &World) -> Vec<Value> {
    let receiver = Receiver::answering(&[]);
    deliver(world, &receiver.webhook_client()).await;
    assert_eq!(outbox(world).await, 0);
    let bodies = receiver.seen().into_iter().map(|request| {
        let (_, body) = request.split_once("\r\n\r\n").expect("head and body");
        serde_json::from_str(body).expect("JSON")
    });
    bodies.collect()
}

async fn events(world: &World) -> Vec<String> {
    let bodies = delivered(world).await;
    let mut events: Vec<_> = bodies
        .iter()
        .map(|body| body["event"].as_str().expect("an event").to_owned())
        .collect();
    events.sort_unstable();
    events
}

#[tokio::test]
async fn every_write_raises_its_events() {
    let (world, wallet) = listening().await;
    assert_eq!(create(&world, &wallet).await.status, 200);
    assert_eq!(events(&world).await, ["opportunity.created"]);
    let changes: [(Value, &[&str]); 5] = [
        (json!({ "title": "Outra" }), &["opportunity.updated"]),
        (json!({ "title": "Outra" }), &[]),
        (json!({}), &[]),
        (
            json!({ "crm_column": 32 }),
            &["opportunity.columnChanged", "opportunity.updated"],
        ),
        (
            json!({ "status": "gain" }),
            &["opportunity.statusChanged", "opportunity.updated"],
        ),
    ];
    for (body, expected) in changes {
        assert_eq!(update(&world, &wallet, &body).await.status, 200, "{body}");
        assert_eq!(events(&world).await, expected, "{body}");
    }
    let archivings: [(bool, &[&str]); 4] = [
        (true, &["lead.archived", "lead.updated"]),
        (true, &[]),
        (false, &["lead.updated"]),
        (true, &["lead.archived", "lead.updated"]),
    ];
    for (archived, expected) in archivings {
        assert_eq!(archive(&world, &wallet, archived).await.status, 200);
        assert_eq!(events(&world).await, expected, "{archived}");
    }
    let made_lead = call_leads(
        &world,
        &wallet,
        "POST",
        "/leads?i=acme",
        &json!({ "firstname": "Rui" }),
    )
    .await;
    assert_eq!(events(&world).await, ["lead.created"]);
    let id = made_lead["data"]["id"].as_u64().or(made_lead["id"].as_u64());
    let uri = format!("/leads/{}?i=acme", id.expect("an id"));
    let changes: [(Value, &[&str]); 4] = [
        (json!({ "city": "Recife" }), &["lead.updated"]),
        (json!({ "city": "Recife" }), &[]),
        (json!({ "owner": 9 }), &["lead.ownerChanged", "lead.updated"]),
        (json!({ "archived": true }), &["lead.archived", "lead.updated"]),
    ];
    for (body, expected) in changes {
        call_leads(&world, &wallet, "PUT", &uri, &body).await;
        assert_eq!(events(&world).await, expected, "{body}");
    }
    let (_, key) = made(&book(&world, &booking(FREE[0], &json!({}))).await);
    assert_eq!(events(&world).await, ["lead.created", "meeting.booked"]);
    made(&reschedule(&world, &key, FREE[1]).await);
    assert_eq!(events(&world).await, ["meeting.moved"]);
    let cancels = json!({ "properties": { "cancelMeetingId": 1, "rescheduleKey": key } });
    assert_eq!(book(&world, &booking(FREE[1], &cancels)).await.status, 200);
    assert_eq!(events(&world).await, ["meeting.canceled"]);
    assert_eq!(book(&world, &booking(FREE[1], &cancels)).await.status, 400);
    assert_eq!(events(&world).await, [""; 0]);
    made(
        &book(
            &world,
            &booking(FREE[2], &json!({ "leadId": 1006, "formData": {} })),
        )
        .await,
    );
    assert_eq!(events(&world).await, ["meeting.booked"]);
    assert_eq!(book(&world, &booking(FREE[2], &json!({}))).await.status, 409);
    receive(&world, &call("OUTGOING", "+55 41 98888-0001")).await;
    assert_eq!(events(&world).await, ["lead.created"]);
    receive(&world, &call("INCOMING", MARIA)).await;
    assert_eq!(events(&world).await, [""; 0]);
    world.is_sound().await;
}

/// C-102: names of fields as other services call them.
#[tokio::test]
async fn other_names_of_fields_have_values() {
    let names = ["etapa", "gainDate", "user_id", "userFirstName", "funil_id"];
    let body: serde_json::Map<_, _> = names
        .map(|name| (name.to_owned(), json!(format!("{{op={name}}}"))))
        .into_iter()
        .collect();
    let won = on(
        4,
        ("opportunity", "statusChanged"),
        &json!({}),
        &notify(&json!({ "body": body })),
    );
    let (world, wallet) = world(&[won]).await;
    assert_eq!(
        update(&world, &wallet, &json!({ "status": "gain" })).await.status,
        200
    );
    let expected = json!({ "etapa": "Entrada", "gainDate": "2026-11-21T12:00:00.000Z", "user_id": "7", "userFirstName": "Ana",
        "funil_id": "3" });
    assert_eq!(delivered(&world).await, [expected]);
}

/// Each of the records has its member; the secret of a lead is never sent (C-21).
#[tokio::test]
async fn notifications_describe_the_records() {
    let (world, wallet) = listening().await;
    create(&world, &wallet).await;
    let at = world.clock.get();
    let bodies = delivered(&world).await;
    let [body] = &bodies[..] else {
        panic!("{bodies:?}");
    };
    let names: Vec<_> = body.as_object().expect("an object").keys().collect();
    assert_eq!(
        names,
        ["event", "instance", "automation", "at", "lead", "opportunity"]
    );
    assert_eq!(
        (&body["event"], &body["instance"], &body["at"]),
        (&json!("opportunity.created"), &json!("acme"), &json!(at))
    );
    assert_eq!(
        (&body["opportunity"]["title"], &body["opportunity"]["lead_id"]),
        (&json!("Reforma"), &json!(1001))
    );
    assert_eq!(
        (&body["lead"]["id"], &body["lead"]["fullname"]),
        (&json!(1001), &json!("Maria Silva"))
    );
    assert!(body["lead"].get("initial_password").is_none());
    made(
        &book(
            &world,
            &booking(FREE[0], &json!({ "leadId": 1001, "formData": {} })),
        )
        .await,
    );
    let bodies = delivered(&world).await;
    assert_eq!(bodies[0]["meeting"]["date"], json!(FREE[0]));
    assert_eq!(bodies[0]["lead"]["id"], json!(1001));
}

/// Filters compare the values at the event: neither a later change nor the action of another automation decides.
#[tokio::test]
async fn filters_compare_the_values_at_the_event() {
    let told = notify(&json!({}));
    let owns = |owner: u64| json!({ "owner": owner });
    let (world, wallet) = world(&[
        on(1, ("lead", "updated"), &json!({ "source": "Site" }), &told),
        on(2, ("opportunity", "updated"), &json!({ "source": "Site" }), &told),
        on(
            3,
            ("leadPhoneCall", "received"),
            &json!({}),
            &json!([{ "type": "setOwner", "user": 9 }]),
        ),
        on(4, ("leadPhoneCall", "received"), &owns(8), &told),
        on(5, ("leadPhoneCall", "received"), &owns(9), &told),
    ])
    .await;
    let lead = "/leads/1001?i=acme";
    for change in [
        json!({ "acquisition_channel": "Site" }),
        json!({ "acquisition_channel": "Loja" }),
    ] {
        call_leads(&world, &wallet, "PUT", lead, &change).await;
    }
    receive(&world, &call("INCOMING", MARIA)).await;
    let told: Vec<_> = delivered(&world)
        .await
        .iter()
        .map(|body| body["automation"].clone())
        .collect();
    assert_eq!(told, [1, 4]);
    call_leads(
        &world,
        &wallet,
        "PUT",
        lead,
        &json!({ "acquisition_channel": "Site", "owner": 8 }),
    )
    .await;
    assert_eq!(delivered(&world).await.len(), 1);
    assert_eq!(update(&world, &wallet, &json!({ "value": 5 })).await.status, 200);
    call_leads(
        &world,
        &wallet,
        "PUT",
        lead,
        &json!({ "acquisition_channel": "Loja" }),
    )
    .await;
    let told: Vec<_> = delivered(&world)
        .await
        .iter()
        .map(|body| body["automation"].clone())
        .collect();
    assert_eq!(told, [2]);
    world.is_sound().await;
}

/// A filter compares what the write made of the record, also if others change it before the automation runs.
#[tokio::test]
async fn filters_limit_events() {
    let cases: [(&str, &str, Value, bool); 13] = [
        ("opportunity", "columnChanged", json!({ "funnel": 3 }), true),
        ("opportunity", "columnChanged", json!({ "funnel": 4 }), false),
        (
            "opportunity",
            "columnChanged",
            json!({ "funnel": 3, "column": 32 }),
            true,
        ),
        (
            "opportunity",
            "columnChanged",
            json!({ "funnel": 3, "column": 31 }),
            false,
        ),
        ("opportunity", "columnChanged", json!({ "status": "open" }), true),
        ("opportunity", "columnChanged", json!({ "status": "lost" }), false),
        ("opportunity", "updated", json!({ "owner": 7 }), true),
        ("opportunity", "updated", json!({ "owner": 8 }), false),
        ("opportunity", "updated", json!({ "source": "VoIP" }), false),
        ("meeting", "booked", json!({ "owner": 7 }), true),
        ("meeting", "booked", json!({ "funnel": 3 }), false),
        ("lead", "created", json!({ "source": "VoIP" }), true),
        ("lead", "created", json!({ "source": "Site" }), false),
    ];
    let automations: Vec<_> = cases
        .iter()
        .zip(1..)
        .map(|((trigger, event, filters, _), id)| on(id, (trigger, event), filters, &notify(&json!({}))))
        .collect();
    let (world, wallet) = world(&automations).await;
    assert_eq!(
        update(&world, &wallet, &json!({ "crm_column": 32 })).await.status,
        200
    );
    made(
        &book(
            &world,
            &booking(FREE[0], &json!({ "leadId": 1001, "formData": {} })),
        )
        .await,
    );
    receive(&world, &call("INCOMING", "+55 41 98888-0001")).await;
    // The move back is an event of its own, to column 31.
    install(
        &world,
        &[on(
            3,
            ("opportunity", "columnChanged"),
            &cases[2].2,
            &notify(&json!({})),
        )],
    )
    .await;
    let mut seen: Vec<_> = delivered(&world)
        .await
        .iter()
        .map(|body| body["automation"].as_u64().expect("an id"))
        .collect();
    seen.sort_unstable();
    let expected: Vec<_> = cases
        .iter()
        .zip(1..)
        .filter(|((.., passes), _)| *passes)
        .map(|(_, id)| id)
        .collect();
    assert_eq!(seen, expected);
    for column in [31, 32, 31] {
        update(&world, &wallet, &json!({ "crm_column": column })).await;
    }
    let moves = delivered(&world).await;
    let to = |id: u64| moves.iter().filter(|body| body["automation"] == id).count();
    assert_eq!((to(3), to(4)), (1, 2));
}

/// Each transaction of each write of a client meets each fault once; afterwards the write's events are raised once.
#[tokio::test]
async fn events_are_raised_exactly_once_despite_faults() {
    let _sdk = over_sdk();
    let faults = [Fault::FailedBefore, Fault::FailedAfter, Fault::Conflict];
    for (fault, spared) in faults
        .into_iter()
        .flat_map(|fault| (0..WRITES).map(move |nth| (fault, nth)))
    {
        let (world, wallet) = listening().await;
        add_form(&world.operator(ACME), &Value::Null).await;
        let met = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&met);
        let plan: FaultPlan = Arc::new(move |called| {
            let writes = called == "TransactWriteItems";
            (writes && counted.fetch_add(1, Ordering::Relaxed) == spared).then_some(fault)
        });
        let troubled = world.beside().with_faults(plan);
        let by_key = async |method, uri, body| call_leads(&troubled, &wallet, method, uri, &body).await;
        let call = call("OUTGOING", "+55 41 98888-0001");
        let sent = json!({ "nome": "Nara", "email": "nara@example.com" });
        let statuses = [
            create(&troubled, &wallet).await.status,
            update(&troubled, &wallet, &json!({ "crm_column": 32 }))
                .await
                .status,
            archive(&troubled, &wallet, true).await.status,
            book(&troubled, &booking(FREE[0], &json!({}))).await.status,
            submit(&troubled, &sent).await.status,
        ];
        assert_eq!(
            statuses.map(|status| status.as_u16()),
            [200; 5],
            "{fault:?} at {spared}"
        );
        receive(&troubled, &call).await;
        by_key("POST", "/leads?i=acme", json!({ "firstname": "Rui" })).await;
        by_key("PUT", "/leads/1006?i=acme", json!({ "city": "Recife" })).await;
        assert!(
            met.load(Ordering::Relaxed) >= WRITES,
            "{}",
            met.load(Ordering::Relaxed)
        );
        let expected = [
            "lead.archived",
            "lead.created",
            "lead.created",
            "lead.created",
            "lead.created",
            "lead.updated",
            "lead.updated",
            "meeting.booked",
            "opportunity.columnChanged",
            "opportunity.created",
            "opportunity.updated",
        ];
        assert_eq!(events(&world).await, expected, "{fault:?} at {spared}");
    }
}

/// Writes that exclude each other raise one event for each that is done.
#[tokio::test]
async fn concurrent_writes_raise_one_event_each() {
    let (world, wallet) = listening().await;
    let moves = (0..6_u64).map(async |at| {
        let body = json!({ "sequence": at + 1 });
        update(&world.elsewhere(), &wallet, &body).await.status
    });
    assert!(join_all(moves).await.into_iter().all(|status| status == 200));
    let bookings = (0..6).map(async |_| {
        book(&world.elsewhere(), &booking(FREE[0], &json!({})))
            .await
            .status
    });
    let booked = join_all(bookings).await;
    assert_eq!(booked.into_iter().filter(|status| *status == 200).count(), 1);
    let mut expected = vec!["lead.created", "meeting.booked"];
    expected.extend(["opportunity.updated"; 6]);
    assert_eq!(events(&world).await, expected);
}
