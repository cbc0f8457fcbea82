use serde_json::json;

use super::*;

fn meeting(rest: &Value) -> Meeting {
    let mut line = json!({
        "id": 1, "calendarId": 5, "date": "2027-03-01T12:00:00Z", "endDate": "2027-03-01T12:30:00Z",
        "createDate": "2027-01-01T00:00:00Z", "updateDate": "2027-01-01T00:00:00Z",
    });
    for (name, value) in rest.as_object().unwrap() {
        line[name] = value.clone();
    }
    serde_json::from_value(line).unwrap()
}

fn time(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap()
}

#[test]
fn meetings_serialize_every_field() {
    assert_eq!(
        json!(meeting(&json!({ "leadId": 7 }))),
        json!({
            "id": 1, "calendarId": 5, "date": "2027-03-01T12:00:00.000Z", "endDate": "2027-03-01T12:30:00.000Z",
            "leadId": 7, "opportunityId": null, "userId": null, "status": "scheduled", "formData": {},
            "properties": {}, "moves": 0, "createDate": "2027-01-01T00:00:00.000Z", "updateDate": "2027-01-01T00:00:00.000Z",
        })
    );
}

#[test]
fn stored_meetings_round_trip() {
    for rest in [
        json!({}),
        json!({ "formData": null, "leadId": null, "status": "canceled" }),
        json!({ "formData": { "a": null }, "properties": { "b": {} }, "opportunityId": 9, "userId": 3, "moves": 2 }),
    ] {
        let meeting = meeting(&rest);
        let stored = Value::Object(meeting.sparse());
        assert_eq!(serde_json::from_value::<Meeting>(stored).unwrap(), meeting);
    }
    let plain = meeting(&json!({ "formData": {}, "leadId": null })).sparse();
    assert!(
        ["formData", "leadId", "moves"]
            .iter()
            .all(|name| !plain.contains_key(*name))
    );
}

#[test]
fn meetings_occupy_time_unless_cancelled() {
    let takes = |rest: Value| meeting(&rest).busy_time();
    let (start, end) = (time("2027-03-01T12:00:00Z"), time("2027-03-01T12:30:00Z"));
    for status in ["scheduled", "rescheduled"] {
        assert_eq!(
            takes(json!({ "status": status })),
            Some(Busy::new(start, end)),
            "{status}"
        );
    }
    assert_eq!(takes(json!({ "status": "canceled" })), None);
}

#[test]
fn without_lead_removes_personal_fields_of_a_meeting() {
    let known = meeting(&json!({ "leadId": 7, "opportunityId": 9, "formData": { "cpf": "1" } }));
    let left = known.clone().without_lead();
    assert_eq!((left.lead_id, &left.form_data), (None, &None));
    assert_eq!(left.opportunity_id, known.opportunity_id);
}
