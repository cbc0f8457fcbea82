//! What raises no event (C-102), what an event costs, and that its actions happen once.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use dynamodb::faults::Fault;
use operator::kinds::{Leads, Opportunities};
use serde_json::json;
use tests::ACME;
use tests::bookings::{FREE, book, booking, made};
use tests::sales::plain_opportunity;
use tests::world::over_sdk;

use super::facts::{EVENTS, archive, delivered, listening, notify, on, update, world};
use super::{MARIA, call, install, outbox, receive};
use crate::faults::{Calls, dying};

/// An action that changes a lead or creates an opportunity sets off no automation.
#[tokio::test]
async fn automations_set_off_no_automations() {
    let actions = json!([
        { "type": "addPoints", "points": 1 },
        { "type": "setOwner", "user": 9 },
        { "type": "createOpportunity", "funnel": 3, "column": 31, "title": "Seguinte" },
    ]);
    let all: Vec<_> = EVENTS
        .iter()
        .zip(1..)
        .map(|(event, id)| on(id, *event, &json!({}), &actions))
        .collect();
    let (world, wallet) = world(&all).await;
    update(&world, &wallet, &json!({ "title": "Outra" })).await;
    for _ in 0..3 {
        super::run(&world).await;
    }
    assert_eq!(super::lead_of(&world, 1001).await.points, 1.into());
    let cards = super::opportunities(&world).await;
    assert_eq!(cards.len(), 2);
    // The new opportunity is for the user of the one that was changed.
    assert_eq!(cards[1].opportunity.user, tests::people::user(7));
    assert_eq!(outbox(&world).await, 0);
    world.is_sound().await;
}

#[tokio::test]
async fn imports_raise_no_events() {
    let (world, _) = listening().await;
    let operator = world.operator(ACME);
    let mut leads = world.leads().await;
    for lead in &mut leads {
        lead.city = Some("Recife".to_owned());
    }
    let leads: Vec<_> = leads.into_iter().map(Into::into).collect();
    operator.import::<Leads>(&leads, true).await.expect("written");
    let opportunity = plain_opportunity(9, 7, 0);
    let written = operator
        .import::<Opportunities>(&[opportunity.into()], true)
        .await;
    assert!(written.is_ok(), "{written:?}");
    assert_eq!(outbox(&world).await, 0);
}

/// A lead that is deleted before the notification is sent: nothing of it is sent (C-24).
#[tokio::test]
async fn deleted_leads_are_not_sent() {
    let (world, wallet) = listening().await;
    update(&world, &wallet, &json!({ "title": "Outra" })).await;
    archive(&world, &wallet, true).await;
    let form = json!({ "firstname": "Bia", "email": "bia@example.com", "nota": "segredo" });
    made(&book(&world, &booking(FREE[0], &json!({ "formData": form }))).await);
    let guest = world.leads().await.into_iter().next_back().expect("a lead").id;
    for id in [guest.get(), 1001] {
        let answer = crate::delete_leads_id::delete(&world, &wallet, &id.to_string()).await;
        assert_eq!(answer.status, 200);
    }
    let bodies = delivered(&world).await;
    let mut told: Vec<_> = bodies.iter().map(|body| body["event"].as_str()).collect();
    told.sort_unstable();
    assert_eq!(told, [Some("meeting.booked"), Some("opportunity.updated")]);
    for body in &bodies {
        let text = body.to_string();
        assert!(body.get("lead").is_none() && !text.contains("1001"), "{body}");
        assert!(!text.contains("Bia") && !text.contains("segredo"), "{body}");
    }
}

/// A write whose events nobody waits for costs what it did; else one item more.
#[tokio::test]
async fn events_cost_one_item_if_an_automation_waits_for_them() {
    let (world, wallet) = world(&[]).await;
    let mut costs = Vec::new();
    let waiting = |active: bool, event| {
        let mut automation = on(1, event, &json!({}), &notify(&json!({})));
        automation.active = active;
        automation
    };
    let cases = [
        vec![],
        vec![waiting(false, ("opportunity", "updated"))],
        vec![waiting(true, ("opportunity", "statusChanged"))],
        vec![waiting(true, ("opportunity", "updated"))],
    ];
    for (automations, at) in cases.iter().zip(1_u64..) {
        install(&world, automations).await;
        let answer = update(&world, &wallet, &json!({ "sequence": at })).await;
        assert_eq!(answer.status, 200);
        let cost = answer.cost;
        costs.push((cost.calls.len(), cost.read_units(), cost.write_units()));
    }
    let (calls, reads, writes) = costs[0];
    assert_eq!(
        costs,
        [
            (calls, reads, writes),
            (calls, reads, writes),
            (calls, reads, writes),
            (calls, reads, writes + 2.0)
        ]
    );
    // Nor do calls, for which no automation waits.
    receive(&world, &call("INCOMING", MARIA)).await;
    assert_eq!(outbox(&world).await, 1);
}

/// What an automation changes does not end it, also if its filters would not match any more.
#[tokio::test]
async fn an_automation_that_has_begun_is_finished() {
    let actions = json!([{ "type": "setOwner", "user": 9 }, { "type": "addPoints", "points": 3 }]);
    let (world, _) = world(&[
        on(1, ("leadPhoneCall", "received"), &json!({ "owner": 8 }), &actions),
        on(2, ("leadPhoneCall", "received"), &json!({ "owner": 8 }), &actions),
    ])
    .await;
    receive(&world, &call("INCOMING", MARIA)).await;
    super::run(&world).await;
    assert_eq!(super::lead_of(&world, 1001).await.points, 6.into());
    receive(&world, &call("INCOMING", MARIA)).await;
    super::run(&world).await;
    assert_eq!(super::lead_of(&world, 1001).await.points, 6.into());
}

/// A process that dies at any call while it runs the automations of an event; another goes on.
#[tokio::test]
async fn actions_of_an_event_happen_once_despite_a_crash_at_any_call() {
    let _sdk = over_sdk();
    let actions = json!([
        { "type": "addPoints", "points": 5 },
        { "type": "createOpportunity", "funnel": 3, "column": 31, "title": "Seguinte" },
    ]);
    let event = ("opportunity", "updated");
    let (stage, wallet) = world(&[on(1, event, &json!({}), &actions)]).await;
    let updated = update(&stage, &wallet, &json!({ "sequence": 1 })).await;
    assert_eq!(updated.status, 200);
    let calls = Calls::default();
    let healthy = stage.copy().await.faulty(calls.recorded());
    assert!(maintenance::act(&healthy).await.is_ok());
    assert!(calls.count() > 8);
    for last in [Fault::FailedBefore, Fault::FailedAfter] {
        for lived in calls.lives() {
            let world = stage.copy().await;
            let met = Arc::new(AtomicUsize::new(0));
            let mortal = world.faulty(dying(lived, last, &met));
            let survived = maintenance::act(&mortal).await.is_ok();
            super::run(&world).await;
            let case = format!("{last:?} after {lived}");
            assert_eq!(super::lead_of(&world, 1001).await.points, 5.into(), "{case}");
            assert_eq!(super::opportunities(&world).await.len(), 2, "{case}");
            assert_eq!(outbox(&world).await, 0, "{case}");
            assert!(survived || lived < calls.count(), "{case}");
        }
    }
}
