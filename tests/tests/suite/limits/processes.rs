//! Several processes: together they accept exactly the limit.

use futures_util::future::join_all;
use tests::{Wallet, World};

use super::{keyed, said, world};

/// More would wait for a connection of the engine longer than a request waits for its counter.
const MAX_AT_ONCE: usize = 128;

/// Sends requests through each process, and counts accepted ones.
async fn storm(processes: &[World], wallet: &Wallet, each: usize) -> usize {
    let requests = (0..each)
        .flat_map(|_| processes.iter())
        .map(async |process| keyed(process, wallet).send().await);
    let mut requests: Vec<_> = requests.collect();
    let mut answers = Vec::new();
    while !requests.is_empty() {
        let next = requests.split_off(requests.len().saturating_sub(MAX_AT_ONCE));
        answers.extend(join_all(next).await);
    }
    for answer in &answers {
        assert!([200, 429].contains(&answer.status.as_u16()), "{}", answer.body);
    }
    answers.iter().filter(|answer| answer.status == 200).count()
}

fn processes(world: &World, number: usize) -> Vec<World> {
    (0..number).map(|_| world.elsewhere()).collect()
}

/// Each process gets more requests than the limit, so nothing remains.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_processes_accept_exactly_the_limit() {
    for (limit, number) in [(1, 8), (13, 8), (100, 1), (120, 4)] {
        let world = world("requests_per_minute", limit).await;
        let (wallet, limit) = (world.wallet(7).await, limit as usize);
        let processes = processes(&world, number);
        let admitted = storm(&processes, &wallet, limit + 1).await;
        assert_eq!(admitted, limit, "{number} processes");
        assert_eq!(storm(&processes, &wallet, 1).await, 0);
    }
}

/// In sequence: unused requests of a process remain for the others.
#[tokio::test]
async fn alternating_processes_accept_exactly_the_limit() {
    let world = world("requests_per_minute", 120).await;
    let wallet = world.wallet(7).await;
    let processes = processes(&world, 8);
    let (mut admitted, mut refused) = (0, 0);
    while refused < 8 {
        refused = 0;
        for process in &processes {
            match keyed(process, &wallet).send().await.status.as_u16() {
                200 => admitted += 1,
                _ => refused += 1,
            }
        }
    }
    assert_eq!(admitted, 120);
}

/// A process knows the others' requests as of its last counter write; the remaining number is never negative.
#[tokio::test]
async fn remaining_requests_are_per_process_estimates() {
    let world = world("requests_per_minute", 40).await;
    let wallet = world.wallet(7).await;
    let there = world.elsewhere();
    let mut left = Vec::new();
    for process in [&world, &there, &world, &there, &world, &world] {
        let (status, [_, remaining, ..]) = said(&keyed(process, &wallet).send().await);
        left.push((status, remaining.expect("what is left")));
    }
    // Blocks of two: the first two of each process are from its first block.
    assert_eq!(
        left,
        [(200, 39), (200, 37), (200, 38), (200, 36), (200, 35), (200, 34)]
    );
}
