//! Log of the service: one structured line for each request, without secrets, numbers, addresses and bodies.
//!
//! A test program with one test, because its subscriber captures everything in the process.

#![expect(
    clippy::expect_used,
    clippy::too_many_lines,
    reason = "a test that meets what cannot be must fail, and is as long as it has cases"
)]

use std::io;
use std::sync::{Arc, Mutex};

use dynamodb::Served;
use dynamodb::faults::Fault;
use operator::kinds::{Automations, Users};
use serde_json::{Value, json};
use shared::automation::Automation;
use shared::credential::{CredentialKind, Secret};
use shared::jobs::webhook_client::WebhookClient;
use shared::people::User;
use tests::bookings::{FREE, book, booking, made, open_calendars};
use tests::people::{settle, users};
use tests::world::Request;
use tests::{Wallet, World};
use tracing_subscriber::fmt::MakeWriter;

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("a log").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Log {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

impl Log {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().expect("a log").clone()).expect("UTF-8")
    }

    /// Our own lines about requests.
    fn requests(&self) -> Vec<Value> {
        let lines = self.text();
        let lines = lines
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        lines.filter(|line| line["target"] == "request").collect()
    }
}

fn call() -> Value {
    json!({ "event": "call", "data": { "user": 8, "leadPhone": "+55 41 97777-1234", "type": "INCOMING",
        "status": "COMPLETE", "duration": 65, "record": true, "service": "acme-voip", "leadName": "Dona Sigilosa",
        "callId": "call-id-4711", "description": "assunto sigiloso" } })
}

/// A call with a notification to a receiver that does not answer: failed tries and the last one are logged.
async fn automate(world: &World) {
    let line = json!({ "id": 1, "name": "Avisar", "trigger": "leadPhoneCall", "event": "received", "actions": [
        { "type": "notify", "url": "https://erp.example/", "secret": "notify-sigilo",
            "headers": { "authorization": "Bearer notify-sigilo" } } ] });
    let automation: Automation = serde_json::from_value(line).expect("an automation");
    let operator = world.operator("acme");
    operator
        .import::<Automations>(&[automation], false)
        .await
        .expect("the automation can be written");
    let signed = world
        .webhook(&call())
        .header("x-voip-signature", "webhook-sigilo");
    assert_eq!(signed.send().await.status, 201);
    let webhook_client = WebhookClient::plain(|_, _| Vec::new(), |_| true);
    for _ in 0..10 {
        maintenance::automate(&world.store, &webhook_client)
            .await
            .expect("the automations are run");
        world.clock.set(world.clock.get().plus_seconds(60_000));
    }
}

/// C-106: the log names the cause of each refusal, without any value of the request.
async fn refuse(world: &World, log: &Log) {
    let told = async |request: Request<'_>| {
        let status = request.send().await.status.as_u16();
        let line = log.requests().pop().expect("a line");
        (status, line["fields"]["refused"].as_str().map(str::to_owned))
    };
    let is = |status: u16, reason: &str| (status, Some(reason.to_owned()));
    let acme = world.operator("acme");
    let wallet = world.wallet(7).await;
    let list = |i: &str| world.get(&format!("/leads?i={i}"));
    assert_eq!(told(list("acme").with(&wallet)).await, (200, None));
    assert_eq!(told(list("acme")).await, is(401, "missing"));
    let in_query = world.get(&format!("/leads?i=acme&apitoken={}", wallet.key));
    let bearer = format!("Bearer {}", wallet.token);
    assert_eq!(
        told(in_query.header("authorization", &bearer)).await,
        is(401, "elsewhere")
    );
    assert_eq!(told(list("nobody").with(&wallet)).await, is(401, "unknown"));
    let made_up = Wallet {
        key: Secret::issue(CredentialKind::Key, world.store.environment())
            .reveal()
            .to_owned(),
        ..world.wallet(7).await
    };
    assert_eq!(told(list("acme").with(&made_up)).await, is(401, "unknown"));
    let other = world.operator("other-shop");
    other.create_instance().await.expect("an instance");
    assert_eq!(
        told(list("other-shop").with(&wallet)).await,
        is(401, "other_instance")
    );
    let revoked = world.wallet(7).await;
    acme.revoke(CredentialKind::Key, &revoked.key_id)
        .await
        .expect("it is revoked");
    assert_eq!(told(list("acme").with(&revoked)).await, is(401, "revoked"));
    let now = world.clock.get();
    world.clock.set(now.plus_days(91));
    assert_eq!(told(list("acme").with(&wallet)).await, is(401, "expired"));
    world.clock.set(now);
    let gone = world.wallet(8).await;
    let bruno = users()
        .into_iter()
        .find(|user| user.id.get() == 8)
        .expect("a user");
    let inactive = User {
        active: false,
        ..bruno.clone()
    };
    acme.import::<Users>(&[inactive], false).await.expect("a user");
    assert_eq!(told(list("acme").with(&gone)).await, is(401, "inactive"));
    acme.import::<Users>(&[bruno], false).await.expect("a user");
    let create = world.call("POST", "/leads?i=acme").with(&wallet);
    let named = create.json(&json!({ "firstname": "Sigilosa", "owner": 4711 }));
    assert_eq!(told(named).await.0, 400);
    let page = world.get("/leads?i=acme&limit=4711").with(&wallet);
    assert_eq!(
        told(page).await,
        is(400, "limit: must be a whole number from 1 to 200")
    );
    let open = world.get("/calendarmeeting/slots?i=acme&keyName=sigiloso");
    assert_eq!(told(open).await, is(400, "CL006"));
    acme.set_suspended(true).await.expect("it is suspended");
    assert_eq!(told(list("acme").with(&wallet)).await, is(401, "suspended"));
    acme.set_suspended(false).await.expect("it is resumed");
    let limit = async |rate: Value| {
        acme.set_setting("requests_per_minute", &rate)
            .await
            .expect("a setting")
    };
    limit(json!(1)).await;
    told(list("acme").with(&wallet)).await;
    assert_eq!(told(list("acme").with(&wallet)).await, is(429, "limit"));
    limit(Value::Null).await;
}

/// Captures everything down to debug, of all crates.
#[tokio::test]
async fn requests_log_one_line_without_secrets() {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt()
        .json()
        .with_max_level(tracing::Level::DEBUG)
        .with_writer(log.clone())
        .finish();
    tracing::subscriber::set_global_default(subscriber).expect("the only subscriber");
    // On a port, so that the log includes the connection's lines.
    let served = Served::start();
    let world = World::served(&served).await;
    let operator = world.operator("acme");
    settle(&operator).await;
    let wallet = world.wallet(7).await;
    tests::people::set(&operator, "voip_webhook_secret", &json!("webhook-sigilo")).await;
    let list = world.read(&wallet, "/leads?i=acme&search=maria.silva").await;
    let full = world.read(&wallet, "/leads/1001?i=acme&allFields=1").await;
    assert_eq!((list.status.as_u16(), full.status.as_u16()), (200, 200));
    let in_query = format!("/leads?i=acme&apitoken={}&secret=query-sigilo", wallet.key);
    assert_eq!(world.get(&in_query).send().await.status, 401);
    let signed = world
        .webhook(&call())
        .header("x-voip-signature", "webhook-sigilo")
        .send()
        .await;
    assert_eq!(signed.status, 201);
    open_calendars(&operator).await;
    let form = json!({ "firstname": "Sigilosa", "mobile": "41 97777-1234", "assunto": "sigiloso" });
    let (_, reschedule_key) = made(&book(&world, &booking(FREE[0], &json!({ "formData": form }))).await);
    let proof = json!({ "rescheduleMeetingId": 1, "rescheduleKey": reschedule_key });
    made(
        &book(
            &world,
            &booking(FREE[1], &json!({ "formData": form, "properties": proof })),
        )
        .await,
    );
    automate(&world).await;
    let before = log.requests().len();
    refuse(&world, &log).await;
    let refused = before..log.requests().len();
    let world = world.with_faults(Arc::new(|_| Some(Fault::FailedBefore)));
    assert_eq!(
        world.get("/leads/1001?i=acme").with(&wallet).send().await.status,
        500
    );
    assert_eq!(
        world
            .webhook(&call())
            .header("x-voip-signature", "webhook-sigilo")
            .send()
            .await
            .status,
        500
    );

    let mut requests = log.requests();
    requests.drain(refused);
    let told: Vec<_> = requests
        .iter()
        .map(|line| {
            let fields = &line["fields"];
            let text = |name: &str| fields[name].as_str().unwrap_or_default().to_owned();
            (
                text("route"),
                text("instance"),
                fields["status"].as_u64().unwrap_or_default(),
            )
        })
        .collect();
    let line = |route: &str, instance: &str, status| (route.to_owned(), instance.to_owned(), status);
    assert_eq!(
        told,
        [
            line("GET /leads", "acme", 200),
            line("GET /leads/{id}", "acme", 200),
            line("GET /leads", "", 401),
            line("POST /voip/webhook", "acme", 201),
            line("POST /calendarmeeting", "acme", 200),
            line("POST /calendarmeeting", "acme", 200),
            line("POST /voip/webhook", "acme", 201),
            line("GET /leads/{id}", "", 500),
            line("POST /voip/webhook", "", 500),
        ]
    );
    let first = &requests[0]["fields"];
    assert_eq!(
        (&first["credential"], &first["calls"], &first["round_trips"]),
        (&json!(wallet.key_id), &json!(3), &json!(2))
    );
    let told = |message: &str| log.text().matches(message).count();
    assert_eq!(
        (
            told("a notification is tried again"),
            told("a notification is set aside")
        ),
        (9, 1)
    );
    // The engine belongs to the test, and the SDK logs single bytes at debug; our own lines contain no
    // personal data.
    let ours = ["shared", "leads", "calendars", "call_webhook"].map(|name| format!("\"target\":\"{name}"));
    let text = log.text();
    let (own, others): (Vec<_>, Vec<_>) = text
        .lines()
        .partition(|line| ours.iter().any(|target| line.contains(target)));
    let own = own.concat();
    let others = others
        .into_iter()
        .filter(|line| !line.contains("\"target\":\"dynoxide"));
    let others = others.collect::<String>();
    for secret in [
        wallet.key.as_str(),
        wallet.token.as_str(),
        reschedule_key.as_str(),
        "webhook-sigilo",
        "query-sigilo",
        "s3nh4-inicial",
        "notify-sigilo",
    ] {
        assert!(
            !own.contains(secret) && !others.contains(secret),
            "{secret} is in the log"
        );
    }
    for private in [
        "97777",
        "Sigilosa",
        "sigiloso",
        "lead1001@example.com",
        "maria.silva",
        "Maria",
        "4711",
    ] {
        assert!(!own.contains(private), "{private} is in our log");
    }
}
