//! Cost of rejected requests (C-86): every route × an invalid credential, and × an exhausted limit, with
//! large targets.

mod worst;

use serde_json::{Value, json};
use shared::credential::CredentialKind;
use shared::people::User;
use tests::bookings::{FREE, add_meetings, meeting, open_calendars};
use tests::forms::add_form;
use tests::labels::{add_loss_reasons, add_tags};
use tests::people::{add_leads, add_users, department, plain_lead, user};
use tests::reports::{add_reports, report};
use tests::sales::{add_opportunities, open_shop, page, plain_opportunity};
use tests::tickets::{add_files, add_tickets, file, ticket};
use tests::world::at;
use tests::{ACME, Answer, World};

use crate::isolation::unknown;
use tests::catalogue::{Entry, Place, protected, public};

/// Records of each kind in a list.
const MANY: u64 = 300;
/// Maximum units for checking a request.
const CHECK: f64 = 4.0;
/// Maximum units for a page of 50 of the largest records, in addition to the check.
const PAGE: f64 = 30.0;

/// An instance with a lead that has many records of every kind, and long lists.
async fn crowded() -> World {
    let world = World::new().await;
    let operator = world.operator(ACME);
    open_shop(&operator).await;
    open_calendars(&operator).await;
    add_form(&operator, &Value::Null).await;
    add_leads(
        &operator,
        (2001..2001 + MANY)
            .map(|id| plain_lead(id, "Pessoa", "de Tal", Some(8)))
            .collect(),
    )
    .await;
    add_opportunities(
        &operator,
        (1..=MANY).map(|id| plain_opportunity(id, 7, 0)).collect(),
    )
    .await;
    let tickets = (501..501 + MANY).map(|id| ticket(&json!({ "id": id })));
    add_tickets(&operator, tickets.collect::<Vec<_>>()).await;
    let files = (0..MANY).map(|at| file(&json!({ "store_path": format!("s/{at}") })));
    add_files(&operator, files.collect::<Vec<_>>()).await;
    let text = "x".repeat(1_000);
    let meetings = (0..MANY).map(|turn| {
        let start = at(FREE[0]).plus_days(u32::try_from(turn).expect("small"));
        meeting(&json!({ "id": 1 + turn, "date": start, "endDate": start.plus_seconds(1800), "formData": { "text": text } }))
    });
    add_meetings(&operator, meetings.collect::<Vec<_>>()).await;
    add_reports(
        &operator,
        (1..=60).map(|id| report(id, &Value::Null)).collect::<Vec<_>>(),
    )
    .await;
    let team = (2001..2001 + MANY).map(|id| User {
        department: Some(department(3)),
        ..User::new(user(id), "Equipe")
    });
    add_users(&operator, &team.collect::<Vec<_>>()).await;
    add_tags(&operator, 1..=MANY).await;
    add_loss_reasons(&operator, 1..=MANY).await;
    world
}

/// Every protected route, requesting as much as possible.
fn greedy() -> Vec<Entry> {
    let ids: Vec<_> = (2001..2121).collect();
    let mut all = protected();
    for route in &mut all {
        match (route.method.as_str(), route.path.as_str()) {
            ("GET", "/leads") => "allFields=1&limit=200".clone_into(&mut route.params),
            (_, "/leadsadvanced") => "allFields=1".clone_into(&mut route.params),
            ("DELETE", "/leads") => route.body = json!({ "ids": ids }),
            (_, "/lead/archive") => route.body = json!({ "archived": true, "ids": ids }),
            (_, "/sac360/relaction") => route.body = json!({ "lead": 1002, "attendance": 501 }),
            (_, "/crm/opportunities/3") => route.body = page(1, 100, &json!({ "columnId": 31 })),
            (_, "/calendarmeeting/5") => "limit=100".clone_into(&mut route.params),
            _ => {}
        }
    }
    let of = |method: &str, path: &str| {
        let found = all
            .iter()
            .find(|route| route.method == method && route.path == path);
        found.cloned().expect("a route")
    };
    let (mut board, mut search) = (of("POST", "/crm/opportunities/3"), of("GET", "/leads"));
    board.body = page(1, 25, &Value::Null);
    "search=tal".clone_into(&mut search.params);
    all.extend([board, search]);
    all
}

#[track_caller]
fn is_cheap(what: &str, answer: &Answer, status: u16, units: f64) {
    assert_eq!(answer.status, status, "{what}: {}", answer.body);
    let cost = &answer.cost;
    assert!(
        cost.read_units() <= units && cost.write_units() <= 0.0,
        "{what}: {cost:?}"
    );
}

async fn set(world: &World, name: &str, value: Value) {
    tests::people::set(&world.operator(ACME), name, &value).await;
}

/// An invented credential costs only its check, also if the process knows valid ones, and if one of two is
/// valid.
#[tokio::test]
async fn invented_credentials_cost_only_the_check() {
    let world = crowded().await;
    let (good, made_up) = (
        world.known(7).await,
        [CredentialKind::Key, CredentialKind::Token].map(unknown),
    );
    for route in greedy() {
        for (key, token) in [
            (&made_up[0], &made_up[1]),
            (&made_up[0], &good.token),
            (&good.key, &made_up[1]),
        ] {
            if route.place != Place::Headers && *key == good.key {
                continue;
            }
            let answer = route.with(&world, "i=acme", key, token).send().await;
            is_cheap(&format!("{route:?}"), &answer, 401, CHECK);
        }
    }
    for route in public() {
        let answer = route.to(&world, "nobody").send().await;
        let status = match &*route.route {
            "/voip/webhook" => 401,
            "/api/hook/{name}" => 404,
            "/book/{instance}/{keyName}" => 200,
            _ => 400,
        };
        // A form is looked up beside the directory.
        let units = if status == 404 { 2.0 } else { 1.0 };
        is_cheap(&route.name(), &answer, status, units);
    }
    set(&world, "voip_webhook_secret", json!("right")).await;
    for secret in ["right", "wrong", "wrong"] {
        let webhook = public().into_iter().find(|route| route.route == "/voip/webhook");
        let call = webhook
            .expect("a row")
            .to(&world, ACME)
            .header("x-voip-signature", secret);
        let answer = call.send().await;
        if secret == "wrong" {
            is_cheap(secret, &answer, 401, CHECK);
        }
    }
}

/// A credential that has just been revoked costs a page once where the process knows it, then only its check.
#[tokio::test]
async fn revoked_credentials_cost_one_page() {
    let world = crowded().await;
    for route in greedy() {
        let wallet = world.known(7).await;
        let revoked = world
            .operator(ACME)
            .revoke(CredentialKind::Key, &wallet.key_id)
            .await;
        revoked.expect("a key is revoked");
        for units in [PAGE, CHECK] {
            let answer = route
                .with(&world, "i=acme", &wallet.key, &wallet.token)
                .send()
                .await;
            is_cheap(&format!("{route:?}"), &answer, 401, units);
        }
    }
}

/// Beyond a limit nothing of the target is read, whether this process or another one exhausted it.
#[tokio::test]
async fn exhausted_limits_cost_only_the_check() {
    let world = crowded().await;
    let wallet = world.wallet(7).await;
    for setting in ["requests_per_minute", "public_requests_per_minute"] {
        set(&world, setting, json!(1)).await;
    }
    let elsewhere = world.elsewhere();
    let mut minute = world.clock.get();
    let mut next_minute = || {
        minute = minute.plus_seconds(60);
        world.clock.set(minute);
    };
    let ask = async |world: &World, route: &Entry| {
        let call = route.with(world, "i=acme", &wallet.key, &wallet.token);
        call.send().await
    };
    for route in greedy() {
        next_minute();
        world.meet(&wallet).await;
        let known = ask(&world, &route).await;
        is_cheap(&format!("{route:?}, known"), &known, 429, CHECK);
        next_minute();
        elsewhere.meet(&wallet).await;
        for what in ["unknown", "known now"] {
            let refused = ask(&world, &route).await;
            is_cheap(&format!("{route:?}, {what}"), &refused, 429, CHECK);
        }
    }
    let limited = public()
        .into_iter()
        .filter(|route| !route.path.starts_with("/book"));
    for route in limited {
        next_minute();
        route.to(&elsewhere, ACME).send().await;
        for (process, what) in [(&world, "unknown"), (&world, "known"), (&elsewhere, "its own")] {
            let refused = route.to(process, ACME).send().await;
            is_cheap(&format!("{}, {what}", route.name()), &refused, 429, CHECK);
        }
    }
}

/// A process knows a credential for five minutes after its last acceptance; other processes do not.
#[tokio::test]
async fn a_credential_is_known_for_five_minutes() {
    let world = World::new().await;
    let wallet = world.known(7).await;
    let elsewhere = world.elsewhere();
    for (process, seconds, trips) in [
        (&world, 0, 1),
        (&world, 299, 1),
        (&world, 299, 1),
        (&elsewhere, 0, 2),
        (&world, 300, 2),
        (&world, 0, 1),
    ] {
        world.clock.set(world.clock.get().plus_seconds(seconds));
        let answer = process.get("/leads/1001?i=acme").with(&wallet).send().await;
        assert_eq!((answer.status.as_u16(), answer.cost.round_trips), (200, trips));
    }
}
