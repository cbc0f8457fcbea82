//! Endpoint 10 without `columnId`: boards of 1 to 25 columns, with records of 0.6 to 4 KB.

use serde_json::{Value, json};
use shared::funnel::{Column, CustomField, Funnel, FunnelAccess};
use shared::opportunity::Status;

use super::Scale;
use crate::bench::desk::Desk;
use crate::bench::row::Row;
use crate::bench::target::{Line, Target};
use crate::sales::{
    FIELDS, add_funnels, add_opportunities, column, funnel, open_shop, page, plain_opportunity,
};
use crate::world::{Answer, Wallet};

pub(super) const MERGED: &str = "Each of several users has a list of its own. They are read side by side, each a little beyond its \
    part (15 % and two entries, a started unit each), so that the page is full after one round: fewer units would be more round \
    trips. A list for every set of users would have to be written with every change.";
pub(super) const FIRST: &str = "The first request of a process from one who does not see all: it is taken for one who does. What was \
    read for that is of no use, and the rest comes one round trip later.";

/// Columns of a funnel, and the opportunities in each.
#[derive(Clone, Copy)]
struct Shop {
    columns: u64,
    in_each: u64,
    pad: usize,
}

impl Shop {
    async fn open(self) -> (Desk, Wallet) {
        let desk = Desk::open().await;
        let operator = desk.operator();
        open_shop(&operator).await;
        let columns = (1..=self.columns).map(|n| Column {
            id: column(600 + n),
            name: format!("Etapa {n}"),
            sequence: n,
        });
        let text = |name: &str| CustomField {
            name: name.to_owned(),
            kind: "text".to_owned(),
        };
        let funnel = Funnel {
            id: funnel(6),
            name: "Medida".to_owned(),
            columns: columns.collect(),
            fields: FIELDS.map(text).into(),
            access: FunnelAccess::default(),
        };
        add_funnels(&operator, &[funnel]).await;
        for n in 1..=self.columns {
            add_opportunities(&operator, self.stock(n)).await;
        }
        let wallet = desk.wallet(7).await;
        (desk, wallet)
    }

    fn stock(self, n: u64) -> Vec<shared::opportunity::Opportunity> {
        let stock = (0..self.in_each).map(|at| {
            let id = n * 1_000 + at;
            let mut made = plain_opportunity(id, 8 + at % 3, u32::try_from(id * 60).expect("small"));
            (made.crm_id, made.crm_column) = (funnel(6), column(600 + n));
            made.begin_as(Status::ALL[usize::try_from(at / 3 % 3).expect("small")]);
            made.fields
                .insert(FIELDS[0].to_owned(), json!("x".repeat(self.pad)));
            made
        });
        stock.collect()
    }

    fn all(self) -> usize {
        usize::try_from(self.columns * self.in_each).expect("small")
    }
}

async fn ask(desk: &Desk, line: Line, wallet: &Wallet, limit: u64, filter: &Value) -> Answer {
    let request = desk.keyed(wallet, "POST", "/crm/opportunities/6", &page(1, limit, filter));
    desk.measure(line, 200, request).await
}

pub(super) async fn measure(scale: Scale) -> Vec<Row> {
    let mut rows = filters().await;
    let sizes = [
        (1, 25, 0),
        (10, 25, 0),
        (10, 25, 380),
        (10, 25, 3_400),
        (25, 25, 0),
        (10, 1, 0),
        (10, 100, 380),
    ];
    for (columns, limit, pad) in scale.of(6, &sizes) {
        let shop = Shop {
            columns: *columns,
            in_each: limit + 5,
            pad: *pad,
        };
        let (desk, wallet) = shop.open().await;
        let line = Line::of(
            Target::Board,
            "10",
            format!("board of {columns} columns of {limit}"),
        );
        ask(&desk, line.shows("board"), &wallet, *limit, &json!({})).await;
        rows.extend(desk.close());
    }
    rows
}

async fn filters() -> Vec<Row> {
    let shop = Shop {
        columns: 3,
        in_each: 400,
        pad: 0,
    };
    let (desk, wallet) = shop.open().await;
    let dates = json!({ "start": "2026-01-01", "end": "2026-12-31" });
    for (line, filter) in [
        (board("by status"), json!({ "filterByStatus": ["open"] })),
        (board("by user"), json!({ "filterByUsers": [8] })),
        (
            board("by user and status"),
            json!({ "filterByUsers": [8], "filterByStatus": ["open"] }),
        ),
        (
            board("by two users").but_units(MERGED),
            json!({ "filterByUsers": [8, 9] }),
        ),
        (board("archived"), json!({ "onlyArchived": true })),
        (board("by date"), json!({ "filterByCreateDate": dates })),
    ] {
        ask(&desk, line, &wallet, 25, &filter).await;
    }
    looked_through(&desk, &wallet, shop.all()).await;
    seen_by_others(&desk).await;
    refused(&desk, &wallet).await;
    desk.close()
}

fn board(what: &str) -> Line {
    Line::of(Target::Board, "10", format!("board, {what}")).shows("board")
}

/// Filters on the record itself read each reachable entry once, with columns in parallel.
async fn looked_through(desk: &Desk, wallet: &Wallet, all: usize) {
    let condition = json!({ "field": FIELDS[0], "value": "y" });
    let filter = json!({ "filters": [{ "filterType": "opField", "properties": condition }] });
    let line = Line::within(3, "10", "board, by a custom field".to_owned()).looks_through("board", all);
    ask(desk, line, wallet, 25, &filter).await;
    let line = Line::within(5, "10", "board, search for one title".to_owned());
    let title = json!({ "search": "pedido 700", "searchBy": "opportunity" });
    ask(desk, line, wallet, 25, &title).await;
}

async fn seen_by_others(desk: &Desk) {
    let (own, department) = (desk.wallet(8).await, desk.wallet(10).await);
    ask(desk, board("of own, first request"), &own, 25, &json!({})).await;
    ask(desk, board("of own"), &own, 25, &json!({})).await;
    let body = page(1, 25, &json!({}));
    desk.prepare(desk.keyed(&department, "POST", "/crm/opportunities/6", &body))
        .await;
    let line = board("of a department").but_units(MERGED);
    ask(desk, line, &department, 25, &json!({})).await;
}

async fn refused(desk: &Desk, wallet: &Wallet) {
    let body = page(1, 25, &json!({}));
    let line = |what| Line::of(Target::Board, "10", what);
    let malformed = desk
        .call("POST", "/crm/opportunities/6?i=acme&apitoken=fk_typo")
        .json(&body);
    desk.measure(line("board, malformed credential"), 401, malformed)
        .await;
    let unknown = desk.keyed(wallet, "POST", "/crm/opportunities/4711", &body);
    desk.measure(line("board of an unknown funnel"), 400, unknown)
        .await;
}
