//! A deletion concurrent with everything that links or changes the lead: nothing links a deleted lead, and
//! totals are exact (C-24).

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;

use futures_util::future::join_all;
use operator::kinds::{Leads, Meetings, Opportunities};
use serde_json::{Value, json};
use tests::bookings::meeting;
use tests::people::lead;
use tests::sales::{add_opportunities, plain_opportunity};
use tests::world::{Answer, over_sdk};
use tests::{ACME, Wallet, World};

use super::{PERSON, call, erase, is_erased, stage, tend};
use crate::concurrency::bad_moments;
use crate::delete_leads_id::delete;

/// Callers of each kind.
const EACH: u64 = 12;

type Doing<'a> = Pin<Box<dyn Future<Output = (&'static str, u16)> + 'a>>;

fn status(what: &'static str, answer: &Answer) -> (&'static str, u16) {
    (what, answer.status.as_u16())
}

/// One request of each kind.
fn doings<'a>(world: &'a World, wallet: &'a Wallet, at: u64) -> Vec<Doing<'a>> {
    let hour = |hour: u64| format!("2026-11-23T{:02}:00:00.000Z", hour % 24);
    let archive = format!("/lead/archive?i=acme&apitoken={}", wallet.key);
    let post = move |what, uri: String, body: Value| -> Doing<'a> {
        let call = world.call("POST", &uri).with(wallet).json(&body);
        Box::pin(async move { status(what, &call.send().await) })
    };
    let booking = json!({ "keyName": "lisboa", "date": hour(at), "leadId": PERSON });
    let new = json!({ "title": "Pedido", "crm_column": 31, "lead_id": PERSON });
    vec![
        post("book", "/calendarmeeting?i=acme".to_owned(), booking),
        post("make", "/crmopportunity?id=3&i=acme".to_owned(), new),
        post(
            "archive",
            archive,
            json!({ "archived": at.is_multiple_of(2), "id": PERSON }),
        ),
        Box::pin(async move {
            status(
                "call",
                &call(
                    world,
                    &json!({ "lead": PERSON, "leadPhone": "", "leadName": "x" }),
                )
                .await,
            )
        }),
        Box::pin(async move {
            // One that was the person's, and one that would be.
            let id = if at.is_multiple_of(2) { 1 } else { 100 + at };
            let body = if at.is_multiple_of(2) {
                json!({ "value": at })
            } else {
                json!({ "lead_id": PERSON })
            };
            let call = world.call("PUT", &format!("/crmopportunity/{id}?id=3&i=acme"));
            status("change", &call.with(wallet).json(&body).send().await)
        }),
        Box::pin(async move {
            if at % 4 != 3 {
                return ("look", 200);
            }
            status("delete", &delete(world, wallet, &PERSON.to_string()).await)
        }),
        Box::pin(async move {
            let mut opportunity = plain_opportunity(200 + at, 8, 0);
            opportunity.lead_id = Some(lead(PERSON));
            let line = vec![opportunity.into()];
            world
                .operator(ACME)
                .import::<Opportunities>(&line, false)
                .await
                .expect("an import");
            let line = meeting(
                &json!({ "id": 200 + at, "leadId": PERSON, "date": "2027-01-04T09:00:00Z",
                "endDate": "2027-01-04T10:00:00Z", "formData": { "alergia": "dipirona" } }),
            );
            world
                .operator(ACME)
                .import::<Meetings>(&[line.into()], false)
                .await
                .expect("an import");
            ("import", 200)
        }),
        Box::pin(async move {
            let line = super::person().into();
            world
                .operator(ACME)
                .import::<Leads>(&[line], true)
                .await
                .expect("an import");
            ("import", 200)
        }),
    ]
}

/// Number of responses of each kind; failures only with faults.
fn tally(answers: &[(&'static str, u16)], faults: bool) -> BTreeMap<(&'static str, u16), usize> {
    let mut tally = BTreeMap::new();
    for (what, status) in answers {
        let expected: &[u16] = match *what {
            "book" => &[200, 400, 409],
            "make" | "change" => &[200, 400],
            "archive" | "delete" => &[200, 404],
            "call" => &[201],
            _ => &[200],
        };
        let failed = faults && [500, 503].contains(status);
        assert!(failed || expected.contains(status), "{what}: {status}");
        *tally.entry((*what, *status)).or_default() += 1;
    }
    tally
}

async fn storm(faults: bool) {
    let world = stage().await;
    let wallet = world.wallet(7).await;
    let others = (0..EACH).map(|at| plain_opportunity(100 + at, 8, 0));
    add_opportunities(&world.operator(ACME), others.collect()).await;
    let world = if faults {
        world.with_faults(bad_moments(12))
    } else {
        world
    };
    let doings = (0..EACH).flat_map(|at| doings(&world, &wallet, at));
    let maintenance = async {
        for _ in 0..5 {
            tend(&world).await;
            tokio::task::yield_now().await;
        }
    };
    let (answers, ()) = tokio::join!(join_all(doings), maintenance);
    let tally = tally(&answers, faults);
    println!("{tally:?}");
    let world = world.with_faults(Arc::new(|_| None));
    let again = delete(&world, &wallet, &PERSON.to_string()).await;
    if !faults {
        assert_eq!(tally[&("delete", 200)], 1, "of several deletions one did it");
        again.is(404, &json!({ "error": "Not found" }));
    }
    world.is_sound().await;
    erase(&world).await;
    is_erased(&world).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_requests_concurrent_with_the_deletion() {
    let _sdk = over_sdk();
    for _ in 0..3 {
        storm(false).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_requests_concurrent_with_the_deletion_despite_faults() {
    let _sdk = over_sdk();
    for _ in 0..2 {
        storm(true).await;
    }
}

/// One of them deletes it, and it is counted once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_deletions_of_one_lead() {
    let world = stage().await;
    let wallet = world.wallet(7).await;
    let id = PERSON.to_string();
    let answers = join_all((0..100).map(|_| delete(&world, &wallet, &id))).await;
    let done = answers.iter().filter(|answer| answer.status == 200).count();
    let gone = answers.iter().filter(|answer| answer.status == 404).count();
    assert_eq!((done, gone), (1, 99));
    assert_eq!(crate::delete_leads_id::listed(&world, false).await.len(), 6);
    erase(&world).await;
    is_erased(&world).await;
}
