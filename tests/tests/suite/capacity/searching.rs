//! Searches for leads (C-20): their cost depends on the items of the rarest word, not on the number of leads.

use funil::engine::Engine;
use serde_json::json;
use tests::people::{add_leads, plain_lead, settle};
use tests::raw::RawTable;
use tests::{ACME, Answer, Wallet, World};

use super::{read, within};

/// Leads of users 8 and 9 in turn, of which 40 are called Zulmira.
async fn office(leads: u64) -> World {
    let world = World::new().await;
    let named = |id| {
        let first = if id % (leads / 40) == 0 {
            "Zulmira"
        } else {
            "Pessoa"
        };
        plain_lead(id, first, "de Tal", Some(8 + id / (leads / 40) % 2))
    };
    add_leads(
        &world.operator(ACME),
        (2_001..=2_000 + leads).map(named).collect(),
    )
    .await;
    world
}

async fn search(world: &World, wallet: &Wallet, rest: &str) -> Answer {
    let uri = format!("/leads?i=acme&search={rest}");
    let answer = world.get(&uri).with(wallet).send().await;
    assert_eq!(answer.status, 200, "{rest}: {}", answer.body);
    answer
}

fn ids(answer: &Answer) -> Vec<u64> {
    let leads = answer.body["data"]["leads"].as_array().expect("leads");
    leads.iter().filter_map(|lead| lead["id"].as_u64()).collect()
}

#[tokio::test]
async fn a_search_costs_the_same_for_any_number_of_leads() {
    let mut first = Vec::new();
    for leads in [400, 4_000] {
        let world = office(leads).await;
        let (all, own) = (world.known(7).await, world.known(8).await);
        search(&world, &own, "ninguem").await;
        let mut costs = Vec::new();
        for (what, wallet, rest, total, budget) in [
            ("1: search, 40 matches", &all, "zulmira", 40, read(1, 8.0)),
            ("1: search, two words", &all, "tal+zulm", 40, read(2, 14.0)),
            (
                "1: search, page 2 of 10",
                &all,
                "zulmira&limit=10&page=2",
                40,
                read(1, 8.0),
            ),
            ("1: search, own leads", &own, "zulmira", 20, read(1, 8.0)),
            ("1: search, none", &all, "ninguem", 0, read(1, 5.0)),
            ("1: search, number", &all, "973263471", 1, read(1, 7.0)),
            ("1: search, id", &all, "2001", 1, read(1, 8.0)),
        ] {
            let answer = search(&world, wallet, rest).await;
            assert_eq!(answer.body["data"]["total"], total, "{what}");
            within(what, &answer, &budget);
            let cost = &answer.cost;
            costs.push((cost.round_trips, cost.calls.len(), cost.read_units().to_bits()));
        }
        if first.is_empty() {
            first = costs;
        } else {
            assert_eq!(costs, first, "{leads} leads");
        }
    }
}

/// Puts copies of the items of lead 1002, João, with these ids into a table.
fn copy(table: &RawTable, ids: std::ops::RangeInclusive<u64>) {
    let sk = |id: u64| format!("{id:015}");
    let entry = table.get("acme#leads#0", &sk(1002)).expect("an entry");
    let copies = ids.flat_map(|id| {
        let keys = [
            ("acme#leads#0", sk(id)),
            ("acme#word#0#j", format!("joao#{}", sk(id))),
        ];
        keys.map(|(pk, sk)| {
            let mut copy = entry.clone();
            copy["id"]["N"] = json!(id.to_string());
            (copy["pk"], copy["sk"]) = (json!({ "S": pk }), json!({ "S": sk }));
            copy
        })
    });
    table.put_all(&copies.collect::<Vec<_>>());
    let mut counter = table.get("acme#counter", "lead").expect("a counter");
    counter["lead"] = json!({ "N": "30000" });
    table.put("acme#counter", "lead", &counter);
}

/// C-20, C-86: the total is exact up to 10,000. If there are more, pages come from the list of leads, in order or alone.
#[tokio::test]
async fn totals_are_exact_up_to_ten_thousand() {
    let engine = Engine::in_memory().expect("an engine starts");
    let endpoint = engine.endpoint();
    let world = World::on(engine).await;
    let table = RawTable::at(&endpoint);
    settle(&world.operator(ACME)).await;
    let wallet = world.known(7).await;
    copy(&table, 20_002..=30_000);
    let told = |answer: &Answer| {
        let relation = answer.headers.get("x-total-relation");
        let relation = relation.map(|relation| relation.to_str().expect("text").to_owned());
        (answer.body["data"]["total"].as_u64(), relation)
    };
    let answer = search(&world, &wallet, "joao&limit=2").await;
    assert_eq!(
        (ids(&answer), told(&answer)),
        (vec![1002, 20_002], (Some(10_000), None))
    );
    copy(&table, 20_001..=20_001);
    let more = (Some(10_000), Some("gte".to_owned()));
    for (rest, shown) in [
        ("joao&limit=3", vec![1002, 20_001, 20_002]),
        ("jo&limit=2&page=2", vec![20_001, 20_002]),
        ("joao&limit=200&page=51", vec![30_000]),
        ("joao&limit=200&page=52", vec![]),
        ("joao&page=999999999", vec![]),
    ] {
        let answer = search(&world, &wallet, rest).await;
        assert_eq!((ids(&answer), told(&answer)), (shown, more.clone()), "{rest}");
        assert!(answer.cost.read_units() < 1_500.0, "{rest}: {:?}", answer.cost);
    }
    let mut walked = Vec::new();
    for page in 1..=8 {
        let answer = search(&world, &wallet, &format!("joao&limit=200&page={page}")).await;
        assert_eq!(told(&answer), more, "{page}");
        walked.extend(ids(&answer));
    }
    let expected: Vec<_> = [1002].into_iter().chain(20_001..=21_599).collect();
    assert_eq!(walked, expected);
}
