//! Two instances with equal calendars, meetings and keys are isolated.

use serde_json::{Value, json};
use tests::bookings::{FREE, booking, invalid, made};
use tests::world::Answer;
use tests::{Wallet, World};

use super::{OTHER, world};

async fn book(world: &World, instance: &str, changes: &Value, date: &str) -> Answer {
    let call = world.call("POST", &format!("/calendarmeeting?i={instance}"));
    call.json(&booking(date, changes)).send().await
}

/// The starts of calendar 5's meetings, by both names, and its next one.
async fn starts(world: &World, wallet: &Wallet) -> Value {
    let mut found = Vec::new();
    for name in ["5", "pub_5"] {
        let answer = world
            .get(&format!("/calendarmeeting/{name}"))
            .header("apitoken", &wallet.key)
            .send()
            .await;
        let meetings = answer.body["data"]["meetings"].as_array().expect("meetings");
        found.push(
            meetings
                .iter()
                .map(|meeting| meeting["date"].clone())
                .collect::<Value>(),
        );
    }
    assert_eq!(found[0], found[1]);
    let next = world
        .get("/pcalendar?query={calendars{nextMeeting}}")
        .header("apitoken", &wallet.key);
    let next = next.send().await.body["data"]["calendars"][0]["nextMeeting"].clone();
    assert_eq!(next, found[0].get(0).cloned().unwrap_or_default());
    found.remove(0)
}

/// Equal calendar, time, meeting and lead in both; a key of one does not move a meeting of the other.
#[tokio::test]
async fn equal_meetings_of_two_instances_are_isolated() {
    let world = world().await;
    let (acme, other) = (world.wallet(7).await, world.wallet_of(OTHER, 7).await);
    let (here, key) = made(&book(&world, "acme", &json!({}), FREE[0]).await);
    assert_eq!(starts(&world, &other).await, json!([]));
    let (there, other_key) = made(&book(&world, OTHER, &json!({}), FREE[0]).await);
    assert_eq!(here, there);
    assert_ne!(key, other_key);
    let proof = |key: &str| json!({ "properties": { "rescheduleMeetingId": 1, "rescheduleKey": key } });
    book(&world, OTHER, &proof(&key), FREE[1])
        .await
        .is(400, &invalid("rescheduleKey"));
    book(&world, "acme", &proof(&other_key), FREE[1])
        .await
        .is(400, &invalid("rescheduleKey"));
    made(&book(&world, "acme", &proof(&key), FREE[1]).await);
    assert_eq!(starts(&world, &acme).await, json!([FREE[1]]));
    assert_eq!(starts(&world, &other).await, json!([FREE[0]]));
    let slots = world
        .get(&format!("/calendarmeeting/slots?i={OTHER}&keyName=demo"))
        .send()
        .await;
    assert_eq!(slots.body["data"]["slots"][0], FREE[1]);
    let leads =
        |wallet: &Wallet, instance: &str| world.get(&format!("/leads?i={instance}&search=bia")).with(wallet);
    for (wallet, instance) in [(&acme, "acme"), (&other, OTHER)] {
        assert_eq!(leads(wallet, instance).send().await.body["data"]["total"], 1);
    }
}

/// Two keys of one user may be combined; keys of two users or instances may not, with or without `i`.
#[tokio::test]
async fn keys_of_two_users_or_instances_are_rejected() {
    let world = world().await;
    let (one, same) = (world.wallet(7).await, world.wallet(7).await);
    let (colleague, foreign) = (world.wallet(8).await, world.wallet_of(OTHER, 7).await);
    for path in ["/pcalendar", "/calendarmeeting/5"] {
        for i in ["", "&i=acme", "&i=other-shop"] {
            for (header, query, good) in [
                (&one, &same, i != "&i=other-shop"),
                (&one, &colleague, false),
                (&one, &foreign, false),
                (&foreign, &one, false),
                (&foreign, &foreign, i != "&i=acme"),
            ] {
                let call = world
                    .get(&format!("{path}?apitoken={}{i}", query.key))
                    .header("apitoken", &header.key);
                let answer = call.send().await;
                assert_eq!(answer.status, if good { 200 } else { 401 }, "{path} {i}");
            }
        }
    }
}
