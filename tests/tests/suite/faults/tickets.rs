//! Endpoints 16 to 18: a fault that passes is not seen; one that stays is an honest failure that tells nothing. Moving files
//! behind their ticket, and erasing a lead's tickets, are finished by doing them again.

use serde_json::{Value, json};
use shared::store::StoreError;
use shared::store::fault::Fault;
use shared::store::operator::OperatorError;
use tests::tickets::{add_files, add_tickets, ask, file, ticket};
use tests::{ACME, World};

use super::{always, behind, first, none};

async fn stocked(files: u64) -> World {
    let world = World::new().await;
    let operator = world.operator(ACME);
    add_tickets(&operator, [ticket(&Value::Null)]).await;
    let files = (1..=files).map(|n| file(&json!({ "store_path": format!("{n:02}") })));
    add_files(&operator, files).await;
    world
}

#[tokio::test]
async fn reading() {
    let mut world = stocked(1).await;
    let seller = world.wallet(8).await;
    for (path, makes) in [
        ("lead/1001", &["BatchGetItem", "GetItem", "Query"][..]),
        ("list_file_attendance/501", &["BatchGetItem", "Query"]),
        ("list_file_lead/1001", &["BatchGetItem", "GetItem", "Query"]),
    ] {
        for operation in ["BatchGetItem", "GetItem", "Query"] {
            for fault in [Fault::Throttled, Fault::FailedBefore, Fault::FailedAfter] {
                world = world.with_faults(first(operation, fault, 1));
                let answer = ask(&world, &seller, path).await;
                assert_eq!(
                    answer.status, 200,
                    "{path} {operation} {fault:?} once: {}",
                    answer.body
                );
                world = world.with_faults(always(operation, fault));
                let answer = ask(&world, &seller, path).await;
                if makes.contains(&operation) {
                    answer.is(500, &json!({ "error": "Internal error" }));
                } else {
                    assert_eq!(
                        answer.status, 200,
                        "{path} {operation} {fault:?}: {}",
                        answer.body
                    );
                }
            }
        }
    }
}

/// How many files each of two leads has.
async fn counts(world: &World) -> [usize; 2] {
    let admin = world.wallet(7).await;
    let mut counts = [0; 2];
    for (count, lead) in counts.iter_mut().zip([1001, 1002]) {
        let answer = ask(world, &admin, &format!("list_file_lead/{lead}")).await;
        *count = answer.body.as_array().map_or(0, Vec::len);
    }
    counts
}

/// The line that moved the ticket says nothing new the second time, and finishes what was begun.
#[tokio::test]
async fn an_import_that_ends_while_files_are_moved() {
    // The ticket is written, then each file, then the mark is taken down.
    for broken_at in [1, 2, 8, 9] {
        let world = stocked(8).await;
        let plan = behind("TransactWriteItems", Fault::FailedBefore, broken_at);
        let faulty = world.store.clone().with_faults(plan);
        let moved = || vec![ticket(&json!({ "lead_relation": 1002 })).into()];
        let ended = faulty
            .operator(world.operator(ACME).instance().clone())
            .import_tickets(moved())
            .await;
        assert!(
            matches!(ended, Err(OperatorError::Store(StoreError::Unavailable { .. }))),
            "{broken_at}: {ended:?}"
        );
        let again = world.operator(ACME).import_tickets(moved()).await;
        assert_eq!(again.map(|outcomes| outcomes.len()).ok(), Some(1));
        assert_eq!(counts(&world).await, [0, 8], "{broken_at}");
        world.with_faults(none()).is_sound().await;
    }
}
