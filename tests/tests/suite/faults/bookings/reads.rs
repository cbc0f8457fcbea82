//! Endpoints 11 and 12, and the free times: a fault that passes is not seen, one that stays is a failure, and nothing is
//! ever shown in part.

use futures_util::future::join_all;
use serde_json::json;
use tests::bookings::{FREE, add_meetings, meeting};
use tests::world::at;
use tests::{ACME, World};

use super::{Moment, counting, is_failure, office};
use crate::faults::none;

const ASKED: [&str; 9] = [
    "/pcalendar?i=acme&apitoken=KEY",
    "/pcalendar?i=acme&apitoken=KEY&query={calendars{id}}",
    "/calendarmeeting/5?apitoken=KEY",
    "/calendarmeeting/5?apitoken=KEY&limit=3&page=0",
    "/calendarmeeting/5?apitoken=KEY&limit=3&page=2&from=2026-01-01T00:00:00Z",
    "/calendarmeeting/pub_5?apitoken=KEY",
    "/calendarmeeting/pub_5?apitoken=KEY&limit=2&page=1",
    "/calendarmeeting/slots?i=acme&keyName=demo",
    "/calendarmeeting/slots?i=acme&keyName=demo&from=2026-11-23T00:00:00Z&to=2026-11-24T00:00:00Z",
];

/// Nine meetings: one a day, and three on the first.
async fn stocked() -> World {
    let world = office().await;
    let meetings = (0..9_u32).map(|turn| {
        let date = at(FREE[0])
            .plus_days(turn.saturating_sub(2))
            .plus_seconds(if turn < 3 { turn * 600 } else { 0 });
        meeting(&json!({ "id": turn + 1, "date": date, "endDate": date.plus_seconds(600) }))
    });
    add_meetings(&world.operator(ACME), meetings).await;
    world
}

async fn meets_every_fault(asked: &str) {
    let world = stocked().await;
    let asked = asked.replace("KEY", &world.wallet(7).await.key);
    let (plan, calls) = counting();
    // The first time it is learned what there is, the second time that is read beside the credential.
    let mut world = world.with_faults(plan);
    let expected = world.get(&asked).send().await;
    assert_eq!(expected.status, 200, "{}", expected.body);
    let calls = calls.lock().expect("no panic").clone();
    for moment in Moment::all(&calls) {
        world = world.with_faults(moment.plan());
        let answer = world.get(&asked).send().await;
        // What is known by now may need fewer calls.
        if moment.is_overcome() || answer.status == 200 {
            assert!(moment.is_overcome() || moment.nth > 1, "{asked} {moment:?}");
            answer.is(200, &expected.body);
        } else {
            is_failure(&answer, &(&asked, &moment));
        }
    }
    world.with_faults(none()).is_sound().await;
}

#[tokio::test]
async fn calendars_meetings_and_free_times() {
    join_all(ASKED.map(meets_every_fault)).await;
}
