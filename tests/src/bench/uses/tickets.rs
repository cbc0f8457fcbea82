//! Endpoints 16 to 18 and `POST /sac360/relaction`: tickets of 0.5 to 4 KB and files of 0.2 KB, of a lead with 1 to 10,000.

use serde_json::json;
use shared::ticket::Ticket;

use super::Scale;
use crate::bench::desk::Desk;
use crate::bench::row::Row;
use crate::bench::target::{Line, MORE_THAN_A_PAGE, Target};
use crate::tickets::{add_files, add_tickets, file, ticket};
use crate::world::{Request, Wallet};

const MEGABYTES: &str = "The first 50 are read beside the credential, the others once the caller is known (C-86). DynamoDB answers a query \
    with 1 MB at most, and where the next one begins is known only then.";
/// From this number, a response with tickets exceeds the platform's 5 MB and is rejected.
const TOO_MANY: u64 = 10_000;
const WHOSE: &str =
    "Whose a ticket is only the ticket tells; the process remembers it, and an admin never waits for it.";

const UNSEEN: &str =
    "The files are listed after the ticket was read, unless the process saw the ticket as it is now.";

/// Number of tickets, extra length of a ticket, and round trips of 16, 17 and 18.
struct Size {
    count: u64,
    pad: usize,
    trips: [u32; 3],
}

const fn size(count: u64, pad: usize, trips: [u32; 3]) -> Size {
    Size { count, pad, trips }
}

pub(super) async fn measure(scale: Scale) -> Vec<Row> {
    let mut rows = Vec::new();
    let sizes = [
        size(1, 0, [1; 3]),
        size(200, 0, [2; 3]),
        size(25, 400, [1; 3]),
        size(25, 3_500, [1; 3]),
        size(3_000, 0, [3, 2, 2]),
        size(10_000, 0, [7, 4, 4]),
    ];
    for size in scale.of(4, &sizes) {
        rows.extend(of(size).await);
    }
    rows.extend(nothing().await);
    rows.extend(moves().await);
    rows
}

/// A ticket with three files moves between leads.
async fn moves() -> Vec<Row> {
    let desk = Desk::open().await;
    let operator = desk.operator();
    add_tickets(&operator, [ticket(&json!({ "id": 1 }))]).await;
    let files = (1..=3).map(|n| file(&json!({ "ticket": 1, "store_path": format!("{n}") })));
    add_files(&operator, files.collect::<Vec<_>>()).await;
    let wallet = desk.wallet(7).await;
    for (what, lead, more_trips) in [
        ("the first time", 1002, Some(UNSEEN)),
        ("seen before", 1003, None),
        ("to the same lead", 1003, None),
    ] {
        let line = Line::of(Target::Write, "POST /sac360/relaction", what);
        let line = more_trips.map_or(line.clone(), |reason| line.but_trips(3, reason));
        let call = desk.call("POST", "/sac360/relaction?i=acme").with(&wallet);
        let body = json!({ "lead": lead, "attendance": 1 });
        desk.measure(line, 200, call.json(&body)).await;
    }
    desk.close()
}

fn ask<'d>(desk: &'d Desk, wallet: &Wallet, path: &str) -> Request<'d> {
    desk.get(&format!("/sac360/{path}?i=acme"))
        .header("apitoken", &wallet.key)
}

async fn of(Size { count, pad, trips }: &Size) -> Vec<Row> {
    let desk = Desk::open().await;
    let operator = desk.operator();
    let written = |id: u64| -> Ticket { ticket(&json!({ "id": id, "obs": "x".repeat(*pad) })) };
    let ids: Vec<u64> = (1..=*count).collect();
    for ids in ids.chunks(1_000) {
        add_tickets(&operator, ids.iter().map(|id| written(*id))).await;
        add_files(&operator, ids.iter().map(|id| file(&json!({ "ticket": id })))).await;
    }
    let wallet = desk.wallet(7).await;
    let line = |endpoint, what, trips| match trips {
        1 => Line::of(Target::Thing, endpoint, what),
        2 => Line::of(Target::Thing, endpoint, what).but_trips(trips, MORE_THAN_A_PAGE),
        _ => Line::of(Target::Thing, endpoint, what).but_trips(trips, MEGABYTES),
    };
    let tickets = line("16", format!("{count} tickets"), trips[0]);
    let request = ask(&desk, &wallet, "lead/1001");
    if *count < TOO_MANY {
        desk.measure(tickets.shows("lead-ticket"), 200, request).await;
    } else {
        desk.measure(tickets, 400, request).await;
    }
    let files = line("18", format!("{count} files"), trips[2]).shows("lead-file");
    desk.measure(files, 200, ask(&desk, &wallet, "list_file_lead/1001"))
        .await;
    for ids in ids[1..].chunks(1_000) {
        let of_one = ids
            .iter()
            .map(|id| file(&json!({ "ticket": 1, "store_path": format!("{id}") })));
        add_files(&operator, of_one).await;
    }
    let files = line("17", format!("{count} files"), trips[1]).shows("ticket-file");
    desk.measure(files, 200, ask(&desk, &wallet, "list_file_attendance/1"))
        .await;
    desk.close()
}

async fn nothing() -> Vec<Row> {
    let desk = Desk::open().await;
    add_tickets(&desk.operator(), [ticket(&json!({ "id": 1 }))]).await;
    let wallet = desk.wallet(7).await;
    for (endpoint, path) in [
        ("16", "lead/4711"),
        ("17", "list_file_attendance/4711"),
        ("18", "list_file_lead/4711"),
    ] {
        let line = Line::of(Target::Thing, endpoint, "unknown");
        desk.measure(line, 400, ask(&desk, &wallet, path)).await;
    }
    let own = desk.wallet(14).await;
    for (what, trips) in [("who is no admin, first request", 2), ("who is no admin", 1)] {
        let line = Line::of(Target::Thing, "17", what);
        let line = if trips > 1 {
            line.but_trips(trips, WHOSE)
        } else {
            line
        };
        desk.measure(line, 200, ask(&desk, &own, "list_file_attendance/1"))
            .await;
    }
    desk.close()
}
