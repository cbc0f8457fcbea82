//! Damaged stored results: readers get correct figures, the doctor reports the damage, and the next refresh
//! repairs it (C-61).

use serde_json::{Value, json};
use tests::reports::{add_reports, chart, plotted, report};
use tests::{ACME, World};

use super::{add_calls, call};

const DATA: &str = "acme#report-data#1";
const DAYS: &str = "from=2026-09-01&to=2026-10-31";

/// A kind of damage.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Damage {
    Lost,
    Altered,
    Unreadable,
    Head,
}

#[tokio::test]
async fn damaged_results_are_reported_and_repaired() {
    for damage in [Damage::Lost, Damage::Altered, Damage::Unreadable, Damage::Head] {
        for by_doctor in [false, true] {
            heals(damage, by_doctor).await;
        }
    }
}

async fn heals(damage: Damage, by_doctor: bool) {
    let world = World::own().await;
    let operator = world.operator(ACME);
    tests::people::settle(&operator).await;
    add_reports(&operator, [report(1, &json!({ "groupBy": "month" }))]).await;
    let calls = [(1, "2026-09-10T12:00:00Z"), (2, "2026-10-10T12:00:00Z")];
    add_calls(&world, calls.map(|(id, at)| call(id, at, &Value::Null))).await;
    let wallet = world.wallet(14).await;
    maintenance::refresh(&world.store).await.expect("refreshed");
    let table = world.raw();
    let items = table.items();
    let part = items
        .iter()
        .find(|item| item["pk"]["S"] == DATA && item["sk"]["S"] != "head");
    let part = part.expect("a part").clone();
    let sk = part["sk"]["S"].as_str().expect("a key");
    match damage {
        Damage::Lost => table.delete(DATA, sk),
        Damage::Altered => {
            let days = part["days"]["S"].as_str().expect("text").replace('1', "2");
            table.put(DATA, sk, &json!({ "days": { "S": days } }));
        }
        Damage::Unreadable => table.put(DATA, sk, &json!({ "days": { "N": "1" } })),
        Damage::Head => table.put(DATA, "head", &json!({ "v": { "N": "1" }, "parts": { "S": "{" } })),
    }
    let right = |answer: &tests::world::Answer| assert_eq!(plotted(answer)[1], json!([1, 1]), "{damage:?}");
    right(&chart(&world, &wallet, 1, DAYS).await);
    let told = async |repair| {
        let seen = world
            .operator(ACME)
            .doctor(repair, &|_| {})
            .await
            .expect("it ends");
        let told = seen.differences.into_iter();
        told.map(|found| (found.item, found.reason, found.repaired))
            .collect::<Vec<_>>()
    };
    let (item, reason) = match damage {
        Damage::Head => (format!("{DATA} head"), "cannot be read"),
        _ => (
            format!("{DATA} {sk}"),
            "is missing or differs from the head of its result",
        ),
    };
    assert_eq!(
        told(false).await,
        [(item.clone(), reason.to_owned(), false)],
        "{damage:?}"
    );
    if by_doctor {
        assert_eq!(told(true).await, [(item, reason.to_owned(), true)], "{damage:?}");
    } else if damage != Damage::Head {
        world.clock.set(world.clock.get().plus_seconds(6 * 3600));
    }
    maintenance::refresh(&world.store).await.expect("refreshed");
    assert_eq!(told(false).await, [], "{damage:?}");
    // A process that does not know the key checks it first.
    world.meet(&wallet).await;
    let healed = chart(&world, &wallet, 1, DAYS).await;
    right(&healed);
    assert_eq!(healed.cost.round_trips, 1, "{damage:?}: there is a stored result");
}
