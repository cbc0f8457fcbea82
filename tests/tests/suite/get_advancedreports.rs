//! `GET /advancedreports`: endpoint 14.

use serde_json::{Value, json};
use tests::reports::{add_reports, report};
use tests::world::Answer;
use tests::{Wallet, World};

async fn list(world: &World, wallet: &Wallet) -> Answer {
    let uri = format!("/advancedreports?i=acme&apitoken={}", wallet.key);
    world.get(&uri).send().await
}

/// C-60, C-61: complete bodies, ordered numerically by id.
#[tokio::test]
async fn reports_are_listed_by_id() {
    let world = World::new().await;
    let wallet = world.known(14).await;
    let empty = list(&world, &wallet).await;
    empty.is(200, &json!({ "data": { "reports": [] } }));
    let pie = json!({ "type": "pie", "name": "É", "updateDate": "2026-03-01T00:00:00.000Z" });
    let reports = [
        report(10, &Value::Null),
        report(9, &pie),
        report(2, &json!({ "type": "line" })),
    ];
    add_reports(&world.operator("acme"), reports).await;
    let answer = list(&world, &wallet).await;
    let shown = |id: u64, name: &str, chart: &str, date: &str| json!({ "id": id, "name": name, "type": chart, "updateDate": date });
    answer.is(
        200,
        &json!({ "data": { "reports": [
            shown(2, "Relatório 2", "line", "2026-02-01T00:00:00.000Z"),
            shown(9, "É", "pie", "2026-03-01T00:00:00.000Z"),
            shown(10, "Relatório 10", "bar", "2026-02-01T00:00:00.000Z"),
        ] } }),
    );
    assert_eq!(answer.cost.round_trips, 1);
}
