//! Large leads, whose custom fields are in an item of their own: the details.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use dynamodb::faults::FaultPlan;
use futures_util::future::join_all;
use serde_json::{Value, json};
use tests::forms::{add_form, received, submit};
use tests::people::settle;
use tests::raw::RawTable;
use tests::reports::{add_reports, chart, plotted, report};
use tests::world::over_sdk;
use tests::{ACME, Answer, Wallet, World};

use crate::delete_leads_id::delete;
use crate::formats::{export, import};
use crate::put_leads::put;

const DETAILS: &str = "acme#lead-details";
const LEAD: &str = "000000000001001";

/// A text of 5 KB that only this number of text has.
fn large(number: usize) -> String {
    format!("nota {number}; ").repeat(700).trim_end().to_owned()
}

/// A change of two fields of the details and one of the record.
fn change(number: usize) -> Value {
    json!({ "historico": large(number), "copia": number, "city": number.to_string() })
}

/// A table with a large lead.
async fn stocked() -> (World, RawTable, Wallet) {
    let world = World::own().await;
    settle(&world.operator(ACME)).await;
    let (table, wallet) = (world.raw(), world.wallet(7).await);
    let answer = put(&world, &wallet, 1001, &change(0)).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert!(is_divided(&table));
    (world, table, wallet)
}

fn is_divided(table: &RawTable) -> bool {
    let record = table.get("acme#lead", LEAD).expect("the record");
    let details = table.get(DETAILS, LEAD);
    assert_eq!(record.get("digest").is_some(), details.is_some());
    assert_ne!(record.get("custom").is_some(), details.is_some());
    details.is_some()
}

async fn full(world: &World, wallet: &Wallet) -> Answer {
    let uri = "/leads/1001?i=acme&allFields=1";
    world.get(uri).with(wallet).send().await
}

/// The number of the last change. All of its fields are of one change.
#[track_caller]
fn shown(lead: &Value) -> usize {
    let number = lead["copia"].as_u64().expect("a number");
    let number = usize::try_from(number).expect("small");
    assert_eq!(lead["city"], number.to_string());
    assert_eq!(lead["historico"], large(number));
    number
}

/// Runs an action completely before the `nth` call of an operation.
fn before<F>(operation: &'static str, nth: usize, action: impl Fn() -> F + Send + Sync + 'static) -> FaultPlan
where
    F: Future<Output = ()>,
{
    let met = AtomicUsize::new(0);
    Arc::new(move |called| {
        if called == operation && met.fetch_add(1, Ordering::Relaxed) + 1 == nth {
            tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(action()));
        }
        None
    })
}

/// A change between the reads of record and details: both are read again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_between_two_reads_tears_no_response() {
    let _sdk = over_sdk();
    let to_small = json!({ "historico": null, "copia": 1, "city": "1" });
    for (uri, shrinks) in [
        ("/leads/1001?i=acme&allFields=1", false),
        ("/leads?i=acme&allFields=1", false),
    ]
    .into_iter()
    .chain([("/leads/1001?i=acme&allFields=1", true)])
    {
        for nth in 1..=4 {
            let (world, _, wallet) = stocked().await;
            let body = if shrinks { to_small.clone() } else { change(1) };
            let (other, caller) = (Arc::new(world.beside()), wallet.clone());
            let plan = before("BatchGetItem", nth, move || {
                let (other, caller, body) = (other.clone(), caller.clone(), body.clone());
                async move { assert_eq!(put(&other, &caller, 1001, &body).await.status, 200) }
            });
            let answer = world
                .beside()
                .with_faults(plan)
                .get(uri)
                .with(&wallet)
                .send()
                .await;
            assert_eq!(answer.status, 200, "{}", answer.body);
            let data = &answer.body["data"];
            let of_page = data["leads"]
                .as_array()
                .and_then(|leads| leads.iter().find(|lead| lead["id"] == 1001));
            let lead = of_page.unwrap_or(&data["lead"]);
            if shrinks && lead["copia"] == 1 {
                assert_eq!((&lead["city"], lead.get("historico")), (&json!("1"), None));
            } else {
                shown(lead);
            }
            world.is_sound().await;
        }
    }
}

/// A call and a change of other custom fields before a change's transaction: nothing is lost.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_races_with_calls_and_other_changes() {
    let _sdk = over_sdk();
    let call = json!({ "event": "call", "data": { "user": 8, "leadPhone": "+55 11 97326-3471", "type": "INCOMING",
        "status": "COMPLETE", "duration": 65, "record": true, "service": "acme-voip" } });
    for calls in [true, false] {
        let (world, _, wallet) = stocked().await;
        world.clock.set(world.clock.get().plus_seconds(60));
        let (other, caller, sent) = (Arc::new(world.beside()), wallet.clone(), call.clone());
        let plan = before("TransactWriteItems", 1, move || {
            let (other, caller, sent) = (other.clone(), caller.clone(), sent.clone());
            async move {
                if calls {
                    assert_eq!(other.webhook(&sent).send().await.status, 201);
                } else {
                    let body = json!({ "outro": large(7) });
                    assert_eq!(put(&other, &caller, 1001, &body).await.status, 200);
                }
            }
        });
        let faulty = world.beside().with_faults(plan);
        let answer = put(&faulty, &wallet, 1001, &change(1)).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        let found = full(&world, &wallet).await.body["data"]["lead"].clone();
        assert_eq!(shown(&found), 1);
        assert_eq!(found.get("outro"), (!calls).then(|| json!(large(7))).as_ref());
        assert_eq!(
            found["lastActive"] == json!(world.clock.get().to_string()),
            calls,
            "{found}"
        );
        world.is_sound().await;
    }
}

/// Writers of the custom fields, of the record alone and readers at once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_storm_on_a_large_lead() {
    let (world, table, wallet) = stocked().await;
    let done = (1..=12).map(async |number| {
        let (custom, points) = (change(number), json!({ "points": number }));
        let (changed, read, counted) = tokio::join!(
            put(&world, &wallet, 1001, &custom),
            full(&world, &wallet),
            put(&world, &wallet, 1001, &points),
        );
        for answer in [changed, read, counted] {
            assert_eq!(answer.status, 200, "{}", answer.body);
            let lead = answer.body["data"].get("lead").unwrap_or(&answer.body["data"]);
            shown(lead);
        }
    });
    join_all(done).await;
    assert!(is_divided(&table));
    world.is_sound().await;
}

/// A lead that shrinks loses the details, a form completes the custom fields of a large lead, and archiving leaves them.
#[tokio::test]
async fn details_follow_the_lead() {
    let (world, table, wallet) = stocked().await;
    let by_owner = json!({ "entity": "leads", "groupBy": "user" });
    add_reports(&world.operator(ACME), [report(1, &by_owner)]).await;
    let counted = plotted(&chart(&world, &wallet, 1, "").await);
    put(&world, &wallet, 1001, &json!({ "historico": null })).await;
    assert!(!is_divided(&table));
    assert_eq!(plotted(&chart(&world, &wallet, 1, "").await), counted);
    put(&world, &wallet, 1001, &change(0)).await;
    let form = json!({ "unique": ["email"], "fields": [{ "name": "email", "to": "email" }, { "name": "historico" }, { "name": "cargo" }] });
    add_form(&world.operator(ACME), &form).await;
    let email = full(&world, &wallet).await.body["data"]["lead"]["email"].clone();
    let sent = json!({ "email": email, "historico": "novo", "cargo": "CEO" });
    submit(&world, &sent).await.is(200, &received(1001));
    let details = table.get(DETAILS, LEAD);
    let uri = format!("/lead/archive?i=acme&apitoken={}", wallet.key);
    let archived = world
        .call("POST", &uri)
        .json(&json!({ "id": 1001, "archived": true }))
        .send()
        .await;
    assert_eq!(archived.status, 200, "{}", archived.body);
    assert_eq!(table.get(DETAILS, LEAD), details);
    let found = full(&world, &wallet).await.body["data"]["lead"].clone();
    assert_eq!(
        (shown(&found), &found["cargo"], &found["archived"]),
        (0, &json!("CEO"), &json!(true))
    );
    world.is_sound().await;

    put(&world, &wallet, 1001, &json!({ "historico": null })).await;
    assert!(!is_divided(&table));
    assert_eq!(full(&world, &wallet).await.body["data"]["lead"]["cargo"], "CEO");
    put(&world, &wallet, 1001, &change(2)).await;
    assert!(is_divided(&table));
    world.is_sound().await;

    // C-24
    delete(&world, &wallet, "1001").await;
    let left = table
        .items()
        .iter()
        .any(|item| item.to_string().contains("nota 2;"));
    assert!(!left && table.get(DETAILS, LEAD).is_none());
    world.is_sound().await;
}

/// An import writes what the API wrote, and writes it once.
#[tokio::test]
async fn large_leads_are_exported_and_imported() {
    let (world, table, _) = stocked().await;
    let mut lines = export(&world).await;
    for line in &mut lines {
        // It exists in copies only.
        line.as_object_mut().expect("a line").shift_remove("company");
    }
    let text: Vec<_> = lines.iter().map(Value::to_string).collect();
    let copy = World::own().await;
    copy.operator(ACME).create_instance().await.expect("the instance");
    for _ in 0..2 {
        import(&copy, &text.join("\n")).await;
        let large = |lines: Vec<Value>| {
            let mut lines = lines.into_iter();
            lines.find(|line| line["kind"] == "lead" && line["id"] == 1001)
        };
        assert_eq!(large(export(&copy).await), large(lines.clone()));
    }
    assert_eq!(copy.raw().get(DETAILS, LEAD), table.get(DETAILS, LEAD));
    let record = copy.raw().get("acme#lead", LEAD).expect("the record");
    assert_eq!(record["v"], json!({ "N": "1" }));
    copy.is_sound().await;
}

/// Lost details: the doctor names them, pages leave the lead out, and an import restores it. Details that no record has are
/// removed.
#[tokio::test]
async fn the_doctor_compares_details_with_records() {
    let (world, table, wallet) = stocked().await;
    let right = table.get(DETAILS, LEAD).expect("the details");
    let line = export(&world)
        .await
        .into_iter()
        .find(|line| line["kind"] == "lead" && line["id"] == 1001);
    let line = line.expect("the lead").to_string();
    let found = async |repair| {
        let diagnosis = world
            .operator(ACME)
            .doctor(repair, &|_| {})
            .await
            .expect("a diagnosis");
        let told = diagnosis.differences.into_iter();
        told.map(|it| (it.item, it.reason, it.repaired))
            .collect::<Vec<_>>()
    };
    let mut wrong = right.clone();
    wrong["custom"] = json!({ "S": "{}" });
    let mut torn = right.clone();
    torn["digest"] = json!({ "S": "00" });
    for damaged in [None, Some(wrong), Some(torn)] {
        let case = format!("{damaged:?}");
        let is_read = damaged
            .as_ref()
            .is_some_and(|item| item["digest"] == right["digest"]);
        let fault = damaged
            .as_ref()
            .map_or("is missing: ", |_| "is not what is derived: ");
        match &damaged {
            Some(item) => table.put(DETAILS, LEAD, item),
            None => table.delete(DETAILS, LEAD),
        }
        let expected = vec![(
            format!("{DETAILS} {LEAD}"),
            format!("{fault}lead 1001 has it"),
            false,
        )];
        for repair in [false, true] {
            assert_eq!(found(repair).await, expected, "{case}");
        }
        let page = world.get("/leads?i=acme&allFields=1").with(&wallet).send().await;
        assert_eq!(page.status, 200);
        let leads = page.body["data"]["leads"].as_array().expect("leads");
        assert_eq!(leads.iter().any(|lead| lead["id"] == 1001), is_read, "{case}");
        assert_eq!(
            full(&world, &wallet).await.status,
            if is_read { 200 } else { 500 },
            "{case}"
        );
        import(&world, &line).await;
        assert_eq!(found(false).await, [], "{case}");
        assert_eq!(shown(&full(&world, &wallet).await.body["data"]["lead"]), 0);
    }
    let other = "000000000001002";
    table.put(DETAILS, other, &right);
    let orphan = (
        format!("{DETAILS} {other}"),
        "lead 1002 does not have it".to_owned(),
    );
    for repaired in [false, true] {
        assert_eq!(
            found(repaired).await,
            [(orphan.0.clone(), orphan.1.clone(), repaired)]
        );
    }
    assert_eq!(
        (found(false).await, table.get(DETAILS, other)),
        (Vec::new(), None)
    );
}
