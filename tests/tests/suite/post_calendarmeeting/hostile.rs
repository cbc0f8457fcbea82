//! Bookings that nobody sends in good faith: the answer is honest, and nothing is written.

use serde_json::{Value, json};
use tests::bookings::{
    FREE, OFF_GRID, TAKEN, TOO_SOON, add_calendars, add_meetings, book, booking, calendar, invalid, made,
    meeting, meetings, shown, unavailable,
};

use super::{book_bytes, everything, world};

/// C-4, C-6: what is not one JSON object in UTF-8.
#[tokio::test]
async fn not_json() {
    let world = world().await;
    let admin = world.wallet(7).await;
    let before = everything(&world, &admin).await;
    let good = booking(FREE[0], &json!({})).to_string();
    let deep = |levels: usize| {
        let nested = format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        format!(r#"{{"x":{nested},{}"#, &good[1..])
    };
    for bytes in [
        Vec::new(),
        b"{".to_vec(),
        b"keyName=demo&date=2026-11-23T09:00:00Z".to_vec(),
        format!("{good}{good}").into_bytes(),
        good.replace('"', "'").into_bytes(),
        good.replace("Bia", "\\ud800").into_bytes(),
        [b"{\"keyName\":\"", &b"\xC3\x28"[..], b"\"}"].concat(),
        deep(200).into_bytes(),
        "[".repeat(200_000).into_bytes(),
    ] {
        let answer = book_bytes(&world, bytes).await;
        answer.is(400, &invalid("body: must be JSON"));
        assert!(answer.cost.read_units() <= 1.0);
    }
    for text in ["null", "0", "\"{}\"", "[]", &format!("[{good}]")] {
        book_bytes(&world, text)
            .await
            .is(400, &invalid("body: must be a JSON object"));
    }
    for length in [256 * 1024 + 1, 9 * 1024 * 1024] {
        let mut bytes = good.clone().into_bytes();
        bytes.resize(length, b' ');
        let answer = book_bytes(&world, bytes).await;
        answer.is(413, &json!({ "error": "Payload too large" }));
        assert!(answer.cost.calls.is_empty());
    }
    assert_eq!(everything(&world, &admin).await, before);
    // What nobody asks for may be nested as far as JSON is read at all.
    made(&book_bytes(&world, format!("\u{feff}{}", deep(100))).await);
    world.is_sound().await;
}

/// Of properties with one name the last counts, also of the keys of a form.
#[tokio::test]
async fn duplicate_names() {
    let world = world().await;
    let text = r#"{"keyName":"closed","date":5,"leadId":4711,"keyName":"demo","date":"2026-11-23T09:00:00Z",
        "formData":[],"leadId":null,"formData":{"firstname":1,"note":[],"note":"b","firstname":"Bia"}}"#;
    let (meeting, _) = made(&book_bytes(&world, text).await);
    assert_eq!(meeting, shown(&json!({ "formData": { "note": "b" } })));
}

/// Text is text, whatever it holds: names of attributes, delimiters, markup, control characters.
#[tokio::test]
async fn odd_text() {
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
        "\r\nset-cookie: a=b",
        "\u{202e}",
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
    let lead = world
        .get(&format!("/leads/1013?i=acme&{query}"))
        .with(&admin)
        .send()
        .await;
    let kept = json!({ "firstname": "\u{0}<b>#", "email": "a@b\r\nx: y", "phone": "#\u{0}", "timezone": "Nowhere/x" });
    lead.is(200, &json!({ "data": { "lead": kept } }));
    world.is_sound().await;
}

/// The ends of time: nothing overflows, and what can be is booked.
#[tokio::test]
async fn the_ends_of_time() {
    let world = world().await;
    let admin = world.wallet(7).await;
    let at = |date: &str, link: &str| {
        booking(
            date,
            &json!({ "keyName": link, "leadId": 1001, "formData": null }),
        )
    };
    for (date, msg) in [
        ("0001-01-01T00:00:00Z", TOO_SOON),
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
    // The last day is over a millisecond before it would be midnight.
    book(&world, &at("9999-12-31T23:00:00Z", "lisboa"))
        .await
        .is(409, &unavailable(OFF_GRID));
    let listed = meetings(&world, &admin, 7).await;
    assert_eq!(listed[0], last);
    world.is_sound().await;
}

/// A leap second, which RFC 3339 writes `:60`, is the moment at which the next minute begins.
#[tokio::test]
async fn a_leap_second() {
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

/// C-54: the largest form that is accepted. It is shown by the list like any other (C-51), whose entries hold it up to 1 KB; so
/// 25 such bookings and their list stay small. Measured before: 960 write units for one, and then no list at all.
#[tokio::test]
async fn large_forms() {
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

/// C-51: of a page that is larger than an answer may be the first meetings are shown, and the header tells how many are not.
#[tokio::test]
async fn a_page_that_is_too_large() {
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

/// A calendar whose days run far ahead: the longest meetings with the longest buffers, back to back over midnight.
#[tokio::test]
async fn long_meetings() {
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
