//! Floods of submissions (C-9, C-86): within the limit each is bounded, beyond it each costs the check.

use serde_json::{Value, json};
use tests::World;
use tests::forms::submit;

use super::world;

/// Submissions of a flood, and the limit per minute.
const FLOOD: u32 = 3_000;
const LIMIT: u32 = 5;

/// Read and write units.
type FloodUnits = (f64, f64);

/// A submission with a wrong token, one within the limit, and one beyond it, at most.
const WRONG: FloodUnits = (2.0, 0.0);
const WITHIN: FloodUnits = (14.0, 59.0);
const BEYOND: FloodUnits = (2.0, 0.0);

/// The figures of docs/figures/worst-requests.md.
const TOLD: &str = include_str!("../../../../docs/figures/worst-requests.md");

async fn limited(changes: &Value) -> World {
    let world = world(changes).await;
    let operator = world.operator("acme");
    let limit = json!(LIMIT);
    let set = operator.set_setting("public_requests_per_minute", &limit);
    set.await.expect("a setting");
    world
}

fn sent(turn: u32) -> Value {
    json!({ "nome": "Bia", "email": format!("{turn}@example.com"), "whatsapp": format!("4198{turn:07}") })
}

/// C-9: valid submissions share the public limit of the route, wrong tokens do not use it up.
#[tokio::test]
async fn a_flood_costs_bounded_units() {
    let world = limited(&json!({ "opportunity": { "column": 31, "title": "Pedido" }, "owner": 7 })).await;
    let mut most = [(0.0_f64, 0.0_f64); 3];
    let mut note = |kind: usize, (reads, writes): FloodUnits| {
        most[kind] = (most[kind].0.max(reads), most[kind].1.max(writes));
    };
    for turn in 0..FLOOD {
        if turn % 10 == 0 {
            let uri = "/api/hook/contact?i=acme&access_token=wrong";
            let answer = world.call("POST", uri).send().await;
            assert_eq!(answer.status, 404);
            note(0, (answer.cost.read_units(), answer.cost.write_units()));
        }
        let answer = submit(&world, &sent(turn)).await;
        let units = (answer.cost.read_units(), answer.cost.write_units());
        if turn < LIMIT {
            assert_eq!(answer.status, 200, "{}", answer.body);
            assert_eq!(
                answer.headers["ratelimit-remaining"],
                (LIMIT - 1 - turn).to_string()
            );
            note(1, units);
        } else {
            answer.is(429, &json!({ "error": "Too many requests" }));
            note(2, units);
        }
    }
    assert_eq!(
        most,
        [WRONG, WITHIN, BEYOND],
        "wrong token, within the limit, beyond it"
    );
    let leads = world.leads().await;
    let made = leads
        .iter()
        .filter(|lead| lead.created_by_type.as_deref() == Some("form"));
    assert_eq!(made.count(), usize::try_from(LIMIT).expect("small"));
    world.is_sound().await;
}

/// Another process that does not know the limit is used up finds out once.
#[tokio::test]
async fn a_flood_of_many_processes_costs_bounded_units() {
    let world = limited(&json!({})).await;
    let mut accepted = 0;
    for _ in 0..10 {
        let process = world.elsewhere();
        for turn in 0..20 {
            let answer = submit(&process, &sent(turn)).await;
            let (reads, writes) = (answer.cost.read_units(), answer.cost.write_units());
            if answer.status == 200 {
                accepted += 1;
                continue;
            }
            assert_eq!(answer.status, 429);
            let finds_out = turn == 0;
            let limit = if finds_out { BEYOND.0 + 2.0 } else { BEYOND.0 };
            assert!(reads <= limit && writes <= 1.0, "{turn}: {:?}", answer.cost);
            assert!(finds_out || writes <= 0.0, "{turn}: {:?}", answer.cost);
        }
    }
    assert!(accepted <= LIMIT, "{accepted}");
}

#[test]
fn the_documented_units_are_these() {
    for (what, (reads, writes)) in [
        ("a wrong token", WRONG),
        ("within the limit", WITHIN),
        ("beyond the limit", BEYOND),
    ] {
        let row = format!("| submission, {what} | {reads} | {writes} |");
        assert!(TOLD.contains(&row), "{row}");
    }
}
