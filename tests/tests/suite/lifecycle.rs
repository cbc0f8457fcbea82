//! Suspension and deletion of an instance (C-104).

use dynamodb::faults::Fault;
use operator::{Operator, OperatorError};
use shared::instance::InstanceName;
use tests::world::over_sdk;
use tests::{ACME, World};

use crate::faults::behind;
use crate::isolation::world;
use tests::catalogue::{Place, protected, public};

const OTHER: &str = "other-shop";

fn name(instance: &str) -> InstanceName {
    InstanceName::parse(instance).expect("a name")
}

/// All items of an instance, each as its sorted bytes: attributes have no order.
async fn items(world: &World, instance: &str) -> Vec<Vec<u8>> {
    let dump = world.store.dump(&name(instance)).await.expect("a dump");
    let sorted = |item: String| {
        let mut bytes = item.into_bytes();
        bytes.sort_unstable();
        bytes
    };
    dump.into_iter().map(sorted).collect()
}

/// Credentials are refused like revoked ones, for the cost of the check; public routes answer as of an instance that
/// does not exist. The other instance notices nothing.
#[tokio::test]
async fn a_suspended_instance_answers_like_none() {
    let world = world().await;
    let (own, other) = (world.known(7).await, world.wallet_of(OTHER, 7).await);
    world
        .operator(ACME)
        .set_suspended(true)
        .await
        .expect("it is suspended");
    for route in protected() {
        let mut instances = vec!["i=acme"];
        instances.extend((route.place == Place::Either).then_some(""));
        for i in instances {
            let answer = route.with(&world, i, &own.key, &own.token).send().await;
            answer.is(401, &route.unauthorized(false, false));
            let cost = &answer.cost;
            assert!(cost.write_units() <= 0.0, "{route:?}: {cost:?}");
        }
    }
    for route in public()
        .iter()
        .filter(|route| route.method == "POST" || route.path.ends_with("/slots"))
    {
        let (suspended, absent) = (
            route.to(&world, ACME).send().await,
            route.to(&world, "nobody").send().await,
        );
        assert_eq!((suspended.status, &suspended.body), (absent.status, &absent.body));
    }
    let list = async |wallet, i| world.read(wallet, &format!("/leads?i={i}")).await.status;
    assert_eq!(list(&other, OTHER).await, 200);
    let since = world.operator(ACME).entry().await.expect("an entry").suspended;
    let again = world
        .operator(ACME)
        .set_suspended(true)
        .await
        .expect("it is suspended");
    assert_eq!((since.is_some(), again), (true, (since, false)));
    let resumed = world
        .operator(ACME)
        .set_suspended(false)
        .await
        .expect("it is resumed");
    assert_eq!(resumed, (None, true));
    assert_eq!(list(&own, ACME).await, 200);
    world.is_sound().await;
}

/// A deletion that fails at any of its transactions has voided the credentials once its first one is written; another
/// run deletes the rest, and nothing of another instance.
#[tokio::test]
async fn an_interrupted_deletion_is_resumed() {
    let _sdk = over_sdk();
    let mut interrupted = 0;
    for spared in 0.. {
        let world = world().await;
        let (own, other) = (world.wallet(7).await, world.wallet_of(OTHER, 7).await);
        let kept = items(&world, OTHER).await;
        let plan = behind("TransactWriteItems", Fault::FailedBefore, spared);
        let broken = Operator::new(&world.faulty(plan), name(ACME));
        let broke = broken.delete_instance(true, &|_| ()).await.is_err();
        let list = async |wallet, i| world.read(wallet, &format!("/leads?i={i}")).await.status;
        assert_eq!(list(&own, ACME).await, if spared == 0 { 200 } else { 401 });
        if broke && spared > 0 {
            interrupted += 1;
            let acme = world.operator(ACME);
            let refused = [
                acme.create_instance().await.map(drop),
                acme.directory().await.map(drop),
                acme.put_directory(|_| ()).await.map(drop),
            ];
            for refused in refused {
                assert!(
                    matches!(refused, Err(OperatorError::BeingDeleted(_))),
                    "{refused:?}"
                );
            }
        }
        if broke {
            let done = world.operator(ACME).delete_instance(true, &|_| ()).await;
            done.expect("it is resumed");
        }
        assert!(items(&world, ACME).await.is_empty());
        assert!(items(&world, OTHER).await == kept);
        let gone = world.operator(ACME).delete_instance(true, &|_| ()).await;
        assert!(matches!(gone, Err(OperatorError::NoInstance(_))), "{gone:?}");
        assert_eq!(list(&other, OTHER).await, 200);
        if !broke {
            break;
        }
        let created = world.operator(ACME).create_instance().await;
        created.expect("the name is free again");
    }
    assert!(interrupted >= 3, "{interrupted}");
}
