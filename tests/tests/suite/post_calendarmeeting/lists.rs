//! C-12: endpoints 11 and 12 and free times immediately after a booking, a move and an import.

use serde_json::{Value, json};
use tests::bookings::{
    FREE, MADE_HERE, add_meetings, book, booking, made, meeting, meetings, next_meetings, shown, slots,
};
use tests::world::at;
use tests::{Wallet, World};

use super::world;

/// The first two free times of calendar 5, its next meeting, and dates and statuses of all its meetings.
async fn now(world: &World, wallet: &Wallet) -> (Value, Value, Vec<(String, String)>) {
    let free = slots(world, "keyName=demo").await;
    let free = free.body["data"]["slots"].as_array().expect("slots")[..2].to_vec();
    let text = |meeting: &Value, name: &str| meeting[name].as_str().expect("text").to_owned();
    let all = meetings(world, wallet, 5).await;
    let all = all.as_array().expect("meetings").iter();
    let all = all.map(|meeting| (text(meeting, "date"), text(meeting, "status")));
    (
        free.into(),
        next_meetings(world, wallet).await[0].clone(),
        all.collect(),
    )
}

#[tokio::test]
async fn lists_show_changes_at_once() {
    let world = world().await;
    let (admin, operator) = (world.wallet(7).await, world.operator("acme"));
    let of = |all: &[(&str, &str)]| -> Vec<(String, String)> {
        all.iter()
            .map(|(date, status)| ((*date).to_owned(), (*status).to_owned()))
            .collect()
    };
    assert_eq!(now(&world, &admin).await, (json!(FREE[..2]), json!(null), vec![]));
    let (_, key) = made(&book(&world, &booking(FREE[1], &json!({}))).await);
    let expected = (
        json!([FREE[0], FREE[2]]),
        json!(FREE[1]),
        of(&[(FREE[1], "scheduled")]),
    );
    assert_eq!(now(&world, &admin).await, expected);
    made(&book(&world, &booking(FREE[0], &json!({}))).await);
    let both = of(&[(FREE[0], "scheduled"), (FREE[1], "scheduled")]);
    assert_eq!(
        now(&world, &admin).await,
        (json!(FREE[2..]), json!(FREE[0]), both)
    );
    let proof = json!({ "properties": { "rescheduleMeetingId": 1, "rescheduleKey": key } });
    made(&book(&world, &booking(FREE[2], &proof)).await);
    let moved = of(&[(FREE[0], "scheduled"), (FREE[2], "rescheduled")]);
    assert_eq!(
        now(&world, &admin).await,
        (json!([FREE[1], FREE[3]]), json!(FREE[0]), moved)
    );
    // An import cancels the next meeting.
    let canceled = json!({ "id": 2, "leadId": 1014, "status": "canceled", "createDate": MADE_HERE });
    add_meetings(&operator, [meeting(&canceled)]).await;
    let left = of(&[(FREE[0], "canceled"), (FREE[2], "rescheduled")]);
    assert_eq!(
        now(&world, &admin).await,
        (json!(FREE[..2]), json!(FREE[2]), left.clone())
    );
    // An imported cancelled meeting changes only the list.
    let never = json!({ "id": 9, "date": FREE[1], "endDate": "2026-11-23T10:10:00Z", "status": "canceled" });
    add_meetings(&operator, [meeting(&never)]).await;
    let three = of(&[
        (FREE[0], "canceled"),
        (FREE[1], "canceled"),
        (FREE[2], "rescheduled"),
    ]);
    assert_eq!(
        now(&world, &admin).await,
        (json!(FREE[..2]), json!(FREE[2]), three.clone())
    );
    // Once it begins, it is not the next one any more.
    world.clock.set(at(FREE[2]));
    let free = json!([FREE[3], "2026-11-24T09:00:00.000Z"]);
    assert_eq!(now(&world, &admin).await, (free, json!(null), three));
    world.is_sound().await;
}

#[tokio::test]
async fn an_import_moves_a_meeting_to_another_calendar() {
    let world = world().await;
    let (admin, operator) = (world.wallet(7).await, world.operator("acme"));
    made(&book(&world, &booking(FREE[0], &json!({}))).await);
    add_meetings(
        &operator,
        [meeting(
            &json!({ "calendarId": 7, "leadId": 1013, "userId": 9, "createDate": MADE_HERE }),
        )],
    )
    .await;
    let updated = "2026-11-01T12:00:00.000Z";
    let expected = json!({ "calendarId": 7, "userId": 9, "createDate": MADE_HERE, "updateDate": updated });
    assert_eq!(meetings(&world, &admin, 7).await, json!([shown(&expected)]));
    assert_eq!(meetings(&world, &admin, 5).await, json!([]));
    assert_eq!(next_meetings(&world, &admin).await, json!([null, null, FREE[0]]));
    made(&book(&world, &booking(FREE[0], &json!({}))).await);
    world.is_sound().await;
}
