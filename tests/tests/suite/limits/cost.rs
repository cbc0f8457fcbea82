//! Cost of counting: a write for each block, with two more round trips for that request, whose target is read
//! only after the write (C-86), and no read.

use tests::World;

use super::{keyed, said, world};

/// Sends requests, each within its maximum cost; returns the number of writes and write units of all.
async fn cost(world: &World, requests: usize) -> (u32, f64) {
    let wallet = world.known(7).await;
    let (mut writes, mut units) = (0, 0.0);
    // The first one made the credentials known.
    for _ in 1..requests {
        let answer = keyed(world, &wallet).send().await;
        let taking = answer
            .cost
            .calls
            .iter()
            .any(|call| call.operation == "UpdateItem");
        writes += u32::from(taking);
        units += answer.cost.write_units();
        let round_trips = if taking { 3 } else { 1 };
        assert_eq!(
            (answer.status.as_u16(), answer.cost.round_trips),
            (200, round_trips)
        );
        assert!(answer.cost.read_units() <= 4.0, "{:?}", answer.cost);
    }
    (writes, units)
}

/// A block is a twentieth of the limit, at most 100, and at most an eighth of the remainder.
#[tokio::test]
async fn a_thousand_requests_cost_a_write_per_block() {
    for (limit, most) in [(1_000, 60), (2_000, 12), (1_000_000, 10)] {
        let world = world("requests_per_minute", limit).await;
        let (writes, units) = cost(&world, 1_000).await;
        println!("limit {limit}: {writes} writes, {units} units for 1,000 requests");
        assert!(
            writes <= most && units <= f64::from(writes),
            "{limit}: {writes} {units}"
        );
    }
}

/// Beyond the limit a request costs only its check.
#[tokio::test]
async fn requests_beyond_the_limit_cost_only_the_check() {
    let world = world("requests_per_minute", 1).await;
    let wallet = world.wallet(7).await;
    keyed(&world, &wallet).send().await;
    for process in [&world.elsewhere(), &world] {
        // A new process tries once; the failed condition is not a write.
        keyed(process, &wallet).send().await;
        let answer = keyed(process, &wallet).send().await;
        assert_eq!(said(&answer).0, 429);
        assert_eq!((answer.cost.round_trips, answer.cost.write_units()), (1, 0.0));
        assert!(answer.cost.read_units() <= 4.0, "{:?}", answer.cost);
    }
    assert!(
        kept(&world).await.contains(r#""taken": N("1")"#),
        "nothing is taken beyond"
    );
}

/// The item that counts the minute.
async fn kept(world: &World) -> String {
    let items = world.store.dump(world.operator(tests::ACME).instance()).await;
    let mut items = items.expect("the table can be read");
    items.retain(|item| item.contains("acme#rate#"));
    assert_eq!(items.len(), 1);
    items.remove(0)
}

/// One item per minute, which expires ten minutes later: of a limit of 100, a block of 5.
#[tokio::test]
async fn a_minute_is_one_expiring_item() {
    let world = world("requests_per_minute", 100).await;
    let wallet = world.wallet(7).await;
    for _ in 0..2 {
        keyed(&world, &wallet).send().await;
    }
    let item = kept(&world).await;
    for attribute in [
        r#""pk": S("acme#rate#keys")"#,
        r#""taken": N("5")"#,
        r#""ttl": N("1795263000")"#,
    ] {
        assert!(item.contains(attribute), "{attribute}: {item}");
    }
}
