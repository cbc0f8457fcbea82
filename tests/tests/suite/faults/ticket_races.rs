//! Tickets and files that change between the reads and the writes of an import or an erasure: writes are
//! based on the stored state.

use dynamodb::faults::Fault;
use operator::kinds::Tickets;
use operator::{Operator, OperatorError, Outcome};
use serde_json::{Value, json};
use shared::store::StoreError;
use tests::tickets::{add_files, add_tickets, ask, file, ticket};
use tests::world::over_sdk;
use tests::{ACME, World};

use super::held::Held;
use super::{behind, none};

/// Ticket 501 of lead 1001 with some files.
async fn stocked(files: u64) -> World {
    let _sdk = over_sdk();
    let world = World::new().await;
    let operator = world.operator(ACME);
    add_tickets(&operator, [ticket(&Value::Null)]).await;
    let files = (1..=files).map(|n| file(&json!({ "store_path": format!("{n:02}") })));
    add_files(&operator, files).await;
    world
}

async fn of_lead(world: &World, lead: u64) -> usize {
    let path = format!("list_file_lead/{lead}");
    let answer = ask(world, &world.wallet(7).await, &path).await;
    answer.body.as_array().map_or(0, Vec::len)
}

async fn delete(world: &World, lead: u64) {
    let admin = world.wallet(7).await;
    let uri = format!("/leads/{lead}?i=acme&apitoken={}", admin.key);
    assert_eq!(world.call("DELETE", &uri).send().await.status, 200);
}

async fn erase(world: &World) {
    let erased = world.store.refresh_copies().await;
    erased.expect("what is left can be erased");
}

fn of(lead: &Value) -> Value {
    json!({ "lead_relation": lead })
}

#[tokio::test]
async fn files_follow_the_last_of_two_concurrent_imports() {
    let world = stocked(8).await;
    let slow = Held::behind(&world, 0);
    let operator = slow.operator(&world);
    let work = add_tickets(&operator, [ticket(&json!({ "obs": "x" }))]);
    let meanwhile = async {
        add_tickets(&world.operator(ACME), [ticket(&of(&json!(1002)))]).await;
        assert_eq!((of_lead(&world, 1001).await, of_lead(&world, 1002).await), (0, 8));
    };
    slow.during(work, meanwhile).await;
    assert_eq!((of_lead(&world, 1001).await, of_lead(&world, 1002).await), (8, 0));
    world.is_sound().await;
}

#[tokio::test]
async fn a_file_goes_to_the_current_lead_of_its_ticket() {
    for (from, to, counts) in [
        (Value::Null, json!(1001), (1, 0)),
        (json!(1001), json!(1002), (0, 1)),
        (json!(1001), Value::Null, (0, 0)),
    ] {
        let world = stocked(0).await;
        add_tickets(&world.operator(ACME), [ticket(&of(&from))]).await;
        let slow = Held::behind(&world, 0);
        let operator = slow.operator(&world);
        let work = add_files(&operator, [file(&Value::Null)]);
        let meanwhile = async { add_tickets(&world.operator(ACME), [ticket(&of(&to))]).await };
        slow.during(work, meanwhile).await;
        assert_eq!(
            (of_lead(&world, 1001).await, of_lead(&world, 1002).await),
            counts,
            "{from} {to}"
        );
        world.is_sound().await;
    }
}

#[tokio::test]
async fn a_concurrently_moved_file_leaves_its_former_lists() {
    let world = stocked(0).await;
    let operator = world.operator(ACME);
    add_tickets(&operator, [ticket(&json!({ "id": 502, "lead_relation": 1002 }))]).await;
    let slow = Held::behind(&world, 0);
    let late = slow.operator(&world);
    let work = add_files(&late, [file(&json!({ "id": 9 }))]);
    slow.during(
        work,
        add_files(&operator, [file(&json!({ "id": 9, "ticket": 502 }))]),
    )
    .await;
    assert_eq!((of_lead(&world, 1001).await, of_lead(&world, 1002).await), (1, 0));
    world.is_sound().await;
}

/// C-24.
#[tokio::test]
async fn a_concurrently_deleted_lead_gets_no_tickets_and_files() {
    let world = stocked(0).await;
    let slow = Held::behind(&world, 0);
    let operator = slow.operator(&world);
    slow.during(add_files(&operator, [file(&Value::Null)]), delete(&world, 1001))
        .await;
    let slow = Held::behind(&world, 0);
    let operator = slow.operator(&world);
    let work = async {
        let tickets = [ticket(&json!({ "id": 502, "lead_relation": 1002 })).into()];
        let outcomes = operator.import::<Tickets>(&tickets, false);
        let reason = "lead_relation: lead 1002 does not exist".to_owned();
        assert_eq!(outcomes.await.expect("an import"), [Outcome::Refused(reason)]);
    };
    slow.during(work, delete(&world, 1002)).await;
    let items = world
        .store
        .dump(world.operator(ACME).instance())
        .await
        .expect("the items");
    let linked = ["acme#lead-file#1001", "acme#lead-ticket#1002"];
    assert!(
        !items
            .iter()
            .any(|item| linked.iter().any(|list| item.contains(list)))
    );
    world.is_sound().await;
    erase(&world).await;
    world.is_sound().await;
}

/// C-24: neither do they stay with the former lead.
#[tokio::test]
async fn a_lead_deleted_while_files_move_to_it_gets_none() {
    let world = stocked(3).await;
    // The ticket is written; the first file waits.
    let slow = Held::behind(&world, 1);
    let operator = slow.operator(&world);
    slow.during(
        add_tickets(&operator, [ticket(&of(&json!(1002)))]),
        delete(&world, 1002),
    )
    .await;
    assert_eq!(of_lead(&world, 1001).await, 0);
    erase(&world).await;
    world.is_sound().await;
}

/// The same after an interrupted import: a repeated line is rejected, or the erasure moves the files.
#[tokio::test]
async fn a_lead_deleted_after_an_interrupted_import_gets_no_files() {
    let _sdk = over_sdk();
    for again in [true, false] {
        let world = stocked(3).await;
        let broken = world.faulty(behind("TransactWriteItems", Fault::FailedBefore, 1));
        let broken = Operator::new(&broken, world.operator(ACME).instance().clone());
        let moved = || vec![ticket(&of(&json!(1002))).into()];
        assert!(broken.import::<Tickets>(&moved(), false).await.is_err());
        delete(&world, 1002).await;
        if again {
            let reason = "lead_relation: lead 1002 does not exist".to_owned();
            let outcomes = world.operator(ACME).import::<Tickets>(&moved(), false).await;
            assert_eq!(outcomes.expect("an import"), [Outcome::Refused(reason)]);
            assert_eq!(of_lead(&world, 1001).await, 0);
        }
        erase(&world).await;
        assert_eq!(of_lead(&world, 1001).await, 0);
        world.is_sound().await;
    }
}

#[tokio::test]
async fn a_ticket_reassigned_during_an_erasure_is_kept() {
    let world = stocked(0).await;
    // The newer one is erased first.
    let older = json!({ "id": 500, "createDate": "2026-04-01T10:00:00.000Z" });
    add_tickets(&world.operator(ACME), [ticket(&older)]).await;
    delete(&world, 1001).await;
    let slow = Held::behind(&world, 0);
    let work = async {
        slow.store
            .refresh_copies()
            .await
            .expect("what is left can be erased");
    };
    let kept = ticket(&json!({ "id": 500, "lead_relation": 1002 }));
    slow.during(work, add_tickets(&world.operator(ACME), [kept.clone()]))
        .await;
    let answer = ask(&world, &world.wallet(7).await, "lead/1002").await;
    answer.is(
        200,
        &json!([tests::tickets::shown(
            &json!({ "id": 500, "lead_relation": 1002 })
        )]),
    );
    world.is_sound().await;
}

/// A repeated line for the ticket contains no change, but completes the move.
#[tokio::test]
async fn an_interrupted_move_of_files_is_completed() {
    let _sdk = over_sdk();
    // The ticket is written, then each file, then the mark is deleted.
    for broken_at in [1, 2, 8, 9] {
        let world = stocked(8).await;
        let plan = behind("TransactWriteItems", Fault::FailedBefore, broken_at);
        let faulty = world.faulty(plan);
        let moved = || vec![ticket(&json!({ "lead_relation": 1002 })).into()];
        let ended = Operator::new(&faulty, world.operator(ACME).instance().clone())
            .import::<Tickets>(&moved(), false)
            .await;
        assert!(
            matches!(ended, Err(OperatorError::Store(StoreError::Unavailable { .. }))),
            "{broken_at}: {ended:?}"
        );
        let again = world.operator(ACME).import::<Tickets>(&moved(), false).await;
        assert_eq!(again.map(|outcomes| outcomes.len()).ok(), Some(1));
        assert_eq!(
            (of_lead(&world, 1001).await, of_lead(&world, 1002).await),
            (0, 8),
            "{broken_at}"
        );
        world.with_faults(none()).is_sound().await;
    }
}
