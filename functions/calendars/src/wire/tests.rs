//! Parsing of requests (C-54, C-55, C-6, C-8).

use serde_json::{Value, json};
use shared::ids::{LeadId, MeetingId};
use shared::meeting::NewContact;
use shared::store::BookingSubject;

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

fn read(changes: &Value) -> Result<BookMeeting, String> {
    let bytes = good(changes).to_string();
    BookMeeting::read(None, bytes.as_bytes()).map_err(|error| error.to_string())
}

fn known(changes: &Value) -> BookMeeting {
    let mut body = json!({ "leadId": 1001, "formData": null });
    for (name, value) in changes.as_object().unwrap() {
        body[name] = value.clone();
    }
    read(&body).unwrap()
}

fn visitor(firstname: &str) -> Guest {
    Guest::New(Box::new(NewContact {
        firstname: Some(firstname.to_owned()),
        ..NewContact::default()
    }))
}

/// C-55: the members that change a meeting are never stored, valid or not. A key alone is the key of no meeting.
#[test]
fn properties_and_reschedule_key() {
    let new = || BookingSubject::New {
        lead: LeadId::new(1001),
        opportunity: None,
    };
    let moves = |id: Option<u64>| BookingSubject::Move(id.and_then(MeetingId::new));
    let cancels = |id| BookingSubject::Cancel(MeetingId::new(id));
    for (properties, subject, key) in [
        (json!({ "a": 1 }), new(), ""),
        (
            json!({ "rescheduleMeetingId": null, "rescheduleKey": null, "a": 1 }),
            new(),
            "",
        ),
        (
            json!({ "rescheduleMeetingId": 3, "a": 1, "rescheduleKey": "k" }),
            moves(Some(3)),
            "k",
        ),
        (
            json!({ "cancelMeetingId": 3.0, "rescheduleKey": "", "a": 1 }),
            cancels(3),
            "",
        ),
        (
            json!({ "rescheduleMeetingId": "3", "rescheduleKey": "k", "a": 1 }),
            moves(None),
            "k",
        ),
        (
            json!({ "rescheduleMeetingId": 0, "rescheduleKey": 5, "a": 1 }),
            moves(None),
            "",
        ),
        (json!({ "rescheduleMeetingId": -3, "a": 1 }), moves(None), ""),
        (json!({ "rescheduleKey": "k", "a": 1 }), moves(None), "k"),
    ] {
        let booking = known(&json!({ "properties": properties }));
        assert_eq!(
            (booking.request.subject, booking.reschedule_key.as_str()),
            (subject, key),
            "{properties}"
        );
        assert_eq!(Value::Object(booking.properties), json!({ "a": 1 }));
    }
}

/// C-55: a change needs no form, and an impossible link is answered like a wrong key.
#[test]
fn a_change_needs_no_form() {
    let change = json!({ "cancelMeetingId": 3, "rescheduleKey": "k" });
    for form in [json!(null), json!({}), json!([]), json!({ "firstname": "Bia" })] {
        assert!(
            read(&json!({ "formData": form, "properties": change })).is_ok(),
            "{form}"
        );
    }
    let refused = read(&json!({ "leadId": 5, "properties": change })).unwrap_err();
    assert_eq!(refused, "formData: must not be sent with a leadId");
    let refused = read(&json!({ "keyName": "no link", "properties": change })).unwrap_err();
    assert_eq!(refused, "rescheduleKey");
}

/// The limit counts bytes of compact JSON, including the proofs.
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
    // Whitespace between values does not count.
    let body = good(&json!({ "properties": { "x": 1 } })).to_string();
    let spaced = body.replace(r#"{"x":"#, &format!("{{{}\"x\":", " ".repeat(5000)));
    assert!(BookMeeting::read(None, spaced.as_bytes()).is_ok());
}

/// C-54: form and properties together, as compact JSON.
#[test]
fn free_form_data_is_limited_to_sixteen_kilobytes() {
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

/// C-54: the lead's own fields go to the lead; the rest keeps its order.
#[test]
fn a_form_is_parted() {
    let form = json!({ "z": 1, "firstname": "Bia", "a": null, "owner": 7, "Email": "x", "m": true });
    let booking = read(&json!({ "formData": form })).unwrap();
    assert_eq!(booking.guest, visitor("Bia"));
    let rest = serde_json::to_string(&booking.form_data).unwrap();
    assert_eq!(rest, r#"{"z":1,"owner":7,"Email":"x","m":true}"#);
    let mut whole: serde_json::Map<_, _> = NewContact::FIELDS
        .iter()
        .map(|name| ((*name).to_owned(), json!(name)))
        .collect();
    let booking = read(&json!({ "formData": whole })).unwrap();
    assert!(booking.form_data.is_empty());
    let Guest::New(visitor) = booking.guest else {
        panic!("{:?}", booking.guest);
    };
    assert_eq!(visitor.preferred_locale.as_deref(), Some("preferred_locale"));
    assert_eq!(visitor.zipcode.as_deref(), Some("zipcode"));
    for name in NewContact::FIELDS {
        whole[name] = json!(true);
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
        // Serialized, the marker is an object like the parsed one.
        assert_eq!(read(&body).unwrap_err(), format!("{path}: {must}"));
    }
}

/// Errors in the body are reported in the order of its fields, an impossible link last.
#[test]
fn the_first_error_is_returned() {
    let mut body = good(&json!({
        "keyName": 5, "date": "x", "leadId": "null", "formData": [], "opportunityId": "x", "properties": 7,
    }));
    for (name, value, told) in [
        ("keyName", json!("no link"), "keyName"),
        ("date", json!("2026-11-23T09:00:00Z"), "date"),
        ("leadId", json!(null), "leadId"),
        ("formData", json!({ "email": "b" }), "formData"),
        ("opportunityId", json!(null), "opportunityId"),
        ("properties", json!({}), "properties"),
    ] {
        let error = BookMeeting::read(None, body.to_string().as_bytes()).unwrap_err();
        assert!(error.to_string().starts_with(&format!("{told}: ")), "{error}");
        body[name] = value;
    }
    let error = BookMeeting::read(None, body.to_string().as_bytes()).unwrap_err();
    assert!(matches!(error, crate::error::BookingError::NoCalendar), "{error}");
    for blank in [" ", "\t\n", "\u{a0}", ""] {
        let refused = read(&json!({ "keyName": blank })).unwrap_err();
        assert_eq!(
            refused,
            "keyName: must be the last segment of the calendar's link"
        );
    }
}

/// C-6, C-8: an unencoded `+` is a blank, and a blank may stand for `T` and in front of an offset.
#[test]
fn times_of_a_query_have_the_forms_of_bodies() {
    let read = |text: &str| {
        time(&Params::parse(&format!("from={text}")), "from").map(|time| time.map(|time| time.to_string()))
    };
    for text in [
        "2027-04-01T10:00:00Z",
        "2027-04-01 10:00:00Z",
        "2027-04-01T07:00:00-03:00",
        "2027-04-01%2007:00:00-03",
        "2027-04-01%2007:00:00%20-0300",
        "2027-04-01T13:00:00+03:00",
        "2027-04-01T13:00:00%2B0300",
        "2027-04-01+13:00:00+0300",
        "2027-04-01%2013:00:00%20%2B0300",
    ] {
        assert_eq!(
            read(text),
            Ok(Some("2027-04-01T10:00:00.000Z".to_owned())),
            "{text}"
        );
    }
    assert_eq!(read("%20"), Ok(None));
    assert!(read("2027-04-01T10:00:00").is_err());
}
