//! Stored tables of every released format (C-88): a build reads its own and the previous one, and migrates
//! it.
//!
//! `tests/formats/<format>.ndjson` contains a table as a build wrote it, with that build's responses and
//! export. `KEEP_TABLE=file` writes such a file with the current build, at its release.

mod asks;
mod boards;
mod calls;
mod later;
mod stage;
mod unreadable;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use shared::store::Format;
use shared::store::testing::faults;
use tests::{Wallet, World};

use crate::model::{Dice, tries_every_case};
use asks::asks;
use stage::{Kept, empty, set};
pub use stage::{export, import};

/// Tables of previous builds that this build must read, by their formats.
const KEPT: [(u32, &str); 5] = [
    (1, include_str!("../../../formats/1.ndjson")),
    (3, include_str!("../../../formats/3.ndjson")),
    (4, include_str!("../../../formats/4.ndjson")),
    (5, include_str!("../../../formats/5.ndjson")),
    (6, include_str!("../../../formats/6.ndjson")),
];

const NAME: (&str, &str) = ("#format", "format");

/// Requires every response and every exported record of the build that wrote the table. A later build may
/// return more.
async fn reads_as_before(world: &World, kept: &Kept, wallet: &Wallet, when: &str) {
    for (asked, before) in asks(world, wallet).await.iter().zip(&kept.answers) {
        let case = format!("{when}: {} {}", asked.method, asked.path);
        assert_eq!(
            (&asked.method, &asked.path),
            (&before.method, &before.path),
            "{case}"
        );
        assert_eq!(asked.status, before.status, "{case}: {}", asked.body);
        holds(&asked.body, &before.body, &case);
    }
    let exported = export(world).await;
    for record in &kept.export {
        let same = |other: &&Value| {
            ["kind", "id", "name", "number", "store_path"]
                .iter()
                .all(|name| other[name] == record[name])
        };
        let found = exported
            .iter()
            .find(same)
            .unwrap_or_else(|| panic!("{when}: {record} is gone"));
        holds(found, record, when);
    }
    assert_eq!(exported.len(), kept.export.len(), "{when}");
}

/// Requires that `value` contains everything of `expected`.
#[track_caller]
fn holds(value: &Value, expected: &Value, case: &str) {
    match (value, expected) {
        (Value::Object(value), Value::Object(expected)) => {
            for (name, expected) in expected {
                let found = value
                    .get(name)
                    .unwrap_or_else(|| panic!("{case}: {name} is missing"));
                holds(found, expected, &format!("{case}.{name}"));
            }
        }
        (Value::Array(value), Value::Array(expected)) => {
            assert_eq!(value.len(), expected.len(), "{case}");
            for (at, (value, expected)) in value.iter().zip(expected).enumerate() {
                holds(value, expected, &format!("{case}[{at}]"));
            }
        }
        _ => assert_eq!(value, expected, "{case}"),
    }
}

/// A world on a stored table, five seconds after its last write.
async fn world_over(kept: &Kept) -> (World, tests::raw::RawTable) {
    let (world, table) = empty().await;
    table.put_all(&kept.items);
    world.clock.set(world.clock.get().plus_seconds(5));
    (world, table)
}

#[tokio::test]
async fn every_stored_table_is_read_and_migrated() {
    for (format, text) in KEPT {
        let kept = Kept::read(text);
        let (world, table) = world_over(&kept).await;
        let wallet = kept.wallet();
        reads_as_before(&world, &kept, &wallet, "unmigrated").await;
        world.is_sound().await;
        let migration = operator::migrate(&world.store, true, &|_, _| {})
            .await
            .expect("a migration");
        assert_eq!(migration.from.number(), format);
        assert_eq!(migration.to, Format::CURRENT);
        assert_eq!(migration.instances, 2);
        let item = table.get(NAME.0, NAME.1).expect("the format");
        assert_eq!(item["format"], json!({ "N": Format::CURRENT.to_string() }));
        for world in [&world, &world.elsewhere()] {
            reads_as_before(world, &kept, &wallet, "migrated").await;
        }
        world.is_sound().await;
        let items = table.items();
        let again = operator::migrate(&world.store, true, &|_, _| {})
            .await
            .expect("a migration");
        assert_eq!((again.from, again.changed), (Format::CURRENT, 0));
        assert_eq!(sorted(table.items()), sorted(items));
    }
}

/// Terms of searches for leads, each with matches in every kept table.
const TERMS: [&str; 5] = ["maria", "sil+mar", "@example", "3471", "1005"];

/// C-20, C-92: leads of a previous build are found by address, words and numbers, although their look-ups are missing
/// until a migration.
#[tokio::test]
async fn leads_of_a_previous_build_are_found() {
    let kept = Kept::read(KEPT[0].1);
    let (world, table) = world_over(&kept).await;
    let wallet = kept.wallet();
    let look_ups = || {
        let items = table.items().into_iter();
        let is_new = |item: &Value| {
            let pk = item["pk"]["S"].as_str().unwrap_or_default();
            ["word", "number", "title"].map(|kind| pk.starts_with(&format!("acme#{kind}#")))
        };
        items
            .map(|item| is_new(&item))
            .fold([0; 3], |[word, number, title], is| {
                [
                    word + u8::from(is[0]),
                    number + u8::from(is[1]),
                    title + u8::from(is[2]),
                ]
            })
    };
    let search = async |term: &str| {
        let uri = format!("/leads?i=acme&search={term}");
        let answer = world.get(&uri).with(&wallet).send().await;
        answer.body["data"].clone()
    };
    let board = async |body: Value| {
        let uri = format!("/crm/opportunities/3?i=acme&apitoken={}", wallet.key);
        let body = tests::sales::page(1, 25, &body);
        world.call("POST", &uri).json(&body).send().await.body
    };
    let boards = async || {
        let by_title = board(json!({ "search": "pedido", "searchBy": "opportunity" })).await;
        [by_title, board(json!({ "search": "maria" })).await]
    };
    let existing = async || {
        let call = world.call("POST", "/leads?i=acme&unique=email").with(&wallet);
        let answer = call
            .json(&json!({ "email": "LEAD1005@example.com" }))
            .send()
            .await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        assert_eq!(answer.headers["x-lead-existing"], "true");
        answer.body["id"].clone()
    };
    assert_eq!((look_ups(), existing().await), ([0; 3], json!(1005)));
    let mut before = Vec::new();
    for term in TERMS {
        let found = search(term).await;
        assert_ne!(found["total"], 0, "{term}");
        before.push(found);
    }
    let boards_before = boards().await;
    assert!(
        boards_before.iter().all(|board| board[0]["total"] != 0),
        "{boards_before:?}"
    );
    operator::migrate(&world.store, true, &|_, _| {})
        .await
        .expect("a migration");
    assert!(look_ups().iter().all(|count| *count > 3), "{:?}", look_ups());
    assert_eq!(existing().await, 1005);
    assert_eq!(boards().await, boards_before);
    for (term, before) in TERMS.iter().zip(before) {
        assert_eq!(search(term).await, before, "{term}");
    }
    world.is_sound().await;
}

fn sorted(mut items: Vec<Value>) -> Vec<Value> {
    items.sort_by_key(|item| (item["pk"].to_string(), item["sk"].to_string()));
    items
}

/// Pending work of the previous build is completed by this one.
#[tokio::test]
async fn pending_work_of_a_previous_build_is_completed() {
    for (_, text) in KEPT {
        let kept = Kept::read(text);
        let (world, table) = world_over(&kept).await;
        for _ in 0..4 {
            let nobody = shared::jobs::webhook_client::WebhookClient::plain(|_, _| Vec::new(), |_| false);
            maintenance::automate(&world.store, &nobody)
                .await
                .expect("automations are run");
            maintenance::tend(&world.store).await.expect("it is tended");
            world.clock.set(world.clock.get().plus_seconds(100));
        }
        for partition in ["acme#notice", "acme#erasure"] {
            let left = table
                .items()
                .into_iter()
                .find(|item| item["pk"]["S"] == partition);
            assert_eq!(left, None);
        }
        world.is_sound().await;
    }
}

/// The next migration completes one that was interrupted after any call. The ordinary run interrupts after the
/// first calls and then after every 120th on average, `EVERY_CASE=1` after each.
#[tokio::test]
async fn an_interrupted_migration_is_completed_by_the_next() {
    for (format, text) in KEPT {
        interrupted_migrations(format, &Kept::read(text)).await;
    }
}

async fn interrupted_migrations(format: u32, kept: &Kept) {
    let wallet = kept.wallet();
    let dice = Dice::new(format.into());
    let mut at = 0;
    loop {
        let (world, _) = world_over(kept).await;
        let calls = AtomicUsize::new(0);
        let plan = Arc::new(move |_: &str| {
            let call = calls.fetch_add(1, Ordering::Relaxed);
            (call >= at).then_some(faults::Fault::FailedAfter)
        });
        let faulty = world.store.clone().with_faults(plan);
        let cut_off = operator::migrate(&faulty, true, &|_, _| {}).await;
        let whole = cut_off.is_ok();
        let case = format!("{format} cut off at {at}");
        reads_as_before(&world, kept, &wallet, &case).await;
        world.is_sound().await;
        operator::migrate(&world.store, true, &|_, _| {})
            .await
            .expect("a migration");
        reads_as_before(&world, kept, &wallet, &format!("{case} and ended")).await;
        world.is_sound().await;
        if whole {
            break;
        }
        let is_near = at < 4 || tries_every_case();
        at += 1 + usize::try_from(if is_near { 0 } else { dice.below(239) }).expect("small");
    }
    assert!(at > 2, "{at}");
}

/// Writers of the first format link opportunities without noting it in the lead, so leads are noted as unlinked only in a
/// table that has the current format, and not while it is migrated.
#[tokio::test]
async fn leads_of_a_former_format_are_not_noted_as_unlinked() {
    for (format, next, noted) in [(2, None, false), (2, Some(3), false), (3, None, true)] {
        let (world, table) = empty().await;
        let mut item = json!({ "format": { "N": format.to_string() } });
        if let Some(next) = next {
            item["next"] = json!({ "N": next.to_string() });
        }
        table.put(NAME.0, NAME.1, &item);
        world.store.check_format().await.expect("it is read");
        tests::people::settle(&world.operator(tests::ACME)).await;
        let wallet = world.wallet(7).await;
        let made = world.call("POST", "/leads?i=acme").with(&wallet);
        let made = made.json(&json!({ "firstname": "Nara" })).send().await;
        assert_eq!(made.status, 200, "{}", made.body);
        let items = table.items().into_iter();
        let mut leads: Vec<_> = items.filter(|item| item["pk"]["S"] == "acme#lead").collect();
        leads.retain(|lead| lead.get("u").is_some() != noted);
        assert_eq!(leads, Vec::<Value>::new(), "format {format}, next {next:?}");
        world.is_sound().await;
    }
}

/// The current build's table passes the same tests.
#[tokio::test]
async fn the_first_instance_writes_the_format() {
    let kept = set().await;
    let format = kept.items.iter().find(|item| item["pk"]["S"] == NAME.0);
    assert_eq!(
        format.expect("the format")["format"],
        json!({ "N": Format::CURRENT.to_string() })
    );
    if let Ok(path) = std::env::var("KEEP_TABLE") {
        std::fs::write(path, kept.text()).expect("the table is kept");
    }
}

/// By name, before anything is read or written.
#[tokio::test]
async fn tables_of_other_formats_are_rejected() {
    let (world, table) = empty().await;
    let current = Format::CURRENT.number();
    for (format, next, refused) in [
        (current, None, None),
        (current + 1, None, Some(current + 1)),
        (current, Some(current + 1), Some(current + 1)),
        (0, None, Some(0)),
    ] {
        let mut item = json!({ "format": { "N": format.to_string() } });
        if let Some(next) = next {
            item["next"] = json!({ "N": next.to_string() });
        }
        table.put(NAME.0, NAME.1, &item);
        let store = world.store.elsewhere();
        let checked = store.check_format().await.map_err(|cause| cause.to_string());
        let migrated = operator::migrate(&store, true, &|_, _| {})
            .await
            .map(drop)
            .map_err(|cause| cause.to_string());
        assert_eq!(checked, migrated);
        match refused {
            None => assert_eq!(checked, Ok(())),
            Some(format) => {
                let cause = checked.expect_err("it is refused");
                assert!(
                    cause.starts_with(&format!(
                        "the table has format {format}, and this build reads format"
                    )),
                    "{cause}"
                );
            }
        }
    }
}
