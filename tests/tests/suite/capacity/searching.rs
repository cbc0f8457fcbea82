//! Searches for leads (C-20) and opportunities (C-43): their cost depends on the items of the rarest word and on the hits,
//! not on the number of records.

use serde_json::{Value, json};
use shared::opportunity::Opportunity;
use tests::people::{add_leads, lead, plain_lead, settle};
use tests::raw::RawTable;
use tests::sales::{add_opportunities, page, plain_opportunity};
use tests::{ACME, Answer, Wallet, World};

use super::opportunities::shop;
use super::{Budget, read, within};

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
    for leads in [400, 2_000] {
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
            ("1: search, number", &all, "973263471", 1, read(1, 10.0)),
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

/// A column of so many opportunities. One in each of 20 parts is of another lead called Zulmira, is called Reforma, and is
/// of user 8 or 9 in turn.
async fn stocked(count: u64) -> World {
    let world = shop().await;
    let people = (1..=20).map(|n| plain_lead(2_000 + n, "Zulmira", "de Tal", Some(8)));
    add_leads(&world.operator(ACME), people.collect()).await;
    let stock = (1..=count).map(|n| {
        let part = n * 20 / count;
        let plain = plain_opportunity(10_000 + n, 8 + part % 2, u32::try_from(n * 60).expect("small"));
        if n * 20 % count > 0 {
            return plain;
        }
        Opportunity {
            lead_id: Some(lead(2_000 + part)),
            title: format!("Reforma parte{part}"),
            ..plain
        }
    });
    add_opportunities(&world.operator(ACME), stock.collect()).await;
    world
}

/// C-43, C-45: on boards and pages of a column, with the other filters.
#[tokio::test]
async fn a_search_on_a_board_costs_the_same_for_any_number_of_opportunities() {
    let mut first = Vec::new();
    for count in [400, 2_000] {
        let world = stocked(count).await;
        let wallet = world.known(7).await;
        let uri = format!("/crm/opportunities/3?i=acme&apitoken={}", wallet.key);
        let ask = async |body: &Value| world.call("POST", &uri).json(body).send().await;
        let by_title = |term: &str| json!({ "search": term, "searchBy": "opportunity" });
        ask(&page(1, 1, &by_title("ninguem"))).await;
        let all: Vec<u64> = (1..=20).rev().collect();
        let odd = all.iter().copied().filter(|part| part % 2 == 1).collect();
        let mut costs = Vec::new();
        for (what, search, found, units) in [
            (
                "10: search by lead",
                json!({ "search": "tal zulm" }),
                all.clone(),
                56.0,
            ),
            (
                "10: search by lead, of a user",
                json!({ "search": "zulmira", "filterByUsers": [9] }),
                odd,
                56.0,
            ),
            ("10: search by title", by_title("refor"), all, 30.0),
            (
                "10: search by title, two words",
                by_title("parte13 reforma"),
                vec![13],
                12.0,
            ),
            (
                "10: search by id",
                by_title(&(10_000 + count).to_string()),
                vec![20],
                12.0,
            ),
            ("10: search, none", by_title("ninguem"), vec![], 8.0),
        ] {
            let answer = ask(&page(1, 25, &search)).await;
            let column = &answer.body[0];
            assert_eq!(column["total"], found.len(), "{what}");
            let expected: Vec<_> = found.iter().map(|part| 10_000 + part * count / 20).collect();
            let ids = |list: &Value| {
                let list = list.as_array().expect("opportunities").iter();
                list.filter_map(|one| one["id"].as_u64()).collect::<Vec<_>>()
            };
            assert_eq!(ids(&column["items"]), expected, "{what}");
            within(what, &answer, &read(6, units));
            costs.push((answer.cost.round_trips, answer.cost.read_units().to_bits()));
            let mut search = search;
            search["columnId"] = json!(31);
            for (number, shown) in [(1, expected.get(..3)), (2, expected.get(3..6))] {
                let answer = ask(&page(number, 3, &search)).await;
                let shown = shown.map(<[u64]>::to_vec);
                assert_eq!(ids(&answer.body), shown.unwrap_or(ids(&answer.body)), "{what}");
                let budget = Budget {
                    write_units: 1.0,
                    ..read(6, units + 2.0)
                };
                within(what, &answer, &budget);
            }
        }
        if first.is_empty() {
            first = costs;
        } else {
            assert_eq!(costs, first, "{count} opportunities");
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
    let world = World::own().await;
    let table = world.raw();
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
