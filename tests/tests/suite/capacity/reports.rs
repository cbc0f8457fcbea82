//! Endpoints 14 and 15: one round trip each for a report with a result.

use serde_json::json;
use tests::World;
use tests::reports::{add_reports, report};

use super::{read, within};

#[tokio::test]
async fn report_costs() {
    let world = World::new().await;
    let operator = world.operator("acme");
    tests::sales::open_shop(&operator).await;
    let by = |group: &str| json!({ "entity": "leads", "groupBy": group });
    add_reports(&operator, [report(1, &by("day")), report(2, &by("user"))]).await;
    let wallet = world.known(14).await;
    let uri = |path: &str| format!("/{path}?i=acme&apitoken={}", wallet.key);
    within(
        "14",
        &world.get(&uri("advancedreports")).send().await,
        &read(1, 3.0),
    );
    let year = "&from=2026-01-01&to=2026-12-31";
    for (what, budget) in [("15: computed", read(2, 9.0)), ("15: stored", read(1, 7.0))] {
        for path in ["reportchart/1", "reportchart/2"] {
            within(what, &world.get(&(uri(path) + year)).send().await, &budget);
        }
        world.store.refresh_reports().await.expect("they are refreshed");
    }
    within(
        "15: unknown",
        &world.get(&uri("reportchart/3")).send().await,
        &read(1, 7.0),
    );
}
