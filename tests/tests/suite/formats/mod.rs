//! The format of the table (C-88): a build refuses any other, reads items of a later build, and omits unreadable ones
//! from lists.

mod asks;
mod later;
pub mod stage;
mod unreadable;

use serde_json::{Value, json};
use tests::World;

use asks::asks;
use stage::Kept;
pub use stage::{export, import};

/// Requires every response and every exported record as before. A later build may return more.
async fn reads_as_before(world: &World, kept: &Kept, when: &str) {
    for (asked, before) in asks(world, &kept.wallet).await.iter().zip(&kept.answers) {
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

#[tokio::test]
async fn the_first_instance_writes_the_format() {
    let world = World::own().await;
    let table = world.raw();
    assert_eq!(table.items(), Vec::<Value>::new());
    world
        .store
        .check_format()
        .await
        .expect("an empty table is accepted");
    for instance in ["acme", "outra"] {
        let created = world.operator(instance).create_instance().await;
        created.expect("the instance is new");
    }
    let mut format = table.get("#format", "format").expect("the format");
    format
        .as_object_mut()
        .expect("an item")
        .retain(|name, _| name != "pk" && name != "sk");
    assert_eq!(format, json!({ "format": { "N": "11" } }));
    world.store.check_format().await.expect("it is accepted");
}

/// By name and with the way out, before anything is read or written; also a table with an instance that names none.
#[tokio::test]
async fn tables_of_other_formats_are_refused() {
    let world = World::own().await;
    let table = world.raw();
    world
        .operator("acme")
        .create_instance()
        .await
        .expect("the instance is new");
    for format in [None, Some(0), Some(10), Some(12)] {
        table.delete("#format", "format");
        if let Some(format) = format {
            let item = json!({ "format": { "N": format.to_string() }, "next": { "N": "8" } });
            table.put("#format", "format", &item);
        }
        let items = table.items();
        let has = format.map_or("names no format".to_owned(), |format| {
            format!("has format {format}")
        });
        let expected = format!(
            "the table {has}, and this build reads format 11 only; export its instances with the build that wrote it, \
             and import them into a new table with this build"
        );
        let checked = world.elsewhere().store.check_format().await;
        assert_eq!(checked.expect_err("it is refused").to_string(), expected);
        let created = world.operator("outra").create_instance().await;
        assert_eq!(created.expect_err("it is refused").to_string(), expected);
        assert_eq!(table.items(), items);
    }
}
