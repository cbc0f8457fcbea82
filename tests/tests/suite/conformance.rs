//! Both engines against one table of cases (`dynamodb::conformance`), and the service on an engine that isolates reads per
//! item, as Amazon's does.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use database::Database;
use dynamodb::{Emulator, Torn, conformance};
use serde_json::{Value, json};
use table::{Engine, Jitter, Table};
use tests::sales::{add_opportunities, open_shop, plain_opportunity};
use tests::tickets::{add_tickets, ticket};
use tests::{ACME, World};

/// Different numbers, from which tokens of transactions are made.
fn jitter() -> Jitter {
    let numbers = AtomicU64::new(0);
    Jitter::new(move |bound| numbers.fetch_add(1, Ordering::Relaxed) % bound)
}

fn table(engine: impl Engine + 'static) -> Table {
    Table::of(Arc::new(engine), jitter())
}

#[tokio::test]
async fn sqlite_conforms() {
    let database = Database::temporary().expect("a database");
    conformance::check(&table(database), &[]).await;
}

/// On an independent implementation of DynamoDB in this process.
#[tokio::test]
async fn the_sdk_conforms() {
    let emulator = Arc::new(Emulator::new());
    let engine = dynamodb::engine(emulator, "funil".to_owned(), jitter());
    let table = table(engine);
    table.ensure().await.expect("a table");
    conformance::check(&table, &[]).await;
}

/// On the DynamoDB API at `DYNAMODB_ENDPOINT`, if there is one (`tests/ministack.sh`).
#[tokio::test]
async fn another_implementation_conforms() {
    if std::env::var_os("DYNAMODB_ENDPOINT").is_none() {
        return;
    }
    let world = World::own().await;
    conformance::check(world.store.table(), &[]).await;
}

/// Writes that concern lead 1001, its opportunity 1 or its ticket 501.
fn writes() -> Vec<(&'static str, &'static str, Value)> {
    vec![
        (
            "PUT",
            "/leads/1001",
            json!({ "firstname": "Nova", "owner": 9, "phone": "+55 11 98888-7777" }),
        ),
        ("POST", "/lead/archive", json!({ "archived": true, "id": 1001 })),
        ("DELETE", "/leads/1001", Value::Null),
        (
            "POST",
            "/crmopportunity",
            json!({ "title": "Outra", "crm_column": 31, "lead_id": 1001 }),
        ),
        (
            "PUT",
            "/crmopportunity/1?id=3",
            json!({ "crm_column": 32, "value": "12.50" }),
        ),
        (
            "PUT",
            "/crmopportunity/1?id=3",
            json!({ "lead_id": 1002, "status": "gain" }),
        ),
        (
            "POST",
            "/sac360/relaction",
            json!({ "lead": 1001, "attendance": 501 }),
        ),
        (
            "POST",
            "/leads?unique=email",
            json!({ "email": "nova@x.example", "firstname": "Nara" }),
        ),
    ]
}

async fn send(world: &World, (method, path, body): &(&str, &str, Value)) -> u16 {
    let wallet = world.known(7).await;
    let joint = if path.contains('?') { '&' } else { '?' };
    let uri = format!("{path}{joint}i={ACME}&apitoken={}", wallet.key);
    let call = world.call(method, &uri).with(&wallet);
    let call = if body.is_null() { call } else { call.json(body) };
    call.send().await.status.as_u16()
}

async fn stocked() -> World {
    let world = World::new().await;
    let operator = world.operator(ACME);
    open_shop(&operator).await;
    let mut opportunity = plain_opportunity(1, 7, 0);
    opportunity.lead_id = Some(tests::people::lead(1001));
    add_opportunities(&operator, vec![opportunity]).await;
    add_tickets(&operator, [ticket(&Value::Null)]).await;
    world
}

/// Whatever a write reads before and after another one, records and derived items agree in the end.
#[tokio::test]
async fn torn_reads_spoil_nothing() {
    let mut torn = 0;
    for write in writes() {
        for other in writes() {
            for is_first_older in [false, true] {
                for spared in 0.. {
                    let world = Arc::new(stocked().await);
                    let (beside, other) = (Arc::new(world.elsewhere()), other.clone());
                    let meanwhile = move || -> futures_util::future::BoxFuture<'static, ()> {
                        Box::pin(async move {
                            send(&beside, &other).await;
                        })
                    };
                    let below = world.store.table().engine().clone();
                    let engine = Torn::new(below, spared, is_first_older, Box::new(meanwhile));
                    let through = world.through(world.store.elsewhere().through(engine.clone()));
                    let status = send(&through, &write).await;
                    assert_ne!(status, 500, "{write:?}, read {spared}");
                    if !engine.has_torn() {
                        break;
                    }
                    torn += 1;
                    world.is_sound().await;
                }
            }
        }
    }
    assert!(torn > 200, "{torn}");
}
