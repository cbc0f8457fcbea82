//! Endpoint 13: each way of booking, with a key and without, on a link that the process knows and on one that it does not.

use futures_util::future::join_all;
use serde_json::{Value, json};
use tests::bookings::{add_calendars, book, calendar};
use tests::world::{Answer, at};
use tests::{ACME, World};

use super::{Moment, counting, is_failure, made, office};
use crate::concurrency::bookings::{do_not_overlap, meetings, visitors, with_key};
use crate::faults::none;

/// A way of booking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    NewLead,
    KnownLead,
    Opportunity,
    Move,
}

/// One booking after another, each of a time of its own.
struct Bookings {
    world: Option<World>,
    way: Way,
    is_keyed: bool,
    knows_link: bool,
    turn: u32,
}

impl Bookings {
    fn world(&self) -> &World {
        self.world.as_ref().expect("it is back")
    }

    /// The next booking: its body, and where a meeting is moved, what that was answered.
    async fn next(&mut self) -> (Value, Option<Value>) {
        self.turn += 1;
        let beside = self.world().beside();
        let date = at("2026-11-24T00:00:00Z").plus_seconds(3600 * self.turn);
        let mut body = json!({ "keyName": "lisboa-0", "date": date, "leadId": 1001 });
        let mut moved = None;
        match self.way {
            Way::NewLead => {
                body["leadId"] = Value::Null;
                body["formData"] = json!({ "email": format!("v{}@example.com", self.turn), "cpf": "1" });
            }
            Way::KnownLead => {}
            Way::Opportunity => body["opportunityId"] = json!(1),
            Way::Move => {
                let mut first = body.clone();
                first["date"] = json!(date.plus_days(400));
                self.rename(0).await;
                let booked = made(&book(&beside, &first).await, &"arranged");
                body["properties"] =
                    json!({ "rescheduleMeetingId": booked["id"], "rescheduleKey": booked["rescheduleKey"] });
                moved = Some(booked);
            }
        }
        if !self.knows_link {
            self.rename(self.turn).await;
            body["keyName"] = format!("lisboa-{}", self.turn).into();
        }
        (body, moved)
    }

    /// Gives the calendar a link that no process has seen, or back the one that this one knows.
    async fn rename(&self, turn: u32) {
        let all = json!([["00:00", "24:00"]]);
        let always =
            json!({ "mon": all, "tue": all, "wed": all, "thu": all, "fri": all, "sat": all, "sun": all });
        let lisboa = json!({
            "id": 7, "keyName": format!("lisboa-{turn}"), "publicId": "pub_7", "timezone": "Europe/Lisbon",
            "durationMinutes": 60, "bufferMinutes": 0, "hours": always, "userId": 9,
        });
        add_calendars(&self.world().operator(ACME), [calendar(&lisboa)]).await;
    }

    async fn send(&self, world: &World, body: &Value) -> Answer {
        let call = world.call("POST", "/calendarmeeting?i=acme");
        let key = format!("k{}", self.turn);
        let call = if self.is_keyed {
            call.header("idempotency-key", &key)
        } else {
            call
        };
        call.json(body).send().await
    }

    /// A booking in a bad moment, and the same once more when it is over.
    async fn meet(&mut self, moment: &Moment) {
        let (body, moved) = self.next().await;
        let what = (self.way, self.is_keyed, self.knows_link, moment);
        let before = meetings(self.world()).await;
        let world = self.world.take().expect("it is back").with_faults(moment.plan());
        let answer = self.send(&world, &body).await;
        self.world = Some(world.with_faults(none()));
        let after = meetings(self.world()).await;
        let data = if moment.is_overcome() {
            Some(made(&answer, &what))
        } else {
            is_failure(&answer, &what);
            assert_eq!(after, before, "nothing happened: {what:?}");
            None
        };
        let expected = before.len() + usize::from(data.is_some() && moved.is_none());
        assert_eq!(after.len(), expected, "{what:?}");
        assert!(!answer.headers.contains_key("idempotent-replayed"), "{what:?}");
        let again = self.send(self.world(), &body).await;
        self.judge_again(&again, data.as_ref(), &what);
        let there = meetings(self.world()).await;
        assert_eq!(
            there.len(),
            before.len() + usize::from(moved.is_none()),
            "once: {what:?}"
        );
        let id = data.or(moved).unwrap_or_else(|| again.body["data"].clone())["id"].clone();
        let meeting = there
            .iter()
            .find(|meeting| json!(meeting.id) == id)
            .expect("it is there");
        assert_eq!(
            meeting.date,
            at(body["date"].as_str().expect("a time")),
            "{what:?}"
        );
        if again.status == 200 {
            assert_eq!(
                again.body["data"],
                with_key(meeting, &again.body["data"]),
                "{what:?}"
            );
        }
    }

    fn judge_again(&self, again: &Answer, data: Option<&Value>, what: &dyn std::fmt::Debug) {
        let is_replayed = again.headers.contains_key("idempotent-replayed");
        assert_eq!(is_replayed, self.is_keyed && data.is_some(), "{what:?}");
        match data {
            Some(data) if self.is_keyed => assert_eq!(&made(again, what), data, "{what:?}"),
            // Without a key it is another booking of a time that is taken.
            Some(_) if self.way != Way::Move => {
                again.is(
                    409,
                    &json!({ "error": "slot_unavailable", "msg": "the start is taken" }),
                );
            }
            _ => {
                made(again, what);
            }
        }
    }
}

async fn meets_every_fault(way: Way, is_keyed: bool, knows_link: bool) {
    let (world, turn) = (Some(office().await), 0);
    let mut bookings = Bookings {
        world,
        way,
        is_keyed,
        knows_link,
        turn,
    };
    bookings.rename(0).await;
    // Twice, because the first booking of all makes the secret.
    let mut calls = None;
    for _ in 0..2 {
        let (body, _) = bookings.next().await;
        let (plan, counted) = counting();
        let world = bookings.world.take().expect("it is back").with_faults(plan);
        made(&bookings.send(&world, &body).await, &(way, "undisturbed"));
        bookings.world = Some(world);
        calls = Some(counted.lock().expect("no panic").clone());
    }
    let calls = calls.expect("two turns");
    assert_eq!(calls["BatchGetItem"], if knows_link { 1 } else { 2 }, "{calls:?}");
    for moment in Moment::all(&calls) {
        bookings.meet(&moment).await;
    }
    let world = bookings.world();
    let meetings = meetings(world).await;
    do_not_overlap(&meetings);
    let with_new_lead = meetings
        .iter()
        .filter(|meeting| meeting.lead_id != Some(tests::people::lead(1001)));
    assert_eq!(visitors(world).await.len(), with_new_lead.count());
    world.is_sound().await;
}

/// Everybody at once, because most of the time is spent in waiting for the next attempt.
async fn all_ways(is_keyed: bool) {
    let ways = [Way::NewLead, Way::KnownLead, Way::Opportunity, Way::Move];
    let uses = ways
        .into_iter()
        .flat_map(|way| [true, false].map(|knows_link| (way, knows_link)));
    join_all(uses.map(|(way, knows_link)| meets_every_fault(way, is_keyed, knows_link))).await;
}

#[tokio::test]
async fn without_a_key() {
    all_ways(false).await;
}

#[tokio::test]
async fn with_a_key() {
    all_ways(true).await;
}
