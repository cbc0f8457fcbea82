//! What a body of endpoint 10 may hold.

use super::*;
use axum::response::IntoResponse as _;
use http::StatusCode;
use serde::Deserialize;
use serde_json::json;

use crate::wire::shop::funnel;

#[derive(Deserialize)]
struct Vector {
    name: String,
    body: Value,
    valid: bool,
    error: Value,
}

fn read(body: &Value) -> Result<NewList, ListError> {
    NewList::read(
        body.to_string().as_bytes(),
        FunnelId::new(3),
        "walker".to_owned(),
        "client",
    )
}

/// A good body with changes.
fn asked(changes: &Value) -> NewList {
    let mut body = json!({ "page": 1, "limit": 25 });
    for (name, value) in changes.as_object().unwrap() {
        body[name] = value.clone();
    }
    read(&body).unwrap()
}

fn refused(changes: &Value) -> String {
    asked(changes)
        .of_funnel(&funnel(), Zone::UTC)
        .unwrap_err()
        .to_string()
}

#[test]
fn every_vector_gets_the_recorded_error() {
    let vectors: Vec<Vector> = serde_json::from_str(include_str!(
        "../../../../../shared/vectors/ajv-list-opportunities.json"
    ))
    .unwrap();
    assert!(!vectors.is_empty());
    for Vector {
        name,
        body,
        valid,
        error,
    } in vectors
    {
        match read(&body) {
            Ok(_) => assert!(valid, "{name}"),
            Err(ListError::Schema(violation)) => assert_eq!(json!(violation), error, "{name}"),
            Err(other) => panic!("{name}: {other}"),
        }
    }
}

#[test]
fn the_body_comes_before_the_id_in_the_path() {
    let read = |body: &str| {
        let wrong = NewList::read(body.as_bytes(), None, String::new(), "").unwrap_err();
        (wrong.to_string(), wrong.into_response().status())
    };
    for (body, reason) in [
        ("{", "body: must be JSON"),
        ("\"\u{0}\"", "body: must be JSON"),
        ("{}", " must have required property 'page'"),
        (
            r#"{"page":1,"limit":25}"#,
            "funnel_id: must be a whole number from 1 to 999999999999999",
        ),
    ] {
        assert_eq!(read(body), (reason.to_owned(), StatusCode::BAD_REQUEST), "{body}");
    }
}

#[test]
fn absent_null_and_empty_ask_for_nothing() {
    let nothing = json!({
        "columnId": null, "filterByUsers": null, "filterByStatus": null, "filterByCreateDate": null,
        "filterByExpectedCloseDate": { "start": null }, "filters": null, "search": null,
    });
    let empty = json!({
        "filterByUsers": [], "filterByStatus": [], "filterByCreateDate": {}, "filters": [], "search": "  ",
        "searchBy": "opportunity", "onlyArchived": false,
    });
    for changes in [json!({}), nothing, empty] {
        let Asked {
            request,
            filter,
            ignored,
        } = asked(&changes).of_funnel(&funnel(), Zone::UTC).unwrap();
        assert_eq!(
            (request.column, request.users, request.filtered),
            (None, None, false),
            "{changes}"
        );
        assert!(request.statuses.is_empty() && !request.archived && filter.is_empty());
        assert_eq!((request.page, request.limit, ignored), (1, 25, 0));
    }
}

#[test]
fn numbers_are_read_in_every_spelling() {
    let list = asked(&json!({ "page": 2.0, "limit": 1e2, "columnId": 3.1e1, "filterByUsers": [7.0, 8, 8] }));
    let request = list.request;
    assert_eq!(
        (request.page, request.limit, request.column),
        (2, 100, ColumnId::new(31))
    );
    assert_eq!(
        request.users,
        Some([7, 8].into_iter().filter_map(UserId::new).collect())
    );
    assert_eq!(asked(&json!({ "page": 1e30 })).request.page, u64::MAX);
    assert_eq!(asked(&json!({ "page": -0.0 })).request.page, 0);
}

/// A number that can be no user matches nobody; it does not lift the filter.
#[test]
fn users_that_cannot_be_match_nobody() {
    let list = asked(&json!({ "filterByUsers": [0, -7, 1e30] }));
    assert_eq!(list.request.users, Some(BTreeSet::new()));
}

#[test]
fn everything_asked_arrives() {
    let list = asked(&json!({
        "columnId": 32, "filterByStatus": ["gain", "lost", "gain"], "onlyArchived": true, "search": "maria",
        "filterByCreateDate": { "start": "2026-06-01", "end": null },
        "filterByExpectedCloseDate": { "end": "2026-06-30" },
        "filters": [
            { "filterType": "opField", "properties": { "field": "Cor", "value": "azul" } },
            { "properties": { "field": "Cor", "value": "azul" } }, null,
        ],
    }));
    let zone = Zone::parse("America/Sao_Paulo").unwrap();
    let Asked {
        request,
        filter,
        ignored,
    } = list.of_funnel(&funnel(), zone).unwrap();
    assert_eq!(request.column, ColumnId::new(32));
    assert_eq!(request.statuses, BTreeSet::from([Status::Gain, Status::Lost]));
    assert!(request.archived && request.filtered && !filter.conditions.is_empty());
    assert_eq!(ignored, 2);
    assert_eq!(filter.search.unwrap().by, SearchBy::Lead);
    assert_eq!(
        filter.created.from.unwrap().to_string(),
        "2026-06-01T03:00:00.000Z"
    );
    assert_eq!(
        filter.expected.until.unwrap().to_string(),
        "2026-07-01T02:59:59.999Z"
    );
}

/// Totals answer only where nothing is asked that the records alone tell.
#[test]
fn each_filter_that_only_records_tell_is_known_as_such() {
    for (changes, filtered) in [
        (
            json!({ "columnId": 31, "filterByUsers": [7], "filterByStatus": ["open"] }),
            false,
        ),
        (json!({ "filterByCreateDate": { "end": "2026-06-30" } }), true),
        (
            json!({ "filterByExpectedCloseDate": { "start": "2026-06-30T00:00:00Z" } }),
            true,
        ),
        (json!({ "search": "x" }), true),
        (
            json!({ "filters": [{ "filterType": "opField", "properties": { "field": "No", "value": "" } }] }),
            true,
        ),
        (
            json!({ "filters": [{ "properties": { "field": "Cor", "value": "" } }] }),
            false,
        ),
    ] {
        let list = asked(&changes);
        assert_eq!(list.request.filtered, filtered, "{changes}");
        let asked = list.of_funnel(&funnel(), Zone::UTC).unwrap();
        assert_eq!(asked.filter.is_empty(), !filtered, "{changes}");
    }
}

/// C-41: the column and the dates are judged last, against the funnel.
#[test]
fn columns_and_dates_must_be() {
    for column in [json!(0), json!(-3), json!(33), json!(1e30)] {
        let both = json!({ "columnId": column, "filterByCreateDate": { "start": "yesterday" } });
        assert_eq!(
            refused(&both),
            "columnId: is not a column of funnel 3",
            "{column}"
        );
    }
    for name in ["filterByCreateDate", "filterByExpectedCloseDate"] {
        for date in [
            json!({ "start": "yesterday" }),
            json!({ "end": "" }),
            json!({ "end": "2026-02-30" }),
        ] {
            let reason = format!("{name}: must be a date such as 2026-11-21 or RFC 3339");
            assert_eq!(refused(&json!({ name: date })), reason);
        }
    }
}

/// C-42: pages of one query are one walk; whatever else differs makes another.
#[test]
fn a_walk_is_everything_but_the_page() {
    let query = |changes: Value| asked(&changes).request.query;
    assert_eq!(query(json!({ "page": 1 })), query(json!({ "page": 9 })));
    for other in [
        json!({ "limit": 24 }),
        json!({ "columnId": 31 }),
        json!({ "search": "x" }),
        json!({ "onlyArchived": true }),
    ] {
        assert_ne!(query(json!({})), query(other));
    }
    let body = json!({ "page": 1, "limit": 25 }).to_string();
    let elsewhere = NewList::read(body.as_bytes(), FunnelId::new(4), "walker".to_owned(), "client");
    assert_ne!(query(json!({})), elsewhere.unwrap().request.query);
}
