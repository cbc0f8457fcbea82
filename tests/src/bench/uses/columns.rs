//! Endpoint 10 with `columnId`: pages of a column, with records of 0.6, 1 and 4 KB.

use serde_json::{Value, json};
use shared::opportunity::Status;

use crate::bench::desk::Desk;
use crate::bench::row::Row;
use crate::bench::target::{Line, MORE_THAN_A_PAGE, Target};
use crate::sales::{FIELDS, add_opportunities, column, open_shop, page, plain_opportunity};
use crate::world::{Request, Wallet};

const MERGED: &str = super::boards::MERGED;
const BEHIND_TOTALS: &str = "Of several users how much of the column is theirs is asked first, to read the lists or the whole column.";
const FIRST: &str = super::boards::FIRST;
const ALONE: &str = "A page asked for alone is an offset (C-42): below 500 what lies before it is read over, from there on the ranks of \
    days lead to it.";

/// Opportunities in column 31, of users 8, 9 and 10 and all statuses.
const IN_COLUMN: u64 = 1_000;

pub(super) async fn measure() -> Vec<Row> {
    let desk = Desk::open().await;
    open_shop(&desk.operator()).await;
    let stock = (1..=IN_COLUMN).map(|id| {
        let mut made = plain_opportunity(id, 8 + id % 3, u32::try_from(id * 600).expect("small"));
        made.begin_as(Status::ALL[usize::try_from(id / 3 % 3).expect("small")]);
        made
    });
    add_opportunities(&desk.operator(), stock.collect()).await;
    let wallet = desk.wallet(7).await;
    filtered(&desk, &wallet).await;
    in_order(&desk, &wallet).await;
    alone(&desk, &wallet).await;
    others(&desk).await;
    let mut rows = desk.close();
    for (pad, size) in [(0, "0.6"), (380, "1"), (3_400, "4")] {
        rows.extend(of_size(pad, size).await);
    }
    rows
}

fn line(what: impl std::fmt::Display) -> Line {
    Line::of(Target::Page, "10", format!("column, {what}")).shows("board")
}

fn ask<'d>(desk: &'d Desk, wallet: &Wallet, body: &Value) -> Request<'d> {
    let mut body = body.clone();
    body["columnId"] = json!(31);
    desk.keyed(wallet, "POST", "/crm/opportunities/3", &body)
}

async fn filtered(desk: &Desk, wallet: &Wallet) {
    for (line, filter) in [
        (line("by status"), json!({ "filterByStatus": ["gain"] })),
        (line("by user"), json!({ "filterByUsers": [8] })),
        (
            line("by user and status"),
            json!({ "filterByStatus": ["open"], "filterByUsers": [8] }),
        ),
        (
            line("by two users").but_trips(3, BEHIND_TOTALS).but_units(MERGED),
            json!({ "filterByUsers": [8, 9] }),
        ),
    ] {
        desk.measure(line, 200, ask(desk, wallet, &page(1, 25, &filter)))
            .await;
    }
    let all = usize::try_from(IN_COLUMN).expect("small");
    let everything = |what| Line::within(7, "10", format!("column, {what}")).looks_through("board", all);
    let condition = json!({ "field": FIELDS[0], "value": "y" });
    for (line, filter) in [
        (
            Line::within(4, "10", "column, search that finds nothing"),
            json!({ "search": "ninguém" }),
        ),
        (
            everything("by a custom field that nothing has"),
            json!({ "filters": [{ "filterType": "opField", "properties": condition }] }),
        ),
    ] {
        desk.measure(line, 200, ask(desk, wallet, &page(1, 25, &filter)))
            .await;
    }
}

/// Pages in order; each writes a cursor.
async fn in_order(desk: &Desk, wallet: &Wallet) {
    for number in 1..=40 {
        let request = ask(desk, wallet, &page(number, 25, &json!({})));
        let request = request.header("user-agent", "a walk");
        if [1, 2, 3, 40].contains(&number) {
            desk.measure(line(format!("page {number} of 25, in order")), 200, request)
                .await;
        } else {
            desk.prepare(request).await;
        }
    }
    let request = ask(desk, wallet, &page(41, 25, &json!({}))).header("user-agent", "a walk");
    desk.measure(line("the page behind the last, in order"), 200, request)
        .await;
}

async fn alone(desk: &Desk, wallet: &Wallet) {
    for (offset, trips) in [(250, 3), (900, 4)] {
        let line = line(format!("offset {offset}, asked for alone"));
        let line = line.but_trips(trips, ALONE).but_units(ALONE);
        let request = ask(desk, wallet, &page(offset / 25 + 1, 25, &json!({})));
        desk.measure(line, 200, request.header("user-agent", "alone"))
            .await;
    }
}

async fn others(desk: &Desk) {
    let own = desk.wallet(8).await;
    let body = page(1, 25, &json!({}));
    let first = line("of own, first request").but_trips(3, FIRST).but_units(FIRST);
    desk.measure(first, 200, ask(desk, &own, &body)).await;
    desk.measure(line("of own"), 200, ask(desk, &own, &body)).await;
    let mut unknown = body.clone();
    unknown["columnId"] = json!(99);
    let request = desk.keyed(&own, "POST", "/crm/opportunities/3", &unknown);
    let unknown = Line::of(Target::Page, "10", "column, unknown");
    desk.measure(unknown, 400, request).await;
}

async fn of_size(pad: usize, size: &str) -> Vec<Row> {
    let desk = Desk::open().await;
    open_shop(&desk.operator()).await;
    let stock = (1..=120).map(|id| {
        let mut made = plain_opportunity(id, 8, u32::try_from(id * 600).expect("small"));
        made.crm_column = column(31);
        made.fields.insert(FIELDS[0].to_owned(), json!("x".repeat(pad)));
        made
    });
    add_opportunities(&desk.operator(), stock.collect()).await;
    let wallet = desk.wallet(7).await;
    for limit in [1, 25, 100] {
        let line = line(format!("{limit} of {size} KB"));
        let line = if limit > 50 {
            line.but_trips(3, MORE_THAN_A_PAGE)
        } else {
            line
        };
        desk.measure(line, 200, ask(&desk, &wallet, &page(1, limit, &json!({}))))
            .await;
    }
    desk.close()
}
