//! Far pages of leads that are read and counted while leads come, go and change.

use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::future::join_all;
use serde_json::{Value, json};
use tests::people::add_leads;
use tests::world::over_sdk;
use tests::{ACME, Wallet, World};

use super::{FAILED, bad_moments, persist};
use crate::get_leads::far::{LIMIT, VIEWERS, counted, pages_are_those_of_a_walk, scattered};

/// Changes a lead; the routes of deletion and archive take their key from the query. Another change may have deleted it.
async fn change(world: &World, wallet: &Wallet, method: &str, path: &str, body: &Value) {
    let uri = format!("{path}?i=acme");
    let send = async || match (method, path) {
        ("DELETE", _) | (_, "/lead/archive") => {
            let uri = format!("{uri}&apitoken={}", wallet.key);
            world.call(method, &uri).json(body).send().await
        }
        _ => world.call(method, &uri).with(wallet).json(body).send().await,
    };
    let (answer, _) = persist(send, FAILED[1]).await;
    assert!(
        [200, 404].contains(&answer.status.as_u16()),
        "{method} {path}: {}",
        answer.body
    );
}

/// Every page is finally that of a walk, so no race has put a wrong number into a rank.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ranks_are_exact_after_races() {
    let _sdk = over_sdk();
    let world = World::new().await;
    let table = world.raw();
    add_leads(&world.operator(ACME), scattered(1_200)).await;
    let mut wallets = Vec::new();
    for viewer in VIEWERS {
        wallets.push(world.known(viewer).await);
    }
    let over = AtomicBool::new(false);
    let id = |n: u64| 2_000 + 41 * n;
    {
        let world = world.beside().with_faults(bad_moments(4));
        let admin = &wallets[0];
        let changes = (0..8_u64).map(async |part| {
            for n in (1 + part..1_200).step_by(31) {
                let lead = format!("/leads/{}", id(n));
                let (method, path, body) = match n % 4 {
                    0 => ("DELETE", lead.as_str(), Value::Null),
                    1 => ("PUT", lead.as_str(), json!({ "owner": 9 })),
                    2 => (
                        "POST",
                        "/lead/archive",
                        json!({ "archived": n % 8 == 2, "id": id(n) }),
                    ),
                    _ => ("POST", "/leads", json!({ "firstname": "Nara", "owner": 8 })),
                };
                change(&world, admin, method, path, &body).await;
            }
        });
        let changes = async {
            join_all(changes).await;
            over.store(true, Ordering::Relaxed);
        };
        let reads = wallets.iter().map(async |wallet| {
            let mut round = 0;
            while !over.load(Ordering::Relaxed) {
                round += 1;
                let page = 6 + round % 3;
                let uri = format!("/leads?i=acme&limit={LIMIT}&page={page}");
                let send = async || {
                    let request = world.get(&uri).with(wallet);
                    request.header("user-agent", &format!("{round}")).send().await
                };
                persist(send, FAILED[1]).await;
            }
            round
        });
        let ((), rounds) = tokio::join!(changes, join_all(reads));
        println!("{rounds:?} pages, {} ranks counted", counted(&table).len());
    }
    pages_are_those_of_a_walk(&world, "finally").await;
    assert!(!counted(&table).is_empty());
}
