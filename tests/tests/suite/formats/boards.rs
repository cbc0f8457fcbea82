//! Boards during a migration.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use shared::store::testing::faults;
use tests::World;

use super::stage::Kept;
use super::{KEPT, world_over};
use crate::model::tries_every_case;

/// C-45, C-88: boards count the opportunities that are created and moved during a migration, also in a process that was
/// started before it.
#[tokio::test]
async fn boards_count_writes_during_a_migration() {
    for (format, text) in KEPT {
        let kept = Kept::read(text);
        let mut at = 0;
        loop {
            let (world, _) = world_over(&kept).await;
            let former = world.through(world.store.unaware());
            let before = totals(&former, &kept).await;
            let calls = AtomicUsize::new(0);
            let plan = Arc::new(move |_: &str| {
                let call = calls.fetch_add(1, Ordering::Relaxed);
                (call >= at).then_some(faults::Fault::FailedBefore)
            });
            let faulty = world.store.clone().with_faults(plan);
            let whole = operator::migrate(&faulty, true, &|_, _| {}).await.is_ok();
            let case = format!("{format} cut off at {at}");
            for world in [&world, &former] {
                assert_eq!(totals(world, &kept).await, before, "{case}");
            }
            create_and_move(&former, &kept).await;
            let after = totals(&former, &kept).await;
            assert_ne!(after, before, "{case}");
            assert_eq!(totals(&world, &kept).await, after, "{case}");
            world.is_sound().await;
            operator::migrate(&world.store, true, &|_, _| {})
                .await
                .expect("a migration");
            for world in [&world, &former] {
                assert_eq!(totals(world, &kept).await, after, "{case} and ended");
            }
            world.is_sound().await;
            if whole {
                break;
            }
            at = at * if tries_every_case() { 4 } else { 10 } + 1;
        }
        assert!(at > 2, "{at}");
    }
}

/// The totals of boards: of all users and of one, of the archive and of the others.
async fn totals(world: &World, kept: &Kept) -> Vec<Value> {
    let mut totals = Vec::new();
    for filter in [
        json!({}),
        json!({ "filterByUsers": [8] }),
        json!({ "filterByStatus": ["open"] }),
        json!({ "onlyArchived": true }),
    ] {
        let uri = format!("/crm/opportunities/3?i=acme&apitoken={}", kept.wallet().key);
        let body = tests::sales::page(1, 1, &filter);
        let board = world.call("POST", &uri).json(&body).send().await.body;
        let columns = board.as_array().expect("columns").iter();
        totals.extend(columns.map(|column| json!([column["id"], column["total"], column["totalValue"]])));
    }
    totals
}

/// Creates an opportunity and moves others.
async fn create_and_move(world: &World, kept: &Kept) {
    let wallet = kept.wallet();
    let new = json!({ "title": "Nova", "crm_column": 31, "lead_id": 1001, "user": 8, "value": "3.50" });
    for (method, path, body) in [
        ("POST", "/crmopportunity", new),
        ("PUT", "/crmopportunity/1", json!({ "crm_column": 32 })),
        (
            "PUT",
            "/crmopportunity/2",
            json!({ "status": "lost", "value": "7.25" }),
        ),
    ] {
        let call = world.call(method, &format!("{path}?id=3&i=acme")).with(&wallet);
        let answer = call.json(&body).send().await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
    }
}
