//! What happens right before a write of a deletion or an erasure, at each of them: the write is decided anew, and nothing of
//! what came in between is lost (C-24).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use shared::call::{Call, Event};
use shared::lead::Lead;
use shared::store::fault::{Fault, Plan};
use shared::store::operator::{CallLine, Operator, Outcome};
use tests::ACME;
use tests::bookings::meeting;
use tests::people::{lead, user};
use tests::sales::plain_opportunity;
use tests::tickets::ticket;

use super::{PERSON, delete_person, erase, is_erased, items, person, stage};
use crate::delete_leads_id::{delete, listed};

const WRITE: &str = "TransactWriteItems";

/// Right before the `nth` transaction something else happens, from its beginning to its end.
fn before<F>(nth: usize, met: &Arc<AtomicUsize>, action: impl Fn() -> F + Send + Sync + 'static) -> Plan
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

/// An import gives the person's records to lead 1001.
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
        .import_calls(calls.collect(), true)
        .await
        .expect("an import");
    operator
        .import_opportunities(vec![opportunity.into()], true)
        .await
        .expect("an import");
    operator
        .import_meetings(vec![meeting.into()], true)
        .await
        .expect("an import");
    operator
        .import_tickets(vec![ticket.into()])
        .await
        .expect("an import");
}

/// Records that come to another lead while they are being erased are that lead's, whole.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn records_that_come_to_another_lead() {
    for nth in 1.. {
        let world = stage().await;
        let wallet = world.wallet(7).await;
        delete_person(&world, &wallet).await;
        // Nothing of what they say is the person's.
        let mut calls = world.calls().await;
        for call in &mut calls {
            (call.lead_phone, call.lead_name) = (Some("551100001111".to_owned()), Some("Outra".to_owned()));
        }
        let (operator, given, met) = (world.operator(ACME), calls.clone(), Arc::new(AtomicUsize::new(0)));
        let plan = before(nth, &met, move || give_away(operator.clone(), given.clone()));
        maintenance::tend(&world.store.clone().with_faults(plan))
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

/// Whoever does not see the lead any more when it comes to the write deletes nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lead_that_goes_out_of_sight() {
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

/// A lead that is archived or called right before it is deleted is deleted as it is then.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lead_that_changes() {
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

/// An import that had seen the lead before it was deleted does not bring it back.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_import_of_the_lead() {
    let world = Arc::new(stage().await);
    let wallet = world.wallet(7).await;
    let beside = Arc::new(world.beside());
    let action = move || {
        let (beside, wallet) = (beside.clone(), wallet.clone());
        async move { delete_person(&beside, &wallet).await }
    };
    let store = world
        .store
        .clone()
        .with_faults(before(1, &Arc::default(), action));
    let operator = store.operator(shared::instance::InstanceName::parse(ACME).expect("a name"));
    let line = Lead {
        city: Some("Curitiba".to_owned()),
        ..person()
    };
    let outcomes = operator
        .import_leads(vec![line.into()], true)
        .await
        .expect("an import");
    assert!(
        matches!(&outcomes[..], [Outcome::Refused(reason)] if reason.contains("is being erased")),
        "{outcomes:?}"
    );
    erase(&world).await;
    is_erased(&world).await;
}

/// Each transaction is carried out and nobody hears of it: what was done is answered as done, once.
#[tokio::test]
async fn nobody_hears_of_it() {
    let world = stage().await;
    let wallet = world.wallet(7).await;
    let lost: Plan = Arc::new(|called| (called == WRITE).then_some(Fault::FailedAfter));
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

/// A transaction that fails for good changes nothing, and says so without telling why.
#[tokio::test]
async fn a_table_that_fails() {
    let world = stage().await;
    let wallet = world.wallet(7).await;
    let before = world.leads().await;
    for fault in [Fault::Throttled, Fault::FailedBefore, Fault::Conflict] {
        let failing: Plan = Arc::new(move |called| (called == WRITE).then_some(fault));
        let broken = world.beside().with_faults(failing);
        let failed = json!({ "error": "Internal error" });
        delete(&broken, &wallet, &PERSON.to_string())
            .await
            .is(500, &failed);
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
                .is(500, &failed);
        }
    }
    assert_eq!(world.leads().await, before);
}

/// The link that leads to a call goes once its event is there, which leads to it then.
#[tokio::test]
async fn a_call_whose_event_comes_later() {
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
    let event = Event {
        id: shared::id::EventId::new(7).expect("an id"),
        call: shared::id::CallId::new(2).expect("an id"),
        ..event
    };
    let outcomes = operator.import_events(&[event], false).await.expect("an import");
    assert_eq!((outcomes, links().await), (vec![Outcome::Written], 0));
    world.is_sound().await;
    // So it does where the import brought none that could be used, or the call came to another lead.
    let stored = world.calls().await.remove(0);
    for (id, to, again) in [(3, PERSON, PERSON), (4, PERSON, 1001)] {
        let call = |to: u64| Call {
            id: shared::id::CallId::new(id).expect("an id"),
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
        operator.import_calls(vec![line], false).await.expect("an import");
        assert_eq!(links().await, 1);
        operator
            .import_calls(vec![call(again).into()], false)
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
