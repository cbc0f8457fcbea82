//! Receivers that never answer delay no action, no other receiver and no other instance (C-87).

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use operator::kinds::Automations;
use serde_json::json;
use shared::jobs::webhook_client::{RequestLimits, WebhookClient};
use tests::people::settle;
use tests::sales::open_shop;
use tests::{ACME, World};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::automation;

const OTHER: &str = "other-shop";
/// Longer than any test.
const LONG: Duration = Duration::from_mins(1);

/// Counts the connections to a receiver that answers, or never does.
async fn receiver(answers: bool) -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let met = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&met);
    tokio::spawn(async move {
        let mut open = Vec::new();
        while let Ok((mut stream, _)) = listener.accept().await {
            if answers {
                let _ = stream.read(&mut [0; 4096]).await;
                let _ = stream
                    .write_all(b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n")
                    .await;
            }
            count.fetch_add(1, Ordering::SeqCst);
            open.push(stream);
        }
    });
    (address, met)
}

/// `acme` notifies a receiver that hangs and one that answers of each call; the other shop adds points.
struct Shops {
    world: World,
    webhook_client: WebhookClient,
    hangs: Arc<AtomicUsize>,
    answers: Arc<AtomicUsize>,
}

impl Shops {
    async fn open(whole: Duration, batch: Duration) -> Self {
        let world = World::new().await;
        settle(&world.operator(OTHER)).await;
        for instance in [ACME, OTHER] {
            open_shop(&world.operator(instance)).await;
        }
        let notify =
            |host: &str| json!([{ "type": "notify", "url": format!("https://{host}/"), "secret": "s" }]);
        let points = json!([{ "type": "addPoints", "points": 7 }]);
        for (instance, automations) in [
            (
                ACME,
                vec![
                    automation(1, true, &notify("hangs.example")),
                    automation(2, true, &notify("answers.example")),
                    automation(3, true, &points),
                ],
            ),
            (OTHER, vec![automation(1, true, &points)]),
        ] {
            let operator = world.operator(instance);
            operator
                .import::<Automations>(&automations, false)
                .await
                .expect("written");
        }
        let (hanging, hangs) = receiver(false).await;
        let (answering, answers) = receiver(true).await;
        let found = move |host: &str, _| {
            vec![if host == "hangs.example" {
                hanging
            } else {
                answering
            }]
        };
        let limits = RequestLimits {
            connect: LONG,
            rest: LONG,
            whole,
            batch,
        };
        let webhook_client =
            WebhookClient::plain(found, |address: IpAddr| address.is_loopback()).within(limits);
        Self {
            world,
            webhook_client,
            hangs,
            answers,
        }
    }

    async fn call(&self, instance: &str) {
        let body = json!({ "event": "call", "data": { "user": 8, "leadPhone": "", "lead": 1001, "type": "INCOMING",
            "status": "COMPLETE", "duration": 1, "record": false, "service": "x" } });
        let uri = format!("/voip/webhook?i={instance}");
        let answer = self.world.call("POST", &uri).json(&body).send().await;
        assert_eq!(answer.status, 201);
    }

    /// Delivers these calls as stream records.
    async fn bring(&self, calls: &[(&str, u64)]) {
        let records = calls.iter().map(|(instance, call)| {
            json!({ "eventName": "INSERT", "dynamodb": { "SequenceNumber": "1", "Keys": {
                "pk": { "S": format!("{instance}#trigger") }, "sk": { "S": format!("call#{call:015}") } } } })
        });
        let records: Vec<_> = records.collect();
        let batch = serde_json::from_value(json!({ "Records": records })).expect("a batch");
        let failures = automations::run(&self.world.store, &self.webhook_client, batch).await;
        assert_eq!(json!(failures), json!({ "batchItemFailures": [] }));
    }

    /// Whether the lead has this number of points.
    async fn has(&self, instance: &str, points: u64) -> bool {
        let wallet = self.world.wallet_of(instance, 7).await;
        let uri = format!("/leads/1001?i={instance}&allFields=1");
        let answer = self.world.get(&uri).with(&wallet).send().await;
        answer
            .body
            .to_string()
            .contains(&format!(r#""points":{points},"#))
    }

    fn heard(&self) -> (usize, usize) {
        (
            self.hangs.load(Ordering::SeqCst),
            self.answers.load(Ordering::SeqCst),
        )
    }
}

/// A batch ends although a receiver hangs, with all actions done and all other receivers notified. Later
/// batches skip that receiver, which is left to maintenance.
#[tokio::test]
async fn a_batch_does_not_wait_for_a_hanging_receiver() {
    let shops = Shops::open(LONG, Duration::from_millis(500)).await;
    for call in 1..=3 {
        shops.call(ACME).await;
        shops.call(OTHER).await;
        shops.bring(&[(ACME, call), (OTHER, call)]).await;
        assert!(shops.has(OTHER, 7 * call).await && shops.has(ACME, 7 * call).await);
        assert_eq!(shops.heard(), (1, usize::try_from(call).expect("a count")));
    }
    // After a minute it is tried again.
    shops.world.clock.set(shops.world.clock.get().plus_seconds(60));
    shops.call(ACME).await;
    shops.bring(&[(ACME, 4)]).await;
    assert_eq!(shops.heard(), (2, 4));
}

/// While a receiver hangs, others of the instance are notified, a second run of the process delivers new
/// notifications, and only a few deliveries to the hanging one are begun.
#[tokio::test]
async fn a_hanging_receiver_delays_no_other() {
    let shops = Shops::open(LONG, LONG).await;
    for _ in 0..20 {
        shops.call(ACME).await;
    }
    let store = &shops.world.store;
    maintenance::act(store).await.expect("actions");
    let hanging = maintenance::deliver(store, &shops.webhook_client);
    let others = async {
        while shops.heard().1 < 20 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert_eq!(shops.heard().0, 4);
        shops.call(ACME).await;
        maintenance::automate(store, &shops.webhook_client)
            .await
            .expect("another run");
        assert_eq!(shops.heard(), (4, 21));
    };
    tokio::select! {
        _ = hanging => panic!("it hangs"),
        () = others => {}
    }
}

#[tokio::test]
async fn a_late_receiver_gets_no_more_deliveries_in_the_run() {
    let shops = Shops::open(Duration::from_millis(300), LONG).await;
    for _ in 0..20 {
        shops.call(ACME).await;
    }
    let store = &shops.world.store;
    maintenance::automate(store, &shops.webhook_client)
        .await
        .expect("a run");
    assert_eq!(shops.heard(), (4, 20));
    // Then it gets one delivery at a time.
    maintenance::automate(store, &shops.webhook_client)
        .await
        .expect("a run");
    assert_eq!(shops.heard(), (5, 20));
}
