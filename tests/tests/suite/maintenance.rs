//! Maintenance: copies of changed leads are refreshed, after which requests no longer read the leads.

use std::sync::Arc;

use dynamodb::faults::FaultPlan;
use serde_json::{Value, json};
use shared::store::{Meter, Store};
use tests::bookings::{add_meetings, meeting, open_calendars};
use tests::raw::RawTable;
use tests::sales::{add_opportunities, open_shop, page, plain_opportunity};
use tests::world::{Answer, over_sdk};
use tests::{Wallet, World, people};

/// The lead's last activity in its opportunity, and the number of calls of the request.
async fn shown(world: &World, wallet: &Wallet) -> (Value, usize) {
    let uri = format!("/crm/opportunities/3?i=acme&apitoken={}", wallet.key);
    let body = page(1, 25, &json!({ "columnId": 31 }));
    let answer = world.call("POST", &uri).json(&body).send().await;
    (
        answer.body[0]["dataLead"]["lastActive"].clone(),
        answer.cost.calls.len(),
    )
}

/// C-12: the response is the same before and after; its cost differs.
#[tokio::test]
async fn copies_are_refreshed() {
    let world = World::new().await;
    open_shop(&world.operator("acme")).await;
    add_opportunities(&world.operator("acme"), vec![plain_opportunity(1, 8, 0)]).await;
    let wallet = world.wallet(7).await;
    let (_, few) = shown(&world, &wallet).await;
    assert_eq!(call(&world).await.status, 201);
    let now = json!(world.clock.get());
    assert_eq!(shown(&world, &wallet).await, (now.clone(), few + 1));
    // Earlier requests may have read the copy before it was written, so the marker is kept for longer.
    maintenance::tend(&world.store).await.expect("it is tended");
    assert_eq!(shown(&world, &wallet).await, (now.clone(), few + 1));
    world.clock.set(world.clock.get().plus_seconds(60));
    maintenance::tend(&world.store).await.expect("it is tended");
    assert_eq!(shown(&world, &wallet).await, (now, few));
    world.is_sound().await;
}

async fn call(world: &World) -> Answer {
    let call = json!({ "event": "call", "data": { "user": 8, "leadPhone": "", "lead": 1001, "type": "OUTGOING",
        "status": "COMPLETE", "duration": 1, "record": false, "service": "x" } });
    world.webhook(&call).send().await
}

fn notices(table: &RawTable) -> usize {
    let items = table.items();
    items
        .iter()
        .filter(|item| item["pk"]["S"] == "acme#notice")
        .count()
}

async fn archive(world: &World, wallet: &Wallet, leads: &[u64], archived: bool) {
    let body = json!({ "archived": archived, "id": leads });
    let uri = format!("/lead/archive?i=acme&apitoken={}", wallet.key);
    let answer = world.call("POST", &uri).json(&body).send().await;
    assert_eq!(answer.status, 200, "{}", answer.body);
}

/// A world on its own engine, and its table.
async fn open() -> (World, RawTable, Wallet) {
    let world = World::own().await;
    people::settle(&world.operator("acme")).await;
    open_shop(&world.operator("acme")).await;
    let wallet = world.wallet(7).await;
    let table = world.raw();
    (world, table, wallet)
}

/// Markers of 1,600 leads, before and after those that are shown.
fn backlog(partition: &str, prefix: &str) -> Vec<Value> {
    let leads = (1..=600).chain(5001..=6000);
    leads
        .map(|lead| {
            json!({ "pk": { "S": partition }, "sk": { "S": format!("{prefix}{lead:015}") },
                "v": { "N": "1" }, "at": { "N": "1795262400" } })
        })
        .collect()
}

/// A page reads at most 100 of the markers, and shows nothing of a deleted lead (C-24).
#[tokio::test]
async fn a_backlog_of_erasures_costs_a_page_little() {
    let (world, table, wallet) = open().await;
    let operator = world.operator("acme");
    open_calendars(&operator).await;
    add_meetings(
        &operator,
        [meeting(
            &json!({ "leadId": 1001, "formData": { "a": "dipirona" } }),
        )],
    )
    .await;
    let uri = format!(
        "/calendarmeeting/5?apitoken={}&from=2026-01-01T00:00:00Z",
        wallet.key
    );
    let before = world.get(&uri).send().await;
    assert!(before.body.to_string().contains("dipirona"), "{}", before.body);
    table.put_all(&backlog("acme#erasure", ""));
    let again = world.get(&uri).send().await;
    assert_eq!(again.body, before.body);
    table.put(
        "acme#erasure",
        "000000000001001",
        &json!({ "nonce": { "S": "x" } }),
    );
    let hidden = world.get(&uri).send().await;
    assert!(!hidden.body.to_string().contains("dipirona"), "{}", hidden.body);
    let more = hidden.cost.read_units() - before.cost.read_units();
    assert!(more <= 5.0, "{more} units");
}

/// A page reads at most 100 of the markers, and shows every lead as it is (C-12).
#[tokio::test]
async fn a_backlog_of_stale_markers_costs_a_page_little() {
    let (world, table, wallet) = open().await;
    let opportunities = [(1, 1001), (2, 1006)].map(|(id, of)| {
        let mut opportunity = plain_opportunity(id, 8, 0);
        opportunity.lead_id = Some(people::lead(of));
        opportunity
    });
    add_opportunities(&world.operator("acme"), opportunities.into()).await;
    let uri = format!("/crm/opportunities/3?i=acme&apitoken={}", wallet.key);
    let ask = async |more: &Value| world.call("POST", &uri).json(&page(1, 25, more)).send().await;
    let column = json!({ "columnId": 31 });
    let before = ask(&column).await.cost.read_units();
    archive(&world, &wallet, &[1001, 1006], true).await;
    table.put_all(&backlog("acme#notice", "lead#"));
    let search = json!({ "columnId": 31, "search": "Maria", "searchBy": "lead" });
    for more in [&column, &search, &json!({})] {
        let answer = ask(more).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        let shown = answer.body.to_string();
        assert!(
            shown.contains(r#""archived":true"#) || shown.contains(r#""archived":1"#),
            "{shown}"
        );
        // A search reads all markers, here 30 units, and the leads that it matches.
        let (cost, most) = if more == &search {
            (answer.cost.read_units(), 60.0)
        } else {
            (answer.cost.read_units() - before, 6.0)
        };
        assert!(cost <= most, "{cost} units: {more}");
    }
}

/// Leads are refreshed in parallel, and no instance exceeds its share of a round.
#[tokio::test]
async fn each_instance_has_its_share_of_a_round() {
    let _sdk = over_sdk();
    let (world, table, _) = open().await;
    people::settle(&world.operator("other-shop")).await;
    let notice = |instance: &str, lead: u64| {
        json!({ "pk": { "S": format!("{instance}#notice") }, "sk": { "S": format!("lead#{lead:015}") },
            "v": { "N": "1" } })
    };
    let backlog: Vec<_> = (5001..=5200).map(|lead| notice("acme", lead)).collect();
    table.put_all(&backlog);
    table.put_all(&[notice("other-shop", 1001)]);
    let written = |instance: &str| {
        let partition = format!("{instance}#notice");
        let items = table.items().into_iter();
        items
            .filter(|item| item["pk"]["S"] == partition && item["written"]["N"] == "1")
            .count()
    };
    // Each lead takes a second; 32 of them are under way when the minute ends.
    let store = slow(&world);
    maintenance::copy(&store).await.expect("copies");
    let done = written("acme");
    assert!((59..=96).contains(&done), "{done}");
    assert_eq!(written("other-shop"), 1);
    // The next rounds complete the rest.
    for _ in 0..20 {
        maintenance::copy(&store).await.expect("copies");
        world.clock.set(world.clock.get().plus_seconds(30));
    }
    assert_eq!(notices(&table), 0);
}

/// The world's store, in which each transaction takes a second.
fn slow(world: &World) -> Store {
    let clock = world.clock.clone();
    let slow: FaultPlan = Arc::new(move |operation| {
        if operation == "TransactWriteItems" {
            clock.set(clock.get().plus_seconds(1));
        }
        None
    });
    world.faulty(slow)
}

/// C-87: a round begins at a random instance, so that none is always among the last.
#[tokio::test]
async fn a_round_begins_at_a_random_instance() {
    let _sdk = over_sdk();
    let (world, table, _) = open().await;
    let names: Vec<_> = (10..50).map(|at| format!("shop{at}")).collect();
    for name in &names {
        let created = world.operator(name).create_instance().await;
        created.expect("an instance");
    }
    let notices = names.iter().map(|name| {
        json!({ "pk": { "S": format!("{name}#notice") }, "sk": { "S": "lead#000000000000001" }, "v": { "N": "1" } })
    });
    let notices: Vec<_> = notices.collect();
    let store = slow(&world);
    // Sixteen instances are processed at a time, so the first is none of the others if a round begins at the first one.
    let begins_elsewhere = async || {
        table.put_all(&notices);
        maintenance::copy(&store).await.expect("copies");
        let written = table.items().into_iter().filter_map(|item| {
            let name = item["pk"]["S"].as_str()?.strip_suffix("#notice")?.to_owned();
            let since: u64 = item["since"]["N"].as_str()?.parse().ok()?;
            Some((since, name))
        });
        let (_, first) = written.min().expect("a written notice");
        let place = names.iter().position(|name| *name == first);
        place.expect("an instance") >= 16
    };
    for _ in 0..40 {
        if begins_elsewhere().await {
            return;
        }
    }
    panic!("all rounds begin at the first instances");
}

/// A lead without opportunities has no copies: maintenance reads neither its record nor its version.
#[tokio::test]
async fn leads_without_opportunities_cost_maintenance_little() {
    let (world, table, wallet) = open().await;
    let fields: serde_json::Map<_, _> = (0..10)
        .map(|at| (format!("campo{at}"), json!("x".repeat(9_000))))
        .collect();
    let grown = world
        .call("PUT", "/leads/1001?i=acme")
        .with(&wallet)
        .json(&json!(fields));
    assert_eq!(grown.send().await.status, 200);
    for (linked, most, most_trips) in [(false, 9.0, 2), (true, 40.0, 6)] {
        if linked {
            add_opportunities(&world.operator("acme"), vec![plain_opportunity(1, 8, 0)]).await;
        }
        // A call does not read its lead, so it sets a marker in any case.
        assert_eq!(call(&world).await.status, 201);
        let (mut cost, mut trips) = (0.0, 0);
        for _ in 0..2 {
            let meter = Meter::default();
            let copied = meter.measure(maintenance::copy(&world.store)).await;
            copied.expect("copies");
            cost += meter.cost().read_units() + meter.cost().write_units();
            trips = trips.max(meter.cost().round_trips);
            world.clock.set(world.clock.get().plus_seconds(60));
        }
        println!("linked: {linked}: {cost} units, {trips} trips");
        assert!(cost <= most, "linked: {linked}: {cost} units");
        // In addition to the queries of instances and markers.
        assert!(trips <= 2 + most_trips, "linked: {linked}: {trips} trips");
        assert_eq!(cost > 9.0, linked, "{cost} units");
        assert_eq!(notices(&table), 0);
    }
    world.is_sound().await;
}
