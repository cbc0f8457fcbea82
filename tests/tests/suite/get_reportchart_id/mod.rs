//! `GET /reportchart/{id}`: endpoint 15.

mod damaged;
mod recomputed;
mod refresh;
mod slices;

use operator::Outcome;
use operator::kinds::Calls;
use serde_json::{Value, json};
use tests::people::lead;
use tests::reports::{add_reports, chart, plotted, report};
use tests::sales::{add_opportunities, column, open_shop, plain_opportunity};
use tests::world::at;
use tests::{Answer, Wallet, World};

/// A call of user 8 at this time.
fn call(id: u64, time: &str, changes: &Value) -> shared::call::Call {
    let mut line = json!({
        "id": id, "user": 8, "type": "INCOMING", "status": "COMPLETE", "duration": 60, "record": true, "service": "acme",
        "createDate": time,
    });
    for (name, value) in changes.as_object().into_iter().flatten() {
        line[name] = value.clone();
    }
    serde_json::from_value(line).expect("a call")
}

async fn add_calls(world: &World, calls: impl IntoIterator<Item = shared::call::Call>) {
    let lines: Vec<_> = calls.into_iter().map(Into::into).collect();
    let outcomes = world
        .operator("acme")
        .import::<Calls>(&lines, true)
        .await
        .expect("the calls can be written");
    assert!(
        !outcomes
            .iter()
            .any(|outcome| matches!(outcome, Outcome::Refused(_))),
        "{outcomes:?}"
    );
}

/// Requests a report computed on demand, then the stored one, and requires that they are equal.
async fn both(world: &World, wallet: &Wallet, id: u64, days: &str) -> Answer {
    let computed = chart(world, wallet, id, days).await;
    world.store.refresh_reports().await.expect("it is refreshed");
    let stored = chart(world, wallet, id, days).await;
    assert_eq!((computed.status, &computed.body), (stored.status, &stored.body));
    stored
}

/// C-60: complete bodies of a computed report and of a stored one.
#[tokio::test]
async fn computed_and_stored_reports_have_the_same_body() {
    let world = World::new().await;
    let operator = world.operator("acme");
    open_shop(&operator).await;
    let mut opportunities: Vec<_> = (1..=4).map(|id| plain_opportunity(id, 7 + id % 2, 0)).collect();
    opportunities[0].crm_column = column(32);
    opportunities[1].archived = true;
    add_opportunities(&operator, opportunities).await;
    let by_column = json!({ "name": "Oportunidades por etapa", "type": "pie", "entity": "opportunities", "groupBy": "column" });
    let income = json!({ "entity": "opportunities", "measure": "sum", "groupBy": "month" });
    add_reports(&operator, [report(1, &by_column), report(2, &income)]).await;
    let wallet = world.wallet(14).await;
    let days = "from=2026-01-01&to=2026-02-28";
    both(&world, &wallet, 1, days).await.is(
        200,
        &json!({ "data": { "report": {
            "id": 1, "name": "Oportunidades por etapa", "type": "pie", "from": "2026-01-01", "to": "2026-02-28",
            "generatedAt": "2026-11-21T12:00:00.000Z",
            "labels": ["Entrada", "Proposta", "Fechamento", "Ativação", "Conversa"],
            "series": [{ "name": "Oportunidades por etapa", "data": [2, 1, 0, 0, 0] }],
            "total": 3,
        } } }),
    );
    both(&world, &wallet, 2, days).await.is(
        200,
        &json!({ "data": { "report": {
            "id": 2, "name": "Relatório 2", "type": "bar", "from": "2026-01-01", "to": "2026-02-28",
            "generatedAt": "2026-11-21T12:00:00.000Z", "labels": ["2026-01", "2026-02"],
            "series": [{ "name": "Relatório 2", "data": [8.03, 0] }], "total": 8.03,
        } } }),
    );
}

/// C-60, C-8: by default the last 30 days in the instance's zone, including today.
#[tokio::test]
async fn the_default_range_is_thirty_days() {
    let world = World::new().await;
    add_reports(&world.operator("acme"), [report(1, &Value::Null)]).await;
    add_calls(
        &world,
        [
            call(1, "2026-10-23T12:00:00Z", &Value::Null),
            call(2, "2026-10-22T12:00:00Z", &Value::Null),
        ],
    )
    .await;
    let wallet = world.wallet(14).await;
    let range = |answer: &Answer| {
        let report = &answer.body["data"]["report"];
        json!([
            report["from"],
            report["to"],
            report["labels"].as_array().map(Vec::len),
            report["total"]
        ])
    };
    let answer = both(&world, &wallet, 1, "from=&to=").await;
    assert_eq!(range(&answer), json!(["2026-10-23", "2026-11-21", 30, 1]));
    for (zone, now, from, to) in [
        (
            "America/Sao_Paulo",
            "2026-12-01T02:59:59Z",
            "2026-11-01",
            "2026-11-30",
        ),
        (
            "America/Sao_Paulo",
            "2026-12-01T03:00:00Z",
            "2026-11-02",
            "2026-12-01",
        ),
        (
            "Pacific/Kiritimati",
            "2026-12-31T10:00:00Z",
            "2026-12-03",
            "2027-01-01",
        ),
    ] {
        let zone = json!(zone);
        tests::people::set(&world.operator("acme"), "timezone", &zone).await;
        world.clock.set(at(now));
        let answer = both(&world, &wallet, 1, "").await;
        assert_eq!(range(&answer), json!([from, to, 30, 0]), "{zone} {now}");
    }
    let answer = chart(&world, &wallet, 1, "to=2026-10-23").await;
    assert_eq!(range(&answer), json!(["2026-09-24", "2026-10-23", 30, 1]));
    let answer = chart(&world, &wallet, 1, "from=2026-12-31").await;
    assert_eq!(range(&answer), json!(["2026-12-31", "2027-01-01", 2, 0]));
}

/// C-61: including days of 23 and 25 hours.
#[tokio::test]
async fn days_are_those_of_the_zone() {
    let world = World::new().await;
    let operator = world.operator("acme");
    tests::people::set(&operator, "timezone", &json!("America/New_York")).await;
    add_reports(
        &operator,
        [report(1, &Value::Null), report(2, &json!({ "groupBy": "week" }))],
    )
    .await;
    let times = [
        "2026-03-08T04:59:59.999Z",
        "2026-03-08T05:00:00Z",
        "2026-03-09T03:59:59.999Z",
        "2026-03-09T04:00:00Z",
        "2026-11-01T03:59:59.999Z",
        "2026-11-01T04:00:00Z",
        "2026-11-02T04:59:59.999Z",
        "2026-11-02T05:00:00Z",
        "2027-01-04T04:59:59.999Z",
        "2027-01-04T05:00:00Z",
    ];
    add_calls(
        &world,
        (1..).zip(times).map(|(id, time)| call(id, time, &Value::Null)),
    )
    .await;
    let wallet = world.wallet(14).await;
    for (id, days, expected) in [
        (
            1,
            "from=2026-03-07&to=2026-03-09",
            json!([["2026-03-07", "2026-03-08", "2026-03-09"], [1, 2, 1], 4]),
        ),
        (
            1,
            "from=2026-10-31&to=2026-11-02",
            json!([["2026-10-31", "2026-11-01", "2026-11-02"], [1, 2, 1], 4]),
        ),
        // 2026 has 53 weeks, and the last extends into 2027.
        (
            2,
            "from=2026-12-28&to=2027-01-04",
            json!([["2026-W53", "2027-W01"], [1, 1], 2]),
        ),
    ] {
        assert_eq!(
            plotted(&both(&world, &wallet, id, days).await),
            expected,
            "{days}"
        );
    }
}

#[tokio::test]
async fn refusals() {
    let world = World::new().await;
    add_reports(&world.operator("acme"), [report(1, &Value::Null)]).await;
    let wallet = world.wallet(14).await;
    let long = "to: must be at most 3653 days from from, both included";
    for (days, details) in [
        ("from=2026-2-1", "from: must be a date such as 2026-11-21"),
        ("to=2026-02-30", "to: must be a date such as 2026-11-21"),
        ("to=2026-02-01T00:00:00Z", "to: must be a date such as 2026-11-21"),
        ("from=2026-01-01&from=2026-01-01", "from: must not be repeated"),
        ("from=2026-01-02&to=2026-01-01", "to: must not be before from"),
        ("from=2026-11-22", "to: must not be before from"),
        ("from=2016-01-01&to=2026-01-01", long),
        ("from=2016-11-20", long),
    ] {
        let answer = chart(&world, &wallet, 1, days).await;
        answer.is(400, &json!({ "error": "Invalid request", "details": details }));
    }
    let decade = chart(&world, &wallet, 1, "from=2016-01-01&to=2025-12-31").await;
    assert_eq!(
        decade.body["data"]["report"]["labels"].as_array().map(Vec::len),
        Some(3653)
    );
}

/// C-24: records of a deleted lead still count; the lead does not.
#[tokio::test]
async fn records_of_deleted_leads_count() {
    let world = World::new().await;
    let operator = world.operator("acme");
    open_shop(&operator).await;
    add_opportunities(&operator, vec![plain_opportunity(1, 7, 0)]).await;
    let leads = report(2, &json!({ "entity": "leads", "groupBy": "month" }));
    let sales = report(1, &json!({ "entity": "opportunities", "groupBy": "month" }));
    add_reports(&operator, [sales, leads]).await;
    let wallet = world.wallet(7).await;
    let days = "from=2026-01-01&to=2026-03-31";
    let months = ["2026-01", "2026-02", "2026-03"];
    assert_eq!(
        plotted(&chart(&world, &wallet, 2, days).await),
        json!([months, [0, 0, 6], 6])
    );
    let gone = format!("/leads/{}?i=acme&apitoken={}", lead(1001), wallet.key);
    assert_eq!(world.call("DELETE", &gone).send().await.status, 200);
    for _ in 0..2 {
        assert_eq!(
            plotted(&chart(&world, &wallet, 1, days).await),
            json!([months, [1, 0, 0], 1])
        );
        assert_eq!(
            plotted(&chart(&world, &wallet, 2, days).await),
            json!([months, [0, 0, 5], 5])
        );
        maintenance::tend(&world.store).await.expect("it is tended");
    }
}

/// A new report is computed within limits, however many records there are; once stored it is returned.
#[tokio::test]
async fn too_large_computations_are_rejected_until_stored() {
    let world = World::new().await;
    add_reports(&world.operator("acme"), [report(1, &Value::Null)]).await;
    // A call with a description has about 4.3 KB: more than 2,000 are too many.
    let long = json!({ "description": "😀".repeat(1000) });
    let wallet = world.wallet(14).await;
    for (ids, status) in [(1..1501_u64, 200), (1501..2501, 400)] {
        for ids in ids.collect::<Vec<_>>().chunks(200) {
            add_calls(
                &world,
                ids.iter().map(|id| call(*id, "2026-11-20T12:00:00Z", &long)),
            )
            .await;
        }
        let answer = chart(&world, &wallet, 1, "").await;
        assert_eq!(answer.status, status);
        println!(
            "| 15: computed | {} | {} |",
            answer.cost.round_trips,
            answer.cost.read_units()
        );
        // 2,000 for the records, plus report, directory and credential.
        assert!(answer.cost.round_trips <= 20 && answer.cost.read_units() <= 2_020.0);
    }
    let details = "report_id: the report is being prepared; try again in 5 minutes";
    let refused = chart(&world, &wallet, 1, "").await;
    refused.is(400, &json!({ "error": "Invalid request", "details": details }));
    world.store.refresh_reports().await.expect("it is refreshed");
    world.meet(&wallet).await;
    let answer = chart(&world, &wallet, 1, "from=2026-11-20&to=2026-11-20").await;
    assert_eq!(plotted(&answer), json!([["2026-11-20"], [2500], 2500]));
    assert_eq!(answer.cost.round_trips, 1);
}
