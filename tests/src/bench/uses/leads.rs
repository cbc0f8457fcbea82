//! Endpoint 1. A list entry contains name, e-mail and access lists; the full view reads the record.

use serde_json::json;

use super::Scale;
use crate::bench::desk::Desk;
use crate::bench::row::Row;
use crate::bench::target::Line;
use crate::people::{add_leads, plain_lead};
use crate::world::Wallet;

/// Leads in addition to those of `acme`.
const LEADS: u64 = 1_000;
const SKIPPED: &str =
    "An offset: up to the 500th lead, what lies before a page that is asked alone is skipped.";
const A_TENTH: &str = "The records of the first page are read beside the credential, a tenth more than it shows, because which leads are \
    archived only the list tells. A round trip less for a started unit.";
const FIRST: &str = super::boards::FIRST;

pub(super) async fn measure(scale: Scale) -> Vec<Row> {
    let desk = office(LEADS, Some(8)).await;
    let wallet = desk.wallet(7).await;
    pages(&desk, &wallet).await;
    search(&desk, LEADS).await;
    others(&desk).await;
    let mut rows = desk.close();
    for leads in scale.of(0, &[10 * LEADS]) {
        let desk = office(*leads, Some(8)).await;
        search(&desk, *leads).await;
        rows.extend(desk.close());
    }
    rows.extend(walk().await);
    for (pad, size) in [(0, "0.2 KB"), (700, "1 KB"), (3_700, "4 KB")] {
        rows.extend(in_full(pad, size).await);
    }
    rows
}

/// `acme` with additional leads.
async fn office(leads: u64, owner: Option<u64>) -> Desk {
    let desk = Desk::open().await;
    let ids: Vec<u64> = (2001..2001 + leads).collect();
    for ids in ids.chunks(1_000) {
        let people = ids.iter().map(|id| plain_lead(*id, "Pessoa", "de Tal", owner));
        add_leads(&desk.operator(), people.collect()).await;
    }
    desk
}

async fn search(desk: &Desk, leads: u64) {
    let all = usize::try_from(leads).expect("small");
    let trips = 3 + u32::try_from(leads / 1_000).expect("few");
    let line = Line::within(trips, "1", format!("search with {all} matches")).looks_through("word", all);
    let wallet = desk.wallet(7).await;
    desk.measure(line, 200, desk.get("/leads?i=acme&search=tal").with(&wallet))
        .await;
}

async fn pages(desk: &Desk, wallet: &Wallet) {
    let ask = |query: &str| desk.get(&format!("/leads?i=acme&{query}")).with(wallet);
    let list = |trips, what: String| Line::within(trips, "1", what).shows("leads");
    for limit in [1, 25, 100, 200] {
        let line = list(1 + u32::from(limit > 50), format!("first page of {limit}"));
        desk.measure(line, 200, ask(&format!("limit={limit}"))).await;
    }
    let line = list(3, "page 5 of 50".to_owned()).but_units(SKIPPED);
    desk.measure(line, 200, ask("page=5")).await;
    let line = Line::within(2, "1", "after the last page");
    desk.measure(line, 200, ask("archived=true&page=9")).await;
    let line = list(1, "total and names, by `query`".to_owned());
    desk.measure(line, 200, ask("query={total,leads{id,fullname}}"))
        .await;
}

/// Viewers of their own leads read one list; viewers of departments read a list for each owner.
async fn others(desk: &Desk) {
    let own = desk.wallet(8).await;
    let ask = |wallet| desk.get("/leads?i=acme").with(wallet);
    let first = Line::within(2, "1", "own leads, the first request of a process").shows("leads");
    desk.measure(first.but_units(FIRST), 200, ask(&own)).await;
    let line = Line::within(1, "1", "own leads").shows("leads");
    desk.measure(line, 200, ask(&own)).await;
    let nobody = desk.wallet(13).await;
    desk.prepare(ask(&nobody)).await;
    desk.measure(Line::within(1, "1", "who sees none"), 200, ask(&nobody))
        .await;
}

/// Each page continues after the previous one.
async fn walk() -> Vec<Row> {
    let desk = office(2_500, None).await;
    let wallet = desk.wallet(7).await;
    for page in 1..=50 {
        let request = desk.get(&format!("/leads?i=acme&page={page}")).with(&wallet);
        if [12, 50].contains(&page) {
            let line = Line::within(2, "1", format!("page {page} of 50, in order")).shows("leads");
            desk.measure(line, 200, request).await;
        } else {
            desk.prepare(request).await;
        }
    }
    desk.close()
}

async fn in_full(pad: usize, size: &str) -> Vec<Row> {
    let desk = Desk::open().await;
    let people = (0..100).map(|n| {
        let mut lead = plain_lead(2001 + n, "Pessoa", "de Tal", Some(8));
        lead.custom.insert("nota".to_owned(), json!("x".repeat(pad)));
        lead
    });
    add_leads(&desk.operator(), people.collect()).await;
    let (all, own) = (desk.wallet(7).await, desk.wallet(8).await);
    let ask = |wallet, limit: u64, page: u64| {
        let uri = format!("/leads?i=acme&allFields=1&limit={limit}&page={page}");
        desk.get(&uri).with(wallet)
    };
    let line = |trips, what| Line::within(trips, "1", format!("{what} in full, {size}")).shows("lead");
    for (what, limit) in [("first page of 25", 25), ("first page of 100", 100)] {
        // For small amounts, a tenth is often another started unit.
        let is_little = pad * limit < 20_000;
        let line = line(2 + u32::from(limit > 50), what);
        let line = if is_little { line.but_units(A_TENTH) } else { line };
        desk.measure(line, 200, ask(&all, u64::try_from(limit).expect("small"), 1))
            .await;
    }
    desk.measure(line(2, "page 2 of 25"), 200, ask(&all, 25, 2)).await;
    desk.prepare(ask(&own, 25, 1)).await;
    desk.measure(line(2, "25 own leads"), 200, ask(&own, 25, 1)).await;
    desk.close()
}
