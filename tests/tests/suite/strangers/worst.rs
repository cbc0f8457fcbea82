//! Compares docs/figures/worst-requests.md with the measured units of the requests.

use std::collections::BTreeMap;
use std::fs;

use serde_json::json;
use shared::credential::CredentialKind;
use tests::{ACME, Answer};

use super::{CHECK, crowded, greedy, unknown};
use tests::catalogue::{Entry, public};

/// Read units of a rejected request, read units and write units of an accepted one.
type Units = [f64; 3];

/// The document's table, by request.
fn told() -> BTreeMap<String, Units> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/figures/worst-requests.md");
    let text = fs::read_to_string(path).expect("docs/figures/worst-requests.md");
    let rows = text.lines().filter(|line| line.starts_with("| `"));
    let row = |line: &str| {
        let cells: Vec<_> = line.split('|').map(str::trim).collect();
        let units = |at: usize| cells[at].parse().expect("units");
        (cells[1].to_owned(), [units(2), units(3), units(4)])
    };
    rows.map(row).collect()
}

/// Name of a request in the table.
fn name(route: &Entry) -> String {
    let params = if route.params.is_empty() { "" } else { "?" };
    let of = match &route.body {
        body if body.get("ids").is_some() => ", 120 ids",
        body if body.get("columnId").is_some() => ", 100 of a column",
        body if body.get("page").is_some() => ", 25 of each column",
        _ => "",
    };
    format!("`{} {}{params}{}`{of}", route.method, route.path, route.params)
}

fn units(refused: &Answer, answered: &Answer) -> Units {
    assert!(answered.status.is_success(), "{}", answered.body);
    assert!(refused.cost.write_units() <= 0.0);
    [
        refused.cost.read_units(),
        answered.cost.read_units(),
        answered.cost.write_units(),
    ]
}

#[tokio::test]
async fn the_table_matches_the_measured_units() {
    let world = crowded().await;
    let (good, made_up) = (
        world.known(7).await,
        [CredentialKind::Key, CredentialKind::Token].map(unknown),
    );
    let mut measured = BTreeMap::new();
    let mut routes = greedy();
    // Deletions and moves last, so that other requests find their records.
    routes.sort_by_key(|route| route.method == "DELETE" || route.path == "/sac360/relaction");
    for route in routes {
        let refused = route
            .with(&world, "i=acme", &made_up[0], &made_up[1])
            .send()
            .await;
        let answered = route.with(&world, "i=acme", &good.key, &good.token).send().await;
        measured.insert(name(&route), units(&refused, &answered));
    }
    world.meet_public().await;
    for route in public() {
        let refused = route.to(&world, "nobody").send().await;
        let answered = route.to(&world, ACME).send().await;
        measured.insert(format!("`{}`", route.name()), units(&refused, &answered));
    }
    let told = told();
    for (request, units) in &measured {
        println!("| {request} | {} | {} | {} |", units[0], units[1], units[2]);
    }
    let names = |table: &BTreeMap<String, Units>| json!(table.keys().collect::<Vec<_>>());
    assert_eq!(names(&told), names(&measured));
    for (request, units) in &measured {
        assert!(units[0] <= CHECK, "{request}: {units:?}");
        for (told, units) in told[request].iter().zip(units) {
            // Documented values are close upper bounds of the measured ones.
            assert!(
                told >= units && *told <= units * 1.25 + 3.0,
                "{request}: {units}, not {told}"
            );
        }
    }
}
