//! Endpoints 7 to 10: a fault of any kind in any call that they make.

use serde_json::{Value, json};
use shared::store::fault::Fault;
use tests::sales::{add_opportunities, plain_opportunity};
use tests::world::Answer;
use tests::{ACME, Wallet, World};

use super::{always, first, none};
use crate::concurrency::{look, post, put, records, shop};

const FAULTS: [Fault; 4] = [
    Fault::Throttled,
    Fault::FailedBefore,
    Fault::FailedAfter,
    Fault::Conflict,
];
const OPERATIONS: [&str; 6] = [
    "BatchGetItem",
    "GetItem",
    "Query",
    "TransactWriteItems",
    "PutItem",
    "UpdateItem",
];

/// An endpoint in one of its uses.
struct Case {
    /// The calls that it makes where nothing comes in between.
    makes: &'static [&'static str],
    failed: Value,
    ask: for<'a> fn(&'a World, &'a Wallet, u64) -> Asking<'a>,
}

type Asking<'a> = std::pin::Pin<Box<dyn Future<Output = Answer> + 'a>>;

/// Three opportunities, so that a page of three is full and its end remembered.
async fn stocked() -> (World, Wallet) {
    let world = shop().await;
    let stock = (1..=3).map(|id| plain_opportunity(id, 7, u32::try_from(id).expect("small")));
    add_opportunities(&world.operator(ACME), stock.collect()).await;
    let wallet = world.wallet(7).await;
    (world, wallet)
}

/// A fault that passes is not seen; one that stays is an honest failure that tells nothing, or is not met. A write of which
/// nobody hears is recognised.
async fn meets_every_fault(case: &Case) {
    let (mut world, wallet) = stocked().await;
    let mut turn = 0;
    for operation in OPERATIONS {
        for fault in FAULTS {
            turn += 1;
            world = world.with_faults(first(operation, fault, 1));
            let answer = (case.ask)(&world, &wallet, turn).await;
            assert_eq!(answer.status, 200, "{operation} {fault:?} once: {}", answer.body);
            turn += 1;
            world = world.with_faults(always(operation, fault));
            let answer = (case.ask)(&world, &wallet, turn).await;
            let heard = operation != "TransactWriteItems" || fault != Fault::FailedAfter;
            if case.makes.contains(&operation) && heard {
                assert_eq!(
                    (answer.status.as_u16(), &answer.body),
                    (500, &case.failed),
                    "{operation} {fault:?}"
                );
            } else {
                assert_eq!(answer.status, 200, "{operation} {fault:?}: {}", answer.body);
            }
        }
    }
    world.with_faults(none()).is_sound().await;
}

#[tokio::test]
async fn making() {
    meets_every_fault(&Case {
        makes: &["BatchGetItem", "TransactWriteItems"],
        failed: json!({ "msg": "Internal error" }),
        ask: |world, wallet, turn| {
            Box::pin(async move {
                let before = records(world).await.len();
                let body = json!({ "title": format!("Pedido {turn}"), "crm_column": 31, "lead_id": 1001 });
                let answer = post(world, wallet, None, &body).await;
                let made = records(world).await.len() - before;
                assert_eq!(
                    made,
                    usize::from(answer.status == 200),
                    "acknowledged and there, or neither"
                );
                answer
            })
        },
    })
    .await;
}

#[tokio::test]
async fn changing() {
    meets_every_fault(&Case {
        makes: &["BatchGetItem", "Query", "TransactWriteItems"],
        failed: json!({ "error": "Internal error" }),
        ask: |world, wallet, turn| {
            Box::pin(async move {
                let before = records(world).await[0].version;
                let title = format!("Pedido {turn}");
                let answer = put(world, wallet, 1, &json!({ "title": title })).await;
                let record = &records(world).await[0];
                let changed = record.card.opportunity.title == title;
                assert_eq!(
                    changed,
                    answer.status == 200,
                    "acknowledged and there, or neither"
                );
                assert_eq!(record.version - before, u64::from(changed), "once");
                answer
            })
        },
    })
    .await;
}

#[tokio::test]
async fn funnels() {
    meets_every_fault(&Case {
        makes: &["BatchGetItem", "Query"],
        failed: json!({ "error": "Internal error" }),
        ask: |world, wallet, _| {
            Box::pin(async move {
                world
                    .get(&format!("/crm?i=acme&apitoken={}", wallet.key))
                    .send()
                    .await
            })
        },
    })
    .await;
}

/// A page whose end cannot be remembered is a failure: where an earlier walk was remembered, the next page would begin at
/// its place, and skip in silence as many as came since (C-42).
#[tokio::test]
async fn a_page_of_a_column() {
    meets_every_fault(&Case {
        makes: &["BatchGetItem", "GetItem", "Query", "PutItem"],
        failed: json!({ "error": "Internal error" }),
        ask: |world, wallet, _| {
            Box::pin(async move {
                let uri = format!("/crm/opportunities/3?i=acme&apitoken={}", wallet.key);
                let body = tests::sales::page(1, 3, &json!({ "columnId": 31 }));
                world.call("POST", &uri).json(&body).send().await
            })
        },
    })
    .await;
}

#[tokio::test]
async fn the_board() {
    meets_every_fault(&Case {
        makes: &["BatchGetItem", "GetItem", "Query"],
        failed: json!({ "error": "Internal error" }),
        ask: |world, wallet, _| Box::pin(async move { look(world, wallet, &json!({})).await }),
    })
    .await;
}
