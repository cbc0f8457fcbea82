//! Hostile bookings: they are rejected, and nothing is written.

use serde_json::{Value, json};
use tests::bookings::{
    FREE, OFF_GRID, TAKEN, TOO_SOON, add_calendars, add_meetings, book, booking, calendar, made, meeting,
    meetings, shown, unavailable,
};

use super::{book_bytes, world};

/// C-6: a byte order mark is skipped, and unknown properties may be nested up to the limit of JSON.
#[tokio::test]
async fn byte_order_marks_and_unknown_properties_are_accepted() {
    let world = world().await;
    let good = booking(FREE[0], &json!({})).to_string();
    let nested = format!("{}{}", "[".repeat(100), "]".repeat(100));
    let deep = format!("\u{feff}{{\"x\":{nested},{}", &good[1..]);
    made(&book_bytes(&world, deep).await);
    world.is_sound().await;
}

/// The last property of a name counts, also in a form.
#[tokio::test]
async fn the_last_of_duplicate_names_counts() {
    let world = world().await;
    let text = r#"{"keyName":"closed","date":5,"leadId":4711,"keyName":"demo","date":"2026-11-23T09:00:00Z",
        "formData":[],"leadId":null,"formData":{"firstname":1,"note":[],"note":"b","firstname":"Bia"}}"#;
    let (meeting, _) = made(&book_bytes(&world, text).await);
    assert_eq!(meeting, shown(&json!({ "formData": { "note": "b" } })));
}

/// Names of attributes, delimiters, markup, control characters.
#[tokio::test]
async fn any_text_is_stored_verbatim() {
    let world = world().await;
    let admin = world.wallet(7).await;
    let odd = [
        "#",
        "a#b",
        ":pk",
        "n.1_2",
        "$where",
        "<script>alert(1)</script>",
        "'; DROP TABLE leads; --",
        "\u{0}",
        "set-cookie: a=b\r\nx: y",
        "\u{202e}x",
        "😀",
        "../..",
        "%00",
        "{{7*7}}",
        "${jndi:ldap://x}",
    ];
    let mut form = json!({ "firstname": "\u{0}<b>#", "email": "a@b\r\nx: y", "phone": "#\u{0}", "timezone": "Nowhere/x" });
    let mut properties = json!({});
    for text in odd {
        form[text] = text.into();
        properties[text] = json!({ text: [text] });
    }
    let (meeting, _) = made(
        &book(
            &world,
            &booking(FREE[0], &json!({ "formData": form, "properties": properties })),
        )
        .await,
    );
    for name in ["firstname", "email", "phone", "timezone"] {
        form.as_object_mut().expect("a form").shift_remove(name);
    }
    let expected = shown(&json!({ "formData": form, "properties": properties }));
    assert_eq!(meeting, expected);
    assert_eq!(meetings(&world, &admin, 5).await, json!([expected]));
    let query = "query={lead{firstname,email,phone,timezone}}";
    let lead = world.read(&admin, &format!("/leads/1013?i=acme&{query}")).await;
    let kept = json!({ "firstname": "\u{0}<b>#", "email": "a@b\r\nx: y", "phone": "#\u{0}", "timezone": "Nowhere/x" });
    lead.is(200, &json!({ "data": { "lead": kept } }));
    world.is_sound().await;
}

/// Nothing overflows, and possible bookings succeed.
#[tokio::test]
async fn bookings_at_the_ends_of_time() {
    let world = world().await;
    let admin = world.wallet(7).await;
    let at = |date: &str, link: &str| {
        booking(
            date,
            &json!({ "keyName": link, "leadId": 1001, "formData": null }),
        )
    };
    for (date, msg) in [
        ("1900-01-01T00:00:00Z", TOO_SOON),
        ("1969-12-31T23:59:59.999Z", TOO_SOON),
        ("9999-12-31T23:59:59.999Z", OFF_GRID),
        ("9999-12-31T09:00:00.001Z", OFF_GRID),
        ("2026-11-23T09:00:59.999Z", OFF_GRID),
    ] {
        for link in ["demo", "lisboa"] {
            book(&world, &at(date, link)).await.is(409, &unavailable(msg));
        }
    }
    let (last, _) = made(&book(&world, &at("9999-12-31T22:00:00Z", "lisboa")).await);
    assert_eq!(last["endDate"], "9999-12-31T23:00:00.000Z");
    // The last day ends one millisecond before midnight.
    book(&world, &at("9999-12-31T23:00:00Z", "lisboa"))
        .await
        .is(409, &unavailable(OFF_GRID));
    let listed = meetings(&world, &admin, 7).await;
    assert_eq!(listed[0], last);
    world.is_sound().await;
}

/// A leap second, `:60` in RFC 3339, is the start of the next minute.
#[tokio::test]
async fn a_leap_second_is_the_next_minute() {
    let world = world().await;
    let admin = world.wallet(7).await;
    let (meeting, _) = made(&book(&world, &booking("2026-11-23T08:59:60Z", &json!({}))).await);
    assert_eq!(meeting, shown(&json!({})));
    assert_eq!(meetings(&world, &admin, 5).await, json!([meeting]));
    book(&world, &booking(FREE[0], &json!({})))
        .await
        .is(409, &unavailable(TAKEN));
    for date in ["2026-11-23T09:39:60.5Z", "9999-12-31T23:59:60Z"] {
        assert_ne!(
            book(&world, &booking(date, &json!({}))).await.status,
            200,
            "{date}"
        );
    }
    world.is_sound().await;
}

/// C-54: the largest accepted form. Entries of the list (C-51) contain forms up to 1 KB, so 25 such bookings
/// and their list stay cheap. Without these limits one booking cost 960 write units, and the list failed.
#[tokio::test]
async fn large_forms_stay_cheap() {
    let world = world().await;
    let admin = world.wallet(7).await;
    let form = |texts: usize| {
        let mut form = json!({ "email": "b@example.com" });
        for at in 0..texts {
            form[format!("{at}")] = Value::from("😀".repeat(if texts == 1 { 245 } else { 1000 }));
        }
        form
    };
    let (small, large) = (form(1), form(4));
    let mut expected = Vec::new();
    for date in &FREE[..2] {
        let form = if expected.is_empty() { &small } else { &large };
        let answer = book(&world, &booking(date, &json!({ "formData": form }))).await;
        assert!(answer.cost.write_units() <= 75.0, "{:?}", answer.cost);
        expected.push(made(&answer).0);
    }
    let imported = (10..33)
        .map(|id| meeting(&json!({ "id": id, "date": FREE[2], "endDate": FREE[3], "formData": large })));
    add_meetings(&world.operator("acme"), imported).await;
    let list = world
        .get("/calendarmeeting/5?i=acme")
        .header("apitoken", &admin.key)
        .send()
        .await;
    let shown = list.body["data"]["meetings"].as_array().expect("meetings");
    assert_eq!(json!(shown[..2]), json!(expected));
    assert!(shown.len() == 25 && shown[2..].iter().all(|one| one["formData"] == large));
    // The entries are small, and each large form is read from its record.
    assert!(list.cost.read_units() <= 135.0, "{:?}", list.cost);
    assert_eq!(list.headers.get("x-items-cut"), None);
    world.is_sound().await;
}

/// C-51: of a page larger than a response may be, the first meetings are returned, and the header has the
/// number of omitted ones.
#[tokio::test]
async fn too_large_pages_are_truncated() {
    let world = world().await;
    let admin = world.wallet(7).await;
    let properties = json!({ "x": "x".repeat(90_000) });
    let lines = (1..=80).map(|id| {
        meeting(&json!({ "id": id, "date": FREE[2], "endDate": FREE[3], "properties": properties }))
    });
    add_meetings(&world.operator("acme"), lines).await;
    let ask = async |query: &str| {
        let call = world.get(&format!("/calendarmeeting/5?i=acme&{query}"));
        call.header("apitoken", &admin.key).send().await
    };
    let page = ask("limit=80").await;
    assert_eq!(
        (page.status.as_u16(), &page.body["data"]["total"]),
        (200, &json!(80))
    );
    let shown = page.body["data"]["meetings"].as_array().expect("meetings");
    assert_eq!(
        page.headers["x-items-cut"],
        (80 - shown.len()).to_string().as_str()
    );
    assert!((55..60).contains(&shown.len()), "{}", shown.len());
    let all = ask("limit=40&page=1").await;
    assert_eq!(all.body["data"]["meetings"][0]["id"], 41);
}

/// The longest meetings with the longest buffers, consecutive over midnight.
#[tokio::test]
async fn the_longest_meetings_and_buffers() {
    let world = world().await;
    let (admin, operator) = (world.wallet(7).await, world.operator("acme"));
    let all = json!([["00:00", "24:00"]]);
    let long = json!({
        "durationMinutes": 1440, "bufferMinutes": 1440, "timezone": "America/Sao_Paulo",
        "hours": { "mon": all, "tue": all, "wed": all, "thu": all, "fri": all, "sat": all, "sun": all },
    });
    add_calendars(&operator, [calendar(&long)]).await;
    for (date, status) in [
        ("2026-11-24T03:00:00Z", 200),
        ("2026-11-23T03:00:00Z", 409),
        ("2026-11-22T03:00:00Z", 200),
        ("2026-11-25T03:00:00Z", 409),
        ("2026-11-26T03:00:00Z", 200),
        ("2026-11-27T03:00:00Z", 409),
        ("2026-11-28T03:00:00Z", 200),
    ] {
        let answer = book(
            &world,
            &booking(date, &json!({ "leadId": 1001, "formData": null })),
        )
        .await;
        assert_eq!(answer.status, status, "{date}: {}", answer.body);
    }
    assert_eq!(
        meetings(&world, &admin, 5).await.as_array().map(Vec::len),
        Some(4)
    );
    world.is_sound().await;
}
