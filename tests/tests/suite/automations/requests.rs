//! What a notification sends (C-102): method, headers, body with placeholders.

use serde_json::{Value, json};
use tests::bookings::{FREE, book, booking, made};
use tests::forms::{add_form, submit};
use tests::{ACME, World};

use super::facts::{delivered, notify, on};
use super::notify::{Receiver, deliver, header};
use super::{MARIA, call, receive, world};

/// The request that a call of lead 1001 sends.
async fn sent(action: &Value) -> String {
    let world = world(&[on(4, ("leadPhoneCall", "received"), &json!({}), &notify(action))]).await;
    receive(&world, &call("INCOMING", MARIA)).await;
    let receiver = Receiver::answering(&[]);
    deliver(&world, &receiver.webhook_client()).await;
    let seen = receiver.seen();
    assert_eq!(seen.len(), 1);
    seen.into_iter().next().expect("a request")
}

#[tokio::test]
async fn method_and_headers_are_sent() {
    let headers = json!({ "Authorization": "Bearer t0k3n", "Content-Type": "application/vnd.api+json" });
    for method in ["POST", "PUT", "PATCH"] {
        let request = sent(&json!({ "method": method, "headers": headers })).await;
        assert!(
            request.starts_with(&format!("{method} /hook HTTP/1.1\r\n")),
            "{request}"
        );
        for (name, value) in [
            ("authorization", "Bearer t0k3n"),
            ("content-type", "application/vnd.api+json"),
            ("host", "erp.example"),
            ("x-funil-delivery", "acme-1-4-0"),
        ] {
            assert_eq!(header(&request, name), value);
        }
        assert_eq!(request.matches("content-type: ").count(), 1);
    }
}

#[tokio::test]
async fn placeholders_stand_for_values() {
    let body = json!({ "deal": { "name": "{op=title}", "lead": ["{contactfield=id}: {contactfield=fullname}", 7, null] },
        "phone": "<{contactfield=phone}>" });
    let request = sent(&json!({ "body": body })).await;
    let (_, body) = request.split_once("\r\n\r\n").expect("head and body");
    let expected = json!({ "deal": { "name": "", "lead": ["1001: Maria Silva", 7, null] }, "phone": "<>" });
    assert_eq!(serde_json::from_str::<Value>(body).expect("JSON"), expected);
}

/// A custom field that only a form names is a placeholder before the first lead has it, and empty for a lead without it.
#[tokio::test]
async fn placeholders_stand_for_fields_of_forms() {
    let world = world(&[]).await;
    add_form(&world.operator(ACME), &Value::Null).await;
    let body = json!({ "cargo": "<{contactfield=cargo}>", "de": "{contactfield=firstname}" });
    let automation = on(
        4,
        ("lead", "created"),
        &json!({}),
        &notify(&json!({ "body": body })),
    );
    super::install(&world, &[automation]).await;
    for sent in [json!({ "nome": "Bia", "cargo": "CEO" }), json!({ "nome": "Ana" })] {
        assert_eq!(submit(&world, &sent).await.status, 200);
    }
    let mut bodies = delivered(&world).await;
    bodies.sort_by_key(|body| body["de"].to_string());
    assert_eq!(
        bodies,
        [
            json!({ "cargo": "<>", "de": "Ana" }),
            json!({ "cargo": "<CEO>", "de": "Bia" })
        ]
    );
}

/// Notifications repeat the trace of the request that caused them: of a call, and of a write also after they were set
/// aside and sent again.
#[tokio::test]
async fn the_trace_of_the_request_is_handed_on() {
    const TRACE: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let automations = [
        on(4, ("leadPhoneCall", "received"), &json!({}), &notify(&json!({}))),
        on(5, ("meeting", "booked"), &json!({}), &notify(&json!({}))),
    ];
    let world = world(&automations).await;
    tests::bookings::open_calendars(&world.operator(ACME)).await;
    let phoned = world
        .webhook(&call("INCOMING", MARIA))
        .header("traceparent", TRACE);
    assert_eq!(phoned.send().await.status, 201);
    let body = booking(FREE[0], &json!({}));
    let booked = world.call("POST", "/calendarmeeting?i=acme").json(&body);
    made(&booked.header("traceparent", TRACE).send().await);
    receive(&world, &call("INCOMING", MARIA)).await;

    let receiver = Receiver::answering(&["500 Internal Server Error\r\n"; 30]);
    for _ in 0..12 {
        deliver(&world, &receiver.webhook_client()).await;
        world.clock.set(world.clock.get().plus_seconds(60_000));
    }
    let operator = world.operator(ACME);
    assert_eq!(
        operator.run_queue(Some("notification")).await.expect("run").len(),
        3
    );
    deliver(&world, &receiver.webhook_client()).await;
    let seen = receiver.seen();
    let traced = |name: &str| {
        let of = seen
            .iter()
            .filter(|request| header(request, "x-funil-delivery") == name);
        of.map(|request| request.contains(&format!("traceparent: {TRACE}\r\n")))
            .collect::<Vec<_>>()
    };
    for (name, expected) in [
        ("acme-1-4-0", true),
        ("acme-meeting-1-1-5-0", true),
        ("acme-2-4-0", false),
    ] {
        assert_eq!(traced(name), [expected; 11], "{name}");
    }
}

/// A failed notification is set aside after its last try, and sent again if the operator wants it.
#[tokio::test]
async fn failed_deliveries_are_kept_and_sent_again() {
    let world = World::new().await;
    tests::bookings::open_calendars(&world.operator(ACME)).await;
    super::install(
        &world,
        &[on(4, ("meeting", "booked"), &json!({}), &notify(&json!({})))],
    )
    .await;
    made(&book(&world, &booking(FREE[0], &json!({}))).await);
    let receiver = Receiver::answering(&["500 Internal Server Error\r\n"; 10]);
    for _ in 0..12 {
        deliver(&world, &receiver.webhook_client()).await;
        world.clock.set(world.clock.get().plus_seconds(60_000));
    }
    assert_eq!((receiver.seen().len(), super::outbox(&world).await), (10, 0));
    let operator = world.operator(ACME);
    let failed = operator.queue(Some("notification")).await.expect("the queue");
    assert_eq!(failed.len(), 1);
    assert_eq!(
        (
            failed[0].work.named().1.as_str(),
            failed[0].tries,
            failed[0].reason.as_str()
        ),
        ("acme-meeting-1-1-4-0", 10, "the receiver answered 500")
    );
    assert_eq!(
        operator.run_queue(Some("notification")).await.expect("run"),
        failed
    );
    // It waits again, before its first attempt.
    let waiting = operator.queue(Some("notification")).await.expect("the queue");
    assert_eq!(
        (waiting[0].tries, waiting[0].since, waiting[0].next.is_some()),
        (0, None, true)
    );
    deliver(&world, &receiver.webhook_client()).await;
    let seen = receiver.seen();
    assert_eq!((seen.len(), super::outbox(&world).await), (11, 0));
    let names = seen.iter().map(|request| header(request, "x-funil-delivery"));
    assert!(names.into_iter().all(|name| name == "acme-meeting-1-1-4-0"));
    world.is_sound().await;
}
