//! Cost of boards of 20 columns by the number of users that opportunities have.

use std::time::Instant;

use database::Database;
use serde_json::{Value, json};
use shared::funnel::{Funnel, FunnelAccess};
use shared::opportunity::{Opportunity, Status};
use shared::people::User;
use tests::bench::Table;
use tests::people::{add_users, user};
use tests::sales::{add_funnels, add_opportunities, column, columns, funnel, page, plain_opportunity};
use tests::{ACME, World};

/// Numbers of users.
const USERS: [u64; 4] = [4, 50, 200, 500];
const FIRST_USER: u64 = 1_001;
/// The users of a department, if there are so many.
const DEPARTMENT: u64 = 10;
const COLUMNS: u64 = 20;
const FUNNEL: u64 = 6;
/// Opportunities in each column: a quarter of the first user, another of the department, the rest of all users.
const IN_EACH: u64 = 1_000;
/// Maximum calls and read units with any number of users ÷ those with the first.
const GROWTH: f64 = 1.1;

/// Prints the costs, and returns those that grow.
pub async fn measure() -> Vec<String> {
    let mut table = Table::default();
    for users in USERS {
        measure_with(users, &mut table).await;
    }
    println!("\nby the number of users:");
    table.print(&USERS);
    let mut misses = table.grown(
        &["board of all", "board of one user", "totals of the columns"],
        &USERS,
        GROWTH,
    );
    // There are fewer users than a department has at first.
    misses.extend(table.grown(&["board of a department of 10"], &USERS[1..], GROWTH));
    misses
}

async fn measure_with(users: u64, table: &mut Table) {
    let world = World::on(Database::temporary().expect("an engine starts")).await;
    stock(&world, users).await;
    let wallet = world.known(7).await;
    let department: Vec<_> = (FIRST_USER..FIRST_USER + users.min(DEPARTMENT)).collect();
    let board = |filter: Value| Some(page(1, 25, &filter));
    for (name, body) in [
        ("board of all", board(json!({}))),
        (
            "board of one user",
            board(json!({ "filterByUsers": [FIRST_USER] })),
        ),
        (
            "board of a department of 10",
            board(json!({ "filterByUsers": department })),
        ),
        ("totals of the columns", None),
    ] {
        // The first request of a process learns that the board has many totals.
        for _ in 0..2 {
            let began = Instant::now();
            let call = match &body {
                Some(body) => {
                    let uri = format!("/crm/opportunities/{FUNNEL}?i=acme&apitoken={}", wallet.key);
                    world.call("POST", &uri).json(body)
                }
                None => world
                    .get(&format!("/crmfastloadv2/{FUNNEL}?i=acme"))
                    .with(&wallet),
            };
            let answer = call.send().await;
            assert_eq!(answer.status, 200, "{name}: {}", answer.body);
            table.add(name, users, &answer.cost, began.elapsed().as_secs_f64());
        }
    }
}

async fn stock(world: &World, users: u64) {
    let operator = world.operator(ACME);
    tests::people::settle(&operator).await;
    let people: Vec<_> = (FIRST_USER..FIRST_USER + users)
        .map(|id| User::new(user(id), "Vendedor"))
        .collect();
    add_users(&operator, &people).await;
    let names: Vec<_> = (1..=COLUMNS).map(|n| (60 + n, format!("Etapa {n}"), n)).collect();
    let of: Vec<_> = names
        .iter()
        .map(|(id, name, n)| (*id, name.as_str(), *n))
        .collect();
    let board = Funnel {
        id: funnel(FUNNEL),
        name: "Grande".to_owned(),
        columns: columns(&of),
        fields: Vec::new(),
        access: FunnelAccess::default(),
    };
    add_funnels(&operator, &[board]).await;
    let all: Vec<_> = (1..=COLUMNS * IN_EACH).map(|id| opportunity(id, users)).collect();
    for some in all.chunks(1_000) {
        add_opportunities(&operator, some.to_vec()).await;
    }
}

fn opportunity(id: u64, users: u64) -> Opportunity {
    let (at, place) = (61 + id % COLUMNS, id / COLUMNS);
    let of = match place % 4 {
        0 => 0,
        1 => place / 4 % users.min(DEPARTMENT),
        _ => place / 4 % users,
    };
    // Ids of equal length, so that entries have equal lengths too.
    let seconds = u32::try_from(id * 60).expect("within a year");
    let mut opportunity = plain_opportunity(100_000 + id, FIRST_USER + of, seconds);
    (opportunity.crm_id, opportunity.crm_column) = (funnel(FUNNEL), column(at));
    opportunity.begin_as(Status::ALL[usize::try_from(place / 4 % 3).expect("small")]);
    opportunity
}
