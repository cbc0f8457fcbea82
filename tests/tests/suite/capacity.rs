//! Cost of requests: sequential round trips, calls and units of every use, as the tables of `tests/src/bench/uses` have them.
//!
//! `EVERY_CASE=1` measures further sizes, and `KEEP_COSTS=1` writes the figures of this build into the tables.

use std::collections::BTreeSet;
use std::fs;

use serde_json::json;
use tests::bench::uses::{Use, measure, most_trips};
use tests::people::settle;
use tests::raw::RawTable;
use tests::{ACME, Answer, Wallet, World};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/bench/uses");

/// The rows of every table.
fn uses() -> Vec<Use> {
    let files = fs::read_dir(FOLDER).expect("the tables");
    let texts = files.map(|file| fs::read_to_string(file.expect("a file").path()).expect("text"));
    texts
        .flat_map(|text| text.lines().filter_map(Use::parse).collect::<Vec<_>>())
        .collect()
}

async fn holds(name: &str) {
    let path = format!("{FOLDER}/{name}.txt");
    let table = fs::read_to_string(&path).expect("a table");
    let (measured, mut faults) = measure(&table, std::env::var_os("EVERY_CASE").is_some()).await;
    if std::env::var_os("KEEP_COSTS").is_some() {
        fs::write(path, measured).expect("the table is written");
    } else {
        let differs = |(expected, found): &(&str, &str)| expected != found;
        let differences = table.lines().zip(measured.lines()).filter(differs);
        faults.extend(differences.map(|(expected, found)| format!("\n-{expected}\n+{found}")));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

macro_rules! tables {
    ($($name:ident)*) => {
        const TABLES: &[&str] = &[$(stringify!($name)),*];
        $(
            #[tokio::test]
            async fn $name() {
                holds(stringify!($name)).await;
            }
        )*
    };
}

tables! { boards bookings calendars calls columns credentials directory growth leads opportunities people reports tickets }

#[test]
fn every_table_is_measured() {
    let files = fs::read_dir(FOLDER)
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap());
    let expected = TABLES.iter().map(|name| format!("{name}.txt"));
    assert_eq!(files.collect::<BTreeSet<_>>(), expected.collect());
}

/// The targets of docs/performance.md, and that some use of each endpoint meets them without an exception.
#[test]
fn targets_hold_without_exceptions() {
    assert_eq!(
        ["9", "16", "1", "8", "10", "13", "19"].map(|number| most_trips(number).to_string()),
        ["1", "1", "2", "2", "2", "2", "2"]
    );
    let uses = uses();
    for number in 1..=19 {
        let is_plain = |one: &&Use| one.why.is_empty() && one.cells[0].starts_with('2');
        let of = |one: &&Use| one.name.split([':', ',']).next() == Some(&number.to_string());
        assert!(
            uses.iter().filter(of).any(|one| is_plain(&one)),
            "no use of endpoint {number} meets its targets"
        );
    }
}

/// docs/operations.md states the units of requests, by their names here.
#[test]
fn prices_are_those_of_operations() {
    let document = include_str!("../../../docs/operations.md");
    let prices = document
        .split_once("| request | read units |")
        .unwrap()
        .1
        .split_once("\n\n")
        .unwrap()
        .0;
    let uses = uses();
    for line in prices.lines().skip(2) {
        let cells: Vec<_> = line.split('|').map(str::trim).collect();
        let found = uses.iter().find(|one| one.name == cells[1]);
        let [_, _, _, read, written] = &found.unwrap_or_else(|| panic!("{line}: no such use")).cells[..]
        else {
            panic!("{line}");
        };
        let dollars = 0.125 * read.parse::<f64>().unwrap() + 0.625 * written.parse::<f64>().unwrap();
        assert_eq!(
            [&**read, written, &format!("{dollars:.2}")],
            cells[2..5],
            "{line}"
        );
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

async fn search(world: &World, wallet: &Wallet, rest: &str) -> Answer {
    let answer = world.read(wallet, &format!("/leads?i=acme&search={rest}")).await;
    assert_eq!(answer.status, 200, "{rest}: {}", answer.body);
    answer
}

fn ids(answer: &Answer) -> Vec<u64> {
    let leads = answer.body["data"]["leads"].as_array().expect("leads");
    leads.iter().filter_map(|lead| lead["id"].as_u64()).collect()
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
