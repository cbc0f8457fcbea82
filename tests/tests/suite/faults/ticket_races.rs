//! Tickets and files that others change between the reads and the writes of an import or an erasure: what is written rests on
//! what is stored then.

use serde_json::{Value, json};
use shared::store::fault::Fault;
use shared::store::operator::Outcome;
use tests::tickets::{add_files, add_tickets, ask, file, ticket};
use tests::{ACME, World};

use super::behind;
use super::held::Held;

/// Ticket 501 of lead 1001 with some files.
async fn stocked(files: u64) -> World {
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

/// Of two imports that move a ticket the files follow the one that came last, whatever it had read before.
#[tokio::test]
async fn two_imports_of_a_ticket() {
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

/// A file comes to the lead that its ticket has when it is written.
#[tokio::test]
async fn a_file_of_a_ticket_that_moves() {
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

/// A file that others moved meanwhile is taken off the lists that it came to.
#[tokio::test]
async fn two_imports_of_a_file() {
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

/// C-24: a lead that is deleted meanwhile gets neither a ticket nor a file any more.
#[tokio::test]
async fn links_to_a_lead_that_is_deleted() {
    let world = stocked(0).await;
    let slow = Held::behind(&world, 0);
    let operator = slow.operator(&world);
    slow.during(add_files(&operator, [file(&Value::Null)]), delete(&world, 1001))
        .await;
    let slow = Held::behind(&world, 0);
    let operator = slow.operator(&world);
    let work = async {
        let outcomes =
            operator.import_tickets(vec![ticket(&json!({ "id": 502, "lead_relation": 1002 })).into()]);
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

/// C-24: a lead that is deleted while files move to it gets none of them, and they do not stay with the former one.
#[tokio::test]
async fn a_lead_that_is_deleted_while_files_move_to_it() {
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

/// The same where the import ended before: either the same line, which is refused now, or the erasure moves the files.
#[tokio::test]
async fn a_lead_that_is_deleted_before_files_moved_to_it() {
    for again in [true, false] {
        let world = stocked(3).await;
        let broken = world
            .store
            .clone()
            .with_faults(behind("TransactWriteItems", Fault::FailedBefore, 1));
        let broken = broken.operator(world.operator(ACME).instance().clone());
        let moved = || vec![ticket(&of(&json!(1002))).into()];
        assert!(broken.import_tickets(moved()).await.is_err());
        delete(&world, 1002).await;
        if again {
            let reason = "lead_relation: lead 1002 does not exist".to_owned();
            let outcomes = world.operator(ACME).import_tickets(moved()).await;
            assert_eq!(outcomes.expect("an import"), [Outcome::Refused(reason)]);
            assert_eq!(of_lead(&world, 1001).await, 0);
        }
        erase(&world).await;
        assert_eq!(of_lead(&world, 1001).await, 0);
        world.is_sound().await;
    }
}

/// A ticket that an import gave to another lead while the former one is being erased keeps what the import said.
#[tokio::test]
async fn a_ticket_that_leaves_a_lead_that_is_being_erased() {
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
