//! What a request must hold, and what is made of it (C-54, C-55, C-6, C-8).

use http::{HeaderMap, HeaderValue};
use serde_json::{Value, json};
use shared::calendar::LinkName;
use shared::http::Params;
use shared::id::{LeadId, MeetingId, OpportunityId};
use shared::meeting::Visitor;
use shared::store::Claim;
use shared::time::Timestamp;

use super::*;

fn good(changes: &Value) -> Value {
    let mut body = json!({
        "keyName": "demo", "date": "2026-11-23T09:00:00Z", "leadId": null, "formData": { "firstname": "Bia" },
    });
    for (name, value) in changes.as_object().unwrap() {
        body[name] = value.clone();
    }
    body
}

fn read(changes: &Value) -> Result<NewBooking, String> {
    let bytes = good(changes).to_string();
    NewBooking::read(&HeaderMap::new(), bytes.as_bytes()).map_err(|error| error.to_string())
}

fn known(changes: &Value) -> NewBooking {
    let mut body = json!({ "leadId": 1001, "formData": null });
    for (name, value) in changes.as_object().unwrap() {
        body[name] = value.clone();
    }
    read(&body).unwrap()
}

fn visitor(firstname: &str) -> Sent {
    Sent::New(Box::new(Visitor {
        firstname: Some(firstname.to_owned()),
        ..Visitor::default()
    }))
}

#[test]
fn the_least_booking() {
    let booking = read(&json!({})).unwrap();
    let request = &booking.request;
    assert_eq!(Some(request.link.clone()), LinkName::parse("demo"));
    assert_eq!(Some(request.date), Timestamp::parse("2026-11-23T09:00:00Z"));
    assert_eq!(
        (request.lead, request.opportunity, request.meeting),
        (None, None, None)
    );
    assert_eq!(request.claim, None);
    assert_eq!((&booking.lead, &booking.proof), (&visitor("Bia"), &None));
    assert!(!booking.names_opportunity);
    assert!(booking.form_data.is_empty() && booking.properties.is_empty());
}

#[test]
fn a_lead_or_a_number_that_can_be_none() {
    let sent = |lead: Value| known(&json!({ "leadId": lead }));
    let booking = sent(json!(1001.0));
    assert_eq!(
        (booking.lead, booking.request.lead),
        (Sent::Known(LeadId::new(1001)), LeadId::new(1001))
    );
    for lead in [
        json!(0),
        json!(-1),
        json!(-7.0),
        json!(1e15),
        json!(1e300),
        json!(-1e300),
        json!(u64::MAX),
    ] {
        let booking = sent(lead.clone());
        assert_eq!(
            (booking.lead, booking.request.lead),
            (Sent::Known(None), None),
            "{lead}"
        );
    }
    for lead in [
        json!("null"),
        json!("1"),
        json!(1.5),
        json!(-1.5),
        json!(true),
        json!([]),
        json!({}),
    ] {
        let refused = read(&json!({ "leadId": lead, "formData": null })).unwrap_err();
        assert_eq!(
            refused, "leadId: must be the id of a lead, or null for a new one",
            "{lead}"
        );
    }
}

#[test]
fn an_opportunity_or_none() {
    for (sent, named, id) in [
        (json!(null), false, None),
        (json!(9), true, OpportunityId::new(9)),
        (json!(0), true, None),
        (json!(-3), true, None),
        (json!(1e99), true, None),
    ] {
        let booking = known(&json!({ "opportunityId": sent }));
        assert_eq!(
            (booking.names_opportunity, booking.request.opportunity),
            (named, id),
            "{sent}"
        );
    }
    let refused = read(&json!({ "opportunityId": "9" })).unwrap_err();
    assert_eq!(refused, "opportunityId: must be the id of an opportunity or null");
}

/// C-55: they prove something and are never stored, whether they prove it or not.
#[test]
fn properties_and_what_moves_a_meeting() {
    let proof = |meeting: Option<u64>, key: &str| {
        let meeting = meeting.and_then(MeetingId::new);
        Some(Proof {
            meeting,
            key: key.to_owned(),
        })
    };
    for (properties, expected) in [
        (json!({ "a": 1 }), None),
        (
            json!({ "rescheduleMeetingId": null, "rescheduleKey": null, "a": 1 }),
            None,
        ),
        (
            json!({ "rescheduleMeetingId": 3, "a": 1, "rescheduleKey": "k" }),
            proof(Some(3), "k"),
        ),
        (
            json!({ "rescheduleMeetingId": 3.0, "rescheduleKey": "", "a": 1 }),
            proof(Some(3), ""),
        ),
        (
            json!({ "rescheduleMeetingId": "3", "rescheduleKey": "k", "a": 1 }),
            proof(None, "k"),
        ),
        (
            json!({ "rescheduleMeetingId": 0, "rescheduleKey": 5, "a": 1 }),
            proof(None, ""),
        ),
        (json!({ "rescheduleMeetingId": -3, "a": 1 }), proof(None, "")),
        (json!({ "rescheduleKey": "k", "a": 1 }), proof(None, "k")),
    ] {
        let booking = known(&json!({ "properties": properties }));
        assert_eq!(booking.proof, expected, "{properties}");
        assert_eq!(
            Value::Object(booking.properties),
            json!({ "a": 1 }),
            "{properties}"
        );
        let named = expected.and_then(|proof| proof.meeting);
        assert_eq!(booking.request.meeting, named, "{properties}");
    }
}

#[test]
fn properties_are_an_object() {
    for properties in [json!(null), json!({})] {
        assert!(known(&json!({ "properties": properties })).properties.is_empty());
    }
    for properties in [json!([]), json!("{}"), json!(1), json!(false)] {
        let refused = read(&json!({ "properties": properties })).unwrap_err();
        assert_eq!(refused, "properties: must be an object");
    }
}

/// The limit counts bytes of compact JSON, what proves something among them.
#[test]
fn four_kilobytes_of_properties() {
    let of = |bytes: usize| "x".repeat(bytes - r#"{"x":""}"#.len());
    assert!(read(&json!({ "properties": { "x": of(4096) } })).is_ok());
    let proof = r#","rescheduleKey":"k""#.len();
    for properties in [
        json!({ "x": of(4097) }),
        json!({ "x": of(4097 - proof), "rescheduleKey": "k" }),
        json!({ "x": "é".repeat(2045) }),
    ] {
        let refused = read(&json!({ "properties": properties })).unwrap_err();
        assert_eq!(refused, "properties: must have at most 4 KB");
    }
    // Blanks between the values are none of it.
    let body = good(&json!({ "properties": { "x": 1 } })).to_string();
    let spaced = body.replace(r#"{"x":"#, &format!("{{{}\"x\":", " ".repeat(5000)));
    assert!(NewBooking::read(&HeaderMap::new(), spaced.as_bytes()).is_ok());
}

/// C-54: form and properties together, as compact JSON.
#[test]
fn sixteen_kilobytes_of_what_is_free() {
    let of = |bytes: usize| {
        let mut form = json!({ "email": "b" });
        for at in 0..16 {
            form[format!("k{at}")] = "x".repeat(1000).into();
        }
        form["last"] = "".into();
        let properties = json!({ "y": 1 });
        let rest = bytes - form.to_string().len() - properties.to_string().len();
        form["last"] = "x".repeat(rest).into();
        read(&json!({ "formData": form, "properties": properties })).map(drop)
    };
    assert_eq!(of(16 * 1024), Ok(()));
    let refused = "formData: must have at most 16 KB together with properties";
    assert_eq!(of(16 * 1024 + 1), Err(refused.to_owned()));
}

/// C-54: the lead's own fields go to the lead, and the rest stays in its order.
#[test]
fn a_form_is_parted() {
    let form = json!({ "z": 1, "firstname": "Bia", "a": null, "owner": 7, "Email": "x", "m": true });
    let booking = read(&json!({ "formData": form })).unwrap();
    assert_eq!(booking.lead, visitor("Bia"));
    let rest = serde_json::to_string(&booking.form_data).unwrap();
    assert_eq!(rest, r#"{"z":1,"a":null,"owner":7,"Email":"x","m":true}"#);
    let mut whole: serde_json::Map<_, _> = Visitor::FIELDS
        .iter()
        .map(|name| ((*name).to_owned(), json!(name)))
        .collect();
    let booking = read(&json!({ "formData": whole })).unwrap();
    assert!(booking.form_data.is_empty());
    let Sent::New(visitor) = booking.lead else {
        panic!("{:?}", booking.lead);
    };
    assert_eq!(visitor.preferred_locale.as_deref(), Some("preferred_locale"));
    assert_eq!(visitor.zipcode.as_deref(), Some("zipcode"));
    for name in Visitor::FIELDS {
        whole[name] = json!(5);
        let refused = read(&json!({ "formData": whole })).unwrap_err();
        assert_eq!(refused, format!("formData.{name}: must be text or null"));
        whole[name] = json!(null);
    }
}

#[test]
fn a_number_that_cannot_be_kept_is_named() {
    let huge = shared::json::parse(b"[123456789012345678901]").unwrap()[0].take();
    let must = "must be sent as text, because a number cannot hold it exactly";
    for (body, path) in [
        (
            json!({ "formData": { "firstname": "Bia", "pedido": huge } }),
            "formData.pedido",
        ),
        (
            json!({ "properties": { "a": [1, { "b": huge }] } }),
            "properties.a[1].b",
        ),
    ] {
        // Written out, the marker is an object like the one that is read.
        assert_eq!(read(&body).unwrap_err(), format!("{path}: {must}"));
    }
}

/// What is wrong with the body is told in the order of its fields, and a link that can be no calendar's last.
#[test]
fn the_first_that_is_wrong_is_told() {
    let mut body = good(&json!({
        "keyName": 5, "date": "x", "leadId": "null", "formData": [], "opportunityId": "x", "properties": [],
    }));
    for (name, value, told) in [
        ("keyName", json!("no link"), "keyName"),
        ("date", json!("2026-11-23T09:00:00Z"), "date"),
        ("leadId", json!(null), "leadId"),
        ("formData", json!({ "email": "b" }), "formData"),
        ("opportunityId", json!(null), "opportunityId"),
        ("properties", json!({}), "properties"),
    ] {
        let error = NewBooking::read(&HeaderMap::new(), body.to_string().as_bytes()).unwrap_err();
        assert!(error.to_string().starts_with(&format!("{told}: ")), "{error}");
        body[name] = value;
    }
    let error = NewBooking::read(&HeaderMap::new(), body.to_string().as_bytes()).unwrap_err();
    assert!(matches!(error, crate::error::BookingError::NoCalendar), "{error}");
    for blank in [" ", "\t\n", "\u{a0}", ""] {
        let refused = read(&json!({ "keyName": blank })).unwrap_err();
        assert_eq!(
            refused,
            "keyName: must be the last segment of the calendar's link"
        );
    }
}

/// C-10: the scope of a key is the link; the bytes are the body, not what they mean.
#[test]
fn the_claim_of_a_request() {
    let headers = |key: &'static str| {
        HeaderMap::from_iter([(
            http::HeaderName::from_static("idempotency-key"),
            HeaderValue::from_static(key),
        )])
    };
    let bytes = good(&json!({})).to_string();
    let claim = |key, bytes: &str| {
        NewBooking::read(&headers(key), bytes.as_bytes())
            .unwrap()
            .request
            .claim
    };
    let first = claim("k", &bytes);
    assert_eq!(
        first,
        Some(Claim::new("POST /calendarmeeting", "demo", "k", bytes.as_bytes()))
    );
    assert_eq!(claim("k", &bytes), first);
    assert_ne!(claim("K", &bytes), first);
    assert_ne!(claim("k", &format!("{bytes} ")), first);
    assert_ne!(claim("k", &bytes.replace("demo", "Demo")), first);
    let refused = NewBooking::read(&headers("a b"), b"{").unwrap_err();
    assert_eq!(
        refused.to_string(),
        "Idempotency-Key: must be 1 to 255 visible ASCII characters, once"
    );
}

/// C-8: a raw plus sign has become a space on the way.
#[test]
fn a_time_in_the_query() {
    let read = |raw: &str| time(&Params::parse(raw), "from");
    let noon = Timestamp::parse("2026-11-21T12:00:00Z");
    for raw in [
        "from=2026-11-21T12:00:00Z",
        "from=2026-11-21T12:00:00.000Z&to=x",
        "from=2026-11-21T14:00:00+02:00",
        "from=2026-11-21T14:00:00%2B02:00",
        "from=2026-11-21T09:00:00-03:00",
    ] {
        assert_eq!(read(raw), Ok(noon), "{raw}");
    }
    for raw in ["", "from=", "From=x", "to=x"] {
        assert_eq!(read(raw), Ok(None), "{raw}");
    }
    for raw in [
        "from=2026-11-21",
        "from=%20",
        "from=now",
        "from=2026-11-21T12:00:00",
        "from=2026-11-21+12:00:00Z",
    ] {
        assert_eq!(read(raw), Err(BadParameter("from", MUST_BE_TIME)), "{raw}");
    }
    assert_eq!(
        read("from=&from="),
        Err(BadParameter("from", "must not be repeated"))
    );
}
