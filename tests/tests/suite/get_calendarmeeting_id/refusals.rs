//! Errors of endpoint 12 (C-4, C-51, C-82).

use serde_json::json;
use tests::bookings::{add_meetings, calendar, invalid, meeting};
use tests::people::settle;

use super::{add_two, get, world};

const ID: &str = "calendar_id: must be an id or a publicId: 1 to 64 characters of A-Z, a-z, 0-9, _ and -";

#[tokio::test]
async fn malformed_names_are_rejected() {
    let world = world().await;
    let admin = world.wallet(7).await;
    let long = "x".repeat(65);
    for name in [
        "%20", "5%20", "5.0", "a.b", "%FF", "%00", "a%2Fb", "a%23b", "%C3%A3", "..%2F5", "*", "+5", &long,
    ] {
        get(&world, &admin, name).await.is(400, &invalid(ID));
    }
}

/// 404, also for another instance's calendars.
#[tokio::test]
async fn unknown_calendars_are_not_found() {
    let world = world().await;
    let admin = world.wallet(7).await;
    add_two(&world).await;
    let other = world.operator("other-shop");
    settle(&other).await;
    let theirs = calendar(&json!({ "id": 55, "publicId": "theirs", "keyName": "theirs" }));
    tests::bookings::add_calendars(&other, [theirs]).await;
    add_meetings(&other, [meeting(&json!({ "calendarId": 55 }))]).await;
    let missing = json!({ "error": "Not found" });
    for name in [
        "8",
        "55",
        "theirs",
        "demo",
        "PUB_5",
        "05",
        "0",
        "-5",
        "1000000000000000",
        "99999999999999999999999",
        "_",
        "-",
        &"x".repeat(64),
    ] {
        for rest in ["", "?page=3", "?i=acme&from=1900-01-01T00:00:00Z"] {
            let answer = get(&world, &admin, &format!("{name}{rest}")).await;
            assert_eq!(
                (answer.status.as_u16(), &answer.body),
                (404, &missing),
                "{name}{rest}"
            );
        }
    }
    let theirs = world.wallet_of("other-shop", 7).await;
    get(&world, &theirs, "5").await.is(404, &missing);
    assert_eq!(get(&world, &theirs, "theirs").await.body["data"]["total"], 1);
}

/// C-4: malformed or out-of-range `page`, `limit` and `from`.
#[tokio::test]
async fn invalid_parameters_are_rejected() {
    let world = world().await;
    let admin = world.wallet(7).await;
    let limit = "limit: must be a whole number from 1 to 100";
    let whole = |name: &str| format!("{name}: must be a whole number");
    let time = "from: must be a date-time such as 2026-11-21T12:00:00.000Z";
    for (rest, details) in [
        ("limit=0", limit.to_owned()),
        ("limit=101", limit.to_owned()),
        ("limit=65537", limit.to_owned()),
        ("limit=99999999999999999999999", limit.to_owned()),
        ("limit=x", whole("limit")),
        ("limit=-1", whole("limit")),
        ("limit=1.0", whole("limit")),
        ("limit=%2B1", whole("limit")),
        ("limit=1&limit=1", "limit: must not be repeated".to_owned()),
        ("page=-1", whole("page")),
        ("page=1.5", whole("page")),
        ("page=x", whole("page")),
        ("page=%D9%A3", whole("page")),
        ("page=0&page=0", "page: must not be repeated".to_owned()),
        ("from=2026-11-23", time.to_owned()),
        ("from=2026-11-23T09:00:00", time.to_owned()),
        ("from=x", time.to_owned()),
        ("from=%FF", time.to_owned()),
        ("from=0000-12-31T00:00:00Z", time.to_owned()),
        ("from=9999-12-31T23:59:59-01:00", time.to_owned()),
        ("from=1&from=1", "from: must not be repeated".to_owned()),
    ] {
        for name in ["5", "nowhere"] {
            let answer = get(&world, &admin, &format!("{name}?{rest}")).await;
            assert_eq!(
                (answer.status.as_u16(), &answer.body),
                (400, &invalid(&details)),
                "{rest}"
            );
        }
    }
    assert_eq!(
        get(&world, &admin, "5?page=&limit=&from=&to=x&query=x")
            .await
            .status,
        200
    );
}
