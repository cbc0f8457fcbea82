//! Changes just before each write of a deletion or an erasure: the write is decided again, and no change is
//! lost (C-24).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use dynamodb::faults::{Fault, FaultPlan};
use operator::kinds::{Calls, Events, Leads, Meetings, Opportunities, Tickets};
use operator::{CallLine, Operator, Outcome};
use serde_json::json;
use shared::call::Call;
use shared::event::CallEvent;
use shared::lead::Lead;
use tests::ACME;
use tests::bookings::meeting;
use tests::people::{lead, user};
use tests::sales::plain_opportunity;
use tests::tickets::ticket;
use tests::world::over_sdk;

use super::{PERSON, delete_person, erase, is_erased, items, person, stage};
use crate::delete_leads_id::{delete, listed};
use crate::faults::failure;

const WRITE: &str = "TransactWriteItems";

/// Runs an action completely before the `nth` transaction.
fn before<F>(nth: usize, met: &Arc<AtomicUsize>, action: impl Fn() -> F + Send + Sync + 'static) -> FaultPlan
where
    F: Future<Output = ()>,
{
    let met = met.clone();
    Arc::new(move |called| {
        if called == WRITE && met.fetch_add(1, Ordering::Relaxed) + 1 == nth {
            tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(action()));
        }
        None
    })
}

/// An import assigns the person's records to lead 1001.
async fn give_away(operator: Operator, calls: Vec<Call>) {
    let to = Some(lead(1001));
    let calls = calls.into_iter().map(|call| Call { lead: to, ..call }.into());
    let opportunity = shared::opportunity::Opportunity {
        lead_id: to,
        ..plain_opportunity(1, 8, 0)
    };
    let meeting = meeting(&json!({ "leadId": 1001, "formData": { "nota": "de outra pessoa" } }));
    let ticket = ticket(&json!({ "lead_relation": 1001, "name": "de outra pessoa" }));
    operator
        .import::<Calls>(&calls.collect::<Vec<_>>(), true)
        .await
        .expect("an import");
    operator
        .import::<Opportunities>(&[opportunity.into()], true)
        .await
        .expect("an import");
    operator
        .import::<Meetings>(&[meeting.into()], true)
        .await
        .expect("an import");
    operator
        .import::<Tickets>(&[ticket.into()], false)
        .await
        .expect("an import");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn records_reassigned_during_the_erasure_are_kept() {
    let _sdk = over_sdk();
    for nth in 1.. {
        let world = stage().await;
        let wallet = world.wallet(7).await;
        delete_person(&world, &wallet).await;
        // Their content is not personal data of the person.
        let mut calls = world.calls().await;
        for call in &mut calls {
            (call.lead_phone, call.lead_name) = (Some("551100001111".to_owned()), Some("Outra".to_owned()));
        }
        let (operator, given, met) = (world.operator(ACME), calls.clone(), Arc::new(AtomicUsize::new(0)));
        let plan = before(nth, &met, move || give_away(operator.clone(), given.clone()));
        maintenance::tend(&world.faulty(plan))
            .await
            .expect("it is tended");
        let happened = met.load(Ordering::Relaxed) >= nth;
        if !happened {
            assert!(nth > 5, "only {nth} writes");
            break;
        }
        erase(&world).await;
        is_erased(&world).await;
        let to = Some(lead(1001));
        let expected: Vec<_> = calls.into_iter().map(|call| Call { lead: to, ..call }).collect();
        assert_eq!(world.calls().await, expected, "{nth}");
        assert_eq!(world.events().await.len(), 2, "{nth}");
        let record = super::shown::opportunity(&world, 1).await;
        assert_eq!(record["dataLead"]["id"], 1001, "{nth}");
        let meetings = tests::bookings::meetings(&world, &wallet, 5).await;
        assert_eq!(
            meetings[0]["formData"],
            json!({ "nota": "de outra pessoa" }),
            "{nth}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lead_that_becomes_invisible_is_not_deleted() {
    let _sdk = over_sdk();
    let world = stage().await;
    let wallet = world.wallet(9).await;
    let own = Lead {
        owner: Some(user(9)),
        ..person()
    };
    tests::people::add_leads(&world.operator(ACME), vec![own]).await;
    let operator = world.operator(ACME);
    let action = move || {
        let operator = operator.clone();
        async move { tests::people::add_leads(&operator, vec![person()]).await }
    };
    let world = world.with_faults(before(1, &Arc::default(), action));
    let answer = delete(&world, &wallet, &PERSON.to_string()).await;
    answer.is(404, &json!({ "error": "Not found" }));
    assert!(listed(&world, false).await.contains(&PERSON));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lead_changed_before_its_deletion_is_deleted_as_it_is() {
    let _sdk = over_sdk();
    let world = stage().await;
    let wallet = world.wallet(7).await;
    let operator = world.operator(ACME);
    let action = move || {
        let operator = operator.clone();
        let other = Lead {
            archived: true,
            owner: Some(user(9)),
            phone: None,
            ..person()
        };
        async move { tests::people::add_leads(&operator, vec![other]).await }
    };
    let world = world.with_faults(before(1, &Arc::default(), action));
    delete_person(&world, &wallet).await;
    assert_eq!(listed(&world, true).await, [1003, 1012]);
    world.is_sound().await;
    erase(&world).await;
    is_erased(&world).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_import_does_not_restore_a_deleted_lead() {
    let _sdk = over_sdk();
    let world = Arc::new(stage().await);
    let wallet = world.wallet(7).await;
    let beside = Arc::new(world.beside());
    let action = move || {
        let (beside, wallet) = (beside.clone(), wallet.clone());
        async move { delete_person(&beside, &wallet).await }
    };
    let store = world.faulty(before(1, &Arc::default(), action));
    let operator = Operator::new(
        &store,
        shared::instance::InstanceName::parse(ACME).expect("a name"),
    );
    let line = Lead {
        city: Some("Curitiba".to_owned()),
        ..person()
    };
    let outcomes = operator
        .import::<Leads>(&[line.into()], true)
        .await
        .expect("an import");
    assert!(
        matches!(&outcomes[..], [Outcome::Refused(reason)] if reason.contains("is being erased")),
        "{outcomes:?}"
    );
    erase(&world).await;
    is_erased(&world).await;
}

/// Each transaction is executed without a response: the deletion is acknowledged, and done once.
#[tokio::test]
async fn lost_responses_do_not_repeat_the_deletion() {
    let _sdk = over_sdk();
    let world = stage().await;
    let wallet = world.wallet(7).await;
    let lost: FaultPlan = Arc::new(|called| (called == WRITE).then_some(Fault::FailedAfter));
    let world = world.with_faults(lost);
    let uri = format!("/lead/archive?i=acme&apitoken={}", wallet.key);
    let archive = world
        .call("POST", &uri)
        .json(&json!({ "archived": true, "id": PERSON }));
    let view = json!({ "id": PERSON, "fullname": "Zulmira Quaresma", "email": "eu@segredo.example", "archived": true });
    archive.send().await.is(200, &json!({ "data": { "lead": view } }));
    delete_person(&world, &wallet).await;
    let world = world.with_faults(Arc::new(|_| None));
    delete(&world, &wallet, &PERSON.to_string())
        .await
        .is(404, &json!({ "error": "Not found" }));
    erase(&world).await;
    is_erased(&world).await;
}

#[tokio::test]
async fn a_permanent_failure_changes_nothing_and_reveals_no_cause() {
    let _sdk = over_sdk();
    let world = stage().await;
    let wallet = world.wallet(7).await;
    let before = world.leads().await;
    for fault in [Fault::Throttled, Fault::FailedBefore, Fault::Conflict] {
        let failing: FaultPlan = Arc::new(move |called| (called == WRITE).then_some(fault));
        let broken = world.beside().with_faults(failing);
        let (status, text) = failure(fault);
        let failed = json!({ "error": text });
        delete(&broken, &wallet, &PERSON.to_string())
            .await
            .is(status, &failed);
        for (method, path, body) in [
            ("DELETE", "/leads", json!({ "ids": [PERSON, 1001] })),
            ("POST", "/lead/archive", json!({ "archived": true, "id": PERSON })),
            (
                "POST",
                "/lead/archive",
                json!({ "archived": true, "ids": [PERSON, 1001] }),
            ),
        ] {
            let uri = format!("{path}?i=acme&apitoken={}", wallet.key);
            broken
                .call(method, &uri)
                .json(&body)
                .send()
                .await
                .is(status, &failed);
        }
    }
    assert_eq!(world.leads().await, before);
}

/// The link to a call is deleted after its event exists, which then leads to the call.
#[tokio::test]
async fn a_call_with_a_later_event_is_erased() {
    let world = stage().await;
    let links = async || {
        items(&world)
            .await
            .iter()
            .filter(|item| item.contains("#lead-call#"))
            .count()
    };
    assert_eq!(links().await, 1);
    let operator = world.operator(ACME);
    let event = world.events().await.remove(0);
    let event = CallEvent {
        id: shared::ids::EventId::new(7).expect("an id"),
        call: shared::ids::CallId::new(2).expect("an id"),
        ..event
    };
    let outcomes = operator
        .import::<Events>(&[event.into()], false)
        .await
        .expect("an import");
    assert_eq!((outcomes, links().await), (vec![Outcome::Written], 0));
    world.is_sound().await;
    // Also if the import brought no valid event, or the call went to another lead.
    let stored = world.calls().await.remove(0);
    for (id, to, again) in [(3, PERSON, PERSON), (4, PERSON, 1001)] {
        let call = |to: u64| Call {
            id: shared::ids::CallId::new(id).expect("an id"),
            lead: Some(lead(to)),
            call_id: Some(to.to_string()),
            lead_phone: None,
            lead_name: None,
            ..stored.clone()
        };
        let line = CallLine {
            with_event: true,
            ..call(to).into()
        };
        operator.import::<Calls>(&[line], false).await.expect("an import");
        assert_eq!(links().await, 1);
        operator
            .import::<Calls>(&[call(again).into()], false)
            .await
            .expect("an import");
        assert_eq!(links().await, 0);
    }
    world.is_sound().await;
    let wallet = world.wallet(7).await;
    delete_person(&world, &wallet).await;
    erase(&world).await;
    is_erased(&world).await;
}
