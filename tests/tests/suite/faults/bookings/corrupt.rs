//! Invalid items: none is treated as absent or as another, nothing is written based on it, and no response
//! reveals its content.

use serde_json::{Value, json};
use tests::bookings::{FREE, booking};
use tests::people::settle;
use tests::raw::RawTable;
use tests::world::Answer;
use tests::{ACME, World};

use super::{furnish, is_failure, made};
use crate::concurrency::bookings::moves::moving;

/// A request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ask {
    Book,
    Again,
    Opportunity,
    Move,
    Slots,
    Calendars,
    Meetings,
    SecondPage,
    Public,
}

/// `acme` with a meeting that was booked with an idempotency key, and its raw table.
struct Office {
    world: World,
    table: RawTable,
    key: String,
    booked: Value,
}

impl Office {
    async fn open() -> Self {
        let world = World::own().await;
        settle(&world.operator(ACME)).await;
        furnish(&world).await;
        let key = world.wallet(7).await.key;
        let mut office = Self {
            table: world.raw(),
            world,
            key,
            booked: Value::Null,
        };
        office.booked = made(&office.ask(Ask::Again).await, &"arranged");
        office
    }

    async fn ask(&self, ask: Ask) -> Answer {
        let (day, key) = ("from=2026-11-23T00:00:00Z", &self.key);
        let uri = match ask {
            Ask::Slots => format!("/calendarmeeting/slots?i=acme&keyName=demo&{day}"),
            Ask::Calendars => format!("/pcalendar?apitoken={key}"),
            Ask::Meetings => format!("/calendarmeeting/5?apitoken={key}&{day}"),
            Ask::SecondPage => format!("/calendarmeeting/5?apitoken={key}&{day}&page=1&limit=1"),
            Ask::Public => format!("/calendarmeeting/pub_5?apitoken={key}&{day}"),
            Ask::Book | Ask::Again | Ask::Opportunity | Ask::Move => return self.book(ask).await,
        };
        self.world.get(&uri).send().await
    }

    async fn book(&self, ask: Ask) -> Answer {
        let body = match ask {
            Ask::Again => booking(FREE[0], &json!({})),
            Ask::Move => moving(&self.booked, FREE[2]),
            Ask::Opportunity => booking(
                FREE[1],
                &json!({ "leadId": 1001, "formData": {}, "opportunityId": 1 }),
            ),
            _ => booking(FREE[1], &json!({})),
        };
        let call = self.world.call("POST", "/calendarmeeting?i=acme");
        let call = if ask == Ask::Again {
            call.header("idempotency-key", "k")
        } else {
            call
        };
        call.json(&body).send().await
    }

    /// Requests that need the item fail while it is broken, and change nothing; after it is restored, they
    /// succeed.
    async fn is_needed(&self, (pk, sk): (&str, &str), broken: &[Value], asks: &[Ask]) {
        let whole = self.table.get(pk, sk).expect(pk);
        for broken in broken {
            let mut item = whole.clone();
            for (name, value) in broken.as_object().expect("changes") {
                item[name] = value.clone();
            }
            self.table.put(pk, sk, &item);
            let before = self.table.items();
            for ask in asks {
                is_failure(&self.ask(*ask).await, &(pk, ask, broken));
                assert_eq!(self.table.items(), before, "{pk} {ask:?}");
            }
        }
        self.table.put(pk, sk, &whole);
        for ask in asks
            .iter()
            .filter(|ask| !matches!(ask, Ask::Book | Ask::Opportunity | Ask::Move))
        {
            assert_eq!(self.ask(*ask).await.status, 200, "{pk} {ask:?}");
        }
        self.world.is_sound().await;
    }
}

#[tokio::test]
async fn invalid_items_fail_requests_that_need_them() {
    let office = Office::open().await;
    let text = |text: &str| json!({ "S": text });
    let calendar = [
        json!({ "calendar": text("{") }),
        json!({ "calendar": text("{}") }),
        json!({ "calendar": { "N": "1" } }),
    ];
    let meeting = [
        json!({ "meeting": text("{") }),
        json!({ "meeting": text("{}") }),
        json!({ "meeting": { "N": "1" } }),
    ];
    let day = [
        json!({ "v": text("1") }),
        json!({ "n.1_x_5": { "N": "1" } }),
        json!({ "n.1_2": { "N": "1" } }),
        json!({ "n.1_2_5": text("1") }),
        json!({ "n.1_2_5": { "N": "-1" } }),
    ];
    let id = "000000000000001";
    let claim = office
        .table
        .items()
        .into_iter()
        .find(|item| item.get("made").is_some())
        .expect("a claim");
    let claim = claim["pk"]["S"].as_str().expect("its key");
    for (key, broken, asks) in [
        (
            ("acme#calendar-link#demo", "calendar"),
            &calendar[..],
            &[Ask::Book, Ask::Move, Ask::Slots][..],
        ),
        (
            ("acme#calendar-public#pub_5", "calendar"),
            &[json!({ "id": text("x") })],
            &[Ask::Public],
        ),
        (
            ("acme#secret", "reschedule"),
            &[json!({ "secret": { "N": "1" } })],
            &[Ask::Book, Ask::Move, Ask::Again],
        ),
        (
            ("acme#counter", "meeting"),
            &[json!({ "meeting": text("1") })],
            &[Ask::Book, Ask::Opportunity],
        ),
        (
            ("acme#counter", "lead"),
            &[json!({ "lead": text("1") })],
            &[Ask::Book],
        ),
        (
            ("acme#agenda#5", "2026-11-23"),
            &day,
            &[Ask::Book, Ask::Opportunity, Ask::Move, Ask::Slots, Ask::Calendars],
        ),
        (
            ("acme#user-agenda#7", "2026-11-23"),
            &day,
            &[Ask::Book, Ask::Opportunity, Ask::Move, Ask::Slots],
        ),
        (
            ("acme#shared-buffers", "buffers"),
            &[json!({ "n.5": text("1") }), json!({ "n.x": { "N": "1" } })],
            &[Ask::Book, Ask::Opportunity, Ask::Move, Ask::Slots],
        ),
        (
            ("acme#user", "000000000000007"),
            &[json!({ "active": text("x") })],
            &[Ask::Book, Ask::Opportunity, Ask::Move, Ask::Slots],
        ),
        (
            ("acme#opportunity", id),
            &[json!({ "card": text("{") }), json!({ "v": text("1") })],
            &[Ask::Opportunity],
        ),
        (("acme#meeting", id), &meeting, &[Ask::Move, Ask::Again]),
        (
            ("acme#meeting", id),
            &[json!({ "v": text("1") })],
            &[Ask::Move, Ask::Again],
        ),
        (
            (claim, "idempotency"),
            &[
                json!({ "ttl": text("1") }),
                json!({ "body": { "N": "1" } }),
                json!({ "made": text("1") }),
            ],
            &[Ask::Again],
        ),
        (
            ("acme#meeting-month#5", "2026-11-01"),
            &[json!({ "n.23": text("1") }), json!({ "n.32": { "N": "1" } })],
            &[Ask::Meetings, Ask::SecondPage, Ask::Public],
        ),
    ] {
        office.is_needed(key, broken, asks).await;
    }
}
