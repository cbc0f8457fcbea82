//! Pages far from the start of a column of many days, whose daily counts are read in parts (C-42).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};
use shared::opportunity::Opportunity;
use tests::sales::{page, plain_opportunity};
use tests::world::over_sdk;
use tests::{Wallet, World};

use super::offsets::{listed, sees};
use super::{Client, stocked};

/// Three a day for 400 days, the highest id last.
const COUNT: u64 = 1_200;

async fn world() -> (World, Vec<Opportunity>) {
    let made = |id: u64| {
        let seconds = u32::try_from(id * 28_800).expect("small");
        let created = plain_opportunity(id, 8, seconds).create_date;
        Opportunity {
            create_date: created,
            update_date: created,
            ..listed(id)
        }
    };
    let all: Vec<_> = (1..=COUNT).rev().map(made).collect();
    (stocked(all.iter().cloned()).await, all)
}

#[tokio::test]
async fn single_pages_of_many_days_are_slices_of_the_list() {
    let (world, all) = world().await;
    let operator = world.operator("acme");
    let zone = operator
        .set_setting("timezone", &json!("America/Sao_Paulo"))
        .await;
    zone.expect("a setting");
    let until = json!({ "end": "2026-12-01" });
    for (viewer, more) in [
        (7, json!({})),
        (7, json!({ "filterByUsers": [8] })),
        (7, json!({ "filterByStatus": ["open"] })),
        (7, json!({ "filterByStatus": ["open", "lost"] })),
        (7, json!({ "filterByUsers": [8, 9] })),
        (7, json!({ "filterByCreateDate": until })),
        (8, json!({})),
        (10, json!({})),
        (11, json!({})),
    ] {
        let holds = |name: &str, value: Value| {
            let wanted = more[name].as_array();
            wanted.is_none_or(|wanted| wanted.contains(&value))
        };
        let is_old = |one: &Opportunity| one.create_date.to_string().as_str() < "2026-12-02T03:00:00Z";
        let listed: Vec<_> = all
            .iter()
            .filter(|one| sees(viewer, one) && (is_old(one) || more["filterByCreateDate"].is_null()))
            .filter(|one| holds("filterByUsers", json!(one.user)))
            .filter(|one| holds("filterByStatus", json!(one.status)))
            .map(|one| one.id.get())
            .collect();
        let client = Client::of(&world, viewer).await;
        let last = listed.len() as u64 - 1;
        for offset in [500, 501, 502, last / 2, 620, last - 150, last - 1, last, last + 1] {
            let alone = client.program(&format!("after {offset}"));
            let at = usize::try_from(offset).expect("small");
            let shown: Vec<_> = listed.iter().copied().skip(at).take(1).collect();
            let case = format!("user {viewer} {more} after {offset}");
            assert_eq!(alone.ids(offset + 1, 1, &more).await, shown, "{case}");
        }
    }
}

fn client<'w>(world: &'w World, wallet: &Wallet, agent: &str) -> Client<'w> {
    Client {
        world,
        wallet: wallet.clone(),
        agent: agent.to_owned(),
        address: [192, 0, 2, 1],
    }
}

/// Changes before one of the queries of a page, or before each of them. If opportunities leave that are older than the
/// page, it is the same at every moment.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_are_those_of_one_moment() {
    let _sdk = over_sdk();
    let (world, _) = world().await;
    let (side, wallet) = (Arc::new(world.beside()), world.wallet(7).await);
    let (oldest, newest) = (Arc::new(AtomicU64::new(1)), Arc::new(AtomicU64::new(COUNT)));
    let mut costs = Vec::new();
    for nth in 0..20 {
        for of_newest in [false, true] {
            let queries = AtomicU64::new(0);
            let (side, oldest, last) = (side.clone(), oldest.clone(), newest.clone());
            let admin = wallet.clone();
            let before = newest.load(Ordering::Relaxed);
            let plan = move |called: &str| {
                let is_query = called == "Query";
                // In the first round before each query, and at last before none.
                if is_query && (queries.fetch_add(1, Ordering::Relaxed) + 1 == nth || nth == 0) {
                    let leaving = if of_newest {
                        last.fetch_sub(1, Ordering::Relaxed)
                    } else {
                        oldest.fetch_add(1, Ordering::Relaxed)
                    };
                    let leave = async {
                        let admin = client(&side, &admin, "change");
                        admin.must_change(leaving, &json!({ "crm_column": 33 })).await;
                    };
                    tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(leave));
                }
                None
            };
            let world = world.beside().with_faults(Arc::new(plan));
            let asker = client(&world, &wallet, &format!("{nth} {of_newest}"));
            let answer = asker.ask(3, &page(91, 10, &json!({ "columnId": 31 }))).await;
            let shown = super::ids(&answer.body);
            let left = before - newest.load(Ordering::Relaxed);
            let is_slice = |first: u64| shown.iter().copied().eq((first - 9..=first).rev());
            assert!(
                (0..=left).any(|left| is_slice(before - 900 - left)),
                "{nth} {of_newest} {before} {left}: {shown:?}"
            );
            costs.push(answer.cost.calls.len());
        }
    }
    // Counted from the oldest day twice and then from the newest one, in the first round.
    let (quiet, disturbed) = (costs[costs.len() - 2], costs[0]);
    assert!(disturbed > quiet + 4, "{costs:?}");
    world.is_sound().await;
}
