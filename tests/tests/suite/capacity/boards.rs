use serde_json::{Value, json};
use shared::opportunity::{ServicePermission, Status};
use tests::people::user;
use tests::sales::{add_opportunities, column, page, plain_opportunity};
use tests::{Answer, Wallet, World};

use super::opportunities::shop;
use super::{Budget, read, walk, within};

/// A thousand opportunities in column 31, of users 8, 9 and 10 and all statuses, and ten in the others.
async fn stocked() -> World {
    let world = shop().await;
    let stock = (1..=1010).map(|id| {
        let mut opportunity = plain_opportunity(id, 8 + id % 3, u32::try_from(id * 600).expect("small"));
        if id % 2 == 0 {
            opportunity.begin_as([Status::Gain, Status::Lost][usize::try_from(id / 2 % 2).expect("small")]);
        }
        if id % 5 == 0 {
            opportunity.title = format!("Compra {id:03}");
        }
        if id > 1000 {
            opportunity.crm_column = column(32 + id % 2);
        }
        opportunity
    });
    add_opportunities(&world.operator("acme"), stock.collect()).await;
    world
}

async fn list(world: &World, wallet: &Wallet, body: &Value) -> Answer {
    let uri = format!("/crm/opportunities/3?i=acme&apitoken={}", wallet.key);
    let answer = world.call("POST", &uri).json(body).send().await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer
}

/// Endpoint 10: two round trips, and the units of the listed entries.
#[tokio::test]
async fn board_and_column_costs() {
    let world = stocked().await;
    let (admin, own, department) = (world.known(7).await, world.known(8).await, world.known(10).await);
    let dates = json!({ "start": "2026-01-02T03:00:00Z", "end": "2026-01-07" });
    // An entry has about 560 bytes, so 25 of them are 4 started 4 KB; credential, directory, funnel and
    // markers are 4 units more, and a board's totals one.
    for (what, wallet, number, filter, units, round_trips) in [
        ("10: board", &admin, 1, json!({}), 11.0, 2),
        (
            "10: board by status",
            &admin,
            1,
            json!({ "filterByStatus": ["open"] }),
            10.0,
            2,
        ),
        (
            "10: board by user",
            &admin,
            1,
            json!({ "filterByUsers": [8] }),
            11.0,
            2,
        ),
        (
            "10: board, archived",
            &admin,
            1,
            json!({ "onlyArchived": true }),
            5.0,
            2,
        ),
        ("10: board of own", &own, 1, json!({}), 11.0, 2),
        (
            "10: board of a department, first request",
            &department,
            1,
            json!({}),
            19.0,
            3,
        ),
        ("10: board of a department", &department, 1, json!({}), 19.0, 2),
        ("10: column", &admin, 1, json!({ "columnId": 31 }), 9.0, 2),
        (
            "10: column by status",
            &admin,
            1,
            json!({ "columnId": 31, "filterByStatus": ["gain"] }),
            9.0,
            2,
        ),
        (
            "10: column by user and status",
            &admin,
            1,
            json!({ "columnId": 31, "filterByStatus": ["open"], "filterByUsers": [8] }),
            9.0,
            2,
        ),
        (
            "10: column by two users",
            &admin,
            1,
            json!({ "columnId": 31, "filterByUsers": [8, 9] }),
            12.0,
            3,
        ),
        (
            "10: column of own, first request",
            &own,
            1,
            json!({ "columnId": 31 }),
            10.0,
            3,
        ),
        ("10: column of own", &own, 1, json!({ "columnId": 31 }), 9.0, 2),
        ("10: column, page 2", &admin, 2, json!({ "columnId": 31 }), 9.0, 2),
        ("10: column, page 3", &admin, 3, json!({ "columnId": 31 }), 9.0, 2),
        (
            "10: column, offset 250",
            &admin,
            11,
            json!({ "columnId": 31, "searchBy": "lead" }),
            43.0,
            3,
        ),
        (
            "10: column, offset 900",
            &admin,
            37,
            json!({ "columnId": 31, "searchBy": "lead" }),
            17.0,
            4,
        ),
        (
            "10: board by date, days and two parts",
            &admin,
            1,
            json!({ "filterByCreateDate": dates }),
            15.0,
            2,
        ),
        (
            "10: column by date",
            &admin,
            1,
            json!({ "columnId": 31, "filterByCreateDate": dates }),
            9.0,
            3,
        ),
        (
            "10: column by date, offset 500",
            &admin,
            21,
            json!({ "columnId": 31, "filterByCreateDate": dates, "searchBy": "lead" }),
            21.0,
            4,
        ),
    ] {
        let answer = list(&world, wallet, &page(number, 25, &filter)).await;
        within(
            what,
            &answer,
            &Budget {
                round_trips,
                read_units: units,
                write_units: 1.0,
            },
        );
    }
    // Every reachable entry is read once: 1,010 entries of about 560 bytes. Before that, the search reads the words of
    // leads, and the links of the one found, until there are too many.
    let custom_field = json!({ "field": "Origem do Lead", "value": "x" });
    for (what, filter, budget) in [
        (
            "10: board, search with many hits",
            json!({ "search": "maria" }),
            read(6, 157.0),
        ),
        (
            "10: board, changed since",
            json!({ "modifiedSince": "2026-01-01T00:00:00Z" }),
            read(3, 147.0),
        ),
        (
            "10: board, custom field",
            json!({ "filters": [{ "filterType": "opField", "properties": custom_field }] }),
            read(3, 147.0),
        ),
    ] {
        let answer = list(&world, &admin, &page(1, 25, &filter)).await;
        within(what, &answer, &budget);
    }
    let unauthorised = world
        .call("POST", "/crm/opportunities/3?i=acme&apitoken=fk_typo")
        .json(&page(1, 25, &json!({})))
        .send()
        .await;
    within("10: malformed credential", &unauthorised, &read(0, 0.0));
}

/// Every page in order costs the same, and one write for the cursor.
#[tokio::test]
async fn pages_in_order_cost_the_same() {
    let world = stocked().await;
    let wallet = world.known(7).await;
    // One in five is called Compra. Both words and lists could answer that search.
    let searched = json!({ "columnId": 31, "search": "compra", "searchBy": "opportunity" });
    for (request, pages, round_trips) in [(json!({ "columnId": 31 }), 40, 2), (searched, 8, 6)] {
        let mut units = Vec::new();
        for number in 1..=pages {
            let answer = list(&world, &wallet, &page(number, 25, &request)).await;
            assert_eq!(answer.body.as_array().map(Vec::len), Some(25));
            assert!(
                answer.cost.round_trips <= round_trips,
                "page {number}: {:?}",
                answer.cost
            );
            units.push(answer.cost.read_units());
        }
        println!("{request}: units of pages 1 to {pages}: {units:?}");
        assert!(units.last() <= Some(&(units[1] * 1.3)));
    }
}

/// This number of opportunities in column 31, of users 8, 9 and 10 and all statuses.
async fn column_of(count: u64) -> World {
    let world = shop().await;
    // Ids of equal length, so that entries have equal lengths too.
    let ids: Vec<_> = (100_000..100_000 + count).collect();
    for ids in ids.chunks(1_000) {
        let stock = ids.iter().map(|id| {
            let mut opportunity = plain_opportunity(*id, 8 + id % 3, u32::try_from(id * 60).expect("small"));
            opportunity.begin_as(Status::ALL[usize::try_from(id / 3 % 3).expect("small")]);
            opportunity
        });
        add_opportunities(&world.operator("acme"), stock.collect()).await;
    }
    world
}

/// A page alone reads daily counts from the nearer end, and few of them near an end of any number of days.
#[tokio::test]
async fn far_pages_of_a_column_cost() {
    let many_days = shop().await;
    for ids in (100_000..103_000).collect::<Vec<u64>>().chunks(1_000) {
        let stock = ids.iter().map(|id| {
            let seconds = u32::try_from((id - 100_000) * 86_400).expect("small");
            plain_opportunity(*id, if id % 4 == 0 { 9 } else { 8 }, seconds)
        });
        add_opportunities(&many_days.operator("acme"), stock.collect()).await;
    }
    let (admin, own) = (many_days.known(7).await, many_days.known(8).await);
    let of_all = [(1, 2, 9.0), (21, 5, 19.0), (60, 6, 34.0), (120, 7, 14.0)];
    let of_own = [(1, 2, 9.0), (21, 5, 22.0), (45, 6, 35.0), (90, 7, 15.0)];
    for (wallet, who, last, rows) in [(&admin, "all", 120, of_all), (&own, "own", 90, of_own)] {
        list(&many_days, wallet, &page(1, 25, &json!({ "columnId": 31 }))).await;
        for (number, round_trips, units) in rows {
            let body = page(number, 25, &json!({ "columnId": 31 }));
            let answer = list(&many_days, wallet, &body).await;
            assert_eq!(answer.body.as_array().map(Vec::len), Some(25));
            let budget = Budget {
                round_trips,
                read_units: units,
                write_units: 1.0,
            };
            within(
                &format!("10: column of {who}, 3,000 days, page {number} alone"),
                &answer,
                &budget,
            );
        }
        let body = page(last + 1, 25, &json!({ "columnId": 31, "searchBy": "lead" }));
        let answer = list(&many_days, wallet, &body).await;
        within("10: column, after the last page", &answer, &walk(3, 7.0));
    }
}

/// Work that reads only the listed entries costs the same in a column ten times as long; the benchmark
/// `growth` measures up to a million.
#[tokio::test]
async fn costs_do_not_grow_with_the_column() {
    let (small, large) = (column_of(300).await, column_of(3_000).await);
    let (of_small, of_large) = (small.known(7).await, large.known(7).await);
    for filter in [
        json!({}),
        json!({ "filterByStatus": ["open"] }),
        json!({ "filterByUsers": [8] }),
        json!({ "filterByUsers": [8], "filterByStatus": ["open"] }),
        json!({ "onlyArchived": true }),
    ] {
        for column in [Value::Null, json!(31)] {
            let mut body = page(1, 25, &filter);
            if !column.is_null() {
                body["columnId"] = column;
            }
            let (before, after) = (
                list(&small, &of_small, &body).await.cost,
                list(&large, &of_large, &body).await.cost,
            );
            assert_eq!(before.calls.len(), after.calls.len(), "{body}");
            assert!(
                after.read_units() <= before.read_units() * 1.05,
                "{body}: {before:?} -> {after:?}"
            );
        }
    }
}

/// A day of 2,400 opportunities of column 31; with `each`, every one has service permissions of its own.
async fn busy_day(each: bool) -> World {
    let world = shop().await;
    for ids in (100_000..102_400).collect::<Vec<u64>>().chunks(600) {
        let stock = ids.iter().map(|id| {
            let mut one = plain_opportunity(*id, 8 + id % 3, u32::try_from(*id - 100_000).expect("small"));
            if each {
                one.service_permission = ServicePermission::Users;
            }
            one.service_permission_users = vec![user(11), user(*id)];
            one
        });
        add_opportunities(&world.operator("acme"), stock.collect()).await;
    }
    world
}

/// C-89: thousands of service permissions on one day of a column cost only viewers that they may exclude, and
/// no counting item grows.
#[tokio::test]
async fn service_permissions_cost_only_excluded_viewers() {
    let (open, restricted) = (busy_day(false).await, busy_day(true).await);
    let cost = async |world: &World, wallet: &Wallet, body: &Value| {
        list(world, wallet, body).await.cost.read_units()
    };
    for asker in [7, 8] {
        let (of_open, of_restricted) = (open.wallet(asker).await, restricted.wallet(asker).await);
        for body in [
            page(1, 25, &json!({})),
            page(1, 25, &json!({ "columnId": 31 })),
            page(1, 25, &json!({ "columnId": 31, "filterByUsers": [8, 9] })),
            page(30, 25, &json!({ "columnId": 31, "filterByStatus": ["open"] })),
        ] {
            let before = cost(&open, &of_open, &body).await;
            let after = cost(&restricted, &of_restricted, &body).await;
            println!("| user {asker} {body} | {before} | {after} |");
            assert!(
                after <= before * 1.1 + 2.0,
                "user {asker} {body}: {before} -> {after}"
            );
        }
    }
    // Viewers that they may exclude read each once: 2,400 of about 130 bytes, and about 85 for an offset.
    let (of_open, of_restricted) = (open.wallet(11).await, restricted.wallet(11).await);
    for (body, more) in [
        (page(1, 25, &json!({})), 80.0),
        (page(1, 25, &json!({ "columnId": 31 })), 2.0),
        (page(30, 25, &json!({ "columnId": 31 })), 130.0),
    ] {
        let before = cost(&open, &of_open, &body).await;
        let after = cost(&restricted, &of_restricted, &body).await;
        println!("| user 11 {body} | {before} | {after} |");
        assert!(after <= before + more, "{body}: {before} -> {after}");
    }
    assert_writes_and_items_stay_small(&restricted).await;
}

async fn assert_writes_and_items_stay_small(restricted: &World) {
    let wallet = restricted.wallet(7).await;
    let body = json!({ "title": "Pedido", "crm_column": 31, "lead_id": 1001 });
    let uri = "/crmopportunity?id=3&i=acme";
    let made = restricted
        .call("POST", uri)
        .with(&wallet)
        .json(&body)
        .send()
        .await;
    assert_eq!(made.status, 200, "{}", made.body);
    let changed = restricted
        .call("PUT", "/crmopportunity/100000?id=3&i=acme")
        .with(&wallet);
    let changed = changed.json(&json!({ "status": "gain" })).send().await;
    assert_eq!(changed.status, 200, "{}", changed.body);
    println!(
        "| made | {} | changed | {} |",
        made.cost.write_units(),
        changed.cost.write_units()
    );
    assert!(made.cost.write_units() <= 24.0, "{:?}", made.cost);
    assert!(changed.cost.write_units() <= 28.0, "{:?}", changed.cost);
    for item in restricted.raw().items() {
        let pk = item["pk"]["S"].as_str().expect("a key");
        if pk.contains("#board-") {
            let bytes = item.to_string().len();
            assert!(bytes < 2_000, "{pk}: {bytes} bytes");
        }
    }
}
