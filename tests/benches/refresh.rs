//! Cost of refreshing and reading reports by number of records: DynamoDB calls, sequential round trips and
//! units, which are exact, and seconds on this machine.
//!
//! `cargo bench -p tests --bench refresh` measures 1,000, 10,000 and 100,000 opportunities; arguments set
//! other sizes: `cargo bench -p tests --bench refresh -- 1000000`. A thousand are imported; the others are
//! copies of their records only, because reports read nothing else.

#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a benchmark that meets what cannot be must stop, says what it measured, and looks at the system's clock"
)]

use std::time::Instant;

use database::Database;
use serde_json::{Value, json};
use shared::opportunity::Status;
use shared::report::Definition;
use shared::store::Meter;
use tests::bench::{Table, sizes};
use tests::reports::{add_reports, chart, report};
use tests::sales::{add_opportunities, column, open_shop, plain_opportunity};
use tests::{ACME, World};

/// Imported opportunities.
const ORIGINALS: u64 = 1_000;
/// Period of creation in seconds.
const SECONDS: u64 = 320 * 86_400;
/// Reports computed in one scan.
const REPORTS: u64 = 6;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let sizes = sizes();
    let mut table = Table::default();
    for size in &sizes {
        measure(*size, &mut table).await;
    }
    table.print(&sizes);
}

async fn measure(size: u64, table: &mut Table) {
    let world = World::on(Database::temporary().expect("an engine starts")).await;
    stock(&world, size).await;
    add_reports(&world.operator(ACME), definitions()).await;
    let wallet = world.wallet(7).await;
    let ask = async |table: &mut Table, name: &str, days: &str| {
        let began = Instant::now();
        let answer = chart(&world, &wallet, 3, days).await;
        let (status, total) = (answer.status, &answer.body["data"]["report"]["total"]);
        println!("{size}, {name}: {status}, {total} {}", answer.body["details"]);
        table.add(name, size, &answer.cost, began.elapsed().as_secs_f64());
    };
    ask(table, "15, computed on demand", "").await;
    for name in ["refresh of 6 reports", "refresh, nothing changed"] {
        let (meter, began) = (Meter::default(), Instant::now());
        let done = meter
            .measure(world.store.refresh_reports())
            .await
            .expect("they are refreshed");
        assert_eq!(done, REPORTS);
        table.add(name, size, &meter.cost(), began.elapsed().as_secs_f64());
        world.clock.set(world.clock.get().plus_seconds(6 * 3600));
    }
    ask(table, "15, stored, 30 days", "").await;
    ask(table, "15, stored, ten years", "from=2017-01-01&to=2026-12-31").await;
}

async fn stock(world: &World, size: u64) {
    tests::people::settle(&world.operator(ACME)).await;
    open_shop(&world.operator(ACME)).await;
    let began = Instant::now();
    let small = |number: u64| usize::try_from(number).expect("small");
    let originals = (1..ORIGINALS).chain([size]).map(|id| {
        let seconds = u32::try_from(id.min(ORIGINALS) * SECONDS / ORIGINALS).expect("within a year");
        let mut made = plain_opportunity(id, 7 + id % 5, seconds);
        made.begin_as(Status::ALL[small(id / 5 % 3)]);
        made.crm_column = column(31 + id % 3);
        made.sale_channel = Some(["Loja", "Site", "Telefone"][small(id % 3)].to_owned());
        made.fields
            .insert("Origem do Lead".to_owned(), json!("Indicação de um cliente"));
        made
    });
    let originals: Vec<_> = originals.collect();
    add_opportunities(&world.operator(ACME), originals).await;
    let table = world.raw();
    let of = |id: u64| table.get("acme#opportunity", &format!("{id:015}"));
    let records: Vec<_> = (1..ORIGINALS).map(|id| of(id).expect("a record")).collect();
    let ids: Vec<_> = (ORIGINALS..size).collect();
    for ids in ids.chunks(1_000) {
        let copies = ids.iter().map(|id| {
            let mut copy = records[small(*id) % records.len()].clone();
            copy["sk"] = json!({ "S": format!("{id:015}") });
            copy
        });
        table.put_all(&copies.collect::<Vec<_>>());
    }
    let seconds = began.elapsed().as_secs_f64();
    println!("{size} opportunities in {seconds:.1} s");
}

/// Reports about opportunities, of every shape.
fn definitions() -> [Definition; 6] {
    let by = |id: u64, rest: Value| {
        let mut fields = json!({ "entity": "opportunities" });
        for (name, value) in rest.as_object().into_iter().flatten() {
            fields[name] = value.clone();
        }
        report(id, &fields)
    };
    [
        by(1, json!({ "groupBy": "day" })),
        by(2, json!({ "groupBy": "column", "measure": "sum" })),
        by(3, json!({ "groupBy": "user", "measure": "average" })),
        by(4, json!({ "groupBy": "channel" })),
        by(
            5,
            json!({ "groupBy": "month", "measure": "sum", "filters": { "status": "gain" } }),
        ),
        by(
            6,
            json!({ "groupBy": "status", "filters": { "user": [8, 9], "funnel": 3 } }),
        ),
    ]
}
