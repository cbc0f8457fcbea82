//! Endpoints 14 and 15.

use serde_json::{Value, json};

use crate::bench::desk::Desk;
use crate::bench::row::Row;
use crate::bench::target::{Line, Target};
use crate::reports::{add_reports, report};
use crate::sales::{add_opportunities, open_shop, plain_opportunity};

const NOT_STORED: &str = "A report that has no result yet is computed when it is asked for (C-61): the records are counted first and read \
    then, in six parts side by side.";

pub(super) async fn measure() -> Vec<Row> {
    let desk = Desk::open().await;
    let operator = desk.operator();
    open_shop(&operator).await;
    let by = |group: &str| json!({ "entity": "opportunities", "groupBy": group, "measure": "sum" });
    add_reports(&operator, [report(1, &by("day")), report(2, &by("column"))]).await;
    let stock = (1..=300).map(|id| plain_opportunity(id, 8, u32::try_from(id * 86_400).expect("small")));
    add_opportunities(&operator, stock.collect()).await;
    let wallet = desk.wallet(14).await;
    let get = |path: &str| desk.keyed(&wallet, "GET", path, &Value::Null);
    let line = |endpoint, what| Line::of(Target::Thing, endpoint, what);
    desk.measure(
        line("14", "two reports").shows("report"),
        200,
        get("/advancedreports"),
    )
    .await;
    let chart = "/reportchart/1?from=2026-01-01&to=2026-12-31";
    let computed = line("15", "a year by day, computed").but_trips(2, NOT_STORED);
    let computed = computed.looks_through("opportunity", 300);
    desk.measure(computed, 200, get(chart)).await;
    desk.store().refresh_reports().await.expect("they are refreshed");
    // The head, and a part for each month with records.
    let year = line("15", "a year by day, stored").looks_through("report-data", 11);
    desk.measure(year, 200, get(chart)).await;
    let days = line("15", "30 days by column, stored").looks_through("report-data", 2);
    desk.measure(days, 200, get("/reportchart/2")).await;
    desk.measure(line("15", "unknown report"), 404, get("/reportchart/3"))
        .await;
    desk.close()
}
