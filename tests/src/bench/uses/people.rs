//! Endpoints 2 to 6, requests that make and change leads, and submissions of forms.

use serde_json::{Value, json};

use super::Scale;
use crate::bench::desk::Desk;
use crate::bench::row::Row;
use crate::bench::target::{Line, Target};
use crate::bookings::{add_meetings, meeting, open_calendars};
use crate::forms::{self, add_form};
use crate::people::{add_leads, plain_lead};
use crate::sales::{add_opportunities, open_shop, plain_opportunity};
use crate::tickets::{add_tickets, ticket};
use crate::world::Wallet;

const SIDE_BY_SIDE: &str = "In bulk: each lead is a transaction of its own, 16 of them at a time.";

const UNSEEN: &str =
    "What a form accepts, and what must be unique, only the form tells; the process remembers it.";

pub(super) async fn measure(scale: Scale) -> Vec<Row> {
    let desk = Desk::open().await;
    let wallet = desk.wallet(7).await;
    reads(&desk, &wallet).await;
    edits(&desk, &wallet).await;
    changes(&desk, &wallet).await;
    bulk(&desk, &wallet).await;
    let mut rows = desk.close();
    for linked in scale.of(1, &[100, 10_000]) {
        rows.extend(with_many(*linked).await);
    }
    rows
}

async fn reads(desk: &Desk, wallet: &Wallet) {
    let sizes = [(3001, 0, "0.5"), (3002, 700, "1"), (3003, 3_700, "4")];
    let people = sizes.map(|(id, pad, _)| {
        let mut lead = plain_lead(id, "Pessoa", "de Tal", Some(8));
        lead.custom.insert("nota".to_owned(), json!("x".repeat(pad)));
        lead
    });
    add_leads(&desk.operator(), people.into()).await;
    for (id, _, size) in sizes {
        for (endpoint, what, rest) in [
            ("2", "summary", ""),
            ("3", "all fields", "&allFields=1"),
            ("4", "selected fields", "&query={lead{id,city}}"),
            ("4", "selected, the owner's name", "&query={lead{owner{name}}}"),
        ] {
            let line = Line::of(Target::Thing, endpoint, format!("{what}, up to {size} KB"));
            let request = desk.get(&format!("/leads/{id}?i=acme{rest}")).with(wallet);
            desk.measure(line.shows("lead"), 200, request).await;
        }
    }
    let line = Line::of(Target::Thing, "2", "unknown lead");
    desk.measure(line, 404, desk.get("/leads/4711?i=acme").with(wallet))
        .await;
}

/// New leads, and changes of lead 1002.
async fn edits(desk: &Desk, wallet: &Wallet) {
    let unique =
        json!({ "firstname": "Nara", "owner": 8, "phone": "5541988880001", "email": "nara@example.com" });
    let (new, one) = ("/leads?i=acme&unique=phone,email", "/leads/1002?i=acme");
    for (endpoint, what, path, body) in [
        (
            "POST /leads",
            "named",
            "/leads?i=acme",
            json!({ "firstname": "Nara" }),
        ),
        ("POST /leads", "unique", new, unique.clone()),
        ("POST /leads", "existing", new, unique),
        ("PUT /leads", "city", one, json!({ "city": "Ibiporã" })),
        (
            "PUT /leads",
            "owner",
            one,
            json!({ "owner": 9, "userAccess": [8] }),
        ),
        ("PUT /leads", "number", one, json!({ "mobile": "5541988880002" })),
        ("PUT /leads", "nothing", one, json!({})),
    ] {
        let method = endpoint.split_once(' ').map_or(endpoint, |(method, _)| method);
        let request = desk.call(method, path).with(wallet).json(&body);
        desk.measure(Line::of(Target::Write, endpoint, what), 200, request)
            .await;
    }
    submissions(desk).await;
}

/// Of a form with number and address as unique fields.
async fn submissions(desk: &Desk) {
    add_form(&desk.operator(), &Value::Null).await;
    let sent = |n: u64| json!({ "nome": "Lia", "whatsapp": format!("554198888100{n}"), "email": format!("lia{n}@example.com") });
    for (what, body, more_trips) in [
        ("first of a form", sent(1), Some(UNSEEN)),
        ("new lead", sent(2), None),
        ("existing", sent(2), None),
    ] {
        let line = Line::of(Target::Write, "POST /api/hook/{name}", what);
        let line = more_trips.map_or(line.clone(), |reason| line.but_trips(3, reason));
        let request = desk.call("POST", &forms::address("")).json(&body);
        desk.measure(line, 200, request).await;
    }
}

/// Lead 1001 has an owner, one number and an address: deletes or changes its record, two entries, two lookups and a total,
/// and writes marker and pending erasure.
async fn changes(desk: &Desk, wallet: &Wallet) {
    let archive = |id: u64, archived: bool| {
        let body = json!({ "archived": archived, "id": id });
        desk.keyed(wallet, "POST", "/lead/archive", &body)
    };
    let write = |endpoint, what| Line::of(Target::Write, endpoint, what);
    desk.measure(write("6", "archive"), 200, archive(1001, true))
        .await;
    desk.measure(write("6", "archived already"), 200, archive(1001, true))
        .await;
    desk.measure(write("6", "unarchive"), 200, archive(1001, false))
        .await;
    desk.measure(write("6", "unknown lead"), 404, archive(4711, true))
        .await;
    let delete = |id: u64| desk.keyed(wallet, "DELETE", &format!("/leads/{id}"), &Value::Null);
    desk.measure(write("5", "delete"), 200, delete(1001)).await;
    desk.measure(write("5", "unknown lead"), 404, delete(1001)).await;
    desk.measure(write("5", "delete, the fullest of 4 KB"), 200, delete(3003))
        .await;
}

async fn bulk(desk: &Desk, wallet: &Wallet) {
    let ids: Vec<u64> = (4001..4121).collect();
    let people = ids.iter().map(|id| plain_lead(*id, "Pessoa", "de Tal", Some(8)));
    add_leads(&desk.operator(), people.collect()).await;
    let body = json!({ "archived": true, "ids": ids });
    let line = |endpoint, what| Line::of(Target::Write, endpoint, what).but_trips(10, SIDE_BY_SIDE);
    let request = desk.keyed(wallet, "POST", "/lead/archive", &body);
    desk.measure(line("6", "archive 120"), 200, request).await;
    let request = desk.keyed(wallet, "DELETE", "/leads", &json!({ "ids": ids }));
    desk.measure(line("5", "delete 120"), 200, request).await;
}

/// The cost of a deletion does not depend on linked records, which are handled later.
async fn with_many(linked: u64) -> Vec<Row> {
    let desk = Desk::open().await;
    let (operator, wallet) = (desk.operator(), desk.wallet(7).await);
    open_calendars(&operator).await;
    open_shop(&operator).await;
    let ids: Vec<u64> = (1..=linked).collect();
    for ids in ids.chunks(1_000) {
        add_meetings(&operator, ids.iter().map(|id| meeting(&json!({ "id": id })))).await;
        add_tickets(&operator, ids.iter().map(|id| ticket(&json!({ "id": id })))).await;
    }
    let opportunities = (1..=100).map(|id| plain_opportunity(id, 8, 60));
    add_opportunities(&operator, opportunities.collect()).await;
    let what = format!("delete, with {linked} meetings, {linked} tickets, 100 opportunities");
    let delete = desk.keyed(&wallet, "DELETE", "/leads/1001", &Value::Null);
    desk.measure(Line::of(Target::Write, "5", what), 200, delete)
        .await;
    desk.close()
}
