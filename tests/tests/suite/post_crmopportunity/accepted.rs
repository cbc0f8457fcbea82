//! Accepted values of a new opportunity, and the response.

use serde_json::json;
use tests::NOW;
use tests::records::{opportunity, with};
use tests::sales::{FIELDS, page};

use super::{body, listed, post, post_bytes, world};

/// C-30: absent and null properties have defaults; C-4: unknown properties are ignored, as are those that
/// only the operator or endpoint 8 sets.
#[tokio::test]
async fn defaults() {
    let world = world().await;
    let seller = world.wallet(8).await;
    let nulls = json!({ "value": null, "sequence": null, "status": null, "expectedCloseDate": null, "user": null,
        "fields": null });
    let ignored = json!({ "id": 77, "crm_id": 4, "archived": true, "gain_reason": "x", "loss_reason": 5,
        "sale_channel": "x", "campaign": "x", "await_column_approved": 1, "reject_appro": 1, "createDate": "x",
        "service_permission": "users", "service_permission_users": [9], "dataLead": {}, "dataCompany": {},
        "dataCompanyExtra": [{}], "files": [1], "filesData": [1], "conf_installment": [1], "gain_date": NOW,
        "": [[[[[[[[[[0]]]]]]]]]] });
    for (id, changes) in [(1, json!({})), (2, nulls), (3, ignored)] {
        let answer = post(&world, &seller, &body(&changes)).await;
        answer.is(200, &opportunity(&json!({ "id": id, "user": 8 })));
    }
    world.is_sound().await;
}

/// spec.md, endpoint 7: every property of the body.
#[tokio::test]
async fn everything_sent_is_kept() {
    let world = world().await;
    let seller = world.wallet(8).await;
    let fields = json!({ "Origem do Lead": "", " Número do pedido ": 1e300, "Data da visita": null });
    let sent = json!({ "title": "Obra", "value": 213.2, "crm_column": 32, "lead_id": 1001, "sequence": 4,
        "status": "open", "expectedCloseDate": "2026-12-24T09:00:00.1239-03:00", "user": 9, "fields": fields });
    let kept = json!({ "title": "Obra", "value": 213.2, "crm_column": 32, "sequence": 4, "user": 9,
        "expectedCloseDate": "2026-12-24T12:00:00.123Z",
        "fields": { "Origem do Lead": "", " Número do pedido ": 1e300 } });
    post(&world, &seller, &sent).await.is(200, &opportunity(&kept));
    world.is_sound().await;
}

/// A valid body with this text as the value of property `name`.
fn written(name: &str, sent: &str) -> String {
    let mut rest = body(&json!({}));
    rest.as_object_mut().expect("an object").shift_remove(name);
    let rest = rest.to_string();
    format!("{},\"{name}\":{sent}}}", &rest[..rest.len() - 1])
}

/// C-7: numbers may be text, and have any JSON form; money is exact to the cent, up to the limit.
#[tokio::test]
async fn numbers_are_accepted_in_every_form() {
    let world = world().await;
    let seller = world.wallet(8).await;
    for (id, (name, sent, kept)) in (1..).zip([
        ("crm_column", "\"32\"", json!(32)),
        ("crm_column", "\"032.00\"", json!(32)),
        ("crm_column", "32.0", json!(32)),
        ("crm_column", "3.2e1", json!(32)),
        ("lead_id", "\"1001\"", json!(1001)),
        ("lead_id", "1001.0", json!(1001)),
        ("user", "\"9\"", json!(9)),
        ("user", "9.0", json!(9)),
        ("sequence", "\"0\"", json!(0)),
        ("sequence", "\"999999999999999\"", json!(999_999_999_999_999_u64)),
        ("sequence", "7.0", json!(7)),
        ("value", "\"213.20\"", json!(213.2)),
        ("value", "\"213\"", json!(213)),
        ("value", "\"0007.5\"", json!(7.5)),
        ("value", "213.20", json!(213.2)),
        ("value", "0.1", json!(0.1)),
        ("value", "0.01", json!(0.01)),
        ("value", "\"0.07\"", json!(0.07)),
        ("value", "5.0", json!(5)),
        ("value", "1e3", json!(1000)),
        ("value", "1.005e1", json!(10.05)),
        ("value", "0", json!(0)),
        ("value", "4503599627370.49", json!(4_503_599_627_370.49)),
        ("value", "9999999999999.98", json!(9_999_999_999_999.98)),
        ("value", "9999999999999.99", json!(9_999_999_999_999.99)),
        ("value", "\"9999999999999.99\"", json!(9_999_999_999_999.99)),
    ]) {
        let answer = post_bytes(&world, &seller, written(name, sent)).await;
        let expected = opportunity(&json!({ "id": id, "user": 8 }));
        answer.is(200, &with(expected, &json!({ name: kept })));
    }
    world.is_sound().await;
}

/// C-7, C-33: the largest amounts and their sum.
#[tokio::test]
async fn money_is_exact_in_lists() {
    let world = world().await;
    let admin = world.wallet(7).await;
    for value in ["9999999999999.99", "9999999999999.98", "0.01"] {
        let answer = post(&world, &admin, &body(&json!({ "value": value }))).await;
        assert_eq!(answer.status, 200);
    }
    let list = listed(&world, &admin, 31).await;
    let values: Vec<_> = list
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| &one["value"])
        .collect();
    assert_eq!(values, ["0.01", "9999999999999.98", "9999999999999.99"]);
    let uri = format!("/crm/opportunities/3?i=acme&apitoken={}", admin.key);
    let board = world
        .call("POST", &uri)
        .json(&page(1, 1, &json!({})))
        .send()
        .await
        .body;
    assert_eq!(board[0]["totalValue"], "19999999999999.98");
    world.is_sound().await;
}

/// C-30: lengths are counted in characters, and text is stored verbatim but for blanks at its ends.
#[tokio::test]
async fn titles_are_limited_in_characters() {
    let world = world().await;
    let admin = world.wallet(7).await;
    for title in [
        "x",
        &"x".repeat(255),
        &"ã".repeat(255),
        &"😀".repeat(255),
        "a\u{0}b",
        "\u{0}",
        "Reforma \r\n\t\"\\",
        "\u{202e}e\u{301}\u{ffff}",
    ] {
        let answer = post(&world, &admin, &body(&json!({ "title": title }))).await;
        assert_eq!(
            (answer.status.as_u16(), &answer.body["title"]),
            (200, &json!(title))
        );
        let list = listed(&world, &admin, 31).await;
        assert_eq!(list[0]["title"], json!(title));
    }
    let long = post(&world, &admin, &body(&json!({ "title": "😀".repeat(256) }))).await;
    long.is(400, &json!({ "msg": "title: must have 1 to 255 characters" }));
    world.is_sound().await;
}

/// C-30: names of custom fields are compared byte for byte; a value is text, a number, a boolean or null.
#[tokio::test]
async fn custom_fields() {
    let world = world().await;
    let seller = world.wallet(8).await;
    let [plain, spaced, other] = FIELDS;
    for (id, (sent, kept)) in (1..).zip([
        (json!({ spaced: " x " }), json!({ spaced: " x " })),
        (
            json!({ plain: 0, spaced: false, other: "" }),
            json!({ plain: 0, spaced: false, other: "" }),
        ),
        (json!({ plain: null, spaced: null, other: null }), json!({})),
        (
            json!({ plain: -1.5e-7, spaced: 18_446_744_073_709_551_615_u64 }),
            json!({ plain: -1.5e-7, spaced: 18_446_744_073_709_551_615_u64 }),
        ),
        (
            json!({ plain: "ã".repeat(10_000) }),
            json!({ plain: "ã".repeat(10_000) }),
        ),
        (
            json!({ plain: "\u{0}😀\u{202e}" }),
            json!({ plain: "\u{0}😀\u{202e}" }),
        ),
    ]) {
        let answer = post(&world, &seller, &body(&json!({ "fields": sent }))).await;
        answer.is(200, &opportunity(&json!({ "id": id, "user": 8, "fields": kept })));
    }
    let list = listed(&world, &seller, 31).await;
    assert_eq!(list[5]["fields"], json!({ spaced: " x " }));
    assert_eq!(list[0]["fields"], json!({ plain: "\u{0}😀\u{202e}" }));
    world.is_sound().await;
}

/// C-8, C-31: RFC 3339 with any offset; a day begins at midnight of the instance's zone, also if its clock
/// skips midnight.
#[tokio::test]
async fn dates() {
    let world = world().await;
    let (operator, seller) = (world.operator("acme"), world.wallet(8).await);
    let shown = async |sent: &str| {
        let answer = post(&world, &seller, &body(&json!({ "expectedCloseDate": sent }))).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        answer.body["expectedCloseDate"].clone()
    };
    assert_eq!(shown("2026-12-24").await, "2026-12-24T00:00:00.000Z");
    tests::people::set(&operator, "timezone", &json!("America/Sao_Paulo")).await;
    for (sent, kept) in [
        ("2026-12-24", "2026-12-24T03:00:00.000Z"),
        ("2018-11-04", "2018-11-04T03:00:00.000Z"),
        ("2018-11-05", "2018-11-05T02:00:00.000Z"),
        ("2028-02-29", "2028-02-29T03:00:00.000Z"),
        ("2026-12-24T00:00:00Z", "2026-12-24T00:00:00.000Z"),
        ("2026-12-24T00:00:00.9999+14:00", "2026-12-23T10:00:00.999Z"),
        ("1969-12-31T23:59:59-00:00", "1969-12-31T23:59:59.000Z"),
    ] {
        assert_eq!(shown(sent).await, kept, "{sent}");
    }
    world.is_sound().await;
}

/// C-8: the first and the last day can be stored and read in every zone.
#[tokio::test]
async fn the_ends_of_time() {
    let world = world().await;
    let (operator, seller) = (world.operator("acme"), world.wallet(8).await);
    for (id, (zone, sent, kept)) in (1..).zip([
        ("Asia/Tokyo", "1900-01-01", "1899-12-31T15:00:00.000Z"),
        ("Pacific/Kiritimati", "1900-01-01", "1900-01-01T10:29:20.000Z"),
        ("America/Los_Angeles", "1900-01-01", "1900-01-01T08:00:00.000Z"),
        ("America/Los_Angeles", "9999-12-31", "9999-12-31T08:00:00.000Z"),
        (
            "Asia/Tokyo",
            "9999-12-31T23:59:59.999Z",
            "9999-12-31T23:59:59.999Z",
        ),
    ]) {
        tests::people::set(&operator, "timezone", &json!(zone)).await;
        let answer = post(&world, &seller, &body(&json!({ "expectedCloseDate": sent }))).await;
        let expected = opportunity(&json!({ "id": id, "user": 8, "expectedCloseDate": kept }));
        answer.is(200, &expected);
        let list = listed(&world, &seller, 31).await;
        assert_eq!(
            list[0],
            with(expected, &json!({ "value": "0.00" })),
            "{zone} {sent}"
        );
    }
    for sent in [
        "0001-01-01",
        "1899-12-31",
        "0001-01-01T00:00:00Z",
        "1899-12-31T00:00:00Z",
        "9999-12-31T23:59:59-00:01",
    ] {
        let answer = post(&world, &seller, &body(&json!({ "expectedCloseDate": sent }))).await;
        let must = "must be RFC 3339, a date such as 2026-11-21, or null";
        answer.is(400, &json!({ "msg": format!("expectedCloseDate: {must}") }));
    }
    world.is_sound().await;
}

/// C-30: an opportunity created as won or lost has only that date.
#[tokio::test]
async fn statuses() {
    let world = world().await;
    let seller = world.wallet(8).await;
    for (id, (status, dates)) in (1..).zip([
        ("open", json!({})),
        ("gain", json!({ "gain_date": NOW })),
        ("lost", json!({ "lost_date": NOW })),
    ]) {
        let answer = post(&world, &seller, &body(&json!({ "status": status }))).await;
        let expected = opportunity(&json!({ "id": id, "user": 8, "status": status }));
        answer.is(200, &with(expected, &dates));
    }
    world.is_sound().await;
}
