//! Endpoints 16 to 18: one round trip for a page of 50, two for more, and the units of the shown items.

use serde_json::{Value, json};
use tests::World;
use tests::tickets::{add_files, add_tickets, ask, file, ticket};

use super::{Budget, read, within};

/// A ticket has about 500 bytes and a file 200. Each list is read once, 4 KB a unit and 1 MB a query: 50
/// entries in parallel with the credential (C-86), the rest in a second round trip. Credential, directory,
/// and lead or ticket are three units.
#[tokio::test]
async fn ticket_and_file_list_costs() {
    for (count, tickets, files) in [(1_u64, 1.0, 1.0), (100, 15.0, 7.0), (1_500, 196.0, 84.0)] {
        let world = World::new().await;
        let operator = world.operator("acme");
        add_tickets(&operator, (1..=count).map(|id| ticket(&json!({ "id": id })))).await;
        let of_many = (1..=count).map(|id| file(&json!({ "ticket": id })));
        add_files(&operator, of_many).await;
        let of_one = (1..count).map(|n| file(&json!({ "ticket": 1, "store_path": format!("{n}") })));
        let (wallet, trips) = (world.known(7).await, 1 + u32::from(count > 50));
        let lead_files = ask(&world, &wallet, "list_file_lead/1001").await;
        within(
            &format!("18: {count} files"),
            &lead_files,
            &read(trips, 3.0 + files),
        );
        add_files(&operator, of_one).await;
        let list = ask(&world, &wallet, "lead/1001").await;
        within(
            &format!("16: {count} tickets"),
            &list,
            &read(trips, 3.0 + tickets),
        );
        let of_ticket = ask(&world, &wallet, "list_file_attendance/1").await;
        within(
            &format!("17: {count} files"),
            &of_ticket,
            &read(trips, 3.0 + files),
        );
        let shown = [list, lead_files, of_ticket].map(|answer| answer.body.as_array().map(Vec::len));
        assert_eq!(shown, [usize::try_from(count).ok(); 3]);
    }
}

/// Unknown ids cost as much as an empty list; malformed ones are not looked up.
#[tokio::test]
async fn unknown_and_malformed_id_costs() {
    let world = World::new().await;
    let wallet = world.known(7).await;
    add_tickets(&world.operator("acme"), [ticket(&Value::Null)]).await;
    for path in [
        "lead/4711",
        "list_file_attendance/4711",
        "list_file_lead/4711",
        "lead/1002",
    ] {
        within(path, &ask(&world, &wallet, path).await, &read(1, 4.0));
    }
    within("lead/abc", &ask(&world, &wallet, "lead/abc").await, &read(1, 2.0));
}

/// C-62: a page in order costs its entries and a put for the cursor, however deep it is.
#[tokio::test]
async fn ticket_page_costs() {
    let world = World::new().await;
    add_tickets(
        &world.operator("acme"),
        (1..=1_000).map(|id| ticket(&json!({ "id": id }))),
    )
    .await;
    let wallet = world.known(7).await;
    for page in 1..=40 {
        let answer = world
            .get(&format!("/sac360/lead/1001?i=acme&limit=25&page={page}"))
            .header("apitoken", &wallet.key)
            .send()
            .await;
        assert_eq!(answer.body.as_array().map(Vec::len), Some(25));
        let budget = Budget {
            round_trips: 2,
            read_units: 8.0,
            write_units: 1.0,
        };
        within(&format!("16: page {page}"), &answer, &budget);
    }
}

/// C-100: two round trips for a ticket of few files that this process saw before, by endpoint 17 or by a move of its own; else
/// its files are read in between, twice after a wrong hint. Ticket, entries and lead are four writes, a file is three.
#[tokio::test]
async fn reassignment_costs() {
    for (files, trips, reads, writes) in [
        (0_u64, 2, 9.0, 8.0),
        (1, 2, 12.0, 14.0),
        (16, 2, 42.0, 104.0),
        (32, 3, 44.0, 200.0),
    ] {
        let world = World::new().await;
        let operator = world.operator("acme");
        add_tickets(&operator, [ticket(&Value::Null)]).await;
        let files_of = (1..=files).map(|n| file(&json!({ "store_path": format!("{n}") })));
        add_files(&operator, files_of).await;
        let elsewhere = world.elsewhere();
        let wallet = world.known(7).await;
        elsewhere.meet(&wallet).await;
        for (what, process, lead, round_trips, write_units) in [
            ("unknown", &world, 1002, 3, writes),
            ("moved before", &world, 1003, trips, writes),
            ("moved to the same lead", &world, 1003, 1, 0.0),
            ("unknown elsewhere", &elsewhere, 1001, 3, writes),
            ("moved elsewhere", &world, 1002, 3, writes),
        ] {
            let call = process.call("POST", "/sac360/relaction?i=acme").with(&wallet);
            let body = json!({ "lead": lead, "attendance": 501 });
            let answer = call.json(&body).send().await;
            assert_eq!(answer.status, 200, "{}", answer.body);
            let budget = Budget {
                round_trips,
                read_units: reads,
                write_units,
            };
            within(&format!("{what}: {files} files"), &answer, &budget);
        }
        ask(&elsewhere, &wallet, "list_file_attendance/501").await;
        let call = elsewhere.call("POST", "/sac360/relaction?i=acme").with(&wallet);
        let answer = call
            .json(&json!({ "lead": 1003, "attendance": 501 }))
            .send()
            .await;
        assert_eq!(answer.cost.round_trips, trips, "its files were listed: {files}");
    }
}
