//! Calls from before format 6 are in one partition, later ones in four. Every reader reads all of them.

use operator::CallLine;
use operator::kinds::Calls;
use serde_json::json;
use shared::call::Call;
use shared::store::Format;
use tests::people::settle;
use tests::raw::RawTable;
use tests::reports::{add_reports, chart, plotted, report};
use tests::{ACME, World};

use super::stage::empty;
use crate::erasure::{call, delete_person, erase, furnish, is_erased};

/// The ids of the calls in each partition.
fn placed(table: &RawTable) -> Vec<(String, u64)> {
    let items = table.items().into_iter().filter_map(|item| {
        let part = item["pk"]["S"].as_str()?.strip_prefix("acme#call")?.to_owned();
        Some((part, item["id"]["N"].as_str()?.parse().ok()?))
    });
    let mut placed: Vec<_> = items.collect();
    placed.sort();
    placed
}

fn set_format(table: &RawTable, format: u32) {
    let format = json!({ "format": { "N": format.to_string() } });
    table.put("#format", "format", &format);
}

/// A world with calls 1 and 2 of a person from before format 6, and calls 3 to 6 from after a migration.
async fn mixed() -> (World, RawTable) {
    let (kept, table) = empty().await;
    settle(&kept.operator(ACME)).await;
    set_format(&table, Format::SPREAD_CALLS.number() - 1);
    let former = kept.through(kept.store.unaware());
    furnish(&former).await;
    assert_eq!(placed(&table), [(String::new(), 1), (String::new(), 2)]);
    set_format(&table, Format::SPREAD_CALLS.number());
    // The process learns the format with its next call.
    for _ in 3..=6 {
        assert_eq!(call(&former, &json!({})).await.status, 201);
    }
    (former, table)
}

#[tokio::test]
async fn calls_of_both_forms_are_read() {
    let (world, table) = mixed().await;
    let parts = [("", 1), ("", 2), ("#0", 4), ("#1", 5), ("#2", 6), ("#3", 3)];
    let parts = parts.map(|(part, id)| (part.to_owned(), id));
    assert_eq!(placed(&table), parts);
    let ids = |calls: Vec<Call>| calls.iter().map(|call| call.id.get()).collect::<Vec<_>>();
    assert_eq!(ids(world.calls().await), [1, 2, 3, 4, 5, 6]);
    let of_calls: Vec<_> = world
        .events()
        .await
        .iter()
        .map(|event| event.call.get())
        .collect();
    assert_eq!(of_calls, [1, 3, 4, 5, 6]);
    let operator = world.operator(ACME);
    let counts = operator.counts(&|_| {}).await.expect("counts");
    assert!(counts.contains(&("call", 6)), "{counts:?}");
    add_reports(&operator, [report(1, &json!({}))]).await;
    let wallet = world.wallet(14).await;
    for _ in ["computed", "stored"] {
        assert_eq!(plotted(&chart(&world, &wallet, 1, "").await)[2], 6);
        world.store.refresh_reports().await.expect("it is refreshed");
    }
    // A call is replaced where it is.
    let lines = world.calls().await.into_iter().map(|call| CallLine {
        with_event: call.id.get() == 2,
        ..Call { duration: 7, ..call }.into()
    });
    let lines: Vec<_> = lines.collect();
    operator.import::<Calls>(&lines, true).await.expect("an import");
    assert_eq!(placed(&table), parts);
    assert!(world.calls().await.iter().all(|call| call.duration == 7));
    let diagnosis = operator.doctor(true, &|_| {}).await.expect("a diagnosis");
    // The event of call 2 was never imported.
    assert_eq!(diagnosis.differences.len(), 1, "{:?}", diagnosis.differences);
    assert_eq!(diagnosis.checked["calls"], 6);
    world.is_sound().await;
    delete_person(&world, &world.wallet(7).await).await;
    erase(&world).await;
    is_erased(&world).await;
    assert_eq!(ids(world.calls().await), [1, 2, 3, 4, 5, 6]);
}
