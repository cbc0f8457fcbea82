//! Notifications: signed, to public addresses only, at least once, quarantined after the last try (C-76).

use std::io::{Read as _, Write as _};
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex};

use dynamodb::faults::Fault;
use futures_util::future::join_all;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::{Value, json};
use sha2::Sha256;
use shared::automation::is_public;
use shared::jobs::webhook_client::WebhookClient;
use tests::world::over_sdk;
use tests::{ACME, World};

use super::{MARIA, automation, call, lead_of, outbox, receive, world};
use crate::delete_leads_id::delete;
use crate::faults::held::Held;
use crate::faults::{Calls, dying};

const SECRET: &str = "whsec_s3gr3do";

/// A receiver that sends these responses in turn, then 200, and keeps the requests.
#[derive(Clone)]
pub struct Receiver {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Receiver {
    pub fn answering(answers: &[&'static str]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (kept, answers) = (Arc::clone(&seen), answers.to_vec());
        std::thread::spawn(move || {
            for (at, stream) in listener.incoming().enumerate() {
                let Ok(mut stream) = stream else { continue };
                let request = read(&mut stream);
                kept.lock().expect("the requests").push(request);
                let head = answers.get(at).copied().unwrap_or("200 OK\r\n");
                let answer = format!("HTTP/1.1 {head}content-length: 0\r\nconnection: close\r\n\r\n");
                let _ = stream.write_all(answer.as_bytes());
            }
        });
        Self { address, seen }
    }

    pub fn seen(&self) -> Vec<String> {
        self.seen.lock().expect("the requests").clone()
    }

    /// A client that resolves every host to this receiver.
    pub fn webhook_client(&self) -> WebhookClient {
        let address = self.address;
        WebhookClient::plain(move |_, _| vec![address], |address: IpAddr| address.is_loopback())
    }
}

/// A request, head and body.
fn read(stream: &mut std::net::TcpStream) -> String {
    let (mut text, mut part) = (String::new(), [0; 4096]);
    loop {
        let length = stream.read(&mut part).unwrap_or(0);
        text += &String::from_utf8_lossy(&part[..length]);
        let whole = text.split_once("\r\n\r\n").is_some_and(|(head, body)| {
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length: "));
            length.and_then(|length| length.parse().ok()) <= Some(body.len())
        });
        if whole || length == 0 {
            return text;
        }
    }
}

async fn shop() -> World {
    let actions = json!([
        { "type": "notify", "url": "https://erp.example:8443/hooks/funil?v=1", "secret": SECRET },
        { "type": "addPoints", "points": 5 },
    ]);
    let world = world(&[automation(4, true, &actions)]).await;
    receive(&world, &call("INCOMING", MARIA)).await;
    world
}

pub async fn deliver(world: &World, webhook_client: &WebhookClient) {
    maintenance::automate(&world.store, webhook_client)
        .await
        .expect("the automations are run");
}

pub fn header<'a>(request: &'a str, name: &str) -> &'a str {
    let mut lines = request.lines();
    let line = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    line.expect("the header")
}

#[tokio::test]
async fn notifications_are_signed_and_describe_the_call() {
    let world = shop().await;
    let receiver = Receiver::answering(&[]);
    deliver(&world, &receiver.webhook_client()).await;
    let seen = receiver.seen();
    assert_eq!(seen.len(), 1);
    let (head, body) = seen[0].split_once("\r\n\r\n").expect("head and body");
    assert_eq!(head.lines().next(), Some("POST /hooks/funil?v=1 HTTP/1.1"));
    let at = world.clock.get().unix_seconds();
    let signature = |signed: String| {
        let mut mac = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).expect("a key");
        mac.update(signed.as_bytes());
        shared::text::hex(&mac.finalize().into_bytes())
    };
    let first = signature(format!("{at}.{body}"));
    let second = signature(format!("{at}.POST.erp.example:8443./hooks/funil?v=1.{body}"));
    for (name, value) in [
        ("host", "erp.example:8443"),
        ("content-type", "application/json"),
        ("x-funil-delivery", "acme-1-4-0"),
        ("x-funil-timestamp", &at.to_string()),
        ("x-funil-signature", &format!("t={at},v1={first},v2={second}")),
    ] {
        assert_eq!(header(head, name), value, "{name}");
    }
    let body: Value = serde_json::from_str(body).expect("JSON");
    let wallet = world.wallet(7).await;
    let shown = world.get("/leads/1001?i=acme&allFields=1").with(&wallet);
    let shown = shown.send().await.body;
    let mut lead = shown["data"]["lead"].clone();
    lead.as_object_mut()
        .expect("a lead")
        .shift_remove("initial_password");
    assert_eq!(
        body,
        json!({ "event": "leadPhoneCall.received", "instance": "acme", "automation": 4,
            "at": world.clock.get(), "lead": lead, "call": world.calls().await[0] })
    );
    assert_eq!(lead_of(&world, 1001).await.points, 5.into());
    assert_eq!(outbox(&world).await, 0);
}

/// A receiver that rejects it delays no other action, is retried later, and finally given up.
#[tokio::test]
async fn deliveries_are_retried_and_given_up() {
    let world = shop().await;
    let receiver = Receiver::answering(&["500 Internal Server Error\r\n"; 12]);
    let webhook_client = receiver.webhook_client();
    for (wait, tries) in [
        (0, 1),
        (9, 1),
        (1, 2),
        (29, 2),
        (1, 3),
        (90, 4),
        (270, 5),
        (810, 6),
        (2_430, 7),
        (7_290, 8),
        (21_870, 9),
        (53_599, 9),
        (1, 10),
        (99_999, 10),
    ] {
        world.clock.set(world.clock.get().plus_seconds(wait));
        deliver(&world, &webhook_client).await;
        assert_eq!(receiver.seen().len(), tries, "{wait}");
        assert_eq!(outbox(&world).await, usize::from(tries < 10), "{wait}");
        assert_eq!(lead_of(&world, 1001).await.points, 5.into());
    }
    assert_eq!(outbox(&world).await, 0);
    let deliveries: Vec<_> = receiver.seen();
    assert!(
        deliveries
            .iter()
            .all(|request| header(request, "x-funil-delivery") == "acme-1-4-0")
    );
}

#[tokio::test]
async fn a_later_try_may_succeed() {
    let world = shop().await;
    let receiver = Receiver::answering(&["503 Service Unavailable\r\n"]);
    deliver(&world, &receiver.webhook_client()).await;
    assert_eq!(outbox(&world).await, 1);
    world.clock.set(world.clock.get().plus_seconds(10));
    deliver(&world, &receiver.webhook_client()).await;
    assert_eq!((receiver.seen().len(), outbox(&world).await), (2, 0));
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let world = shop().await;
    let other = Receiver::answering(&[]);
    let redirect = format!("302 Found\r\nlocation: http://{}/\r\n", other.address).leak();
    let receiver = Receiver::answering(&[redirect]);
    deliver(&world, &receiver.webhook_client()).await;
    assert_eq!((receiver.seen().len(), other.seen().len()), (1, 0));
    assert_eq!(outbox(&world).await, 1);
}

/// The resolved addresses are checked; one private address suffices for a rejection.
#[tokio::test]
async fn private_addresses_get_nothing() {
    let world = shop().await;
    let receiver = Receiver::answering(&[]);
    let (local, public) = (receiver.address, SocketAddr::from(([8, 8, 8, 8], 443)));
    for found in [vec![local], vec![local, public], vec![public, local]] {
        let webhook_client = WebhookClient::plain(move |_, _| found.clone(), is_public);
        deliver(&world, &webhook_client).await;
        world.clock.set(world.clock.get().plus_seconds(10_000));
    }
    assert_eq!(receiver.seen().len(), 0);
    assert_eq!(outbox(&world).await, 1);
}

#[tokio::test]
async fn one_of_many_processes_delivers() {
    let world = shop().await;
    let receiver = Receiver::answering(&[]);
    let webhook_client = receiver.webhook_client();
    let others: Vec<_> = (0..20).map(|_| world.store.elsewhere()).collect();
    let runs = others
        .iter()
        .map(|store| maintenance::automate(store, &webhook_client));
    join_all(runs).await;
    deliver(&world, &webhook_client).await;
    assert_eq!((receiver.seen().len(), outbox(&world).await), (1, 0));
}

/// A process that read a due notification does not deliver it after another did.
#[tokio::test]
async fn a_late_process_delivers_nothing() {
    let _sdk = over_sdk();
    let world = shop().await;
    let receiver = Receiver::answering(&[]);
    let webhook_client = receiver.webhook_client();
    // A trigger takes three transactions, the last of which deletes it.
    let late = Held::behind(&world, 3);
    let work = async {
        let done = maintenance::automate(&late.store, &webhook_client).await;
        assert!(done.is_ok(), "{done:?}");
    };
    let meanwhile = async {
        assert_eq!((receiver.seen().len(), outbox(&world).await), (0, 1));
        deliver(&world, &receiver.webhook_client()).await;
        assert_eq!((receiver.seen().len(), outbox(&world).await), (1, 0));
    };
    late.during(work, meanwhile).await;
    assert_eq!((receiver.seen().len(), outbox(&world).await), (1, 0));
}

/// If a process dies, another delivers after the delay: at least once, with the same delivery id.
#[tokio::test]
async fn deliveries_survive_a_crash_at_any_call() {
    let _sdk = over_sdk();
    let (stage, calls) = (shop().await, Calls::default());
    let healthy = stage.copy().await.faulty(calls.recorded());
    let client = Receiver::answering(&[]).webhook_client();
    assert!(maintenance::automate(&healthy, &client).await.is_ok());
    assert!(calls.count() > 8);
    for last in [Fault::FailedBefore, Fault::FailedAfter] {
        for lived in calls.lives() {
            let world = stage.copy().await;
            let receiver = Receiver::answering(&[]);
            let met = Arc::new(AtomicUsize::new(0));
            let mortal = world.faulty(dying(lived, last, &met));
            let survived = maintenance::automate(&mortal, &receiver.webhook_client())
                .await
                .is_ok();
            for _ in 0..2 {
                world.clock.set(world.clock.get().plus_seconds(30));
                deliver(&world, &receiver.webhook_client()).await;
            }
            let seen = receiver.seen();
            let names: Vec<_> = seen
                .iter()
                .map(|request| header(request, "x-funil-delivery"))
                .collect();
            assert!(names == ["acme-1-4-0"] || names == ["acme-1-4-0"; 2], "{names:?}");
            assert_eq!(lead_of(&world, 1001).await.points, 5.into());
            assert_eq!(outbox(&world).await, 0);
            assert!(survived || lived < calls.count());
        }
    }
}

/// If the lead is gone, or the automation has no such action any more.
#[tokio::test]
async fn obsolete_notifications_are_dropped() {
    for (deleted, active) in [(true, true), (false, true), (false, false)] {
        let world = shop().await;
        let receiver = Receiver::answering(&["500 Internal Server Error\r\n"]);
        deliver(&world, &receiver.webhook_client()).await;
        if deleted {
            let wallet = world.wallet(7).await;
            assert_eq!(delete(&world, &wallet, "1001").await.status, 200);
        } else {
            let points = json!({ "type": "addPoints", "points": 5 });
            let notify = json!({ "type": "notify", "url": "https://erp.example/", "secret": SECRET });
            let actions = if active { json!([points]) } else { json!([notify]) };
            super::install(&world, &[automation(4, active, &actions)]).await;
        }
        world.clock.set(world.clock.get().plus_seconds(10));
        deliver(&world, &receiver.webhook_client()).await;
        assert_eq!((receiver.seen().len(), outbox(&world).await), (1, 0));
    }
}

#[tokio::test]
async fn the_outbox_contains_no_personal_data() {
    let world = shop().await;
    let receiver = Receiver::answering(&["500 Internal Server Error\r\n"]);
    deliver(&world, &receiver.webhook_client()).await;
    let items = world
        .store
        .dump(world.operator(ACME).instance())
        .await
        .expect("the items");
    let kept: Vec<_> = items
        .iter()
        .filter(|item| item.contains("acme#trigger"))
        .collect();
    assert_eq!(kept.len(), 1);
    for told in ["Maria", "97326", "example.com", SECRET] {
        assert!(!kept[0].contains(told), "{told}");
    }
}
