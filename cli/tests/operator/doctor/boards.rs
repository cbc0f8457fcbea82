//! What the doctor finds of opportunities: entries, links, totals, ranks, and columns that are not there.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use shared::store::operator::Outcome;

use super::{assert_clean, assert_cured, found};
use crate::support::{Bench, USERS};

/// The places of opportunities 1 and 2 in the lists of their column.
const FIRST: &str = "251613786599999#999999999999998";
const SECOND: &str = "251613786600999#999999999999997";
/// The day of both among the column's ranks.
const DAY: &str = "2912196#0";

/// Leads 1 and 2 of company 2, and funnel 3 with opportunities 1 and 2 in column 31 and 3, archived, in column 32.
pub fn bench() -> Bench {
    let bench = Bench::with_instance();
    let lines = [
        USERS,
        r#"{"kind":"company","id":2,"companyname":"Boa Vista","points":7.5}"#,
        r#"{"kind":"lead","id":1,"firstname":"Carla","company":2,"owner":7,"createDate":"2026-01-01T00:00:00.000Z"}"#,
        r#"{"kind":"lead","id":2,"firstname":"Davi","company":2,"createDate":"2026-01-01T00:00:00.000Z"}"#,
    ];
    bench.import(&lines.join("\n")).done();
    let runtime = runtime();
    let operator = runtime.block_on(bench.operator());
    let funnel = json!({
        "id": 3, "name": "Vendas",
        "columns": [{ "id": 31, "name": "Entrada" }, { "id": 32, "name": "Proposta" }],
    });
    let funnels = [serde_json::from_value(funnel).unwrap()];
    let outcomes = runtime.block_on(operator.import_funnels(&funnels)).unwrap();
    assert_eq!(outcomes, [Outcome::Written]);
    let opportunities = [
        opportunity(1, &json!({ "value": "1234.56" })),
        opportunity(
            2,
            &json!({
                "value": "0.44", "user": 8, "status": "gain", "lead_id": 2, "createDate": "2026-09-04T09:29:59.000Z",
            }),
        ),
        opportunity(
            3,
            &json!({
                "crm_column": 32, "archived": 1,
                "service_permission": "users", "service_permission_users": [8],
            }),
        ),
    ];
    let lines =
        opportunities.map(|line| serde_json::from_value::<shared::opportunity::Opportunity>(line).unwrap());
    let lines = lines.map(Into::into).into();
    let outcomes = runtime
        .block_on(operator.import_opportunities(lines, false))
        .unwrap();
    assert_eq!(outcomes, [Outcome::Written, Outcome::Written, Outcome::Written]);
    bench
}

/// An opportunity of lead 1 and user 7 in column 31, but for what `but` says.
pub fn opportunity(id: u64, but: &Value) -> Value {
    let mut line = json!({
        "id": id, "title": "Pedido", "crm_id": 3, "crm_column": 31, "lead_id": 1, "user": 7,
        "createDate": "2026-09-04T09:30:00.000Z", "updateDate": "2026-09-04T09:30:00.000Z",
    });
    line.as_object_mut()
        .unwrap()
        .extend(but.as_object().unwrap().clone());
    line
}

pub fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
}

/// The key of an opportunity's record.
pub fn id(id: u64) -> String {
    format!("{id:015}")
}

#[test]
fn sound_boards() {
    let bench = bench();
    let before = bench.items();
    let seen = bench.funil("doctor --instance acme --repair --json").done();
    let document = seen.document();
    assert_eq!(document["differences"], json!([]));
    let checked = [("opportunities", 3), ("funnels", 1), ("copies", 5), ("totals", 9)];
    for (kind, count) in checked {
        assert_eq!(document["checked"][kind], count, "{kind}: {document}");
    }
    assert_eq!(bench.items(), before);
}

#[test]
fn entries_and_links() {
    let bench = bench();
    let lists = ["-#-", "-#open", "7#-", "7#open"].map(|filter| format!("acme#board#3#31#0#{filter}"));
    let gone = lists
        .iter()
        .map(|list| (format!("{list} {FIRST}"), "is missing: opportunity 1 has it"));
    let link = ("acme#lead-opportunity#2", id(2));
    let changed = ("acme#board#3#32#1#7#-", "251613786599999#999999999999996");
    let mut expected: Vec<_> = gone.collect();
    expected.push((
        format!("{} {}", link.0, link.1),
        "is missing: opportunity 2 has it",
    ));
    expected.push((
        format!("{} {}", changed.0, changed.1),
        "is not what is derived: opportunity 3 has it",
    ));
    let expected: Vec<_> = expected
        .iter()
        .map(|(item, reason)| (item.as_str(), *reason))
        .collect();
    assert_cured(
        &bench,
        |bench| {
            for list in &lists {
                bench.delete(list, FIRST);
            }
            bench.delete(link.0, &link.1);
            bench.set(changed.0, changed.1, "card", &json!({ "S": "{}" }));
        },
        &expected,
    );
}

/// Entries of lists that nobody reads any more are found as well, whatever funnel and column they are of.
#[test]
fn entries_that_no_opportunity_has() {
    let bench = bench();
    let entry = bench.item("acme#board#3#31#0#-#-", FIRST).unwrap();
    let nowhere = "251613786599999#999999999999900";
    assert_cured(
        &bench,
        |bench| {
            bench.put("acme#board#3#31#0#8#-", FIRST, &entry);
            bench.put("acme#board#3#31#0#7#open", SECOND, &entry);
            bench.put("acme#board#9#99#0#-#-", FIRST, &entry);
            bench.put("acme#board#3#31#0#-#-", nowhere, &entry);
            bench.put("acme#board#3#31#0#-#-", "odd", &entry);
            bench.put("acme#lead-opportunity#2", &id(1), &json!({}));
        },
        &[
            (
                &format!("acme#board#3#31#0#8#- {FIRST}"),
                "opportunity 1 does not have it",
            ),
            (
                &format!("acme#board#3#31#0#7#open {SECOND}"),
                "opportunity 2 does not have it",
            ),
            (
                &format!("acme#board#9#99#0#-#- {FIRST}"),
                "opportunity 1 does not have it",
            ),
            (
                &format!("acme#board#3#31#0#-#- {nowhere}"),
                "opportunity 99 does not exist",
            ),
            (
                "acme#board#3#31#0#-#- odd",
                "no opportunity can have such an item",
            ),
            (
                &format!("acme#lead-opportunity#2 {}", id(1)),
                "opportunity 1 does not have it",
            ),
        ],
    );
}

#[test]
fn totals_and_ranks() {
    let bench = bench();
    let restricted = bench.partition("acme#board-total-restricted#3#1")[0]["sk"]["S"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(restricted.starts_with("32#7#open#"), "{restricted}");
    assert_cured(
        &bench,
        |bench| {
            bench.set("acme#board-total#3#0", "31#7#open", "n", &json!({ "N": "3" }));
            bench.set("acme#board-total#3#0", "31#8#gain", "c", &json!({ "N": "-5" }));
            bench.delete("acme#board-total-restricted#3#1", &restricted);
            bench.set(
                "acme#board-total#3#1",
                "32#7#open",
                "c.restricted",
                &json!({ "N": "7" }),
            );
            bench.set("acme#board-rank#3#31#0", DAY, "n.7#open", &json!({ "N": "2" }));
            bench.set("acme#board-rank#3#31#0", DAY, "n.8#gain", &json!({ "S": "one" }));
            bench.delete("acme#board-rank#3#32#1", DAY);
        },
        &[
            ("acme#board-total#3#0 31#7#open", "counts 3, but there are 1"),
            (
                "acme#board-total#3#0 31#8#gain",
                "adds up to -5 cents, but there are 44",
            ),
            (
                &format!("acme#board-total-restricted#3#1 {restricted}"),
                "is missing: there are 1",
            ),
            (
                "acme#board-total#3#1 32#7#open",
                "adds up to 7 cents of restricted, but there are 0",
            ),
            (
                &format!("acme#board-rank#3#31#0 {DAY}"),
                "counts 2 of 7#open, but there are 1; counts nothing of 8#gain, but there are 1",
            ),
            (
                &format!("acme#board-rank#3#32#1 {DAY}"),
                "is missing: there are 1",
            ),
        ],
    );
}

#[test]
fn what_totals_describe_and_lack() {
    let bench = bench();
    let mut bare = bench.item("acme#board-total#3#0", "31#7#open").unwrap();
    for number in ["n", "c"] {
        bare.as_object_mut().unwrap().remove(number);
    }
    assert_cured(
        &bench,
        |bench| {
            bench.put("acme#board-total#3#0", "31#7#open", &bare);
            bench.set(
                "acme#board-total#3#0",
                "31#8#gain",
                "status",
                &json!({ "S": "lost" }),
            );
        },
        &[
            (
                "acme#board-total#3#0 31#7#open",
                "adds up to nothing cents, but there are 123456; counts nothing, but there are 1",
            ),
            ("acme#board-total#3#0 31#8#gain", "describes another class"),
        ],
    );
}

/// Totals of a column or a funnel that is gone lie where no list of columns leads. They keep their versions.
#[test]
fn totals_of_columns_that_are_gone() {
    let bench = bench();
    let rank = "counts 1 of 8#gain, but there are 0";
    let places = [
        (
            "acme#board-total#3#0",
            "39#7#open",
            "n",
            "counts 1, but there are 0",
        ),
        (
            "acme#board-total#9#0",
            "91#7#open",
            "c",
            "adds up to 1 cents, but there are 0",
        ),
        ("acme#board-rank#3#39#0", DAY, "n.8#gain", rank),
        ("acme#board-rank#9#91#1", DAY, "n.8#gain", rank),
    ];
    for (pk, sk, name, _) in places {
        bench.put(pk, sk, &json!({ name: { "N": "0" }, "v": { "N": "6" } }));
    }
    let keys = places.map(|(pk, sk, ..)| format!("{pk} {sk}"));
    let expected: Vec<_> = keys
        .iter()
        .map(String::as_str)
        .zip(places.map(|place| place.3))
        .collect();
    let damage = |bench: &Bench| {
        for (pk, sk, name, _) in places {
            bench.set(pk, sk, name, &json!({ "N": "1" }));
        }
    };
    assert_cured(&bench, damage, &expected);
    for (pk, sk, ..) in places {
        assert_eq!(bench.item(pk, sk).unwrap()["v"]["N"], "7", "{pk}");
    }
}

#[test]
fn the_last_number() {
    let bench = bench();
    assert_cured(
        &bench,
        |bench| bench.set("acme#counter", "opportunity", "opportunity", &json!({ "N": "1" })),
        &[(
            "acme#counter opportunity",
            "the last opportunity is number 1, but there is number 3",
        )],
    );
}

/// What no board can show is told every time, and left alone.
#[test]
fn opportunities_in_no_column() {
    let bench = bench();
    let funnel = bench.item("acme#funnel", &id(3)).unwrap();
    let mut smaller = funnel.clone();
    smaller["columns"]["L"].as_array_mut().unwrap().pop();
    let without = |reasons: &[(u64, &str)]| {
        let (before, items) = (bench.items(), reasons.iter());
        let items = items.map(|(at, reason)| (format!("acme#opportunity {}", id(*at)), (*reason).to_owned()));
        let expected: BTreeSet<_> = items.collect();
        for command in [
            "doctor --instance acme --json",
            "doctor --instance acme --repair --json",
        ] {
            let seen = bench.funil(command);
            assert_eq!((seen.code, found(&seen, false)), (1, expected.clone()));
        }
        assert_eq!(bench.items(), before);
    };
    bench.put("acme#funnel", &id(3), &smaller);
    without(&[(3, "stands in column 32, which funnel 3 does not have")]);
    bench.delete("acme#funnel", &id(3));
    without(&[1, 2, 3].map(|at| (at, "stands in funnel 3, which does not exist")));
    bench.put("acme#funnel", &id(3), &funnel);
    assert_clean(&bench);
}

/// Of a funnel that cannot be read nothing is said but that: it may have any column.
#[test]
fn a_funnel_that_cannot_be_read() {
    let bench = bench();
    bench.set("acme#funnel", &id(3), "columns", &json!({ "S": "31, 32" }));
    let seen = bench.funil("doctor --instance acme --repair --json");
    let items: Vec<_> = found(&seen, false).into_iter().map(|(item, _)| item).collect();
    assert_eq!((seen.code, items), (1, vec![format!("acme#funnel {}", id(3))]));
}

/// An opportunity that cannot be read is told, and nothing that might be its own is touched.
#[test]
fn an_opportunity_that_cannot_be_read() {
    let bench = bench();
    bench.set("acme#opportunity", &id(1), "card", &json!({ "S": "{}" }));
    let before = bench.items();
    let seen = bench.funil("doctor --instance acme --repair --json");
    let items: BTreeSet<_> = found(&seen, false).into_iter().map(|(item, _)| item).collect();
    let expected = [
        format!("acme#opportunity {}", id(1)),
        "totals of opportunities".to_owned(),
    ];
    assert_eq!((seen.code, items), (1, BTreeSet::from(expected)));
    assert_eq!(bench.items(), before);
}
