//! Automations triggered by calls of leads (C-76).

mod archived;
mod aside;
mod facts;
mod hanging;
mod notify;
mod once;
mod quiet;
mod requests;
mod stream;
mod suspended;
mod webhook_client;

use operator::CallLine;
use operator::kinds::{Automations, Calls, Leads};
use serde_json::{Value, json};
use shared::automation::Automation;
use shared::jobs::webhook_client::WebhookClient;
use shared::lead::Lead;
use shared::opportunity::Opportunity;
use shared::store::{OpportunityRecord, OpportunitySnapshot};
use tests::people::{department, lead, user};
use tests::sales::open_shop;
use tests::{ACME, World};

use crate::delete_leads_id::delete;

/// Number of lead 1001.
const MARIA: &str = "+55 11 97326-3471";

fn automation(id: u64, active: bool, actions: &Value) -> Automation {
    let line = json!({ "id": id, "name": format!("Ligou {id}"), "trigger": "leadPhoneCall", "event": "received",
        "filters": { "operatorNumber": "ignored" }, "actions": actions, "active": active });
    serde_json::from_value(line).expect("an automation")
}

async fn install(world: &World, automations: &[Automation]) {
    let operator = world.operator(ACME);
    operator
        .import::<Automations>(automations, false)
        .await
        .expect("the automations can be written");
}

/// A world with funnels and these automations.
async fn world(automations: &[Automation]) -> World {
    let world = World::new().await;
    open_shop(&world.operator(ACME)).await;
    install(&world, automations).await;
    world
}

fn call(kind: &str, phone: &str) -> Value {
    json!({ "event": "call", "data": { "user": 8, "leadPhone": phone, "type": kind, "status": "COMPLETE",
        "duration": 65, "record": true, "service": "acme-voip" } })
}

fn call_for(id: u64) -> Value {
    let mut body = call("INCOMING", "");
    body["data"]["lead"] = json!(id);
    body
}

async fn receive(world: &World, call: &Value) {
    assert_eq!(world.webhook(call).send().await.status, 201);
}

/// A webhook client that resolves no host.
fn nobody() -> WebhookClient {
    WebhookClient::plain(|_, _| Vec::new(), |_| false)
}

async fn run(world: &World) {
    let store = &world.store;
    maintenance::automate(store, &nobody())
        .await
        .expect("the automations are run");
}

/// Number of items in the outbox.
async fn outbox(world: &World) -> usize {
    let acme = world.operator(ACME).instance().clone();
    let items = world.store.dump(&acme).await.expect("the items");
    items.iter().filter(|item| item.contains("acme#trigger")).count()
}

async fn lead_of(world: &World, id: u64) -> Lead {
    let leads = world.leads().await;
    leads
        .into_iter()
        .find(|found| found.id == lead(id))
        .expect("the lead")
}

async fn opportunities(world: &World) -> Vec<OpportunitySnapshot> {
    let mut pages = world.operator(ACME).opportunities();
    let mut found = Vec::new();
    while let Some(page) = pages.next().await.expect("the opportunities") {
        found.extend(page.into_iter().map(|record: OpportunityRecord| record.value));
    }
    found
}

#[tokio::test]
async fn actions_run_in_order() {
    let actions = json!([
        { "type": "addPoints", "points": 7 },
        { "type": "addPoints", "points": -2 },
        { "type": "setOwner", "user": 9 },
        { "type": "addAccess", "users": [10], "departments": [3] },
        { "type": "createOpportunity", "funnel": 3, "column": 31, "title": "Ligação recebida", "value": "12.50" },
        { "type": "setOwner", "user": 10 },
    ]);
    let world = world(&[automation(1, true, &actions)]).await;
    let before = lead_of(&world, 1001).await;
    receive(&world, &call("INCOMING", MARIA)).await;
    assert_eq!(outbox(&world).await, 1);
    world.clock.set(world.clock.get().plus_seconds(5));
    run(&world).await;
    let now = world.clock.get();
    let expected = Lead {
        points: 5.into(),
        owner: Some(user(10)),
        user_access: vec![user(10)],
        department_access: vec![department(3)],
        last_active: world.calls().await[0].create_date,
        ..before
    };
    assert_eq!(lead_of(&world, 1001).await, expected);
    let cards = opportunities(&world).await;
    let made: Opportunity =
        serde_json::from_value(json!({ "id": 1, "title": "Ligação recebida", "value": "12.50",
        "crm_id": 3, "crm_column": 31, "lead_id": 1001, "user": 8, "createDate": now, "updateDate": now }))
        .expect("an opportunity");
    assert_eq!(cards.len(), 1);
    assert_eq!(cards[0].opportunity, made);
    let copied = cards[0]
        .lead
        .as_ref()
        .map(|lead| (lead.owner, lead.points.clone()));
    assert_eq!(copied, Some((Some(user(9)), 5.into())));
    assert_eq!(outbox(&world).await, 0);
    world.is_sound().await;
}

/// Changes by automations count as changes through the interface.
#[tokio::test]
async fn imports_keep_changes_by_automations() {
    let world = world(&[automation(
        1,
        true,
        &json!([{ "type": "addPoints", "points": 7 }]),
    )])
    .await;
    let before = lead_of(&world, 1001).await;
    receive(&world, &call("INCOMING", MARIA)).await;
    run(&world).await;
    let again = world
        .operator(ACME)
        .import::<Leads>(&[before.into()], false)
        .await;
    assert!(format!("{again:?}").contains("Refused"), "{again:?}");
}

#[tokio::test]
async fn automations_run_in_order_of_ids() {
    let owner = |id, active, user| automation(id, active, &json!([{ "type": "setOwner", "user": user }]));
    let world = world(&[owner(2, true, 9), owner(1, true, 10), owner(3, false, 11)]).await;
    receive(&world, &call("INCOMING", MARIA)).await;
    run(&world).await;
    assert_eq!(lead_of(&world, 1001).await.owner, Some(user(9)));
    assert_eq!(outbox(&world).await, 0);
}

#[tokio::test]
async fn calls_that_create_a_lead_trigger_automations() {
    let world = world(&[automation(
        1,
        true,
        &json!([{ "type": "addPoints", "points": 7 }]),
    )])
    .await;
    receive(&world, &call("INCOMING", "+55 41 98888-0001")).await;
    run(&world).await;
    let made = world.leads().await.into_iter().next_back().expect("a lead");
    assert_eq!((made.points, made.owner), (7.into(), None));
    world.is_sound().await;
}

/// Only incoming calls with a lead write a trigger, and it does nothing if the lead is deleted before it
/// runs.
#[tokio::test]
async fn only_incoming_calls_with_a_lead_write_triggers() {
    let world = world(&[automation(
        1,
        true,
        &json!([{ "type": "addPoints", "points": 7 }]),
    )])
    .await;
    let unmoved = async |world: &World| world.leads().await.iter().all(|lead| lead.points == 0.into());
    for quiet in [
        call("OUTGOING", MARIA),
        call("INCOMING", "anonymous"),
        call_for(4711),
    ] {
        receive(&world, &quiet).await;
        assert_eq!(outbox(&world).await, 0, "{quiet}");
    }
    receive(&world, &call_for(1006)).await;
    let wallet = world.wallet(7).await;
    assert_eq!(delete(&world, &wallet, "1006").await.status, 200);
    run(&world).await;
    assert_eq!(outbox(&world).await, 0);
    let imported: Vec<CallLine> = world
        .calls()
        .await
        .into_iter()
        .map(|mut call| {
            call.id = shared::ids::CallId::new(call.id.get() + 100).expect("an id");
            call.lead = Some(lead(1001));
            CallLine {
                create_date: Some(call.create_date),
                call,
                with_event: false,
            }
        })
        .collect();
    world
        .operator(ACME)
        .import::<Calls>(&imported, true)
        .await
        .expect("the calls can be written");
    assert_eq!(outbox(&world).await, 0);
    run(&world).await;
    assert!(unmoved(&world).await);
}

#[tokio::test]
async fn impossible_actions_are_skipped() {
    let opportunity = |funnel: u64, column: u64| json!({ "type": "createOpportunity", "funnel": funnel, "column": column, "title": "x" });
    let actions = json!([
        opportunity(99, 31),
        opportunity(3, 99),
        { "type": "setOwner", "user": 99 },
        { "type": "addAccess", "users": [99], "departments": [99] },
        { "type": "addAccess", "users": [99, 10] },
        { "type": "addPoints", "points": 1_000_000_000_000_000_i64 },
        { "type": "addPoints", "points": 1 },
    ]);
    let world = world(&[automation(1, true, &actions)]).await;
    receive(&world, &call("INCOMING", MARIA)).await;
    run(&world).await;
    let lead = lead_of(&world, 1001).await;
    assert_eq!(lead.points, 1_000_000_000_000_000_i64.into());
    assert_eq!((lead.owner, lead.user_access), (Some(user(8)), vec![user(10)]));
    assert_eq!((opportunities(&world).await.len(), outbox(&world).await), (0, 0));
    world.is_sound().await;
}

/// C-12: also for earlier calls.
#[tokio::test]
async fn deactivated_automations_stop_at_once() {
    let points = |active| automation(1, active, &json!([{ "type": "addPoints", "points": 7 }]));
    let world = world(&[points(true)]).await;
    receive(&world, &call("INCOMING", MARIA)).await;
    install(&world, &[points(false)]).await;
    receive(&world, &call("INCOMING", MARIA)).await;
    assert_eq!(outbox(&world).await, 1);
    run(&world).await;
    assert_eq!(lead_of(&world, 1001).await.points, 0.into());
    assert_eq!(outbox(&world).await, 0);
}

/// Without active automations the cost is unchanged; with them, one more item.
#[tokio::test]
async fn a_trigger_costs_one_item() {
    let points = |active| automation(1, active, &json!([{ "type": "addPoints", "points": 7 }]));
    let world = world(&[]).await;
    let mut costs = Vec::new();
    for automations in [vec![], vec![points(false)], vec![points(true)]] {
        install(&world, &automations).await;
        let answer = world.webhook(&call("INCOMING", MARIA)).send().await;
        assert_eq!(answer.status, 201);
        costs.push((answer.cost.calls.len(), answer.cost.write_units()));
    }
    let (calls, units) = costs[0];
    assert_eq!(costs, [(calls, units), (calls, units), (calls, units + 2.0)]);
}
