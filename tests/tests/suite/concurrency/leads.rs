//! Concurrent requests that make and change leads (C-91, C-92): one lead for a number or an address, no lost change.

use std::collections::BTreeSet;

use futures_util::future::{join, join_all};
use serde_json::{Value, json};
use tests::bookings::{FREE, book, booking, open_calendars};
use tests::forms::{add_form, submit};
use tests::world::over_sdk;
use tests::{ACME, Wallet, World};

use super::{FAILED, bad_moments, persist};
use crate::post_leads::post;
use crate::put_leads::put;

/// The ids of the leads that concurrent requests return, and how many of them made one.
async fn storm(world: &World, wallet: &Wallet, unique: &str, bodies: Vec<Value>) -> (BTreeSet<u64>, usize) {
    let answers = bodies.iter().map(async |body| {
        let (answer, _) = persist(async || post(world, wallet, unique, body).await, FAILED[1]).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        let is_new = answer.headers.get("x-lead-existing").is_none();
        (answer.body["id"].as_u64().expect("an id"), is_new)
    });
    let answers = join_all(answers).await;
    let made = answers.iter().filter(|(_, is_new)| *is_new).count();
    (answers.into_iter().map(|(id, _)| id).collect(), made)
}

/// Of 250 simultaneous requests one makes the lead, and all others return it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_number_or_address_makes_one_lead() {
    let forms = ["+55 41 98888-0001", "554188880001", "41988880001"];
    let phones = forms.iter().cycle().map(|phone| json!({ "mobile": phone }));
    let cases = ["nara@example.com", "Nara@Example.com", "NARA@EXAMPLE.COM"];
    let emails = cases.iter().cycle().map(|email| json!({ "email": email }));
    for (unique, bodies) in [
        ("phone", phones.take(250).collect::<Vec<_>>()),
        ("email", emails.take(250).collect()),
    ] {
        let world = World::new().await;
        let wallet = world.wallet(7).await;
        let (ids, made) = storm(&world, &wallet, unique, bodies).await;
        assert_eq!((ids, made), (BTreeSet::from([1013]), 1), "{unique}");
        assert_eq!(world.leads().await.len(), 9);
        world.is_sound().await;
    }
}

/// With conflicts, throttling and lost answers there is still one lead.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_number_makes_one_lead_despite_faults() {
    let _sdk = over_sdk();
    let world = World::new().await;
    let wallet = world.wallet(7).await;
    let world = world.with_faults(bad_moments(20));
    let body = json!({ "phone": "5541988880001", "email": "nara@example.com" });
    let (ids, _) = storm(&world, &wallet, "phone,email", vec![body; 40]).await;
    assert_eq!(ids.len(), 1, "{ids:?}");
    let world = world.with_faults(std::sync::Arc::new(|_| None));
    assert_eq!(world.leads().await.len(), 9);
    world.is_sound().await;
}

/// Calls, forms and requests for one number make one lead between them. Every booking makes its own, because `leadId: null`
/// asks for one (C-54), and later calls and forms find it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_bookings_forms_and_requests_race_for_one_number() {
    for bookings in [0, 2] {
        race_for_one_number(bookings).await;
    }
}

async fn race_for_one_number(booked: usize) {
    let world = World::new().await;
    open_calendars(&world.operator(ACME)).await;
    add_form(&world.operator(ACME), &Value::Null).await;
    let wallet = world.wallet(7).await;
    let call = json!({ "event": "call", "data": { "user": 8, "leadPhone": "41988880001", "type": "INCOMING",
        "status": "COMPLETE", "duration": 1, "record": false, "service": "x" } });
    let calls = join_all((0..20).map(async |_| {
        assert_eq!(world.webhook(&call).send().await.status, 201);
    }));
    let form = json!({ "formData": { "firstname": "Nara", "phone": "554188880001" } });
    let bookings = join_all((0..booked).map(async |at| {
        assert_eq!(book(&world, &booking(FREE[at], &form)).await.status, 200);
    }));
    let requests = storm(
        &world,
        &wallet,
        "phone",
        vec![json!({ "phone": "5541988880001" }); 20],
    );
    let sent = json!({ "nome": "Nara", "whatsapp": "41988880001" });
    let forms = join_all((0..20).map(async |_| {
        let (answer, _) = persist(async || submit(&world, &sent).await, FAILED[1]).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        answer.body["data"]["lead"].as_u64().expect("an id")
    }));
    let ((_, by_form), (_, (ids, made))) = join(join(calls, forms), join(bookings, requests)).await;
    let leads = world.leads().await;
    let of = |kind: &str| {
        leads
            .iter()
            .filter(|lead| lead.created_by_type.as_deref() == Some(kind))
            .count()
    };
    assert_eq!(of("booking"), booked);
    let found = of("voip") + of("user") + of("form");
    // With a booking first, the others find its lead.
    assert!(
        found == 1 || found == 0 && booked > 0,
        "{booked}: {} {} {}",
        of("voip"),
        of("user"),
        of("form")
    );
    assert_eq!(of("user"), made);
    let known: BTreeSet<_> = leads.iter().map(|lead| lead.id.get()).collect();
    assert!(ids.is_subset(&known));
    assert!(by_form.iter().all(|lead| known.contains(lead)));
    assert!(
        world
            .calls()
            .await
            .iter()
            .all(|call| call.lead.is_some_and(|lead| known.contains(&lead.get())))
    );
    world.is_sound().await;
}

/// Requests for different leads do not hinder each other.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn different_leads_are_all_made() {
    let world = World::new().await;
    let wallet = world.wallet(7).await;
    let bodies =
        (0..60).map(|n| json!({ "phone": format!("554198888{n:04}"), "email": format!("a{n}@example.com") }));
    let (ids, made) = storm(&world, &wallet, "phone,email", bodies.collect()).await;
    assert_eq!((ids.len(), made), (60, 60));
    world.is_sound().await;
}

/// Eight callers change different fields of one lead at once, and each change moves it between lists and totals.
async fn changes(world: &World, wallets: &[Wallet], rounds: u64) {
    for round in 1..=rounds {
        let text = format!("Rodada {round}");
        let changes = [
            json!({ "owner": 8 + round % 3 }),
            json!({ "userAccess": [7 + round % 2] }),
            json!({ "archived": round % 2 == 1 }),
            json!({ "mobile": format!("554198888{round:04}") }),
            json!({ "email": format!("rodada{round}@example.com") }),
            json!({ "firstname": text }),
            json!({ "points": round }),
            json!({ "cor": text }),
        ];
        let calls = wallets.iter().zip(&changes).map(async |(wallet, change)| {
            let (answer, _) = persist(async || put(world, wallet, 1001, change).await, FAILED[1]).await;
            assert_eq!(answer.status, 200, "{change}: {}", answer.body);
        });
        join_all(calls).await;
        let (answer, _) = persist(
            async || put(world, &wallets[0], 1001, &json!({})).await,
            FAILED[1],
        )
        .await;
        for (name, value) in changes.iter().filter_map(Value::as_object).flatten() {
            assert_eq!(&answer.body["data"][name], value, "{name}");
        }
    }
}

async fn eight(world: &World) -> Vec<Wallet> {
    let mut wallets = Vec::new();
    for _ in 0..8 {
        wallets.push(world.wallet(7).await);
    }
    wallets
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn eight_concurrent_changes_of_a_lead_all_survive() {
    let _sdk = over_sdk();
    let world = World::new().await;
    let wallets = eight(&world).await;
    changes(&world, &wallets, 8).await;
    world.is_sound().await;
    let world = world.with_faults(bad_moments(25));
    changes(&world, &wallets, 3).await;
    world.with_faults(std::sync::Arc::new(|_| None)).is_sound().await;
}
