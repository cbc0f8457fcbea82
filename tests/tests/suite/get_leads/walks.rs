//! Pages of `GET /leads` that are read in order.

use serde_json::json;
use tests::people::{add_leads, plain_lead};
use tests::{Wallet, World};

use super::ids;

/// Pages in order neither skip nor repeat a remaining lead, also if earlier leads leave the list, near its start or far
/// from it. A page that is asked alone, or by another client, is an offset. Processes share a walk.
#[tokio::test]
async fn pages_survive_leads_leaving_the_list() {
    let world = World::new().await;
    let operator = world.operator("acme");
    let leads = (2001..3201).map(|id| plain_lead(id, "P", "Q", Some(8 + id % 2)));
    add_leads(&operator, leads.collect()).await;
    let (admin, seller) = (world.wallet(7).await, world.wallet(8).await);
    let page = async |world: &World, wallet: &Wallet, client: &str, page: u64| {
        let uri = format!("/leads?i=acme&limit=200&page={page}");
        ids(&world
            .get(&uri)
            .with(wallet)
            .header("user-agent", client)
            .send()
            .await)
    };
    let mut walked = [Vec::new(), Vec::new()];
    for number in 1..=7 {
        for (wallet, walked) in [&admin, &seller].into_iter().zip(&mut walked) {
            walked.extend(page(&world, wallet, "walk", number).await);
        }
        if [1, 4].contains(&number) {
            let gone = number * 25;
            let archived = (2001 + gone - 25..2001 + gone).map(|id| shared::lead::Lead {
                archived: true,
                ..plain_lead(id, "P", "Q", Some(8 + id % 2))
            });
            add_leads(&operator, archived.collect()).await;
            let alone = page(&world, &admin, &format!("alone {number}"), 3).await;
            let offset = if number == 1 { 25 } else { 50 };
            assert_eq!(alone[0], 2395 + offset);
        }
    }
    let late = |walked: &[u64]| walked.iter().copied().filter(|id| *id > 2100).collect::<Vec<_>>();
    assert_eq!(late(&walked[0]), (2101..3201).collect::<Vec<_>>());
    assert_eq!(late(&walked[1]), (2102..3201).step_by(2).collect::<Vec<_>>());
    // Another process reads the first pages again: this one continues after them, not where it ended itself.
    let elsewhere = world.elsewhere();
    page(&elsewhere, &admin, "walk", 1).await;
    let last = page(&elsewhere, &admin, "walk", 2).await.pop();
    let next = page(&world, &admin, "walk", 3).await;
    assert_eq!(next.first().copied(), last.map(|last| last + 1));
    // A process that expects pages from 1 continues after page 0 too.
    operator.set_setting("page_base", &json!(0)).await.unwrap();
    let first = page(&world, &admin, "from 0", 0).await;
    let archived = shared::lead::Lead {
        archived: true,
        ..plain_lead(first[100], "P", "Q", Some(8 + first[100] % 2))
    };
    add_leads(&operator, vec![archived]).await;
    let next = page(&world.elsewhere(), &admin, "from 0", 1).await;
    assert_eq!(next.first().copied(), first.last().map(|last| last + 1));
    world.is_sound().await;
}
