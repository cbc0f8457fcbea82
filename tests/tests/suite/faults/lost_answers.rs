//! Endpoints 7 and 8 with writes of unknown outcome, and with combinations of faults.

use dynamodb::faults::Fault;
use futures_util::future::join_all;
use serde_json::{Value, json};
use tests::sales::{add_opportunities, plain_opportunity};
use tests::world::over_sdk;
use tests::{ACME, Wallet, World};

use super::{SDK_ATTEMPTS, always, either, failure, first};
use crate::concurrency::{post, put, records, shop};

const WRITE: &str = "TransactWriteItems";

async fn desk() -> (World, Wallet) {
    let world = shop().await;
    let wallet = world.wallet(7).await;
    (world, wallet)
}

fn body() -> Value {
    json!({ "title": "Pedido", "crm_column": 31, "lead_id": 1001, "value": "213.20" })
}

/// A lost response, and the next attempt conflicts with its own write.
#[tokio::test]
async fn a_conflict_with_the_own_write_is_recognised() {
    let _sdk = over_sdk();
    for times in 1..SDK_ATTEMPTS {
        let (world, wallet) = desk().await;
        let plan = || {
            either(
                first(WRITE, Fault::FailedAfter, times),
                first(WRITE, Fault::Conflict, 1),
            )
        };
        let world = world.with_faults(plan());
        let answer = post(&world, &wallet, None, &body()).await;
        assert_eq!((answer.status.as_u16(), &answer.body["id"]), (200, &json!(1)));
        let world = world.with_faults(plan());
        let answer = put(&world, &wallet, 1, &json!({ "status": "gain" })).await;
        assert_eq!(
            (answer.status.as_u16(), &answer.body["data"]["status"]),
            (200, &json!("gain"))
        );
        let records = records(&world).await;
        assert_eq!((records.len(), records[0].version), (1, 2), "each was done once");
        world.is_sound().await;
    }
}

/// C-32: a user who closes an opportunity and can then no longer see it gets a response, also after a lost
/// one.
#[tokio::test]
async fn closing_out_of_sight_is_answered_after_a_lost_response() {
    let _sdk = over_sdk();
    for plan in [
        first(WRITE, Fault::FailedAfter, SDK_ATTEMPTS),
        either(
            first(WRITE, Fault::FailedAfter, 1),
            first(WRITE, Fault::Conflict, 1),
        ),
    ] {
        let world = shop().await;
        add_opportunities(&world.operator(ACME), vec![plain_opportunity(1, 9, 0)]).await;
        let wallet = world.wallet(9).await;
        let world = world.with_faults(plan);
        let answer = put(&world, &wallet, 1, &json!({ "status": "gain" })).await;
        assert_eq!(
            (answer.status.as_u16(), &answer.body["data"]["status"]),
            (200, &json!("gain"))
        );
        let again = put(&world, &wallet, 1, &json!({ "status": "open" })).await;
        again.is(400, &json!({ "error": "Invalid request" }));
        world.is_sound().await;
    }
}

/// A request whose id was taken reserves another with a single write. A fault in that write is invisible, including a
/// conflict with other transactions.
#[tokio::test]
async fn reserving_an_id_survives_faults() {
    let _sdk = over_sdk();
    let made_by_eight = async |world: &World, wallet: &Wallet, fault: Fault| {
        let calls = (0..8).map(async |at: u64| {
            let body = json!({ "title": format!("Pedido {at}"), "crm_column": 31, "lead_id": 1001 });
            let answer = post(world, wallet, None, &body).await;
            if answer.status != 200 {
                let (status, text) = failure(fault);
                answer.is(status, &json!({ "msg": text }));
            }
            usize::from(answer.status == 200)
        });
        let made = join_all(calls).await.into_iter().sum::<usize>();
        assert_eq!(
            records(world).await.len(),
            made,
            "acknowledged and there, or neither"
        );
        world.is_sound().await;
        made
    };
    for fault in [
        Fault::Throttled,
        Fault::FailedBefore,
        Fault::FailedAfter,
        Fault::Conflict,
    ] {
        let (world, wallet) = desk().await;
        let world = world.with_faults(first("UpdateItem", fault, 3));
        assert_eq!(made_by_eight(&world, &wallet, fault).await, 8, "{fault:?}");
        let (world, wallet) = desk().await;
        let world = world.with_faults(always("UpdateItem", fault));
        let made = made_by_eight(&world, &wallet, fault).await;
        assert!((1..8).contains(&made), "{fault:?}: {made}");
    }
}
