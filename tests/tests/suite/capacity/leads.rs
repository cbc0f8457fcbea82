//! Endpoints 5 and 6, and the cost of pending deletions for other endpoints.

use serde_json::{Value, json};
use shared::lead::Lead;
use tests::bookings::{FREE, open_calendars};
use tests::people::{add_leads, plain_lead, settle, user};
use tests::sales::open_shop;
use tests::{Answer, Wallet, World};

use super::{Budget, call, documented, read, within};

/// Two round trips: a read of credential, directory and lead, three units; then one transaction.
fn written(write_units: f64) -> Budget {
    Budget {
        round_trips: 2,
        read_units: 3.0,
        write_units,
    }
}

async fn send(world: &World, wallet: &Wallet, method: &str, path: &str, body: &Value) -> Answer {
    let uri = format!("{path}?i=acme&apitoken={}", wallet.key);
    world.call(method, &uri).json(body).send().await
}

/// Lead 1001 has an owner, one number and an address: deletes or changes its record, two entries, a lookup, four words with its
/// address, a number, a total and a block, and writes pending erasure and marker. A transaction bills every item twice.
#[tokio::test]
async fn deletion_and_archiving_costs() {
    let world = World::new().await;
    let wallet = world.known(7).await;
    for (what, archived, budget) in [
        ("6: archive", true, written(42.0)),
        ("6: archived already", true, read(1, 3.0)),
        ("6: unarchive", false, written(42.0)),
    ] {
        let body = json!({ "archived": archived, "id": 1001 });
        let answer = send(&world, &wallet, "POST", "/lead/archive", &body).await;
        assert_eq!(answer.status, 200);
        within(what, &answer, &budget);
        if what == "6: archive" {
            documented("6: archive a lead", &answer);
        }
    }
    for (what, budget) in [("5: delete", written(26.0)), ("5: unknown lead", read(1, 3.0))] {
        let answer = send(&world, &wallet, "DELETE", "/leads/1001", &Value::Null).await;
        within(what, &answer, &budget);
        if what == "5: delete" {
            documented("5: delete a lead", &answer);
        }
    }
}

/// Creating and changing leads: the credentials, the directory, the users' names and the lead or the counter are five
/// units; then one transaction, or a get of the lead that was found.
#[tokio::test]
async fn creation_and_change_costs() {
    let world = World::new().await;
    let wallet = world.known(7).await;
    let owned = json!({ "firstname": "Nara", "owner": 8 });
    let unique =
        json!({ "firstname": "Nara", "owner": 8, "phone": "5541988880001", "email": "nara@example.com" });
    let budget = |round_trips, read_units, write_units| Budget {
        round_trips,
        read_units,
        write_units,
    };
    for (what, method, uri, body, budget) in [
        (
            "POST /leads",
            "POST",
            "/leads?i=acme",
            owned,
            budget(2, 6.0, 14.0),
        ),
        // Its lookup, two claims, address, another word and number too. The process reads the table's format once.
        (
            "POST /leads, unique",
            "POST",
            "/leads?i=acme&unique=phone,email",
            unique.clone(),
            budget(2, 11.0, 24.0),
        ),
        (
            "POST /leads, existing",
            "POST",
            "/leads?i=acme&unique=phone,email",
            unique,
            budget(2, 11.0, 0.0),
        ),
        (
            "PUT /leads, city",
            "PUT",
            "/leads/1001?i=acme",
            json!({ "city": "x" }),
            budget(2, 5.0, 4.0),
        ),
        (
            "PUT /leads, again",
            "PUT",
            "/leads/1001?i=acme",
            json!({ "city": "x" }),
            budget(1, 5.0, 0.0),
        ),
        (
            "PUT /leads, owner",
            "PUT",
            "/leads/1001?i=acme",
            json!({ "owner": 9 }),
            budget(2, 6.0, 28.0),
        ),
        (
            "PUT /leads, number",
            "PUT",
            "/leads/1001?i=acme",
            json!({ "mobile": "5541988880002" }),
            budget(2, 5.0, 16.0),
        ),
        (
            "PUT /leads, custom",
            "PUT",
            "/leads/1001?i=acme",
            json!({ "cor": "azul" }),
            budget(2, 5.0, 4.0),
        ),
    ] {
        let answer = world.call(method, uri).with(&wallet).json(&body).send().await;
        assert_eq!(answer.status, 200, "{what}: {}", answer.body);
        within(what, &answer, &budget);
    }
}

/// A lead of 95 KB, almost all of it custom fields: the requests that concern none cost as much as for a small lead.
#[tokio::test]
async fn large_lead_costs() {
    let mut costs = Vec::new();
    for fields in [0, 10] {
        let world = World::own().await;
        let operator = world.operator("acme");
        settle(&operator).await;
        open_calendars(&operator).await;
        open_shop(&operator).await;
        world.meet_public().await;
        let wallet = world.known(7).await;
        let custom: serde_json::Map<_, _> = (0..fields)
            .map(|at| (format!("campo{at}"), json!("x".repeat(9_480))))
            .collect();
        let put = async |body: &Value| {
            let request = world.call("PUT", "/leads/1001?i=acme").with(&wallet);
            request.json(body).send().await
        };
        assert_eq!(put(&json!(custom)).await.status, 200);
        let made = json!({ "title": "Um", "value": 1, "crm_column": 31, "lead_id": 1001, "user": 8 });
        let uri = format!("/crmopportunity?id=3&i=acme&apitoken={}", wallet.key);
        let opportunity = || world.call("POST", &uri).with(&wallet).json(&made);
        let archive = format!("/lead/archive?i=acme&apitoken={}", wallet.key);
        let full = "/leads/1001?i=acme&allFields=1";
        let (city, campo) = (json!({ "city": "x" }), json!({ "campo0": "x".repeat(9_479) }));
        let change = |body: &Value| world.call("PUT", "/leads/1001?i=acme").with(&wallet).json(body);
        let mut sent = Vec::new();
        for (what, request) in [
            ("19: call", world.webhook(&call(&json!({})))),
            (
                "13: booking",
                world
                    .call("POST", "/calendarmeeting?i=acme")
                    .json(&json!({ "keyName": "demo", "date": FREE[1], "leadId": 1001 })),
            ),
            ("7: first link", opportunity()),
            ("7: another link", opportunity()),
            ("2: summary", world.get("/leads/1001?i=acme").with(&wallet)),
            (
                "6: archive",
                world
                    .call("POST", &archive)
                    .json(&json!({ "id": 1001, "archived": true })),
            ),
            ("3: all fields", world.get(full).with(&wallet)),
            ("PUT /leads, city", change(&city)),
            ("PUT /leads, custom", change(&campo)),
        ] {
            let answer = request.send().await;
            assert!(answer.status.is_success(), "{what}: {}", answer.body);
            let cost = &answer.cost;
            sent.push((what, cost.round_trips, cost.read_units(), cost.write_units()));
        }
        println!("{fields} fields: {sent:?}");
        costs.push(sent);
    }
    let [small, large] = &costs[..] else {
        panic!("two leads");
    };
    assert_eq!(large[..6], small[..6]);
    assert_eq!(
        large[6..],
        [
            ("3: all fields", 2, 28.0, 0.0),
            ("PUT /leads, city", 3, 29.0, 4.0),
            ("PUT /leads, custom", 3, 29.0, 188.0),
        ]
    );
}

/// In bulk the leads are read together, and written 16 at a time.
#[tokio::test]
async fn bulk_deletion_costs() {
    let world = World::new().await;
    let wallet = world.known(7).await;
    let people = (2001..2121).map(|id| plain_lead(id, "Pessoa", "de Tal", Some(8)));
    add_leads(&world.operator("acme"), people.collect()).await;
    let ids: Vec<u64> = (2001..2121).collect();
    let budget = |write_units| Budget {
        round_trips: 10,
        read_units: 122.0,
        write_units,
    };
    let body = json!({ "archived": true, "ids": ids });
    let answer = send(&world, &wallet, "POST", "/lead/archive", &body).await;
    within("6: 120 leads", &answer, &budget(120.0 * 32.0));
    let answer = send(&world, &wallet, "DELETE", "/leads", &json!({ "ids": ids })).await;
    within("5: 120 leads", &answer, &budget(120.0 * 22.0));
}

/// Pending deletions cost the list of meetings a query of almost nothing, and the webhook nothing.
#[tokio::test]
async fn pending_deletions_cost_little() {
    let world = World::new().await;
    open_calendars(&world.operator("acme")).await;
    world.meet_public().await;
    let wallet = world.known(7).await;
    for deleted in [false, true] {
        if deleted {
            let answer = send(
                &world,
                &wallet,
                "DELETE",
                "/leads",
                &json!({ "ids": [1003, 1006, 1007] }),
            )
            .await;
            assert_eq!(answer.status, 200);
        }
        let uri = format!("/calendarmeeting/5?i=acme&apitoken={}", wallet.key);
        let what = format!("12: page 0, deletions: {deleted}");
        within(&what, &world.get(&uri).send().await, &read(1, 7.0));
        let answer = world.webhook(&call(&json!({}))).send().await;
        let budget = Budget {
            round_trips: 2,
            read_units: 5.0,
            write_units: 10.0,
        };
        within("19: known number", &answer, &budget);
    }
}

/// C-20: a page that is asked alone costs the same at any offset, beside a unit for each 40,000 leads or so: the
/// credentials, the cursor and the totals; the blocks; the entries; the next cursor. A viewer from whom access lists may
/// hide leads also reads the entries near those that have them, here those of the first block.
#[tokio::test]
async fn a_page_of_leads_alone_costs_the_same_at_any_offset() {
    let mut first = Vec::new();
    // The ids of both pages are equally far from the beginning of a block.
    for leads in [3_000, 5_000] {
        let world = World::new().await;
        let people = (2001..2001 + leads).map(|id| plain_lead(id, "Pessoa", "de Tal", Some(8 + id % 2)));
        add_leads(&world.operator("acme"), people.collect()).await;
        let mut costs = Vec::new();
        for (who, seen, round_trips, units) in [
            (7, leads, 4, 19.0),
            (14, leads, 5, 21.0),
            (8, leads / 2, 4, 13.0),
            (10, leads, 5, 33.0),
        ] {
            let wallet = world.known(who).await;
            let page = seen / 50 - 1;
            for (round, client) in ["the first", "another", "the last"].into_iter().enumerate() {
                let uri = format!("/leads?i=acme&page={page}");
                let answer = world
                    .get(&uri)
                    .with(&wallet)
                    .header("user-agent", client)
                    .send()
                    .await;
                assert_eq!(answer.body["data"]["leads"].as_array().map(Vec::len), Some(50));
                if round == 2 {
                    let budget = Budget {
                        round_trips,
                        read_units: units,
                        write_units: 1.0,
                    };
                    within(&format!("1: page {page} alone, user {who}"), &answer, &budget);
                    let cost = &answer.cost;
                    costs.push((cost.round_trips, cost.calls.len(), cost.read_units().to_bits()));
                }
            }
        }
        if first.is_empty() {
            first = costs;
        } else {
            assert_eq!(costs, first, "{leads} leads");
        }
    }
}

/// Total, read units and round trips of a list, the second time.
async fn total(world: &World, wallet: &Wallet) -> (u64, f64, u32) {
    let list = || world.get("/leads?i=acme&limit=1").with(wallet).send();
    list().await;
    let answer = list().await;
    let total = answer.body["data"]["total"].as_u64().expect("a total");
    (total, answer.cost.read_units(), answer.cost.round_trips)
}

/// C-89: the totals of a list cost by owners. Classes of access lists cost only viewers from whom lists may hide leads of
/// owners within reach, and every total is exact. Up to 50 classes are read with the page, the others after it, a thousand
/// at a time.
#[tokio::test]
async fn access_lists_cost_only_those_whom_they_restrict() {
    const LISTED: u64 = 1200;
    let world = World::new().await;
    // Users 10 and 8 see none of them, user 14 every third.
    let listed = |id: u64| {
        let admitted = [14, id]
            .into_iter()
            .filter(|who| *who == id || id.is_multiple_of(3));
        Lead {
            user_access: admitted.map(user).collect(),
            ..plain_lead(id, "Pessoa", "de Tal", Some(9))
        }
    };
    let mut before = Vec::new();
    for (who, more, units, trips) in [
        (7, LISTED, 0.0, 1),
        (8, 0, 0.0, 1),
        (9, LISTED, 0.0, 1),
        (10, 0, 60.0, 3),
        (14, LISTED / 3, 60.0, 3),
    ] {
        let wallet = world.known(who).await;
        let now = total(&world, &wallet).await;
        assert_eq!(now.2, 1, "user {who}");
        before.push((wallet, (now.0 + more, now.1 + units, trips)));
    }
    let people = (3001..3001 + LISTED).map(listed);
    add_leads(&world.operator("acme"), people.collect()).await;
    for (wallet, expected) in before {
        let (count, units, trips) = total(&world, &wallet).await;
        let seen = format!("{count} {units} {trips}: {expected:?}");
        assert!(
            count == expected.0 && units <= expected.1 && trips <= expected.2,
            "{seen}"
        );
    }
    world.is_sound().await;
}
