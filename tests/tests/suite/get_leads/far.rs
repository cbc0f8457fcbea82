//! Far pages of `GET /leads` that are asked alone: found through blocks, and equal to a walk.

use serde_json::{Value, json};
use shared::lead::Lead;
use tests::people::{add_leads, plain_lead, user};
use tests::{ACME, Answer, Wallet, World};

use super::ids;

const LIMIT: u64 = 100;
/// Users who see all leads, all but some with access lists, their own, and those of a department.
const VIEWERS: [u64; 4] = [7, 14, 8, 10];

/// Leads with ids far from each other: of user 8, of 9 or without owner; some have access lists, every third is archived.
fn scattered(leads: u64) -> Vec<Lead> {
    let some = (1..=leads).map(|n| {
        let owner = [Some(8), Some(8), Some(8), Some(9), None][usize::try_from(n % 5).expect("small")];
        let listed = n / 100 % 3 == 1 && n % 7 == 0;
        let access = [8, 14, 9][usize::try_from(n % 3).expect("small")];
        Lead {
            archived: n % 3 == 0,
            user_access: listed.then(|| user(access)).into_iter().collect(),
            ..plain_lead(2_000 + 41 * n, "Pessoa", "de Tal", owner)
        }
    });
    some.collect()
}

/// A page, to a client of this name. Clients with other names have no cursor for it.
async fn page(world: &World, wallet: &Wallet, client: &str, (archived, page): (bool, u64)) -> Answer {
    let uri = format!("/leads?i=acme&limit={LIMIT}&archived={archived}&page={page}");
    let request = world.get(&uri).with(wallet).header("user-agent", client);
    let answer = request.send().await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer
}

/// Requires that each page asked alone is that of a walk.
async fn pages_are_those_of_a_walk(world: &World, round: &str) {
    for viewer in VIEWERS {
        let wallet = world.known(viewer).await;
        for archived in [false, true] {
            let client = format!("walk {round}");
            for number in 1.. {
                let walked = page(world, &wallet, &client, (archived, number)).await;
                let alone = page(world, &wallet, &format!("{round} {number}"), (archived, number)).await;
                assert_eq!(
                    alone.body, walked.body,
                    "{round}: user {viewer}, {archived}, page {number}"
                );
                if ids(&walked).is_empty() {
                    break;
                }
            }
        }
    }
    world.is_sound().await;
}

async fn send(world: &World, wallet: &Wallet, method: &str, path: &str, body: &Value) {
    let uri = format!("{path}?i=acme&apitoken={}", wallet.key);
    let answer = world.call(method, &uri).json(body).send().await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.body);
}

async fn edit(world: &World, wallet: &Wallet, method: &str, path: &str, body: &Value) {
    let request = world.call(method, &format!("{path}?i=acme")).with(wallet);
    let answer = request.json(body).send().await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.body);
}

/// C-20: after an import, and after every kind of change.
#[tokio::test]
async fn every_page_is_that_of_a_walk() {
    let world = World::new().await;
    add_leads(&world.operator(ACME), scattered(1_600)).await;
    pages_are_those_of_a_walk(&world, "first").await;
    let wallet = world.known(7).await;
    let changed = |from: u64, to: u64, step: usize| -> Vec<u64> {
        (from..to).step_by(step).map(|n| 2_000 + 41 * n).collect()
    };
    for (method, path, body) in [
        ("DELETE", "/leads", json!({ "ids": changed(100, 220, 1) })),
        (
            "POST",
            "/lead/archive",
            json!({ "archived": true, "ids": changed(300, 1_400, 10) }),
        ),
        (
            "POST",
            "/lead/archive",
            json!({ "archived": false, "ids": changed(303, 1_500, 12) }),
        ),
    ] {
        send(&world, &wallet, method, path, &body).await;
    }
    for id in changed(601, 900, 15) {
        edit(
            &world,
            &wallet,
            "PUT",
            &format!("/leads/{id}"),
            &json!({ "owner": 9 }),
        )
        .await;
    }
    // Imports bring leads between others, and change access lists.
    let mut more: Vec<_> = (1..=40)
        .map(|n| plain_lead(2_003 + 410 * n, "Nova", "Pessoa", Some(8)))
        .collect();
    more.extend(scattered(60).into_iter().map(|lead| Lead {
        user_access: vec![user(8)],
        archived: false,
        ..lead
    }));
    add_leads(&world.operator(ACME), more).await;
    for _ in 0..5 {
        edit(
            &world,
            &wallet,
            "POST",
            "/leads",
            &json!({ "firstname": "Nara", "owner": 8 }),
        )
        .await;
    }
    pages_are_those_of_a_walk(&world, "second").await;
}
