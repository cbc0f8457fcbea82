//! Every error, whole: status, body, details.

use axum::body::HttpBody as _;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use shared::http::{BadIdempotencyKey, Params};
use shared::id::{FunnelId, OpportunityId};
use shared::opportunity::BadDate;
use shared::schema::LIST_OPPORTUNITIES;
use shared::scope::AccessError;

use super::*;

/// Status, body and details of an answer.
async fn answer<E: IntoResponse>(error: E) -> (u16, Value, Option<String>) {
    let mut answer: Response = error.into_response();
    let details = answer
        .headers()
        .get("x-error-details")
        .map(|text| text.to_str().unwrap().to_owned());
    let body = answer.body_mut();
    let frame = std::future::poll_fn(|context| std::pin::Pin::new(&mut *body).poll_frame(context)).await;
    let bytes = frame.unwrap().unwrap().into_data().unwrap();
    (
        answer.status().as_u16(),
        serde_json::from_slice(&bytes).unwrap(),
        details,
    )
}

fn store() -> StoreError {
    StoreError::Contention("a secret cause")
}

fn funnel() -> FunnelId {
    FunnelId::new(3).unwrap()
}

/// C-4: whatever it is, endpoint 7 says it in `msg`.
#[tokio::test]
async fn creating() {
    let repeated = Params::parse("id=1&id=2").one("id").unwrap_err();
    for (error, status, msg) in [
        (
            AccessError::Instance.into(),
            400,
            "i: must name the instance, once",
        ),
        (AccessError::Unauthorized.into(), 401, "Unauthorized"),
        (AccessError::Limited.into(), 429, "Too many requests"),
        (AccessError::Store(store()).into(), 500, "Internal error"),
        (
            CreateError::Key(BadIdempotencyKey),
            400,
            "Idempotency-Key: must be 1 to 255 visible ASCII characters, once",
        ),
        (
            CreateError::OtherBody,
            422,
            "Idempotency-Key was used with another body",
        ),
        (CreateError::Gone, 400, "the opportunity of this key is gone"),
        (
            CreateError::Permission,
            400,
            "editOpportunities: the user does not have this permission",
        ),
        (
            Breach::Parameter(repeated).into(),
            400,
            "id: must not be repeated",
        ),
        (
            Breach::Funnel(funnel()).into(),
            400,
            "id: funnel 3 does not exist",
        ),
        (store().into(), 500, "Internal error"),
    ] {
        assert_eq!(answer(error).await, (status, json!({ "msg": msg }), None));
    }
}

/// spec.md fixes the body of endpoint 8, so the reason is in the header.
#[tokio::test]
async fn updating() {
    let opportunity = OpportunityId::new(9).unwrap();
    for (error, details) in [
        (
            UpdateError::Permission,
            "editOpportunities: the user does not have this permission",
        ),
        (
            UpdateError::Id,
            "opportunity_id: must be a whole number from 1 to 999999999999999",
        ),
        (
            UpdateError::Opportunity(opportunity, funnel()),
            "opportunity_id: opportunity 9 does not exist in funnel 3",
        ),
        (
            UpdateError::Gone,
            "lead_id: the lead or the opportunity does not exist any more",
        ),
        (Breach::NotObject.into(), "body: must be a JSON object"),
        (
            Breach::Undefined("Côr".to_owned(), funnel()).into(),
            "fields.C%C3%B4r: is not a field of funnel 3",
        ),
    ] {
        let expected = (
            400,
            json!({ "error": "Invalid request" }),
            Some(details.to_owned()),
        );
        assert_eq!(answer(error).await, expected);
    }
    others::<UpdateError>(true).await;
}

#[tokio::test]
async fn listing_funnels() {
    others::<FunnelsError>(false).await;
}

#[tokio::test]
async fn listing() {
    for (error, details) in [
        (ListError::NotJson, "body: must be JSON"),
        (
            ListError::Id,
            "funnel_id: must be a whole number from 1 to 999999999999999",
        ),
        (ListError::Funnel(funnel()), "funnel_id: funnel 3 does not exist"),
        (
            ListError::Column(funnel()),
            "columnId: is not a column of funnel 3",
        ),
        (
            ListError::Date("filterByCreateDate", BadDate::Form),
            "filterByCreateDate: must be a date such as 2026-11-21 or RFC 3339",
        ),
        (
            ListError::Date("filterByCreateDate", BadDate::Order),
            "filterByCreateDate: start must not be after end",
        ),
        (
            ListError::TooManyConditions,
            "filters: must have at most 50 conditions",
        ),
    ] {
        let expected = (
            400,
            json!({ "error": "Invalid request" }),
            Some(details.to_owned()),
        );
        assert_eq!(answer(error).await, expected);
    }
    let unauthorized = (401, json!({ "error": "Unauthorized" }), None);
    assert_eq!(answer(ListError::Permission).await, unauthorized);
    let violation = LIST_OPPORTUNITIES
        .check(&json!({ "page": 1, "limit": 101 }))
        .unwrap_err();
    let body = json!({ "msg": "must be <= 100", "details": {
        "instancePath": "/limit", "schemaPath": "#/properties/limit/maximum", "keyword": "maximum",
        "params": { "comparison": "<=", "limit": 100 },
    } });
    assert_eq!(
        answer(ListError::Schema(Box::new(violation))).await,
        (400, body, None)
    );
    others::<ListError>(true).await;
}

/// What endpoints 8 to 10 answer alike; what is wrong with `i` stands in the body only where spec.md leaves that open.
async fn others<E: From<AccessError> + From<StoreError> + IntoResponse>(fixed: bool) {
    let reason = "i: must name the instance, once";
    let in_body = json!({ "error": "Invalid request", "details": reason });
    let (body, header) = if fixed {
        (json!({ "error": "Invalid request" }), Some(reason.to_owned()))
    } else {
        (in_body, None)
    };
    assert_eq!(
        answer::<E>(AccessError::Instance.into()).await,
        (400, body, header)
    );
    for (error, status, body) in [
        (
            AccessError::Unauthorized.into(),
            401,
            json!({ "error": "Unauthorized" }),
        ),
        (
            AccessError::Limited.into(),
            429,
            json!({ "error": "Too many requests" }),
        ),
        (
            AccessError::Store(store()).into(),
            500,
            json!({ "error": "Internal error" }),
        ),
        (E::from(store()), 500, json!({ "error": "Internal error" })),
    ] {
        assert_eq!(answer::<E>(error).await, (status, body, None));
    }
}
