//! `GET /pcalendar`: endpoint 11.

use serde_json::{Value, json};
use tests::bookings::{FREE, add_calendars, add_meetings, calendar, meeting, open_calendars};
use tests::people::settle;
use tests::world::at;
use tests::{Answer, Wallet, World};

async fn world() -> World {
    let world = World::new().await;
    open_calendars(&world.operator("acme")).await;
    world
}

async fn get(world: &World, wallet: &Wallet, params: &str) -> Answer {
    let uri = format!("/pcalendar?apitoken={}{params}", wallet.key);
    world.get(&uri).send().await
}

fn body(calendars: &Value) -> Value {
    json!({ "data": { "calendars": calendars } })
}

/// The three calendars, each with its next meeting.
fn all(next: [Value; 3]) -> Value {
    let [demo, closed, lisboa] = next;
    let (created, updated) = ("2026-01-05T12:00:00.000Z", "2026-02-05T12:00:00.000Z");
    json!([
        { "id": 5, "name": "Demonstração", "isPublished": true, "createDate": created, "userId": 7,
            "updateDate": updated, "publicId": "pub_5", "nextMeeting": demo },
        { "id": 6, "name": "Fechada", "isPublished": false, "createDate": created, "userId": 8,
            "updateDate": updated, "publicId": "pub_6", "nextMeeting": closed },
        { "id": 7, "name": "Lisboa", "isPublished": true, "createDate": created, "userId": 9,
            "updateDate": updated, "publicId": "pub_7", "nextMeeting": lisboa },
    ])
}

/// C-50: all fields of all calendars, published or not, by id, without the keyName.
#[tokio::test]
async fn all_calendars_have_all_fields() {
    let world = world().await;
    let admin = world.wallet(7).await;
    let none = || [Value::Null, Value::Null, Value::Null];
    let answer = get(&world, &admin, "").await;
    answer.is(200, &body(&all(none())));
    let names: Vec<_> = answer.body["data"]["calendars"][0]
        .as_object()
        .expect("a calendar")
        .keys()
        .collect();
    let fields = [
        "id",
        "name",
        "isPublished",
        "createDate",
        "userId",
        "updateDate",
        "publicId",
        "nextMeeting",
    ];
    assert_eq!(names, fields);
    for query in ["", "%20", "%09%0A"] {
        get(&world, &admin, &format!("&query={query}"))
            .await
            .is(200, &body(&all(none())));
    }
    get(&world, &admin, "&i=acme&page=7&limit=x&archived=1")
        .await
        .is(200, &body(&all(none())));
}

#[tokio::test]
async fn an_instance_without_calendars_has_an_empty_list() {
    let world = World::new().await;
    let admin = world.wallet(7).await;
    get(&world, &admin, "").await.is(200, &body(&json!([])));
    get(&world, &admin, "&query={calendars{nextMeeting}}")
        .await
        .is(200, &body(&json!([])));
}

/// C-22: whitespace, commas and duplicates; raw and encoded braces; the response contains only selected
/// fields, in order.
#[tokio::test]
async fn selected_fields() {
    let world = world().await;
    let admin = world.wallet(7).await;
    for (query, first) in [
        ("{calendars{id}}", r#"{"id":5}"#),
        ("%7Bcalendars%7Bid%7D%7D", r#"{"id":5}"#),
        (
            "{calendars{publicId,name}}",
            r#"{"publicId":"pub_5","name":"Demonstração"}"#,
        ),
        (
            "%20{%0Acalendars%20{,,%20isPublished%20isPublished,}%20}",
            r#"{"isPublished":true}"#,
        ),
        (
            "{calendars{nextMeeting,id},calendars{userId}}",
            r#"{"nextMeeting":null,"id":5,"userId":7}"#,
        ),
        (
            "{calendars{id,name,isPublished,createDate,userId,updateDate,publicId,nextMeeting}}",
            r#"{"id":5,"name":"Demonstração","isPublished":true,"createDate":"2026-01-05T12:00:00.000Z","userId":7,"updateDate":"2026-02-05T12:00:00.000Z","publicId":"pub_5","nextMeeting":null}"#,
        ),
    ] {
        let answer = get(&world, &admin, &format!("&query={query}")).await;
        assert_eq!(answer.status, 200, "{query}: {}", answer.body);
        let calendars = &answer.body["data"]["calendars"];
        assert_eq!(calendars[0].to_string(), first, "{query}");
        assert_eq!(answer.body, body(calendars), "{query}");
        assert_eq!(calendars.as_array().map(Vec::len), Some(3), "{query}");
    }
}

/// C-22: 400 with the invalid part in `details`.
#[tokio::test]
async fn invalid_selections_are_rejected() {
    let world = world().await;
    let admin = world.wallet(7).await;
    let many = format!("{{calendars{{{}}}}}", "id,".repeat(201));
    for (query, details) in [
        ("{calendars}", r#"query: "calendars" needs a selection of fields"#),
        ("{calendars{}}", ""),
        ("{}", ""),
        ("{calendars{id}", "query: not a selection set: unexpected end"),
        ("calendars{id}", ""),
        ("{leads{id}}", r#"query: unknown root "leads""#),
        ("{calendar{id}}", r#"query: unknown root "calendar""#),
        ("{total,calendars{id}}", r#"query: unknown root "total""#),
        (
            "{calendars{keyName}}",
            r#"query: unknown field "keyName" in "calendars""#,
        ),
        (
            "{calendars{timezone}}",
            r#"query: unknown field "timezone" in "calendars""#,
        ),
        (
            "{calendars{__typename}}",
            r#"query: unknown field "__typename" in "calendars""#,
        ),
        (
            "{calendars{userId{id}}}",
            r#"query: "userId" has no fields to select"#,
        ),
        (
            "{calendars(id:5){id}}",
            r#"query: arguments on "calendars" are not allowed"#,
        ),
        ("{calendars{a:id}}", r#"query: alias "a" is not allowed"#),
        (
            "query%20x{calendars{id}}",
            r#"query: operation "query x" is not allowed"#,
        ),
        (&many, "query: more than 200 fields"),
        ("{calendars{id{a{b{c}}}}}", ""),
    ] {
        let answer = get(&world, &admin, &format!("&query={query}")).await;
        let told = answer.body["details"].as_str().unwrap_or_default().to_owned();
        answer.is(400, &json!({ "error": "Invalid request", "details": told }));
        assert!(told.starts_with("query: "), "{query}: {told}");
        assert!(details.is_empty() || told == details, "{query}: {told}");
    }
    get(&world, &admin, "&query={calendars{id}}&query={calendars{id}}")
        .await
        .is(
            400,
            &json!({ "error": "Invalid request", "details": "query: must not be repeated" }),
        );
}

/// C-50: the start of the next future meeting that is not cancelled, however far, ignoring meetings that have
/// begun.
#[tokio::test]
async fn the_next_meeting_is_in_the_future_and_not_cancelled() {
    let world = world().await;
    let (admin, operator) = (world.wallet(7).await, world.operator("acme"));
    let one = |id: u64, date: &str, end: &str, rest: &Value| {
        let mut line = json!({ "id": id, "date": date, "endDate": end });
        for (name, value) in rest.as_object().into_iter().flatten() {
            line[name] = value.clone();
        }
        meeting(&line)
    };
    let plain = Value::Null;
    let canceled = json!({ "status": "canceled" });
    let lines = [
        // Past, in progress for days, and beginning at this moment.
        one(1, "2026-11-21T09:00:00Z", "2026-11-21T09:30:00Z", &plain),
        one(2, "2026-11-19T09:00:00Z", "2026-11-24T09:30:00Z", &plain),
        one(3, "2026-11-21T12:00:00Z", "2026-11-21T12:30:00Z", &plain),
        one(4, "2026-11-21T12:00:00.001Z", "2026-11-21T12:30:00Z", &canceled),
        one(5, "2026-11-21T18:00:00Z", "2026-11-21T18:30:00Z", &canceled),
        one(6, "2026-11-22T18:00:00Z", "2026-11-22T18:30:00Z", &canceled),
        one(7, "2026-11-23T18:00:00Z", "2026-11-23T18:30:00Z", &canceled),
        one(
            8,
            "2027-06-01T18:00:00Z",
            "2027-06-01T18:30:00Z",
            &json!({ "status": "rescheduled" }),
        ),
        one(9, "2027-07-01T18:00:00Z", "2027-07-01T18:30:00Z", &plain),
        one(
            10,
            "2026-11-22T01:00:00Z",
            "2026-11-22T02:00:00Z",
            &json!({ "calendarId": 6 }),
        ),
    ];
    add_meetings(&operator, lines).await;
    let next = [
        json!("2027-06-01T18:00:00.000Z"),
        json!("2026-11-22T01:00:00.000Z"),
        Value::Null,
    ];
    get(&world, &admin, "").await.is(200, &body(&all(next)));
    add_meetings(
        &operator,
        [one(
            11,
            "2026-11-21T12:00:00.001Z",
            "2026-11-21T13:00:00Z",
            &plain,
        )],
    )
    .await;
    let next = [
        json!("2026-11-21T12:00:00.001Z"),
        json!("2026-11-22T01:00:00.000Z"),
        Value::Null,
    ];
    get(&world, &admin, "").await.is(200, &body(&all(next)));
    world.clock.set(at("2027-07-01T18:00:00Z"));
    get(&world, &admin, "")
        .await
        .is(200, &body(&all([Value::Null, Value::Null, Value::Null])));
}

#[tokio::test]
async fn the_next_meeting_is_found_after_many_cancelled_ones() {
    let world = world().await;
    let (admin, operator) = (world.wallet(7).await, world.operator("acme"));
    let first = at("2026-11-22T09:00:00Z");
    let on = |day: u32, status: &str| {
        let (date, end) = (first.plus_days(day), first.plus_days(day).plus_seconds(60));
        meeting(&json!({ "id": day + 1, "date": date, "endDate": end, "status": status }))
    };
    add_meetings(&operator, (0..250).map(|day| on(day, "scheduled"))).await;
    add_meetings(&operator, (0..249).map(|day| on(day, "canceled"))).await;
    let next = json!(first.plus_days(249));
    get(&world, &admin, "")
        .await
        .is(200, &body(&all([next, Value::Null, Value::Null])));
    add_meetings(&operator, [on(249, "canceled")]).await;
    get(&world, &admin, "")
        .await
        .is(200, &body(&all([Value::Null, Value::Null, Value::Null])));
}

/// C-1, C-2: the key in header or query or both, `i` or none: the credential's instance.
#[tokio::test]
async fn key_placement_and_instance_parameter() {
    let world = world().await;
    let other = world.operator("other-shop");
    settle(&other).await;
    add_calendars(&other, [calendar(&json!({ "id": 9, "name": "Outra" }))]).await;
    add_meetings(&other, [meeting(&json!({ "calendarId": 9 }))]).await;
    let (acme, theirs) = (world.wallet(7).await, world.wallet_of("other-shop", 7).await);
    let query = "query={calendars{id,nextMeeting}}";
    let own = json!([{ "id": 5, "nextMeeting": null }, { "id": 6, "nextMeeting": null }, { "id": 7, "nextMeeting": null }]);
    for (wallet, instance, expected) in [
        (&acme, "acme", own),
        (
            &theirs,
            "other-shop",
            json!([{ "id": 9, "nextMeeting": FREE[0] }]),
        ),
    ] {
        let key = format!("apitoken={}", wallet.key);
        for i in [
            String::new(),
            "&i=".to_owned(),
            "&i=%20".to_owned(),
            format!("&i={instance}"),
        ] {
            let uri = format!("/pcalendar?{query}{i}");
            for call in [
                world.get(&uri).header("apitoken", &wallet.key),
                world.get(&format!("{uri}&{key}")),
                world.get(&format!("{uri}&{key}")).header("apitoken", &wallet.key),
                world.get(&uri).with(wallet),
                world
                    .get(&uri)
                    .header("apitoken", &wallet.key)
                    .header("authorization", "Bearer nonsense"),
            ] {
                call.send().await.is(200, &body(&expected));
            }
        }
    }
}

/// A calendar that the process does not know yet has its next meeting too.
#[tokio::test]
async fn new_calendars_have_their_next_meeting() {
    let world = world().await;
    let admin = world.known(7).await;
    get(&world, &admin, "").await;
    let operator = world.operator("acme");
    add_calendars(
        &operator,
        [calendar(
            &json!({ "id": 8, "keyName": "new", "publicId": "pub_8" }),
        )],
    )
    .await;
    add_meetings(&operator, [meeting(&json!({ "calendarId": 8 }))]).await;
    let answer = get(&world, &admin, "&query={calendars{id,nextMeeting}}").await;
    let last = &answer.body["data"]["calendars"][3];
    assert_eq!(last, &json!({ "id": 8, "nextMeeting": FREE[0] }));
}

/// The maximum number.
#[tokio::test]
async fn the_maximum_number_of_calendars_is_listed() {
    let world = World::new().await;
    let (admin, operator) = (world.wallet(7).await, world.operator("acme"));
    let named = |id: u64| {
        calendar(&json!({ "id": id, "name": "x", "keyName": format!("c{id}"), "publicId": format!("p{id}") }))
    };
    add_calendars(&operator, (1..=120).map(named)).await;
    add_meetings(&operator, [meeting(&json!({ "calendarId": 77 }))]).await;
    let answer = get(&world, &admin, "&query={calendars{id,nextMeeting}}").await;
    let next = |id: u64| if id == 77 { json!(FREE[0]) } else { Value::Null };
    let expected: Value = (1..=120)
        .map(|id| json!({ "id": id, "nextMeeting": next(id) }))
        .collect();
    answer.is(200, &body(&expected));
}
