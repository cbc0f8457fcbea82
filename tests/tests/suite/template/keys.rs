//! Functions may not write the items that only the operator's command writes, so that none can issue a credential or give
//! a permission.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tests::catalogue::catalogue;
use tests::template::statements;
use tests::{ACME, World};

use crate::formats::stage::import;
use crate::isolation;

/// The kinds of records that functions write, too.
const OF_FUNCTIONS: [&str; 7] = [
    "call",
    "event",
    "file",
    "lead",
    "meeting",
    "opportunity",
    "ticket",
];

/// The pattern of a partition: `*#board#*` for `acme#board#3#31`.
fn pattern(pk: &str) -> String {
    let (instance, rest) = pk.split_once('#').expect("a partition");
    let any = if instance.is_empty() { "" } else { "*" };
    match rest.split_once('#') {
        Some((kind, _)) => format!("{any}#{kind}#*"),
        None => format!("{any}#{rest}"),
    }
}

/// IAM's `StringLike` for these patterns: `*` is any text, also with `#`.
fn matches(pattern: &str, pk: &str) -> bool {
    let inner = pattern.trim_matches('*');
    match (pattern.starts_with('*'), pattern.ends_with('*')) {
        (true, true) => pk.contains(inner),
        (true, false) => pk.ends_with(inner),
        (false, true) => pk.starts_with(inner),
        (false, false) => pk == inner,
    }
}

fn partition(item: &Value) -> String {
    item["pk"]["S"].as_str().expect("a key").to_owned()
}

/// The partitions that the operator writes for the other kinds of records, and for credentials.
async fn of_operator() -> BTreeSet<String> {
    let world = World::own().await;
    let acme = world.operator(ACME);
    acme.create_instance().await.expect("the instance is new");
    let sample = include_str!("../../../vectors/sample-instance.ndjson");
    let is_other = |line: &&str| {
        let record: Value = serde_json::from_str(line).expect("JSON");
        !OF_FUNCTIONS.contains(&record["kind"].as_str().expect("a kind"))
    };
    let lines: String = sample
        .lines()
        .filter(is_other)
        .flat_map(|line| [line, "\n"])
        .collect();
    import(&world, &lines).await;
    world.wallet(7).await;
    world.raw().items().iter().map(partition).collect()
}

/// The partitions that change in requests to every route and in a round of `maintenance`.
async fn of_functions() -> BTreeSet<String> {
    let world = isolation::world().await;
    for limit in ["requests_per_minute", "public_requests_per_minute"] {
        import(
            &world,
            &json!({ "kind": "setting", "name": limit, "value": 600 }).to_string(),
        )
        .await;
    }
    let wallet = world.wallet(7).await;
    let before = world.raw().items();
    for route in catalogue() {
        let answer = route
            .with(&world, "i=acme", &wallet.key, &wallet.token)
            .send()
            .await;
        assert!(
            answer.status.is_success(),
            "{} {}: {}",
            route.method,
            route.route,
            answer.body
        );
    }
    maintenance::tend(&world.store).await.expect("it is tended");
    let mut changed = world.raw().items();
    changed.retain(|item| !before.contains(item));
    changed.iter().map(partition).collect()
}

#[tokio::test]
async fn functions_may_not_write_items_of_the_operator() {
    let (operator, functions) = (of_operator().await, of_functions().await);
    let of_functions: BTreeSet<_> = functions.iter().map(|pk| pattern(pk)).collect();
    let of_operator: BTreeSet<_> = operator.iter().map(|pk| pattern(pk)).collect();
    let expected: BTreeSet<_> = of_operator.difference(&of_functions).cloned().collect();

    let denied = statements("LeadsFunction")
        .into_iter()
        .find(|statement| statement["Effect"] == "Deny");
    let denied =
        denied.expect("a statement")["Condition"]["ForAnyValue:StringLike"]["dynamodb:LeadingKeys"].clone();
    let denied: BTreeSet<String> = serde_json::from_value(denied).expect("patterns");
    assert_eq!(denied, expected);
    for pk in &functions {
        let hit = denied.iter().find(|pattern| matches(pattern, pk));
        assert_eq!(hit, None, "{pk} is written by a function");
    }
}
