//! Cost of requests for opportunities by size of the column, and of searches for leads by their number: DynamoDB calls, sequential round trips and read
//! units, which are exact, and seconds on this machine. The same for boards by the number of users.
//!
//! `cargo bench -p tests` measures 1,000, 10,000 and 100,000 opportunities in one column; arguments set other
//! sizes: `cargo bench -p tests --bench growth -- 1000000`. The engine stores them in a temporary file, about
//! 7 KB each. Exits with 1 if a constant cost grows, or if the last of 10,000 pages costs too much.

#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a benchmark that meets what cannot be must stop, says what it measured, and looks at the system's clock"
)]

mod users;

use std::process::ExitCode;
use std::time::Instant;

use database::Database;
use serde_json::{Map, Value, json};
use shared::lead::Lead;
use shared::opportunity::{Opportunity, Status};
use tests::bench::{Table, sizes};
use tests::people::{add_leads, lead, plain_lead, user};
use tests::sales::{add_opportunities, open_shop, page, plain_opportunity};
use tests::{ACME, Answer, Wallet, World};

/// Leads of the opportunities.
const LEADS: u64 = 200;
/// The responsible users, with equal shares.
const USERS: [u64; 4] = [8, 9, 10, 14];
/// A user with only the three oldest opportunities.
const RARE: u64 = 11;
const LIMIT: u64 = 25;
/// Period of creation in seconds.
const SECONDS: u64 = 320 * 86_400;

/// Work whose cost must not grow with the column, because it reads only as many entries as it shows.
const STEADY: [&str; 17] = [
    "board",
    "board by status",
    "board by user",
    "board of the archive",
    "board of a seller",
    "column",
    "column by status",
    "column by user",
    "column by user and status",
    "leads by name, 40 matches",
    "leads by two words, 40 matches",
    "leads by number",
    PAGES_OF_LEADS[0],
    PAGES_OF_LEADS[1],
    PAGES_OF_LEADS[2],
    GETS[0].0,
    GETS[1].0,
];
/// Reads by `GET`: name, and path.
const GETS: [(&str, &str); 3] = [
    ("opportunity by id", "/crmopportunity/1"),
    ("totals of the columns", "/crmfastloadv2/3"),
    (
        "opportunities of a lead with 1 in 200 of them",
        "/listopportunitysleadcomplete/2001",
    ),
];
/// Pages of the list of leads.
const PAGES_OF_LEADS: [&str; 3] = [
    "leads, page 1",
    "leads, far page alone",
    "own leads, far page alone",
];
/// Ranges of a month, which begin and end within a UTC day: daily counts, and the entries of three hours twice.
const BY_DATE: [&str; 2] = ["board by date, a month", "column by date, a month"];
/// Maximum calls and read units of these at up to so many opportunities ÷ those at the first size.
const DATED_GROWTH: f64 = 1.2;
const DATED: u64 = 10_000;
/// Maximum calls and read units at any size ÷ those at the first.
const GROWTH: f64 = 1.05;
/// Maximum read units of a page ÷ those of the first, for pages in order.
const DEPTH: f64 = 1.3;
/// Maximum read units of a page that is asked alone ÷ those of the first, and that page, the last one at this size.
const ALONE: f64 = 2.0;
const ALONE_PAGE: u64 = 400;
const ALONE_SIZE: u64 = ALONE_PAGE * LIMIT;
/// The page compared with the first.
const DEEPEST: u64 = 10_000;
/// Minimum number of opportunities for that many pages of ten.
const DEEP: u64 = 10 * DEEPEST;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let sizes = sizes();
    let mut table = Table::default();
    for size in &sizes {
        measure(*size, &mut table).await;
    }
    table.print(&sizes);
    let mut misses = table.grown(&STEADY, &sizes, GROWTH);
    let dated: Vec<_> = sizes.iter().copied().filter(|size| *size <= DATED).collect();
    if !dated.is_empty() {
        misses.extend(table.grown(&BY_DATE, &dated, DATED_GROWTH));
    }
    for size in sizes.iter().filter(|size| **size >= DEEP) {
        if table.is_dearer(*size, &deep(DEEPEST), &deep(1), DEPTH) {
            misses.push(format!("{}: dearer than page 1 at {size}", deep(DEEPEST)));
        }
    }
    if sizes.contains(&ALONE_SIZE) && table.is_dearer(ALONE_SIZE, &alone(ALONE_PAGE), "column", ALONE) {
        misses.push(format!("{}: dearer than page 1", alone(ALONE_PAGE)));
    }
    misses.extend(users::measure().await);
    for miss in &misses {
        eprintln!("missed: {miss}");
    }
    if misses.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn deep(page: u64) -> String {
    format!("column in {DEEPEST} pages, page {page} in order")
}

fn alone(page: u64) -> String {
    format!("column, page {page} out of the blue")
}

async fn measure(size: u64, table: &mut Table) {
    let world = World::on(Database::temporary().expect("an engine starts")).await;
    stock(&world, size).await;
    let asking = Asking {
        wallet: world.wallet(7).await,
        own: world.wallet(8).await,
        world,
        size,
    };
    searches(&asking, table).await;
    gets(&asking, table).await;
    far_leads(&asking, table).await;
    boards(&asking, table).await;
    columns(&asking, table).await;
    pages(&asking, table).await;
    deep_pages(&asking, table).await;
}

async fn stock(world: &World, size: u64) {
    tests::people::settle(&world.operator(ACME)).await;
    open_shop(&world.operator(ACME)).await;
    let zone = json!("America/Sao_Paulo");
    let set = world.operator(ACME).set_setting("timezone", &zone).await;
    set.expect("a setting");
    let leads = (0..LEADS).map(|n| plain_lead(2_000 + n, &format!("Pessoa {n}"), "de Tal", Some(8)));
    add_leads(&world.operator(ACME), leads.collect()).await;
    let (began, operator) = (Instant::now(), world.operator(ACME));
    for ids in (1..=size).collect::<Vec<_>>().chunks(1_000) {
        add_leads(&operator, ids.iter().map(|id| searched(*id, size)).collect()).await;
    }
    println!("{size} leads imported in {:.1} s", began.elapsed().as_secs_f64());
    let began = Instant::now();
    let ids: Vec<_> = (1..=size).collect();
    for chunk in ids.chunks(1_000) {
        add_opportunities(&operator, chunk.iter().map(|id| opportunity(*id, size)).collect()).await;
    }
    let seconds = began.elapsed().as_secs_f64();
    println!("{size} opportunities imported in {seconds:.1} s");
}

/// A lead without opportunities, with a number; 40 of them are called Zulmira.
fn searched(id: u64, size: u64) -> Lead {
    let first = if id.is_multiple_of(size / 40) {
        "Zulmira"
    } else {
        "Cliente"
    };
    Lead {
        phone: Some(format!("55419{:08}", 60_000_000 + id)),
        ..plain_lead(10_000 + id, first, "Antigo", Some(USERS[0]))
    }
}

fn opportunity(id: u64, size: u64) -> Opportunity {
    let small = |number: u64| usize::try_from(number).expect("small");
    let responsible = if id <= 3 { RARE } else { USERS[small(id % 4)] };
    let seconds = u32::try_from(id * SECONDS / size).expect("within a year");
    let mut opportunity = plain_opportunity(id, responsible, seconds);
    opportunity.user = user(responsible);
    if id.is_multiple_of(size / 20) {
        opportunity.title = format!("Reforma {id}");
    }
    opportunity.lead_id = Some(lead(2_000 + id % LEADS));
    opportunity.begin_as(Status::ALL[small(id / 4 % 3)]);
    let mut fields = Map::new();
    fields.insert(
        "Origem do Lead".to_owned(),
        json!(["Google", "Indicação"][small(id % 2)]),
    );
    fields.insert(" Número do pedido ".to_owned(), json!(format!("A-{id}")));
    opportunity.fields = fields;
    opportunity
}

struct Asking {
    world: World,
    wallet: Wallet,
    own: Wallet,
    size: u64,
}

impl Asking {
    async fn ask(&self, wallet: &Wallet, agent: &str, body: &Value) -> (Answer, f64) {
        let uri = format!("/crm/opportunities/3?i=acme&apitoken={}", wallet.key);
        let began = Instant::now();
        let answer = self
            .world
            .call("POST", &uri)
            .header("user-agent", agent)
            .json(body)
            .send()
            .await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        (answer, began.elapsed().as_secs_f64())
    }

    async fn note(&self, table: &mut Table, name: &str, body: Value) {
        let (answer, seconds) = self.ask(&self.wallet, name, &body).await;
        table.add(name, self.size, &answer.cost, seconds);
    }
}

async fn searches(asking: &Asking, table: &mut Table) {
    for (name, term, found) in [
        ("leads by name, 40 matches", "zulmira", 40),
        ("leads by two words, 40 matches", "antigo+zulmira", 40),
        ("leads by number", "5541960000001", 1),
    ] {
        let uri = format!("/leads?i=acme&search={term}");
        let began = Instant::now();
        let answer = asking.world.get(&uri).with(&asking.wallet).send().await;
        assert_eq!(answer.body["data"]["total"], found, "{}", answer.body);
        table.add(name, asking.size, &answer.cost, began.elapsed().as_secs_f64());
    }
}

/// A page of leads that is asked alone, equally far from the beginning of a block of ids at every size.
async fn far_leads(asking: &Asking, table: &mut Table) {
    let before = 800 + 5_000 * (asking.size.saturating_sub(1_000) / 5_000);
    for (name, wallet, page) in [
        (PAGES_OF_LEADS[0], &asking.wallet, 1),
        (PAGES_OF_LEADS[1], &asking.wallet, before / LIMIT + 1),
        (PAGES_OF_LEADS[2], &asking.own, before / LIMIT + 1),
    ] {
        // The first request of a process expects another permission.
        for client in ["first", name] {
            let began = Instant::now();
            let uri = format!("/leads?i=acme&limit={LIMIT}&page={page}");
            let request = asking.world.get(&uri).with(wallet).header("user-agent", client);
            let answer = request.send().await;
            assert_eq!(answer.status, 200, "{name}: {}", answer.body);
            if client == name {
                table.add(name, asking.size, &answer.cost, began.elapsed().as_secs_f64());
            }
        }
    }
}

async fn gets(asking: &Asking, table: &mut Table) {
    for (name, path) in GETS {
        let began = Instant::now();
        let request = asking.world.call("GET", &format!("{path}?i=acme&limit={LIMIT}"));
        let answer = request.with(&asking.wallet).send().await;
        assert_eq!(answer.status, 200, "{name}: {}", answer.body);
        table.add(name, asking.size, &answer.cost, began.elapsed().as_secs_f64());
    }
}

/// A condition on a custom field, met by one opportunity in a fixed number.
fn condition(value: &str) -> Value {
    json!([{ "filterType": "opField", "properties": { "field": " Número do pedido ", "value": value } }])
}

async fn boards(asking: &Asking, table: &mut Table) {
    for (name, filter) in [
        ("board", json!({})),
        ("board by status", json!({ "filterByStatus": ["open"] })),
        ("board by user", json!({ "filterByUsers": [8] })),
        (
            "board by user and two statuses",
            json!({ "filterByUsers": [8], "filterByStatus": ["open", "lost"] }),
        ),
        ("board of the archive", json!({ "onlyArchived": true })),
        (
            BY_DATE[0],
            json!({ "filterByCreateDate": { "start": "2026-03-01", "end": "2026-03-31" } }),
        ),
        ("board by custom field", json!({ "filters": condition("A-7") })),
        (
            "changed since, a page of the newest",
            json!({ "modifiedSince": "2020-01-01T00:00:00Z" }),
        ),
        ("board by search", json!({ "search": "pessoa 7" })),
        (
            "board by title, 20 hits",
            json!({ "search": "reforma", "searchBy": "opportunity" }),
        ),
    ] {
        asking.note(table, name, page(1, LIMIT, &filter)).await;
    }
    for name in ["board of a seller, first request", "board of a seller"] {
        let (answer, seconds) = asking.ask(&asking.own, name, &page(1, LIMIT, &json!({}))).await;
        table.add(name, asking.size, &answer.cost, seconds);
    }
}

async fn columns(asking: &Asking, table: &mut Table) {
    for (name, filter) in [
        ("column", json!({})),
        ("column by status", json!({ "filterByStatus": ["open"] })),
        ("column by user", json!({ "filterByUsers": [8] })),
        (
            "column by user and status",
            json!({ "filterByUsers": [8], "filterByStatus": ["gain"] }),
        ),
        ("column by two users", json!({ "filterByUsers": [8, 14] })),
        (
            "column by a user with the three oldest",
            json!({ "filterByUsers": [RARE] }),
        ),
        (
            BY_DATE[1],
            json!({ "filterByCreateDate": { "start": "2026-03-01", "end": "2026-03-31" } }),
        ),
        (
            "column by custom field, half",
            json!({ "filters": [{ "filterType": "opField",
            "properties": { "field": "Origem do Lead", "value": "google" } }] }),
        ),
        (
            "column by custom field, the oldest",
            json!({ "filters": condition("A-1") }),
        ),
        ("column by search, one in 200", json!({ "search": "pessoa 77" })),
    ] {
        let mut filter = filter;
        filter["columnId"] = json!(31);
        asking.note(table, name, page(1, LIMIT, &filter)).await;
    }
}

/// Pages in order, and pages without a cursor.
async fn pages(asking: &Asking, table: &mut Table) {
    let body = |number| page(number, LIMIT, &json!({ "columnId": 31 }));
    let last = asking.size / LIMIT;
    for number in 1..=last.min(10_000) {
        let (answer, seconds) = asking.ask(&asking.wallet, "a walk", &body(number)).await;
        assert_eq!(
            answer.body.as_array().map(Vec::len),
            Some(usize::try_from(LIMIT).expect("small"))
        );
        if [1, 2, 40, 100, 400, 4_000, 10_000].contains(&number) {
            table.add(
                &format!("column, page {number} in order"),
                asking.size,
                &answer.cost,
                seconds,
            );
        }
    }
    for number in [21, 40, 200, ALONE_PAGE, 4_000, 5_000, 40_000] {
        if number <= last {
            asking.note(table, &alone(number), body(number)).await;
        }
    }
}

/// As many pages as the target requires, however few records each has.
async fn deep_pages(asking: &Asking, table: &mut Table) {
    if asking.size < DEEP {
        return;
    }
    let limit = (asking.size / DEEPEST).min(100);
    for number in 1..=DEEPEST {
        let body = page(number, limit, &json!({ "columnId": 31 }));
        let (answer, seconds) = asking.ask(&asking.wallet, "a deep walk", &body).await;
        if [1, 2, DEEPEST].contains(&number) {
            table.add(&deep(number), asking.size, &answer.cost, seconds);
        }
    }
}
