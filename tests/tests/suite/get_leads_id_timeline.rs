//! `GET /leads/{id}/timeline` (C-113).

use operator::import::{Source, import};
use serde_json::{Value, json};
use tests::forms::{add_form, received, submit};
use tests::{ACME, Answer, World};

use crate::delete_leads_id::delete;

async fn timeline(world: &World, user: u64, rest: &str) -> Answer {
    let wallet = world.wallet(user).await;
    let uri = rest.replacen('?', "/timeline?i=acme&", 1);
    world.get(&format!("/leads/{uri}")).with(&wallet).send().await
}

async fn bring(world: &World, lines: &[Value]) {
    let text: String = lines.iter().map(|line| line.to_string() + "\n").collect();
    let source = Source::spool(text.as_bytes()).expect("a source");
    let bar = indicatif::ProgressBar::hidden();
    let report = import(&world.operator(ACME), &source, false, &bar).await;
    assert_eq!(report.expect("an import").refused, []);
}

/// An imported call of lead 1001 and its event, which has the same id.
fn call(id: u64, at: &str) -> [Value; 2] {
    let call = json!({ "kind": "call", "id": id, "user": 8, "lead": 1001, "type": "OUTGOING", "status": "COMPLETE",
        "duration": 5, "record": false, "service": "acme-voip", "createDate": at });
    let event = json!({ "kind": "event", "id": id, "lead": 1001, "name": "voip.call_outgoing", "operator": 8,
        "status": "COMPLETE", "duration": 5, "service": "acme-voip", "call": id, "createDate": at });
    [call, event]
}

/// The events of an export, without their kind.
async fn exported(world: &World) -> Vec<Value> {
    let (mut lines, bar) = (Vec::new(), indicatif::ProgressBar::hidden());
    let done = operator::export::export(&world.operator(ACME), &mut lines, &bar).await;
    done.expect("an export");
    let lines = String::from_utf8(lines).expect("text");
    let lines = lines
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"));
    let of_event = |mut line: Value| {
        let kind = line.as_object_mut().expect("a line").shift_remove("kind");
        (kind == Some(json!("event"))).then_some(line)
    };
    lines.filter_map(of_event).collect()
}

/// A call, a submission, and an older call that is imported last.
async fn stage() -> World {
    let world = World::new().await;
    add_form(&world.operator(ACME), &Value::Null).await;
    let data = json!({ "user": 8, "leadPhone": "", "lead": 1001, "type": "INCOMING", "status": "COMPLETE",
        "duration": 65, "record": true, "service": "acme-voip", "callId": "c-9" });
    let phoned = world
        .webhook(&json!({ "event": "call", "data": data }))
        .send()
        .await;
    assert_eq!(phoned.status, 201);
    world.clock.set(world.clock.get().plus_seconds(60));
    let sent =
        json!({ "nome": "Maria", "email": "lead1001@example.com", "cargo": "CEO", "utm_source": "ads" });
    submit(&world, &sent).await.is(200, &received(1001));
    bring(&world, &call(3, "2020-01-01T00:00:00.000Z")).await;
    world
}

/// Calls and submissions as exported, by time, also if an import brings an older one later.
#[tokio::test]
async fn events_are_listed_newest_first() {
    let world = stage().await;
    let events = [
        json!({ "id": 2, "lead": 1001, "name": "form.received", "form": 1,
            "values": { "nome": "Maria", "email": "lead1001@example.com", "cargo": "CEO", "utm_source": "ads" },
            "createDate": "2026-11-21T12:01:00.000Z" }),
        json!({ "id": 1, "lead": 1001, "name": "voip.call_incoming", "operator": 8, "phone": "", "status": "COMPLETE",
            "duration": 65, "callId": "c-9", "service": "acme-voip", "call": 1, "createDate": "2026-11-21T12:00:00.000Z" }),
        json!({ "id": 3, "lead": 1001, "name": "voip.call_outgoing", "operator": 8, "status": "COMPLETE", "duration": 5,
            "service": "acme-voip", "call": 3, "createDate": "2020-01-01T00:00:00.000Z" }),
    ];
    let page = |events: &[Value]| json!({ "data": { "total": 3, "events": events } });
    timeline(&world, 8, "1001?").await.is(200, &page(&events));
    let mut lines = exported(&world).await;
    lines.sort_by_key(|line| std::cmp::Reverse(line["createDate"].to_string()));
    assert_eq!(lines, events);
    for (rest, shown) in [
        ("page=&limit=2", &events[..2]),
        ("page=0&limit=2", &events[..2]),
        ("page=1&limit=2", &events[..2]),
        ("page=2&limit=2", &events[2..]),
        ("page=3&limit=2", &[]),
        ("page=99999999999999999999999&limit=200", &[]),
    ] {
        let answer = timeline(&world, 7, &format!("1001?{rest}")).await;
        answer.is(200, &page(shown));
    }
    let operator = world.operator(ACME);
    let changed = operator.set_setting("page_base", &json!(0)).await;
    changed.expect("a setting");
    let second = timeline(&world, 7, "1001?page=1&limit=2").await;
    second.is(200, &page(&events[2..]));
    let none = json!({ "data": { "total": 0, "events": [] } });
    timeline(&world, 7, "1002?").await.is(200, &none);
    world.is_sound().await;
}

/// C-4, C-23: of a lead that is unknown, not visible or deleted nothing is shown, also before it is erased.
#[tokio::test]
async fn requests_are_refused() {
    let world = World::new().await;
    bring(&world, &call(1, "2026-01-01T00:00:00.000Z")).await;
    for (rest, details) in [
        ("1001?limit=0", "limit: must be a whole number from 1 to 200"),
        ("1001?limit=201", "limit: must be a whole number from 1 to 200"),
        ("1001?page=-1", "page: must be a whole number"),
        ("x?", "id: must be a whole number from 1 to 999999999999999"),
    ] {
        let invalid = json!({ "error": "Invalid request", "details": details });
        timeline(&world, 7, rest).await.is(400, &invalid);
    }
    let not_found = json!({ "error": "Not found" });
    timeline(&world, 7, "4711?").await.is(404, &not_found);
    timeline(&world, 9, "1001?").await.is(404, &not_found);
    let admin = world.wallet(7).await;
    assert_eq!(delete(&world, &admin, "1001").await.status, 200);
    timeline(&world, 7, "1001?").await.is(404, &not_found);
}

/// The pages of many events have each once, and one total.
#[tokio::test]
async fn a_lead_with_a_thousand_events() {
    let world = World::new().await;
    add_form(&world.operator(ACME), &Value::Null).await;
    let at = |id: u64| format!("2026-{:02}-{:02}T00:00:00.000Z", 1 + id * 7 % 11, 1 + id * 5 % 28);
    let mut lines: Vec<_> = (1..=600).flat_map(|id| call(id, &at(id))).collect();
    lines.extend((601..=1000).map(|id| {
        json!({ "kind": "event", "id": id, "lead": 1001, "name": "form.received", "form": 1,
            "values": { "mensagem": "x".repeat(4000) }, "createDate": at(id) })
    }));
    bring(&world, &lines).await;
    let moment = |event: &Value| (event["createDate"].to_string(), event["id"].as_u64());
    let mut expected: Vec<_> = exported(&world).await.iter().map(moment).collect();
    expected.sort_by(|one, other| other.cmp(one));
    let mut shown = Vec::new();
    for page in 1..=7 {
        let answer = timeline(&world, 7, &format!("1001?limit=150&page={page}")).await;
        assert_eq!(answer.body["data"]["total"], 1000);
        let events = answer.body["data"]["events"].as_array().expect("events");
        shown.extend(events.iter().map(moment));
    }
    assert_eq!(shown, expected);
    let operator = world.operator(ACME);
    tests::people::set(&operator, "read_budget", &json!(200)).await;
    let details = "id: the events of this lead are more than read_budget allows";
    let invalid = json!({ "error": "Invalid request", "details": details });
    timeline(&world, 7, "1001?").await.is(400, &invalid);
}
