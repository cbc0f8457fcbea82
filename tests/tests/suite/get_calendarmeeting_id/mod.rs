//! `GET /calendarmeeting/{id}`: endpoint 12.

mod pages;
mod refusals;

use serde_json::{Value, json};
use tests::bookings::{add_calendars, add_meetings, calendar, meeting, open_calendars};
use tests::{Answer, Wallet, World};

async fn world() -> World {
    let world = World::new().await;
    open_calendars(&world.operator("acme")).await;
    world
}

/// Requests a path below `/calendarmeeting/`.
async fn get(world: &World, wallet: &Wallet, rest: &str) -> Answer {
    let join = if rest.contains('?') { "&" } else { "?" };
    let uri = format!("/calendarmeeting/{rest}{join}apitoken={}", wallet.key);
    world.get(&uri).send().await
}

fn body(total: usize, meetings: &[Value]) -> Value {
    json!({ "data": { "total": total, "meetings": meetings } })
}

/// Meeting 1 of [`meeting`], and meeting 2 with every field, as in responses.
fn two() -> [Value; 2] {
    let created = "2026-11-01T12:00:00.000Z";
    [
        json!({
            "id": 1, "calendarId": 5, "date": "2026-11-23T09:00:00.000Z", "endDate": "2026-11-23T09:30:00.000Z",
            "leadId": 1001, "opportunityId": null, "userId": 7, "status": "scheduled", "formData": {},
            "properties": {}, "moves": 0, "createDate": created, "updateDate": created,
        }),
        json!({
            "id": 2, "calendarId": 5, "date": "2026-11-24T09:00:00.000Z", "endDate": "2026-11-24T09:30:00.000Z",
            "leadId": null, "opportunityId": null, "userId": 8, "status": "canceled", "formData": null,
            "properties": { "z": [1], "a": null }, "moves": 20, "createDate": created, "updateDate": created,
        }),
    ]
}

async fn add_two(world: &World) {
    add_meetings(&world.operator("acme"), two().map(|line| meeting(&line))).await;
}

/// C-51: every field of meetings of all statuses, in the contract's order, without other calendars' meetings.
#[tokio::test]
async fn meetings_have_every_field() {
    let world = world().await;
    let admin = world.wallet(7).await;
    get(&world, &admin, "5").await.is(200, &body(0, &[]));
    add_two(&world).await;
    let answer = get(&world, &admin, "5").await;
    answer.is(200, &body(2, &two()));
    let names: Vec<_> = answer.body["data"]["meetings"][0]
        .as_object()
        .expect("a meeting")
        .keys()
        .collect();
    let fields = [
        "id",
        "calendarId",
        "date",
        "endDate",
        "leadId",
        "opportunityId",
        "userId",
        "status",
        "formData",
        "properties",
        "moves",
        "createDate",
        "updateDate",
    ];
    assert_eq!(names, fields);
    get(&world, &admin, "6").await.is(200, &body(0, &[]));
}

/// By id or by `publicId`; digits are an id first. Unpublished calendars are included.
#[tokio::test]
async fn calendars_are_found_by_id_and_public_id() {
    let world = world().await;
    let (admin, operator) = (world.wallet(7).await, world.operator("acme"));
    add_two(&world).await;
    let digits = [("6", 8), ("88", 9), ("0088", 10), ("slots", 11)];
    let named = |(public, id): (&str, u64)| {
        calendar(&json!({ "id": id, "publicId": public, "keyName": format!("k{id}") }))
    };
    add_calendars(&operator, digits.map(named)).await;
    let of = |id: u64| meeting(&json!({ "id": id, "calendarId": id }));
    add_meetings(&operator, [of(6), of(8), of(9), of(10)]).await;
    for (name, found) in [
        ("pub_5", json!([1, 2])),
        ("6", json!([6])),
        ("8", json!([8])),
        ("9", json!([9])),
        ("88", json!([9])),
        ("0088", json!([10])),
        ("pub%5F5", json!([1, 2])),
    ] {
        for rest in ["", "?page=0&limit=100", "?from=2026-11-23T09:00:00Z"] {
            let answer = get(&world, &admin, &format!("{name}{rest}")).await;
            let meetings = answer.body["data"]["meetings"].as_array().expect("meetings");
            let ids: Value = meetings.iter().map(|meeting| meeting["id"].clone()).collect();
            assert_eq!(
                (&ids, &answer.body["data"]["total"]),
                (&found, &json!(found.as_array().map(Vec::len))),
                "{name}"
            );
        }
        let later = get(&world, &admin, &format!("{name}?page=1&limit=1")).await;
        let second = found.as_array().and_then(|ids| ids.get(1));
        assert_eq!(
            later.body["data"]["meetings"]
                .get(0)
                .map(|meeting| &meeting["id"]),
            second,
            "{name}"
        );
    }
}

#[tokio::test]
async fn from_is_inclusive_and_defaults_to_now() {
    let world = world().await;
    let (admin, operator) = (world.wallet(7).await, world.operator("acme"));
    let of = |(at, date): (usize, &&str)| {
        meeting(&json!({ "id": at + 1, "date": date, "endDate": "2027-01-01T00:00:00Z" }))
    };
    let dates = [
        "1900-01-01T00:00:00.000Z",
        "2026-11-20T23:59:59.999Z",
        "2026-11-21T11:59:59.999Z",
        "2026-11-21T12:00:00.000Z",
        "2026-11-21T12:00:00.001Z",
        "2026-11-30T23:59:59.999Z",
        "2026-12-01T00:00:00.000Z",
        "2026-12-31T09:00:00.000Z",
    ];
    let far = meeting(
        &json!({ "id": 9, "date": "9999-12-31T23:59:59.999Z", "endDate": "9999-12-31T23:59:59.999Z" }),
    );
    let lines = dates.iter().enumerate().map(of).skip(1).chain([far]);
    add_meetings(&operator, lines).await;
    let first = json!({ "id": 1, "date": dates[0], "endDate": "1900-02-01T00:00:00Z" });
    add_meetings(&operator, [meeting(&first)]).await;
    for (from, first) in [
        ("", 4),
        ("?from=", 4),
        ("?from=2026-11-21T12:00:00.000Z", 4),
        ("?from=2026-11-21T12:00:00.0009Z", 4),
        ("?from=2026-11-21T12:00:00.001Z", 5),
        ("?from=2026-11-21T09:00:00.001-03:00", 5),
        ("?from=2026-11-21T15:00:00.001+03:00", 5),
        ("?from=2026-11-21T15:00:00.001%2B03:00", 5),
        ("?from=2026-11-21T12:00:00.002Z", 6),
        ("?from=2026-11-30T23:59:59.999Z", 6),
        ("?from=2026-12-01T00:00:00Z", 7),
        ("?from=2026-12-01T00:00:00.001Z", 8),
        ("?from=2027-01-01T00:00:00Z", 9),
        ("?from=9999-12-31T23:59:59.999Z", 9),
        ("?from=1900-01-01T00:00:00Z", 1),
        ("?from=1900-01-01T00:00:00.001Z", 2),
    ] {
        let expected: Vec<_> = (first..=9).collect();
        for (page, limit) in [(0, 100), (0, 50), (0, 9)] {
            let join = if from.is_empty() { "?" } else { "&" };
            let answer = get(&world, &admin, &format!("5{from}{join}page={page}&limit={limit}")).await;
            let meetings = answer.body["data"]["meetings"].as_array().expect("meetings");
            let ids: Vec<_> = meetings
                .iter()
                .filter_map(|meeting| meeting["id"].as_u64())
                .collect();
            assert_eq!(
                (&ids, &answer.body["data"]["total"]),
                (&expected, &json!(expected.len())),
                "{from}"
            );
        }
    }
}
