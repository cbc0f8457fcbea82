//! The kinds of work.

use serde_json::{Value, json};
use shared::funnel::{Column, Funnel, FunnelAccess};
use shared::ids::GroupId;
use shared::lead::Lead;
use shared::people::User;
use std::time::Duration;
use tests::bench::ceiling::{Ceiling, Ground};
use tests::bookings::{add_calendars, booking, calendar};
use tests::limits::Latency;
use tests::people::{add_leads, add_users, department, lead, plain_lead, user};
use tests::sales::{add_funnels, add_opportunities, column, funnel, open_shop, page, plain_opportunity};
use tests::world::{Request, at};
use tests::{ACME, Wallet, World};

/// Leads with a number.
const LEADS: u64 = 2_000;
const FIRST_LEAD: u64 = 2_001;
/// Opportunities that are moved, each at most once a second.
const MOVED: u64 = 2_000;
/// Users of the instance, besides those of every test.
const FIRST_USER: u64 = 101;
/// Columns of a board.
const COLUMNS: u64 = 10;
/// Calendars that are always open, for meetings of five minutes.
const CALENDARS: u64 = 200;
/// Days of bookings.
const DAYS: u64 = 30;

/// A kind of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    CreateByOne,
    CreateByMany,
    Move,
    CallsOfMany,
    CallsOfOne,
    NewCallers,
    BookOne,
    BookMany,
    Board,
    LargeBoard,
    ReadByOne,
    ReadByMany,
    NewLeads,
    Refresh,
}

impl Work {
    pub const ALL: [Self; 14] = [
        Self::LargeBoard,
        Self::Board,
        Self::ReadByOne,
        Self::ReadByMany,
        Self::CreateByOne,
        Self::CreateByMany,
        Self::Move,
        Self::CallsOfMany,
        Self::CallsOfOne,
        Self::NewCallers,
        Self::BookOne,
        Self::BookMany,
        Self::NewLeads,
        Self::Refresh,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::CreateByOne => "create opportunities in one column, one user",
            Self::CreateByMany => "create opportunities in one column, 50 users",
            Self::Move => "move opportunities between two columns",
            Self::CallsOfMany => "call webhook, known numbers of many leads",
            Self::CallsOfOne => "call webhook, one known number",
            Self::NewCallers => "call webhook, new numbers",
            Self::BookOne => "book times of one calendar",
            Self::BookMany => "book times of 200 calendars",
            Self::Board => "board of 10 columns, 4 users",
            Self::LargeBoard => "board of 10 columns, 500 users",
            Self::ReadByOne => "read one lead, one credential",
            Self::ReadByMany => "read one lead, 50 credentials",
            Self::NewLeads => "create leads",
            Self::Refresh => "lead changes brought up to date by maintenance",
        }
    }

    /// Minimum a second at 15 ms.
    pub fn target(self) -> f64 {
        match self {
            Self::CreateByOne | Self::Move | Self::Refresh => 500.0,
            Self::CallsOfMany | Self::NewCallers => 1_000.0,
            Self::ReadByOne | Self::ReadByMany => 3_000.0,
            Self::LargeBoard => 300.0,
            _ => 0.0,
        }
    }

    /// The first rate that is tried, and the last one.
    fn rates(self) -> (f64, f64) {
        match self {
            Self::ReadByOne | Self::ReadByMany => (1_500.0, 4_000.0),
            Self::CallsOfMany | Self::NewCallers => (50.0, 1_500.0),
            Self::CallsOfOne | Self::BookOne | Self::LargeBoard => (5.0, 400.0),
            Self::Board => (50.0, 400.0),
            _ => (25.0, 800.0),
        }
    }

    /// The rate that is sustained.
    pub async fn ceiling(self, latency: Latency) -> Ceiling {
        let ground = Ground::open(latency).await;
        open_shop(&ground.arranged.operator(ACME)).await;
        if self == Self::Refresh {
            return refresh(ground).await;
        }
        let wallets = self.stock(&ground.arranged).await;
        ground
            .ceiling(self.rates(), move |world, n| self.request(world, &wallets, n))
            .await
    }

    /// Adds the records that the requests need. Returns the credentials to use in turn.
    async fn stock(self, world: &World) -> Vec<Wallet> {
        let admin = world.wallet(7).await;
        match self {
            Self::CreateByOne | Self::CreateByMany => {
                stock_leads(world).await;
                return users_with_wallets(world, if self == Self::CreateByOne { 1 } else { 50 }).await;
            }
            Self::ReadByOne | Self::ReadByMany => {
                return users_with_wallets(world, if self == Self::ReadByOne { 1 } else { 50 }).await;
            }
            Self::Move => {
                let opportunities = (1..=MOVED).map(|id| plain_opportunity(id, 8, second(id)));
                add_opportunities(&world.operator(ACME), opportunities.collect()).await;
            }
            Self::CallsOfMany | Self::CallsOfOne => stock_leads(world).await,
            Self::BookOne => open_always(world, 1).await,
            Self::BookMany => open_always(world, CALENDARS).await,
            Self::Board => stock_board(world, 4).await,
            Self::LargeBoard => stock_board(world, 500).await,
            Self::NewCallers | Self::NewLeads | Self::Refresh => {}
        }
        vec![admin]
    }

    /// The `n`th request.
    fn request<'w>(self, world: &'w World, wallets: &[Wallet], n: u64) -> Request<'w> {
        let wallet = of(wallets, n);
        match self {
            Self::CreateByOne | Self::CreateByMany => create(world, wallet, n),
            Self::Move => move_one(world, wallet, n),
            Self::CallsOfMany => call(world, &number(FIRST_LEAD + n % LEADS)),
            Self::CallsOfOne => call(world, &number(FIRST_LEAD)),
            Self::NewCallers => call(world, &number(1_000_000 + n)),
            Self::BookOne => book(world, n, 1),
            Self::BookMany => book(world, n, CALENDARS),
            Self::Board | Self::LargeBoard => board(world, wallet),
            Self::ReadByOne | Self::ReadByMany | Self::Refresh => {
                world.get("/leads/1001?i=acme").with(wallet)
            }
            Self::NewLeads => create_lead(world, wallet, n),
        }
    }
}

fn of(wallets: &[Wallet], n: u64) -> &Wallet {
    &wallets[usize::try_from(n).expect("small") % wallets.len()]
}

fn second(id: u64) -> u32 {
    u32::try_from(id).expect("small")
}

fn number(id: u64) -> String {
    format!("55419{:08}", 60_000_000 + id)
}

fn create<'w>(world: &'w World, wallet: &Wallet, n: u64) -> Request<'w> {
    let lead = FIRST_LEAD + n % LEADS;
    let body =
        json!({ "title": format!("Pedido {n}"), "crm_column": 31, "lead_id": lead, "value": "213.20" });
    world
        .call("POST", "/crmopportunity?id=3&i=acme")
        .with(wallet)
        .json(&body)
}

fn move_one<'w>(world: &'w World, wallet: &Wallet, n: u64) -> Request<'w> {
    let (id, to) = (
        1 + n % MOVED,
        [32, 31][usize::try_from(n / MOVED % 2).expect("small")],
    );
    let uri = format!("/crmopportunity/{id}?id=3&i=acme");
    world
        .call("PUT", &uri)
        .with(wallet)
        .json(&json!({ "crm_column": to }))
}

fn call<'w>(world: &'w World, number: &str) -> Request<'w> {
    world.webhook(&json!({ "event": "call", "data": {
        "user": 8, "leadPhone": number, "type": "INCOMING", "status": "COMPLETE", "duration": 65, "record": true,
        "service": "acme-voip",
    } }))
}

/// Consecutive bookings are on different days.
fn book(world: &World, n: u64, calendars: u64) -> Request<'_> {
    let (key, slot) = (n % calendars, n / calendars);
    let (day, time) = (slot % DAYS, slot / DAYS);
    let date =
        at("2026-11-23T00:00:00Z").plus_seconds(u32::try_from(day * 86_400 + time * 300).expect("a month"));
    let form = json!({ "firstname": "Bia", "email": format!("bia{n}@example.com") });
    let body = booking(
        &date.to_string(),
        &json!({ "keyName": format!("agenda{key}"), "formData": form }),
    );
    world.call("POST", "/calendarmeeting?i=acme").json(&body)
}

fn board<'w>(world: &'w World, wallet: &Wallet) -> Request<'w> {
    let uri = format!("/crm/opportunities/6?i=acme&apitoken={}", wallet.key);
    world.call("POST", &uri).json(&page(1, 25, &json!({})))
}

fn create_lead<'w>(world: &'w World, wallet: &Wallet, n: u64) -> Request<'w> {
    let body = json!({ "firstname": "Nara", "lastname": "Vidal", "email": format!("nara{n}@example.com"), "owner": 8 });
    world.call("POST", "/leads?i=acme").with(wallet).json(&body)
}

async fn stock_leads(world: &World) {
    let leads = (FIRST_LEAD..FIRST_LEAD + LEADS).map(|id| Lead {
        phone: Some(number(id)),
        ..plain_lead(id, "Pessoa", "de Tal", Some(8))
    });
    add_leads(&world.operator(ACME), leads.collect()).await;
}

async fn stock_users(world: &World, users: u64) {
    let users = (FIRST_USER..FIRST_USER + users).map(|id| User {
        department: Some(department(1)),
        group: GroupId::new(1),
        ..User::new(user(id), "Pessoa")
    });
    add_users(&world.operator(ACME), &users.collect::<Vec<_>>()).await;
}

async fn users_with_wallets(world: &World, users: u64) -> Vec<Wallet> {
    stock_users(world, users).await;
    let mut wallets = Vec::new();
    for id in FIRST_USER..FIRST_USER + users {
        wallets.push(world.wallet(id).await);
    }
    wallets
}

async fn open_always(world: &World, calendars: u64) {
    let all = json!([["00:00", "24:00"]]);
    let always: Value = json!({
        "mon": all, "tue": all, "wed": all, "thu": all, "fri": all, "sat": all, "sun": all,
    });
    // Calendars of one user would share its time.
    stock_users(world, calendars).await;
    let calendars = (0..calendars).map(|key| {
        calendar(&json!({
            "userId": FIRST_USER + key,
            "id": 100 + key, "name": "Agenda", "keyName": format!("agenda{key}"), "publicId": format!("pub_{key}"),
            "durationMinutes": 5, "bufferMinutes": 0, "hours": always,
        }))
    });
    add_calendars(&world.operator(ACME), calendars).await;
}

/// An opportunity of each user in each column.
async fn stock_board(world: &World, users: u64) {
    let operator = world.operator(ACME);
    let columns = (1..=COLUMNS).map(|n| Column {
        id: column(600 + n),
        name: format!("Etapa {n}"),
        sequence: n,
    });
    let measured = Funnel {
        id: funnel(6),
        name: "Medida".to_owned(),
        columns: columns.collect(),
        fields: Vec::new(),
        access: FunnelAccess::default(),
    };
    add_funnels(&operator, &[measured]).await;
    stock_users(world, users).await;
    let opportunities = (0..users * COLUMNS).map(|id| {
        let mut opportunity = plain_opportunity(1 + id, FIRST_USER + id / COLUMNS, second(id));
        opportunity.crm_id = funnel(6);
        opportunity.crm_column = column(601 + id % COLUMNS);
        opportunity
    });
    add_opportunities(&operator, opportunities.collect()).await;
}

/// One round of maintenance over changed leads with an opportunity each.
async fn refresh(ground: Ground) -> Ceiling {
    let (world, leads) = (&ground.arranged, 1..=LEADS / 2);
    stock_leads(world).await;
    let opportunities = leads.clone().map(|id| {
        let mut opportunity = plain_opportunity(id, 8, second(id));
        opportunity.lead_id = Some(lead(FIRST_LEAD + id - 1));
        opportunity
    });
    add_opportunities(&world.operator(ACME), opportunities.collect()).await;
    for id in leads {
        let answer = call(world, &number(FIRST_LEAD + id - 1)).send_unwatched().await;
        assert_eq!(answer.status, 201);
    }
    let process = ground.bulk();
    let began = now();
    let refreshed = process.refresh_copies().await.expect("a round");
    let rate = f64::from(second(refreshed)) / began.elapsed().as_secs_f64();
    Ceiling {
        rate: rate.round(),
        is_more: false,
        p99: Duration::ZERO,
        stop: ground.stop(),
    }
}

#[expect(clippy::disallowed_methods, reason = "tokio's clock is the simulated one")]
fn now() -> tokio::time::Instant {
    tokio::time::Instant::now()
}
