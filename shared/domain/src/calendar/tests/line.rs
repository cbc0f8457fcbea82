use super::*;
use crate::calendar::{Horizon, LinkName};

fn refused(changes: &Value) -> String {
    match serde_json::from_value::<Calendar>(line(changes)) {
        Ok(_) => "accepted".to_owned(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn lines_round_trip() {
    let hours = json!([["09:00", "12:00"], ["13:30", "18:00"]]);
    for horizon in [
        json!({ "type": "unlimited" }),
        json!({ "type": "between", "start": "2027-01-01", "end": "2027-12-31" }),
        json!({ "type": "days", "days": 14 }),
        json!({ "type": "businessDays", "days": 10 }),
    ] {
        let line = json!({
            "id": 5, "name": "Demonstração", "keyName": "V1StGXR8_Z5jdHi6B-myT", "publicId": "pub_5",
            "isPublished": true, "userId": 7, "sharesTime": false, "timezone": "America/Sao_Paulo",
            "durationMinutes": 30, "bufferMinutes": 15, "minimumNoticeMinutes": 60,
            "hours": {
                "mon": hours, "tue": hours, "wed": hours, "thu": hours, "fri": hours,
                "sat": [["20:00", "24:00"]], "sun": [],
            },
            "dates": { "2026-12-24": [["09:00", "11:00"]], "2026-12-25": [] }, "horizon": horizon,
            "createDate": "2026-01-05T12:00:00.000Z", "updateDate": "2026-02-05T12:00:00.000Z",
        });
        let calendar: Calendar = serde_json::from_value(line.clone()).unwrap();
        assert_eq!(serde_json::to_value(calendar).unwrap(), line);
    }
}

#[test]
fn the_calendars_of_the_sample_are_read() {
    let sample = include_str!("../../../../../tests/vectors/sample-instance.ndjson");
    let mut found = 0;
    for line in sample.lines() {
        let mut line: Value = serde_json::from_str(line).unwrap();
        if line.as_object_mut().unwrap().shift_remove("kind") == Some(json!("calendar")) {
            let calendar: Calendar = serde_json::from_value(line.clone()).unwrap();
            assert_eq!(serde_json::to_value(calendar).unwrap(), line);
            found += 1;
        }
    }
    assert!(found > 0);
}

#[test]
fn absent_fields_have_defaults() {
    let calendar = calendar(&json!({ "hours": {} }));
    let mut whole = line(&json!({
        "isPublished": false, "bufferMinutes": 0, "minimumNoticeMinutes": 0, "dates": {},
        "horizon": { "type": "unlimited" },
        "hours": { "mon": [], "tue": [], "wed": [], "thu": [], "fri": [], "sat": [], "sun": [] },
    }));
    assert_eq!(calendar.horizon, Horizon::Unlimited);
    assert_eq!(serde_json::to_value(&calendar).unwrap(), whole);
    for name in [
        "id",
        "name",
        "keyName",
        "publicId",
        "userId",
        "timezone",
        "durationMinutes",
        "hours",
        "createDate",
        "updateDate",
    ] {
        let value = whole.as_object_mut().unwrap().shift_remove(name).unwrap();
        let refused = serde_json::from_value::<Calendar>(whole.clone()).unwrap_err();
        assert_eq!(refused.to_string(), format!("missing field `{name}`"));
        whole[name] = value;
    }
}

#[test]
fn invalid_lines_are_explained() {
    let duration = "must be a whole number of minutes from 1 to 1440";
    let buffer = "must be a whole number of minutes from 0 to 1440";
    let notice = "must be a whole number of minutes from 0 to 4294967295";
    for (name, value, reason) in [
        ("id", json!(0), "must be an id from 1 to 999999999999999"),
        (
            "keyName",
            json!(""),
            "must be 1 to 64 characters of A-Z, a-z, 0-9, _ and -",
        ),
        (
            "timezone",
            json!("Brasilia"),
            "must be an IANA time zone such as America/Sao_Paulo",
        ),
        ("durationMinutes", json!(0), duration),
        ("durationMinutes", json!(1441), duration),
        ("durationMinutes", json!(1440), "accepted"),
        ("bufferMinutes", json!(1441), buffer),
        ("bufferMinutes", json!(1440), "accepted"),
        ("minimumNoticeMinutes", json!(4_294_967_296_u64), notice),
        ("minimumNoticeMinutes", json!(4_294_967_295_u64), "accepted"),
        (
            "createDate",
            json!("2026-01-05"),
            "must be a date-time such as 2026-11-21T12:00:00.000Z",
        ),
        (
            "dates",
            json!({ "2026-02-29": [] }),
            "must be a date such as 2026-11-21",
        ),
    ] {
        assert_eq!(refused(&json!({ name: value })), reason, "{name} {value}");
    }
}

#[test]
fn unknown_and_missing_fields_are_rejected() {
    for changes in [
        json!({ "bufferMinutes": -1 }),
        json!({ "bufferMinutes": 1.5 }),
        json!({ "bufferMinutes": "15" }),
        json!({ "hours": { "mon": [["12:00", "12:00"]] } }),
        json!({ "dates": { "2026-12-24": [["09:00", "12:00"], ["11:00", "13:00"]] } }),
        json!({ "horizon": { "type": "days" } }),
    ] {
        assert_ne!(refused(&changes), "accepted", "{changes}");
    }
}

#[test]
fn a_key_name_fits_into_a_link() {
    let longest = "x".repeat(64);
    for name in ["a", "V1StGXR8_Z5jdHi6B-myT", "-", "_", "0", longest.as_str()] {
        let key = LinkName::parse(name).unwrap();
        assert_eq!((key.as_str(), key.to_string().as_str()), (name, name));
    }
    let longer = "x".repeat(65);
    for bad in ["", " a", "a/b", "a.b", "ação", "a b", longer.as_str()] {
        assert_eq!(LinkName::parse(bad), None, "{bad}");
    }
}
