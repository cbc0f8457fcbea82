//! The header `Idempotency-Key` over the routes that take it: endpoints 7, 13 and 19, and `POST /leads` (C-10). What only one of them does is in
//! its own folder.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tests::bookings::{FREE, booking, open_calendars};
use tests::sales::open_shop;
use tests::world::{Answer, at};
use tests::{ACME, Wallet, World};

const REPLAYED: &str = "idempotent-replayed";

/// A request that takes a key.
struct Keyed {
    uri: &'static str,
    good: Value,
    /// Bodies that ask for something else.
    others: Vec<Value>,
    /// Bodies that are refused, and how.
    refused: Vec<(Value, u16)>,
    /// Its status, and that of the same request a day later.
    statuses: [u16; 2],
    /// The body of an error of the header.
    error: fn(&str) -> Value,
    used: Value,
}

fn lead() -> Keyed {
    let body = |changes: Value| over(json!({ "firstname": "Nara", "phone": "5541988880005" }), &changes);
    Keyed {
        uri: "/leads?i=acme",
        good: body(json!({})),
        others: [json!({ "firstname": "Outra" }), json!({ "owner": null })]
            .map(body)
            .into(),
        refused: vec![
            (body(json!({ "owner": 99 })), 400),
            (json!({ "city": "Ibiporã" }), 400),
        ],
        statuses: [200, 200],
        error: |details| json!({ "error": "Invalid request", "details": details }),
        used: json!({ "error": "Idempotency-Key was used with another body" }),
    }
}

fn opportunity() -> Keyed {
    let body = |changes: Value| {
        over(
            json!({ "title": "Reforma", "crm_column": 31, "lead_id": 1001 }),
            &changes,
        )
    };
    Keyed {
        uri: "/crmopportunity?id=3&i=acme",
        good: body(json!({})),
        others: [
            json!({ "title": "Outra" }),
            json!({ "value": 0 }),
            json!({ "crm_column": "31" }),
        ]
        .map(body)
        .into(),
        refused: vec![(body(json!({ "user": 99 })), 400), (json!([]), 400)],
        statuses: [200, 200],
        error: |details| json!({ "msg": details }),
        used: json!({ "msg": "Idempotency-Key was used with another body" }),
    }
}

fn meeting() -> Keyed {
    let body = |changes: Value| booking(FREE[0], &changes);
    Keyed {
        uri: "/calendarmeeting?i=acme",
        good: body(json!({ "formData": { "email": "b@example.com", "note": "ã" } })),
        others: [
            json!({ "date": FREE[1] }),
            json!({ "leadId": 4711, "formData": null }),
            json!({ "opportunityId": 9 }),
            json!({ "properties": { "rescheduleMeetingId": 1, "rescheduleKey": "x" } }),
        ]
        .map(body)
        .into(),
        refused: vec![
            (booking("2026-11-23T09:01:00Z", &json!({})), 409),
            (body(json!({ "leadId": 4711, "formData": null })), 400),
            (body(json!({ "formData": {} })), 400),
        ],
        statuses: [200, 409],
        error: |details| json!({ "error": "Invalid request", "details": details }),
        used: json!({ "error": "Idempotency-Key was used with another body" }),
    }
}

/// A call, whatever it is linked to.
fn call(changes: &Value) -> Keyed {
    let body = |more: Value| {
        let data = json!({ "user": 8, "leadPhone": "+55 11 97326-3471", "type": "INCOMING", "status": "COMPLETE",
            "duration": 65, "record": true, "service": "acme-voip" });
        json!({ "event": "call", "data": over(over(data, changes), &more) })
    };
    Keyed {
        uri: "/voip/webhook?i=acme",
        good: body(json!({})),
        others: [
            json!({ "duration": 66 }),
            json!({ "description": "x" }),
            json!({ "user": 4711 }),
        ]
        .map(body)
        .into(),
        refused: vec![
            (body(json!({ "user": 4711 })), 400),
            (body(json!({ "type": "LOST" })), 400),
        ],
        statuses: [201, 201],
        error: |message| {
            let err = json!({ "instancePath": "", "keyword": "header", "message": message });
            json!({ "msg": "invalid_body", "err": err })
        },
        used: json!({ "msg": "Idempotency-Key was used with another body" }),
    }
}

fn over(mut body: Value, changes: &Value) -> Value {
    for (name, value) in changes.as_object().expect("changes") {
        body[name] = value.clone();
    }
    body
}

async fn stage() -> (World, Wallet) {
    let world = World::new().await;
    open_shop(&world.operator(ACME)).await;
    open_calendars(&world.operator(ACME)).await;
    let wallet = world.wallet(7).await;
    (world, wallet)
}

/// All items by their keys, but for the counters of rate limits.
fn everything(world: &World) -> BTreeMap<String, Value> {
    let items = world.raw().items().into_iter();
    let keyed = items.map(|item| (format!("{} {}", item["pk"], item["sk"]), item));
    keyed.filter(|(key, _)| !key.contains("#rate#")).collect()
}

impl Keyed {
    async fn send(&self, (world, wallet): &(World, Wallet), keys: &[&str], body: &str) -> Answer {
        let call = world.call("POST", self.uri).with(wallet).bytes(body.to_owned());
        let call = keys
            .iter()
            .fold(call, |call, key| call.header("idempotency-key", key));
        call.send().await
    }

    /// Requires that the request is carried out.
    async fn is_new(&self, stage: &(World, Wallet), key: &str) -> Value {
        let answer = self.send(stage, &[key], &self.good.to_string()).await;
        let replayed = answer.headers.get(REPLAYED);
        assert_eq!(
            (answer.status.as_u16(), replayed),
            (self.statuses[0], None),
            "{}",
            answer.body
        );
        answer.body
    }

    async fn is_replay(&self, stage: &(World, Wallet), key: &str, of: &Value) {
        let answer = self.send(stage, &[key], &self.good.to_string()).await;
        answer.is(self.statuses[0], of);
        assert_eq!(answer.headers[REPLAYED], "true");
        assert!(answer.cost.write_units() <= 0.0);
    }
}

/// The same key and body replay the first response for 24 hours, without a second effect; another body is rejected.
#[tokio::test]
async fn repeated_requests_are_replayed() {
    let calls = [
        json!({}),
        json!({ "lead": 1002 }),
        json!({ "leadPhone": "+55 41 98888-0001", "description": "ã" }),
        json!({ "leadPhone": "anonymous" }),
        json!({ "lead": 4711 }),
    ];
    for keyed in [lead(), opportunity(), meeting()]
        .into_iter()
        .chain(calls.iter().map(call))
    {
        let stage = stage().await;
        let first = keyed.is_new(&stage, "k").await;
        let before = everything(&stage.0);
        for time in [
            "2026-11-21T12:00:00Z",
            "2026-11-21T12:00:01Z",
            "2026-11-22T11:59:59Z",
        ] {
            stage.0.clock.set(at(time));
            keyed.is_replay(&stage, "k", &first).await;
        }
        let others = keyed.others.iter().map(Value::to_string);
        for body in others.chain([format!("{} ", keyed.good)]) {
            keyed.send(&stage, &["k"], &body).await.is(422, &keyed.used);
        }
        assert_eq!(everything(&stage.0), before, "{}", keyed.good);
        stage.0.clock.set(at("2026-11-22T12:00:00Z"));
        let later = keyed.send(&stage, &["k"], &keyed.good.to_string()).await;
        let replayed = later.headers.get(REPLAYED);
        assert_eq!(
            (later.status.as_u16(), replayed),
            (keyed.statuses[1], None),
            "{}",
            later.body
        );
        assert_ne!(later.body, first);
        stage.0.is_sound().await;
    }
}

#[tokio::test]
async fn only_successes_are_kept() {
    for keyed in [lead(), opportunity(), meeting(), call(&json!({}))] {
        let stage = stage().await;
        for (body, status) in keyed.refused.iter().flat_map(|refused| [refused, refused]) {
            let answer = keyed.send(&stage, &["k"], &body.to_string()).await;
            let replayed = answer.headers.get(REPLAYED);
            assert_eq!(
                (answer.status.as_u16(), replayed),
                (*status, None),
                "{}",
                answer.body
            );
        }
        keyed.is_new(&stage, "k").await;
        stage.0.is_sound().await;
    }
}

/// 1 to 255 visible ASCII characters, one header. Public routes check it before the body.
#[tokio::test]
async fn invalid_keys_are_rejected() {
    let (longest, longer) = ("x".repeat(255), "x".repeat(256));
    for keyed in [lead(), opportunity(), meeting(), call(&json!({}))] {
        let stage = stage().await;
        let before = everything(&stage.0);
        let refused = (keyed.error)("Idempotency-Key: must be 1 to 255 visible ASCII characters, once");
        let is_public = !["/crm", "/leads"].iter().any(|path| keyed.uri.starts_with(path));
        let body = if is_public {
            "{".to_owned()
        } else {
            keyed.good.to_string()
        };
        for keys in [
            &[""][..],
            &["a b"],
            &["ã"],
            &["\u{ff}"],
            &["a\tb"],
            &["a", "a"],
            &["a", "b"],
            &["a", ""],
            &[&longer],
        ] {
            let answer = keyed.send(&stage, keys, &body).await;
            answer.is(400, &refused);
            assert!(!is_public || answer.cost.read_units() <= 1.0);
        }
        assert_eq!(everything(&stage.0), before);
        if keyed.statuses[1] == 409 {
            continue;
        }
        for key in [
            "0",
            "8e03978e-40d5-43e8-bc93-6894a57f9324",
            "a/b:c~!\"{}",
            &longest,
        ] {
            let first = keyed.is_new(&stage, key).await;
            keyed.is_replay(&stage, key, &first).await;
        }
    }
}
