//! Cost of requests: sequential round trips and units, as in docs/access-patterns.md.

mod boards;
mod bookings;
mod calendars;
mod checks;
mod directory;
mod forms;
mod leads;
mod opportunities;
mod reports;
mod searching;
mod targets;
mod tickets;

use serde_json::{Value, json};
use tests::people::{add_leads, plain_lead};
use tests::{Answer, World};

pub struct Budget {
    round_trips: u32,
    read_units: f64,
    write_units: f64,
}

#[track_caller]
pub fn within(what: &str, answer: &Answer, budget: &Budget) {
    let cost = &answer.cost;
    let calls: Vec<_> = cost.calls.iter().map(|call| call.operation).collect();
    println!(
        "| {what} | {} | {} | {} | {} | {} |",
        cost.round_trips,
        calls.len(),
        cost.read_units(),
        cost.write_units(),
        calls.join(", ")
    );
    assert!(cost.round_trips <= budget.round_trips, "{what}: {cost:?}");
    assert!(cost.read_units() <= budget.read_units, "{what}: {cost:?}");
    assert!(cost.write_units() <= budget.write_units, "{what}: {cost:?}");
}

/// Requires that docs/operations.md states the units of this request.
#[track_caller]
pub fn documented(request: &str, answer: &Answer) {
    let cost = &answer.cost;
    let row = format!("| {request} | {} | {} |", cost.read_units(), cost.write_units());
    let document = include_str!("../../../../docs/operations.md");
    assert!(document.contains(&row), "docs/operations.md lacks {row}");
}

pub fn read(round_trips: u32, read_units: f64) -> Budget {
    Budget {
        round_trips,
        read_units,
        write_units: 0.0,
    }
}

/// Endpoints 2 to 4: one round trip. Two credentials, the directory and the lead are four units.
#[tokio::test]
async fn one_lead_costs() {
    let world = World::new().await;
    let wallet = world.known(7).await;
    for (what, uri, units) in [
        ("2: summary", "/leads/1001?i=acme", 4.0),
        ("3: all fields", "/leads/1001?i=acme&allFields=1", 4.0),
        ("4: selected", "/leads/1001?i=acme&query={lead{id,city}}", 4.0),
        (
            "4: selected, owner's name",
            "/leads/1001?i=acme&query={lead{owner{name}}}",
            5.0,
        ),
        ("2: unknown lead", "/leads/4711?i=acme", 4.0),
        ("timeline", "/leads/1001/timeline?i=acme", 6.0),
        ("meetings", "/leads/1001/meetings?i=acme", 5.0),
    ] {
        let answer = world.get(uri).with(&wallet).send().await;
        within(what, &answer, &read(1, units));
    }
    let refused = world
        .get("/leads/1001?i=acme")
        .header("apitoken", "fk_typo")
        .send()
        .await;
    within("2: malformed credential", &refused, &read(0, 0.0));
}

/// A page that is asked by its number, whose end is remembered.
fn walk(round_trips: u32, read_units: f64) -> Budget {
    Budget {
        write_units: 1.0,
        ..read(round_trips, read_units)
    }
}

/// Endpoint 1: one round trip for the first page of 50 of viewers who see all, one more where it begins a walk; two for
/// the pages that follow, and three for others near the front.
#[tokio::test]
async fn lead_list_costs() {
    let world = World::new().await;
    let people = |ids: std::ops::Range<u64>| {
        ids.map(|id| plain_lead(id, "Pessoa", "de Tal", Some(8)))
            .collect()
    };
    add_leads(&world.operator("acme"), people(2001..3001)).await;
    let wallet = world.known(7).await;
    // An entry has about 75 bytes, so 50 are one started 4 KB.
    for (what, uri, budget) in [
        ("1: first page of 50", "/leads?i=acme", read(1, 5.0)),
        ("1: page 5 of 50", "/leads?i=acme&page=5", walk(3, 10.0)),
        ("1: page 1 of a walk", "/leads?i=acme&page=1", walk(2, 5.0)),
        ("1: page 2 of a walk", "/leads?i=acme&page=2", walk(2, 6.0)),
        ("1: page 3 of a walk", "/leads?i=acme&page=3", walk(2, 6.0)),
        ("1: search", "/leads?i=acme&search=tal", read(3, 35.0)),
        ("1: tag", "/leads?i=acme&tag=1", read(3, 25.0)),
    ] {
        let answer = world.get(uri).with(&wallet).send().await;
        within(what, &answer, &budget);
        match what {
            "1: first page of 50" => documented("1: first page of 50 leads", &answer),
            "1: page 1 of a walk" => documented("1: the same with `page=1`", &answer),
            _ => {}
        }
    }
    // The first request of a viewer who does not see all prefetches the wrong list.
    let own = world.known(8).await;
    for (what, budget) in [
        ("1: own leads, first request", read(2, 8.0)),
        ("1: own leads", read(1, 6.0)),
    ] {
        within(what, &world.get("/leads?i=acme").with(&own).send().await, &budget);
    }
    world
        .operator("acme")
        .set_setting("page_base", &json!(0))
        .await
        .expect("a setting");
    // With the former base as its hint, the process takes page 1 for the first, which has no cursor.
    for round_trips in [4, 3] {
        let second = world.get("/leads?i=acme&page=1").with(&own).send().await;
        within("1: second page, pages from 0", &second, &walk(round_trips, 9.0));
    }
    world
        .operator("acme")
        .set_setting("page_base", &json!(1))
        .await
        .expect("a setting");
    within(
        "1: 50 leads in full",
        &world.get("/leads?i=acme&allFields=1").with(&wallet).send().await,
        &read(2, 9.0),
    );
    let empty = world
        .get("/leads?i=acme&archived=true&page=9")
        .with(&wallet)
        .send()
        .await;
    within("1: after the last page", &empty, &read(2, 6.0));
}

/// C-93: two round trips; one where 50 leads or fewer are near the front and the process expects their users and tags.
#[tokio::test]
async fn advanced_list_costs() {
    let world = World::new().await;
    let people = (2001..2601).map(|id| plain_lead(id, "Pessoa", "de Tal", Some(8)));
    add_leads(&world.operator("acme"), people.collect()).await;
    let wallet = world.known(7).await;
    let nested = "{leads{id,owner{completName},companyData{companyname},tags{tag}}}";
    for (what, body, budget) in [
        ("first page of 50", json!({}), read(1, 6.0)),
        (
            "nested, first page of 40",
            json!({ "query": nested, "limit": 40 }),
            read(2, 12.0),
        ),
        ("page of 400", json!({ "limit": 400 }), read(2, 18.0)),
        ("second page of 50", json!({ "page": 1 }), walk(3, 8.0)),
        ("third page of 50, in order", json!({ "page": 2 }), walk(2, 7.0)),
    ] {
        let call = world.call("POST", "/leadsadvanced?i=acme").with(&wallet);
        let answer = call.json(&body).send().await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        within(&format!("advanced: {what}"), &answer, &budget);
    }
    let one = "/leads/1001?i=acme&query={lead{owner{completName},companyData{id},tags{tag}}}";
    let answer = world.get(one).with(&wallet).send().await;
    within("4: nested", &answer, &read(1, 7.0));
}

/// Deep pages continue after the previous page.
#[tokio::test]
async fn deep_pages_cost_the_same() {
    let world = World::new().await;
    let people = (2001..4501).map(|id| plain_lead(id, "Pessoa", "de Tal", None));
    add_leads(&world.operator("acme"), people.collect()).await;
    let wallet = world.known(7).await;
    let mut units = Vec::new();
    for page in 1..=50 {
        let answer = world
            .get(&format!("/leads?i=acme&page={page}"))
            .with(&wallet)
            .send()
            .await;
        units.push(answer.cost.read_units());
        assert_eq!(answer.body["data"]["leads"].as_array().map(Vec::len), Some(50));
    }
    let (page_12, page_50) = (units[11], units[49]);
    println!("units of pages 12 to 50: {:?}", &units[11..]);
    assert!(page_50 <= page_12 * 1.3, "{page_12} -> {page_50}");
}

fn call(changes: &Value) -> Value {
    let mut data = json!({ "user": 8, "leadPhone": "+55 11 97326-3471", "type": "INCOMING", "status": "COMPLETE",
        "duration": 65, "record": true, "service": "acme-voip" });
    for (name, value) in changes.as_object().expect("an object") {
        data[name] = value.clone();
    }
    json!({ "event": "call", "data": data })
}

/// Endpoint 19: two round trips for a known lead, three for a new one. A transaction bills every item twice.
#[tokio::test]
async fn call_costs() {
    let world = World::new().await;
    world.meet_public().await;
    for (what, changes, round_trips, reads, writes) in [
        ("19: known number", json!({}), 2, 5.0, 10.0),
        ("19: lead sent", json!({ "lead": 1002 }), 2, 3.0, 10.0),
        (
            "19: new number",
            json!({ "leadPhone": "5541988880001" }),
            3,
            8.0,
            24.0,
        ),
        (
            "19: new number, known now",
            json!({ "leadPhone": "5541988880001" }),
            2,
            5.0,
            10.0,
        ),
        ("19: no number", json!({ "leadPhone": "" }), 2, 3.0, 4.0),
    ] {
        let answer = world.webhook(&call(&changes)).send().await;
        assert_eq!(answer.status, 201);
        within(
            what,
            &answer,
            &Budget {
                round_trips,
                read_units: reads,
                write_units: writes,
            },
        );
    }
    for (what, round_trips, reads, writes) in [
        ("19: known number, with a key", 2, 6.0, 12.0),
        ("19: sent again", 1, 6.0, 0.0),
    ] {
        let keyed = world.webhook(&call(&json!({}))).header("idempotency-key", "k");
        let budget = Budget {
            round_trips,
            read_units: reads,
            write_units: writes,
        };
        within(what, &keyed.send().await, &budget);
    }
    let refused = world.webhook(&json!({})).send().await;
    within("19: invalid body", &refused, &read(1, 1.0));
}
