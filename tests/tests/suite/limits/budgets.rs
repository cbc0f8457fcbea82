//! Which requests share a limit, and in which period.

use serde_json::{Value, json};
use shared::credential::CredentialKind;
use shared::people::User;
use tests::bookings::{FREE, add_calendars, booking, calendar, open_calendars};
use tests::people::{add_users, user};
use tests::world::at;
use tests::{ACME, World};

use super::{beyond, keyed, limit_key, limited_wallet, public, said, set, unlimited, within, world};

/// Exactly as many as the limit; the next minute starts again.
#[tokio::test]
async fn a_minute_has_the_limits_number_of_requests() {
    for limit in [1_u32, 7, 60] {
        let world = world("requests_per_minute", limit).await;
        let (wallet, limit) = (world.wallet(7).await, u64::from(limit));
        for (time, reset) in [
            ("2026-11-21T12:00:00.000Z", 60),
            ("2026-11-21T12:01:59.001Z", 1),
            ("2026-11-21T12:02:30.500Z", 30),
        ] {
            world.clock.set(at(time));
            for remaining in (0..limit).rev() {
                let answer = keyed(&world, &wallet).send().await;
                assert_eq!(said(&answer), within(200, limit, remaining, reset), "{time}");
            }
            for _ in 0..3 {
                let answer = keyed(&world, &wallet).send().await;
                assert_eq!(said(&answer), beyond(limit, reset), "{time}");
            }
        }
    }
}

/// The period is the minute of the clock, not one since the first request.
#[tokio::test]
async fn periods_are_minutes_of_the_clock() {
    let world = world("requests_per_minute", 2).await;
    let wallet = world.wallet(7).await;
    for (time, expected) in [
        ("2026-11-21T12:00:59.998Z", within(200, 2, 1, 1)),
        ("2026-11-21T12:00:59.999Z", within(200, 2, 0, 1)),
        ("2026-11-21T12:00:59.999Z", beyond(2, 1)),
        ("2026-11-21T12:01:00.000Z", within(200, 2, 1, 60)),
    ] {
        world.clock.set(at(time));
        assert_eq!(said(&keyed(&world, &wallet).send().await), expected, "{time}");
    }
}

/// Another instance has its own limit or none.
#[tokio::test]
async fn keys_of_an_instance_share_its_limit() {
    let world = world("requests_per_minute", 3).await;
    tests::people::settle(&world.operator("other-shop")).await;
    let (ana, bruno) = (world.wallet(7).await, world.wallet(8).await);
    let other = world.wallet_of("other-shop", 7).await;
    for (wallet, expected) in [
        (&ana, within(200, 3, 2, 60)),
        (&bruno, within(200, 3, 1, 60)),
        (&ana, within(200, 3, 0, 60)),
        (&bruno, beyond(3, 60)),
        (&ana, beyond(3, 60)),
    ] {
        let answer = world.get("/leads?i=acme").with(wallet).send().await;
        assert_eq!(said(&answer), expected);
    }
    let theirs = world.get("/leads?i=other-shop").with(&other).send().await;
    assert_eq!(said(&theirs), unlimited(200));
}

/// A key's own limit replaces the instance's, and neither consumes the other.
#[tokio::test]
async fn keys_with_their_own_limit_are_counted_separately() {
    let world = world("requests_per_minute", 2).await;
    let (shared, own) = (world.wallet(7).await, limited_wallet(&world, 3).await);
    for (wallet, expected) in [
        (&own, within(200, 3, 2, 60)),
        (&shared, within(200, 2, 1, 60)),
        (&own, within(200, 3, 1, 60)),
        (&shared, within(200, 2, 0, 60)),
        (&shared, beyond(2, 60)),
        (&own, within(200, 3, 0, 60)),
        (&own, beyond(3, 60)),
        (&shared, beyond(2, 60)),
    ] {
        assert_eq!(said(&keyed(&world, wallet).send().await), expected);
    }
    set(&world, "requests_per_minute", &Value::Null).await;
    assert_eq!(said(&keyed(&world, &shared).send().await), unlimited(200));
    assert_eq!(said(&keyed(&world, &own).send().await), beyond(3, 60));
}

/// Public requests are counted by route, independently of the keys' limit. On 13 and slots only those to an active link
/// count and have the headers, unless an unknown instance gives the same refusal.
#[tokio::test]
async fn public_requests_are_counted_by_route() {
    let world = world("public_requests_per_minute", 2).await;
    open_calendars(&world.operator(ACME)).await;
    let wallet = world.wallet(7).await;
    assert_eq!(said(&keyed(&world, &wallet).send().await), unlimited(200));
    set(&world, "requests_per_minute", &json!(1)).await;
    let slots = |link| world.get(&format!("/calendarmeeting/slots?i=acme{link}"));
    let malformed = || world.call("POST", "/calendarmeeting?i=acme").bytes("{");
    let booked = |link: &str, properties: Value| {
        let body = booking(FREE[0], &json!({ "keyName": link, "properties": properties }));
        world.call("POST", "/calendarmeeting?i=acme").json(&body)
    };
    let proof = || json!({ "cancelMeetingId": 1, "rescheduleKey": "x" });
    for (request, expected) in [
        (slots("&keyName=demo"), within(200, 2, 1, 60)),
        (slots("&keyName=nowhere"), unlimited(400)),
        (slots("&keyName=demo&meetingId=1"), unlimited(400)),
        (slots("&keyName=demo"), beyond(2, 60)),
        (slots(""), unlimited(400)),
        (malformed(), unlimited(400)),
        (booked("demo", json!({})), within(200, 2, 1, 60)),
        (booked("nowhere", json!({})), unlimited(400)),
        (booked("nowhere", proof()), unlimited(400)),
        (booked("demo", proof()), unlimited(400)),
        (malformed(), unlimited(400)),
        (booked("demo", json!({})), beyond(2, 60)),
        (booked("demo", proof()), beyond(2, 60)),
        (public(&world), within(400, 2, 1, 60)),
        (public(&world), within(400, 2, 0, 60)),
        (public(&world), beyond(2, 60)),
        (keyed(&world, &wallet), within(200, 1, 0, 60)),
        (keyed(&world, &wallet), beyond(1, 60)),
    ] {
        assert_eq!(said(&request.send().await), expected);
    }
    set(&world, "public_requests_per_minute", &Value::Null).await;
    assert_eq!(said(&public(&world).send().await), unlimited(400));
}

/// C-9: the provider's calls have their own limit; requests with a wrong secret do not consume it.
#[tokio::test]
async fn calls_with_the_secret_have_their_own_limit() {
    let world = world("public_requests_per_minute", 1).await;
    set(&world, "voip_webhook_secret", &json!("right")).await;
    let signed = |secret| public(&world).header("x-voip-signature", secret);
    let slots = "/calendarmeeting/slots?i=acme&keyName=nowhere";
    for _ in 0..3 {
        assert_eq!(said(&signed("wrong").send().await), unlimited(401));
        assert_eq!(said(&public(&world).send().await), unlimited(401));
        world.get(slots).send().await;
        assert_eq!(said(&signed("right").send().await), unlimited(400));
    }
    set(&world, "webhook_requests_per_minute", &json!(2)).await;
    for expected in [within(400, 2, 1, 60), within(400, 2, 0, 60), beyond(2, 60)] {
        assert_eq!(said(&signed("right").send().await), expected);
        assert_eq!(said(&signed("wrong").send().await), unlimited(401));
    }
}

/// C-1: for a link that is not active, a wrong key of it and a malformed booking, an existing instance responds byte for
/// byte like an unknown one, however often.
#[tokio::test]
async fn limits_do_not_reveal_instances() {
    let world = world("public_requests_per_minute", 2).await;
    open_calendars(&world.operator(ACME)).await;
    let inactive = User {
        active: false,
        ..User::new(user(12), "Fábio")
    };
    add_users(&world.operator(ACME), &[inactive]).await;
    let absent = json!({ "id": 8, "keyName": "absent", "publicId": "pub_8", "userId": 12 });
    add_calendars(&world.operator(ACME), [calendar(&absent)]).await;
    let body = |link: &str, properties: Value| {
        json!({ "keyName": link, "date": FREE[0], "leadId": 1001, "properties": properties }).to_string()
    };
    let new = ["nowhere", "closed", "absent"].map(|link| body(link, json!({})));
    let proof = json!({ "rescheduleMeetingId": 1, "rescheduleKey": "x" });
    let changes = ["nowhere", "closed", "absent"].map(|link| body(link, proof.clone()));
    let booked = new
        .into_iter()
        .chain(changes)
        .map(|body| ("POST", "/calendarmeeting?", body));
    let others = [
        ("GET", "/calendarmeeting/slots?keyName=nowhere", ""),
        ("GET", "/calendarmeeting/slots?keyName=closed", ""),
        ("GET", "/calendarmeeting/slots?keyName=absent", ""),
        (
            "GET",
            "/calendarmeeting/slots?keyName=absent&meetingId=1&rescheduleKey=x",
            "",
        ),
        ("GET", "/calendarmeeting/slots?keyName=no%20link", ""),
        ("GET", "/calendarmeeting/slots?", ""),
        ("POST", "/calendarmeeting?", "{"),
    ];
    // Each three times, so beyond the limit.
    let others = others.map(|(method, path, body)| (method, path, body.to_owned()));
    let all: Vec<_> = others.into_iter().chain(booked).collect();
    for (method, path, body) in all.iter().cycle().take(3 * all.len()) {
        let ask = async |i: &str| {
            let call = world.call(method, &format!("{path}&i={i}"));
            call.bytes(body.to_owned()).send_raw().await
        };
        let (mut there, mut nowhere) = (ask("acme").await, ask("nobody").await);
        for answer in [&mut there, &mut nowhere] {
            answer.headers.remove("x-request-id").expect("a request id");
        }
        assert_eq!(
            (there.status, there.headers, there.text),
            (nowhere.status, nowhere.headers, nowhere.text)
        );
    }
}

/// C-12: from the next request, in every process.
#[tokio::test]
async fn changed_limits_apply_from_the_next_request() {
    let world = world("requests_per_minute", 100).await;
    let wallet = world.wallet(7).await;
    for remaining in (90..100).rev() {
        assert_eq!(
            said(&keyed(&world, &wallet).send().await),
            within(200, 100, remaining, 60)
        );
    }
    set(&world, "requests_per_minute", &json!(5)).await;
    assert_eq!(said(&keyed(&world, &wallet).send().await), beyond(5, 60));
    set(&world, "requests_per_minute", &json!(11)).await;
    assert_eq!(said(&keyed(&world, &wallet).send().await), within(200, 11, 0, 60));
    assert_eq!(said(&keyed(&world, &wallet).send().await), beyond(11, 60));
    limit_key(&world, &wallet, Some(1)).await;
    assert_eq!(said(&keyed(&world, &wallet).send().await), within(200, 1, 0, 60));
    assert_eq!(said(&keyed(&world, &wallet).send().await), beyond(1, 60));
    limit_key(&world, &wallet, None).await;
    assert_eq!(said(&keyed(&world, &wallet).send().await), beyond(11, 60));
    set(&world, "requests_per_minute", &Value::Null).await;
    assert_eq!(said(&keyed(&world, &wallet).send().await), unlimited(200));
}

#[tokio::test]
async fn unauthorized_requests_are_not_counted() {
    let world = world("requests_per_minute", 2).await;
    for (name, value) in [
        ("webhook_requests_per_minute", json!(1)),
        ("voip_webhook_secret", json!("right")),
    ] {
        set(&world, name, &value).await;
    }
    let (wallet, revoked) = (world.wallet(7).await, world.wallet(7).await);
    let revoke = world
        .operator("acme")
        .revoke(CredentialKind::Key, &revoked.key_id)
        .await;
    revoke.expect("a key is revoked");
    for _ in 0..3 {
        for (request, status) in [
            (world.get("/leads/1001").with(&wallet), 400),
            (world.get("/leads/1001?i=acme&i=acme").with(&wallet), 400),
            (world.get("/leads/1001?i=acme"), 401),
            (keyed(&world, &revoked), 401),
            (
                world.get("/leads/1001?i=acme").header("apitoken", &wallet.key),
                401,
            ),
            (world.get("/leads/1001?i=nobody").with(&wallet), 401),
            (public(&world), 401),
            (public(&world).header("x-voip-signature", "wrong"), 401),
            (world.call("POST", "/voip/webhook").bytes("{}"), 400),
            (world.call("PATCH", "/leads?i=acme").with(&wallet), 405),
            (world.get("/nowhere?i=acme").with(&wallet), 404),
        ] {
            assert_eq!(said(&request.send().await), unlimited(status));
        }
    }
    // Authorized requests count, even if they are rejected.
    let wrong = world.get("/leads/x?i=acme").with(&wallet).send().await;
    assert_eq!(said(&wrong), within(400, 2, 1, 60));
    assert_eq!(said(&keyed(&world, &wallet).send().await), within(200, 2, 0, 60));
    let signed = public(&world).header("x-voip-signature", "right").send().await;
    assert_eq!(said(&signed), within(400, 1, 0, 60));
}

/// The booking page contains nothing of the instance.
#[tokio::test]
async fn the_booking_page_has_no_limit() {
    let world = world("public_requests_per_minute", 1).await;
    for _ in 0..3 {
        let page = world.get("/book/acme/demo").send().await;
        assert_eq!(said(&page), unlimited(200));
    }
    assert_eq!(said(&public(&world).send().await), within(400, 1, 0, 60));
}

/// No counter is written, and no header is sent.
#[tokio::test]
async fn without_a_limit_nothing_is_counted() {
    let world = World::new().await;
    let wallet = world.wallet(7).await;
    for request in [keyed(&world, &wallet), public(&world)] {
        let answer = request.send().await;
        assert_eq!(said(&answer).1, [None; 4]);
        assert!(
            answer
                .cost
                .calls
                .iter()
                .all(|call| call.operation != "UpdateItem")
        );
    }
}
