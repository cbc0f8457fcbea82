//! Moving a meeting (C-55).

use serde_json::{Value, json};
use tests::World;
use tests::bookings::{
    FREE, MADE_HERE, OFF_GRID, TAKEN, TOO_SOON, add_calendars, add_meetings, book, booking, calendar,
    invalid, made, meeting, meetings, next_meetings, open_calendars, shown, unavailable,
};
use tests::people::settle;
use tests::sales::{add_opportunities, open_shop, plain_opportunity};
use tests::world::{Answer, at};

use super::{everything, world};

/// The body that moves a meeting, with changes.
fn moving(id: u64, key: &str, date: &str, changes: &Value) -> Value {
    let mut body = json!({
        "keyName": "demo", "date": date, "leadId": 1001,
        "properties": { "rescheduleMeetingId": id, "rescheduleKey": key },
    });
    for (name, value) in changes.as_object().into_iter().flatten() {
        body[name] = value.clone();
    }
    body
}

async fn move_to(world: &World, key: &str, date: &str) -> Answer {
    book(world, &moving(1, key, date, &json!({}))).await
}

/// C-54: the 21st move is rejected before its time is checked; requests with other keys are unaffected.
#[tokio::test]
async fn a_meeting_moves_at_most_twenty_times() {
    let world = world().await;
    let (_, key) = made(&book(&world, &booking(FREE[0], &json!({}))).await);
    for at in 0..20 {
        let keyed = moving(1, &key, FREE[(at + 1) % 2], &json!({}));
        made(&book(&world, &keyed).await);
    }
    let refused = "rescheduleMeetingId: a meeting can be moved 20 times";
    move_to(&world, &key, FREE[1]).await.is(400, &invalid(refused));
    move_to(&world, "x", FREE[1])
        .await
        .is(400, &invalid("rescheduleKey"));
    world.is_sound().await;
}

/// The old time becomes free; id, lead, calendar, user, opportunity, form, properties, creation time and key
/// remain.
#[tokio::test]
async fn a_move_changes_only_the_time() {
    let world = world().await;
    let admin = world.wallet(7).await;
    let form = json!({ "z": 1, "firstname": "Bia", "a": 0 });
    let first = booking(
        FREE[0],
        &json!({ "formData": form, "properties": { "z": [1], "a": 2 } }),
    );
    let (booked, key) = made(&book(&world, &first).await);
    world.clock.set(at("2026-11-22T08:00:00Z"));
    // Other fields of the request change nothing.
    let sent = json!({
        "leadId": null, "formData": { "firstname": "Eva", "note": "x" },
        "properties": { "rescheduleKey": key, "new": 1, "rescheduleMeetingId": 1 },
    });
    let before = world.leads().await;
    let (moved, same) = made(&book(&world, &moving(1, &key, FREE[2], &sent)).await);
    let expected = json!({
        "date": FREE[2], "endDate": "2026-11-23T10:50:00.000Z", "status": "rescheduled",
        "formData": { "z": 1, "a": 0 }, "properties": { "z": [1], "a": 2 }, "updateDate": "2026-11-22T08:00:00.000Z",
        "moves": 1,
    });
    assert_eq!((&moved, &same), (&shown(&expected), &key));
    assert_eq!(moved["properties"].to_string(), booked["properties"].to_string());
    assert_eq!(meetings(&world, &admin, 5).await, json!([moved]));
    assert_eq!(next_meetings(&world, &admin).await, json!([FREE[2], null, null]));
    // The same lead, now active.
    let mut leads = before;
    leads.last_mut().expect("the lead").last_active = at("2026-11-22T08:00:00Z");
    assert_eq!(world.leads().await, leads);
    book(&world, &booking(FREE[2], &json!({})))
        .await
        .is(409, &unavailable(TAKEN));
    let (other, other_key) = made(&book(&world, &booking(FREE[0], &json!({}))).await);
    assert_eq!(other["id"], 2);
    assert_ne!(other_key, key);
    world.is_sound().await;
}

/// Repeatedly with its key, also back, over days and months, and with its opportunity.
#[tokio::test]
async fn a_meeting_moves_repeatedly() {
    let world = world().await;
    let operator = world.operator("acme");
    open_shop(&operator).await;
    add_opportunities(&operator, vec![plain_opportunity(1, 7, 0)]).await;
    let admin = world.wallet(7).await;
    let about = json!({ "leadId": 1001, "opportunityId": 1, "formData": null });
    let (_, key) = made(&book(&world, &booking(FREE[0], &about)).await);
    for (turn, date) in [
        "2026-12-31T09:00:00.000Z",
        "2027-01-01T11:00:00.000Z",
        FREE[1],
        FREE[0],
        "2027-11-22T09:40:00.000Z",
    ]
    .into_iter()
    .enumerate()
    {
        let (moved, same) = made(&move_to(&world, &key, date).await);
        assert_eq!(same, key);
        let expected = json!({
            "date": date, "endDate": moved["endDate"], "status": "rescheduled", "leadId": 1001, "opportunityId": 1,
            "moves": turn + 1,
        });
        assert_eq!(moved, shown(&expected));
        assert_eq!(
            at(moved["endDate"].as_str().expect("a time")),
            at(date).plus_seconds(1800)
        );
        assert_eq!(meetings(&world, &admin, 5).await, json!([moved]));
        assert_eq!(next_meetings(&world, &admin).await[0], date);
        world.is_sound().await;
    }
}

/// It does not conflict with itself, and the current duration determines its end.
#[tokio::test]
async fn a_meeting_may_overlap_its_old_time() {
    let world = world().await;
    let operator = world.operator("acme");
    let (_, key) = made(&book(&world, &booking(FREE[0], &json!({}))).await);
    let (moved, _) = made(&move_to(&world, &key, FREE[0]).await);
    assert_eq!(moved, shown(&json!({ "status": "rescheduled", "moves": 1 })));
    let shifted =
        json!({ "durationMinutes": 45, "bufferMinutes": 0, "dates": { "2026-11-23": [["08:40", "12:00"]] } });
    add_calendars(&operator, [calendar(&shifted)]).await;
    for (date, end, moves) in [
        ("2026-11-23T09:25:00.000Z", "2026-11-23T10:10:00.000Z", 2),
        ("2026-11-23T08:40:00.000Z", "2026-11-23T09:25:00.000Z", 3),
    ] {
        let (moved, _) = made(&move_to(&world, &key, date).await);
        assert_eq!(
            moved,
            shown(&json!({ "status": "rescheduled", "date": date, "endDate": end, "moves": moves }))
        );
        world.is_sound().await;
    }
    // Another meeting at the same time, possible after an import, conflicts.
    let twin = json!({ "id": 9, "date": "2026-11-23T08:40:00Z", "endDate": "2026-11-23T09:25:00Z" });
    add_meetings(&operator, [meeting(&twin)]).await;
    move_to(&world, &key, "2026-11-23T08:40:00Z")
        .await
        .is(409, &unavailable(TAKEN));
    made(&move_to(&world, &key, "2026-11-23T09:25:00Z").await);
    world.is_sound().await;
}

#[tokio::test]
async fn rejected_moves_change_nothing() {
    let world = world().await;
    let (admin, operator) = (world.wallet(7).await, world.operator("acme"));
    let (_, key) = made(&book(&world, &booking(FREE[0], &json!({}))).await);
    let (_, other) = made(&book(&world, &booking(FREE[1], &json!({}))).await);
    let lisbon = json!({ "keyName": "lisboa" });
    made(&book(&world, &booking("2026-11-23T05:00:00Z", &lisbon)).await);
    let gone = json!({ "id": 8, "date": FREE[3], "endDate": "2026-11-23T11:30:00Z", "status": "canceled" });
    add_meetings(&operator, [meeting(&gone)]).await;
    world.clock.set(at("2026-11-22T08:00:00Z"));
    let before = everything(&world, &admin).await;
    let proof =
        |id: Value, key: Value| json!({ "properties": { "rescheduleMeetingId": id, "rescheduleKey": key } });
    let key_of = |id: u64| json!({ "properties": { "rescheduleMeetingId": id, "rescheduleKey": key } });
    let only = |name: &str, value: Value| json!({ "properties": { name: value } });
    let refused = invalid("rescheduleKey");
    for changes in [
        proof(json!(1), json!(other)),
        proof(json!(2), json!(key)),
        proof(json!(1), json!(key.to_uppercase())),
        proof(json!(1), json!(format!("{key} "))),
        proof(json!(1), json!(key[..63])),
        proof(json!(1), json!("")),
        proof(json!(1), json!(null)),
        proof(json!(1), json!(5)),
        proof(json!(1), json!([key])),
        proof(json!("1"), json!(key)),
        proof(json!(1.5), json!(key)),
        proof(json!(-1), json!(key)),
        proof(json!([1]), json!(key)),
        proof(json!(true), json!(key)),
        proof(json!(null), json!(key)),
        key_of(0),
        key_of(4),
        key_of(8),
        key_of(99),
        key_of(u64::MAX),
        only("rescheduleMeetingId", json!(1)),
        only("rescheduleKey", json!(key)),
        // The meeting of another calendar, with either link, and no calendar.
        json!({ "keyName": "lisboa" }),
        json!({ "keyName": "closed" }),
        json!({ "keyName": "nowhere" }),
        key_of(3),
    ] {
        let body = moving(1, &key, "2026-11-23T10:20:00Z", &changes);
        let answer = book(&world, &body).await;
        assert_eq!(
            (answer.status.as_u16(), &answer.body),
            (400, &refused),
            "{changes}"
        );
        assert!(answer.cost.write_units() <= 0.0);
    }
    for (changes, status, expected) in [
        (json!({ "date": FREE[1] }), 409, unavailable(TAKEN)),
        (
            json!({ "date": "2026-11-23T10:25:00Z" }),
            409,
            unavailable(OFF_GRID),
        ),
        (
            json!({ "date": "2026-11-20T09:00:00Z" }),
            409,
            unavailable(TOO_SOON),
        ),
    ] {
        let answer = book(&world, &moving(1, &key, FREE[2], &changes)).await;
        answer.is(status, &expected);
        assert!(answer.cost.write_units() <= 0.0);
    }
    assert_eq!(everything(&world, &admin).await, before);
    assert_eq!(
        next_meetings(&world, &admin).await,
        json!([FREE[0], null, "2026-11-23T05:00:00.000Z"])
    );
    made(&move_to(&world, &key, FREE[2]).await);
    world.is_sound().await;
}

/// A cancelled meeting cannot be moved; an imported one has no known key.
#[tokio::test]
async fn cancelled_and_imported_meetings_cannot_be_moved() {
    let world = world().await;
    let operator = world.operator("acme");
    let (booked, key) = made(
        &book(
            &world,
            &booking(FREE[0], &json!({ "leadId": 1001, "formData": null })),
        )
        .await,
    );
    add_meetings(
        &operator,
        [meeting(&json!({ "status": "canceled", "createDate": MADE_HERE }))],
    )
    .await;
    move_to(&world, &key, FREE[1]).await.is(400, &invalid("canceled"));
    move_to(&world, "x", FREE[1])
        .await
        .is(400, &invalid("rescheduleKey"));
    // The time of the cancelled meeting is free.
    let (second, _) = made(&book(&world, &booking(FREE[0], &json!({}))).await);
    assert_eq!((&booked["id"], &second["id"]), (&json!(1), &json!(2)));
    // An import that reactivates it elsewhere keeps its key.
    add_meetings(
        &operator,
        [meeting(
            &json!({ "date": FREE[2], "endDate": "2026-11-23T10:50:00Z", "createDate": MADE_HERE }),
        )],
    )
    .await;
    let (moved, same) = made(&move_to(&world, &key, FREE[3]).await);
    assert_eq!(
        (&moved["date"], &moved["status"], same),
        (&json!(FREE[3]), &json!("rescheduled"), key)
    );
    world.is_sound().await;
}

/// Before the first booking there is no secret, and so no key.
#[tokio::test]
async fn nothing_can_be_moved_before_the_first_booking() {
    let world = world().await;
    add_meetings(&world.operator("acme"), [meeting(&json!({}))]).await;
    for key in ["", "0", &"0".repeat(64)] {
        move_to(&world, key, FREE[1])
            .await
            .is(400, &invalid("rescheduleKey"));
    }
}

/// The key is derived; neither keys nor attempted keys are in the table.
#[tokio::test]
async fn the_key_is_stored_nowhere() {
    let world = World::own().await;
    let operator = world.operator("acme");
    settle(&operator).await;
    open_calendars(&operator).await;
    let (_, key) = made(&book(&world, &booking(FREE[0], &json!({}))).await);
    let sent = world
        .call("POST", "/calendarmeeting?i=acme")
        .header("idempotency-key", "k");
    made(&sent.json(&moving(1, &key, FREE[1], &json!({}))).send().await);
    let items = json!(world.raw().items()).to_string();
    assert!(items.contains("rescheduled"));
    for text in [key.as_str(), "rescheduleKey", "rescheduleMeetingId"] {
        assert!(!items.contains(text), "{text}");
    }
}
