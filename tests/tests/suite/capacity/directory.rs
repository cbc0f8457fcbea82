//! Users, departments, tags, loss reasons, and totals of a funnel.

use shared::funnel::Funnel;
use shared::people::User;
use tests::labels::{add_loss_reasons, add_tags};
use tests::people::{add_users, department, user};
use tests::sales::{add_funnels, add_opportunities, empty, funnel, open_shop, plain_opportunity};
use tests::{Answer, Wallet, World};

use super::{Budget, read, within};

async fn get(world: &World, wallet: &Wallet, uri: &str) -> Answer {
    world.get(&format!("{uri}i=acme")).with(wallet).send().await
}

/// The check is three units, and the directory is read once more with the departments. A user has about 150 bytes here: 50
/// are read in parallel with the check, the rest in a second round trip.
#[tokio::test]
async fn directory_list_costs() {
    for (count, trips, users, departments) in [(40_u64, 1, 3.0, 3.0), (1_000, 2, 50.0, 4.0)] {
        let world = World::new().await;
        let operator = world.operator("acme");
        let team = (1001..=1000 + count).map(|id| User {
            department: Some(department(3)),
            ..User::new(user(id), "Equipe de Tal")
        });
        add_users(&operator, &team.collect::<Vec<_>>()).await;
        add_tags(&operator, 1..=count).await;
        add_loss_reasons(&operator, 1..=count).await;
        let wallet = world.known(7).await;
        for (uri, budget) in [
            ("/me?", read(2, 4.0)),
            ("/user?", read(trips, 3.0 + users)),
            ("/user?noblock=1&", read(trips, 3.0 + users)),
            ("/departament?", read(1, 3.0 + departments)),
            ("/tags?", read(trips, 3.0 + users / 2.0)),
            ("/crmlossreason?", read(trips, 3.0 + users / 2.0)),
        ] {
            let answer = get(&world, &wallet, uri).await;
            assert_eq!(answer.status, 200, "{}", answer.body);
            within(&format!("{uri} of {count}"), &answer, &budget);
        }
    }
}

/// A page in order costs its entries and a put for the cursor, however deep it is.
#[tokio::test]
async fn page_costs() {
    let world = World::new().await;
    let operator = world.operator("acme");
    let team = (1001..=2000).map(|id| User::new(user(id), "Equipe de Tal"));
    add_users(&operator, &team.collect::<Vec<_>>()).await;
    add_tags(&operator, 1..=1_000).await;
    add_loss_reasons(&operator, 1..=1_000).await;
    let funnels: Vec<_> = (1..=1_000)
        .map(|id| Funnel {
            id: funnel(id),
            ..empty()
        })
        .collect();
    add_funnels(&operator, &funnels).await;
    let wallet = world.known(7).await;
    let funnels = format!("/crm?apitoken={}&", wallet.key);
    for (list, read_units) in [
        ("/user?", 7.0),
        ("/tags?", 5.0),
        ("/crmlossreason?", 5.0),
        (&funnels, 7.0),
    ] {
        for page in 1..=40 {
            let answer = get(&world, &wallet, &format!("{list}limit=25&page={page}&")).await;
            assert_eq!(answer.body.as_array().map(Vec::len), Some(25));
            let budget = Budget {
                round_trips: 2,
                read_units,
                write_units: 1.0,
            };
            within(&format!("{list}: page {page}"), &answer, &budget);
        }
    }
}

/// The totals do not grow with the opportunities.
#[tokio::test]
async fn totals_cost() {
    let world = World::new().await;
    open_shop(&world.operator("acme")).await;
    let many = (1..=500).map(|id| plain_opportunity(id, 7, 0));
    add_opportunities(&world.operator("acme"), many.collect()).await;
    let wallet = world.known(7).await;
    let answer = get(&world, &wallet, "/crmfastloadv2/3?").await;
    within("totals of a funnel", &answer, &read(1, 5.0));
}
