//! Filters by date (C-8, C-43).

use serde_json::{Value, json};
use shared::opportunity::Opportunity;
use tests::World;
use tests::sales::{page, plain_opportunity};
use tests::world::at;

use super::{Client, refused, shop, stocked};

/// Opportunities created, or expected to close, at these moments: 1, 2, … in order.
async fn world(moments: &[&str], made: bool) -> World {
    let opportunities = moments.iter().zip(1..).map(|(moment, id)| {
        let mut one = plain_opportunity(id, 7, u32::try_from(id).expect("small"));
        if made {
            one.create_date = at(moment);
        } else {
            one.expected_close_date = Some(at(moment));
        }
        one
    });
    stocked(opportunities).await
}

const NAMES: [(&str, bool); 2] = [("filterByCreateDate", true), ("filterByExpectedCloseDate", false)];

/// Both filters, in an instance of this zone: the moments within each range, by time.
async fn each_range(zone: &str, moments: &[&str], ranges: &[(Value, &[u64])]) {
    for (name, made) in NAMES {
        let world = world(moments, made).await;
        let operator = world.operator("acme");
        tests::people::set(&operator, "timezone", &json!(zone)).await;
        let admin = Client::of(&world, 7).await;
        for (range, expected) in ranges {
            let mut found = admin.found(&json!({ name: range })).await;
            found.reverse();
            assert_eq!(found, *expected, "{zone} {name} {range}");
        }
    }
}

/// A day includes both ends, to the millisecond; either end of a range may be open.
#[tokio::test]
async fn days_of_utc() {
    let moments = [
        "2026-03-09T23:59:59.999Z",
        "2026-03-10T00:00:00.000Z",
        "2026-03-10T23:59:59.999Z",
        "2026-03-11T00:00:00.000Z",
    ];
    let (ninth, tenth, eleventh) = ("2026-03-09", "2026-03-10", "2026-03-11");
    each_range(
        "UTC",
        &moments,
        &[
            (json!({ "start": tenth, "end": tenth }), &[2, 3]),
            (json!({ "start": ninth, "end": tenth }), &[1, 2, 3]),
            (json!({ "start": tenth }), &[2, 3, 4]),
            (json!({ "start": tenth, "end": null }), &[2, 3, 4]),
            (json!({ "end": tenth }), &[1, 2, 3]),
            (json!({ "start": null, "end": ninth }), &[1]),
            (json!({ "start": "2026-03-12" }), &[]),
            (json!({ "end": "2026-03-08" }), &[]),
            (
                json!({ "start": "0001-01-01", "end": "9999-12-31" }),
                &[1, 2, 3, 4],
            ),
            (json!({ "start": null, "end": null }), &[1, 2, 3, 4]),
            (json!({}), &[1, 2, 3, 4]),
            (Value::Null, &[1, 2, 3, 4]),
            (json!({ "from": eleventh }), &[1, 2, 3, 4]),
        ],
    )
    .await;
}

/// C-8: days of the instance, UTC-3 in São Paulo.
#[tokio::test]
async fn days_of_sao_paulo() {
    let moments = [
        "2026-03-10T02:59:59.999Z",
        "2026-03-10T03:00:00.000Z",
        "2026-03-11T02:59:59.999Z",
        "2026-03-11T03:00:00.000Z",
    ];
    let day = "2026-03-10";
    each_range(
        "America/Sao_Paulo",
        &moments,
        &[
            (json!({ "start": day, "end": day }), &[2, 3]),
            (json!({ "start": day }), &[2, 3, 4]),
            (json!({ "end": day }), &[1, 2, 3]),
            (json!({ "start": "2026-03-11", "end": "2026-03-11" }), &[4]),
            (json!({ "end": "2026-03-09" }), &[1]),
        ],
    )
    .await;
}

/// Clock changes at 2 a.m.: 8 March 2026 has 23 hours, 1 November 25.
#[tokio::test]
async fn days_of_23_and_25_hours() {
    let moments = [
        "2026-03-08T04:59:59.999Z",
        "2026-03-08T05:00:00.000Z",
        "2026-03-09T03:59:59.999Z",
        "2026-03-09T04:00:00.000Z",
        "2026-11-01T03:59:59.999Z",
        "2026-11-01T04:00:00.000Z",
        "2026-11-02T04:59:59.999Z",
        "2026-11-02T05:00:00.000Z",
    ];
    each_range(
        "America/New_York",
        &moments,
        &[
            (json!({ "start": "2026-03-08", "end": "2026-03-08" }), &[2, 3]),
            (json!({ "end": "2026-03-07" }), &[1]),
            (json!({ "start": "2026-03-09", "end": "2026-10-31" }), &[4, 5]),
            (json!({ "start": "2026-11-01", "end": "2026-11-01" }), &[6, 7]),
            (json!({ "start": "2026-11-02" }), &[8]),
        ],
    )
    .await;
}

/// Clock changes at midnight: 4 November 2018 began at 1 a.m., 17 February repeated its last hour.
#[tokio::test]
async fn days_with_clock_changes_at_midnight() {
    let moments = [
        "2018-02-18T02:59:59.999Z",
        "2018-02-18T03:00:00.000Z",
        "2018-11-04T02:59:59.999Z",
        "2018-11-04T03:00:00.000Z",
        "2018-11-05T01:59:59.999Z",
        "2018-11-05T02:00:00.000Z",
    ];
    each_range(
        "America/Sao_Paulo",
        &moments,
        &[
            (json!({ "start": "2018-02-17", "end": "2018-02-17" }), &[1]),
            (json!({ "start": "2018-02-18", "end": "2018-11-03" }), &[2, 3]),
            (json!({ "start": "2018-11-04", "end": "2018-11-04" }), &[4, 5]),
            (json!({ "start": "2018-11-05" }), &[6]),
        ],
    )
    .await;
}

/// RFC 3339 with any offset: a start is an instant, an end includes its whole day in the instance's zone
/// (C-43); both may be combined with days.
#[tokio::test]
async fn ranges_accept_instants() {
    let moments = [
        "2026-03-10T11:59:59.999Z",
        "2026-03-10T12:00:00.000Z",
        "2026-03-10T12:00:00.001Z",
        "2026-03-11T02:59:59.999Z",
        "2026-03-11T03:00:00.000Z",
    ];
    let noon = "2026-03-10T12:00:00Z";
    each_range(
        "America/Sao_Paulo",
        &moments,
        &[
            (json!({ "start": noon, "end": noon }), &[2, 3, 4]),
            (
                json!({ "start": "2026-03-10T09:00:00-03:00", "end": "2026-03-11T02:00:00.000Z" }),
                &[2, 3, 4],
            ),
            (json!({ "start": noon }), &[2, 3, 4, 5]),
            (json!({ "end": "2026-03-10T17:30:00+05:30" }), &[1, 2, 3, 4]),
            (json!({ "end": "2026-03-10T00:00:00.000Z" }), &[]),
            (
                json!({ "start": "2026-03-10T12:00:00.001Z", "end": "2026-03-10" }),
                &[3, 4],
            ),
            (json!({ "start": "2026-03-10", "end": noon }), &[1, 2, 3, 4]),
            (
                json!({ "start": "2026-03-10T12:00:00.002Z", "end": "2026-03-10T12:00:00Z" }),
                &[4],
            ),
        ],
    )
    .await;
}

/// It matches only without a range on the expected closing date.
#[tokio::test]
async fn an_absent_date_is_in_no_range() {
    let close = |id, date: Option<&str>| Opportunity {
        expected_close_date: date.map(at),
        ..plain_opportunity(id, 7, 0)
    };
    let two = vec![close(1, None), close(2, Some("2026-05-05T00:00:00Z"))];
    let world = stocked(two).await;
    let admin = Client::of(&world, 7).await;
    for (range, found) in [
        (json!({ "start": "0001-01-01", "end": "9999-12-31" }), vec![2]),
        (json!({ "end": "9999-12-31" }), vec![2]),
        (json!({ "start": null, "end": null }), vec![2, 1]),
        (json!({}), vec![2, 1]),
        (Value::Null, vec![2, 1]),
    ] {
        let more = json!({ "filterByExpectedCloseDate": range });
        assert_eq!(admin.found(&more).await, found, "{more}");
    }
}

/// Filters apply before pagination (spec.md).
#[tokio::test]
async fn ranges_are_paged() {
    let world = stocked((1..=30).map(|id| {
        let mut one = plain_opportunity(id, 7 + id % 2, 0);
        one.create_date = at("2026-01-01T12:00:00Z").plus_days(u32::try_from(id).expect("small"));
        one
    }))
    .await;
    let admin = Client::of(&world, 7).await;
    let expected: Vec<u64> = (9..=19).rev().collect();
    let range = json!({ "start": "2026-01-10", "end": "2026-01-20" });
    for users in [json!([]), json!([7, 8])] {
        let more = json!({ "filterByCreateDate": range, "filterByUsers": users });
        assert_eq!(admin.walk(4, &more).await, expected);
        for number in 1..=4 {
            let alone = admin.program(&format!("{number}"));
            let page: Vec<_> = expected.iter().copied().skip(4 * (number - 1)).take(4).collect();
            assert_eq!(alone.ids(number as u64, 4, &more).await, page);
        }
    }
}

/// C-43: a start on a later day of the instance's zone than the end; more than 50 conditions.
#[tokio::test]
async fn reversed_ranges_and_too_many_conditions_are_rejected() {
    let world = shop().await;
    let operator = world.operator("acme");
    tests::people::set(&operator, "timezone", &json!("America/Sao_Paulo")).await;
    let admin = Client::of(&world, 7).await;
    for name in ["filterByCreateDate", "filterByExpectedCloseDate"] {
        let details = format!("{name}: start must not be after end");
        for (start, end) in [
            ("2026-03-11", "2026-03-10"),
            ("2026-03-11T03:00:00Z", "2026-03-10"),
            ("2026-03-10", "2026-03-10T02:59:59.999Z"),
        ] {
            for column in [json!(31), Value::Null] {
                let body = page(
                    1,
                    25,
                    &json!({ name: { "start": start, "end": end }, "columnId": column }),
                );
                refused(&admin.ask(3, &body).await, &details);
            }
        }
    }
    let condition =
        json!({ "filterType": "opField", "properties": { "field": "Origem do Lead", "value": "x" } });
    for (condition, count, accepted) in [
        (&condition, 50, true),
        (&condition, 51, false),
        (&Value::Null, 51, false),
    ] {
        let body = page(1, 25, &json!({ "filters": vec![condition; count] }));
        let answer = admin.ask(3, &body).await;
        if accepted {
            assert_eq!(answer.status, 200);
        } else {
            refused(&answer, "filters: must have at most 50 conditions");
        }
    }
}
