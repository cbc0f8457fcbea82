//! A meeting's line. What it refers to is checked where it is written, but for its user.

use serde_json::{Map, Value};
use shared::meeting::Meeting;
use shared::store::operator::MeetingLine;

use super::limits;
use super::line::{self, take_dates};

/// Reads a meeting's fields.
pub fn read(mut fields: Map<String, Value>) -> Result<MeetingLine, String> {
    let (create_date, update_date) = take_dates(&mut fields)?;
    // An absent form was empty; one that is null was erased (C-24).
    let erased = fields.get("formData").is_some_and(Value::is_null);
    let mut meeting: Meeting = line::read(fields)?;
    if erased {
        meeting.form_data = None;
    }
    if meeting.end_date < meeting.date {
        return Err("endDate: must not be before date".to_owned());
    }
    if meeting.end_date > meeting.date.plus_days(Meeting::MOST_DAYS) {
        return Err(format!(
            "endDate: must be at most {} days after date, because a meeting is written to each of its days",
            Meeting::MOST_DAYS
        ));
    }
    free(&meeting)?;
    limits::size(&meeting.sparse())?;
    Ok(MeetingLine {
        meeting,
        create_date,
        update_date,
    })
}

/// What is free in a meeting has the limits that a booking has (C-54).
fn free(meeting: &Meeting) -> Result<(), String> {
    let form = meeting.form_data.iter().flatten();
    let long = form
        .map(|(name, _)| name)
        .find(|name| name.chars().nth(Meeting::MAX_NAME).is_some());
    if let Some(name) = long {
        let name = shared::text::cut(name, Meeting::MAX_NAME);
        return Err(format!(
            "formData.{name}: must have a name of at most {} characters",
            Meeting::MAX_NAME
        ));
    }
    let bytes = |part: &Map<String, Value>| serde_json::to_vec(part).map_or(usize::MAX, |json| json.len());
    let form = meeting.form_data.as_ref().map_or(0, bytes);
    if form.saturating_add(bytes(&meeting.properties)) > Meeting::MAX_FREE {
        return Err("formData: must have at most 16 KB together with properties".to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read_with(rest: &Value) -> Result<MeetingLine, String> {
        let mut line = json!({
            "id": 1, "calendarId": 5, "date": "2027-03-01T12:00:00Z", "endDate": "2027-03-01T12:30:00Z",
        });
        for (name, value) in rest.as_object().unwrap() {
            line[name] = value.clone();
        }
        match line {
            Value::Object(fields) => read(fields),
            _ => Err("no object".to_owned()),
        }
    }

    /// What is stored of a line, without the times that it does not say.
    #[track_caller]
    fn kept(rest: &Value) -> Value {
        let line = read_with(rest).unwrap();
        assert_eq!((line.create_date, line.update_date), (None, None));
        let mut fields = line.meeting.sparse();
        fields.retain(|name, _| !["createDate", "updateDate"].contains(&name.as_str()));
        Value::Object(fields)
    }

    #[test]
    fn what_a_line_leaves_out_has_its_default() {
        let bare = json!({
            "id": 1, "calendarId": 5, "date": "2027-03-01T12:00:00.000Z", "endDate": "2027-03-01T12:30:00.000Z",
            "status": "scheduled",
        });
        assert_eq!(kept(&json!({})), bare);
        let nothing = json!({
            "leadId": null, "opportunityId": null, "userId": null, "status": null, "formData": {}, "properties": null,
            "createDate": null, "updateDate": null,
        });
        assert_eq!(kept(&nothing), bare);
    }

    /// C-24.
    #[test]
    fn a_form_that_was_erased_is_none_that_was_empty() {
        let kept = kept(&json!({ "formData": null }));
        assert_eq!(kept.get("formData"), Some(&Value::Null));
    }

    #[test]
    fn free_fields_keep_what_they_say() {
        let text = r#"{"formData":{" b ":null,"a":[1e21,-0.0,4.0,12345678901234567890],"":{}},"properties":{"z":0,"a":[]}}"#;
        let kept = kept(&serde_json::from_str(text).unwrap());
        assert_eq!(
            [kept["formData"].to_string(), kept["properties"].to_string()],
            [
                r#"{" b ":null,"a":[1e+21,-0.0,4.0,12345678901234567890],"":{}}"#,
                r#"{"z":0,"a":[]}"#
            ]
        );
    }

    #[test]
    fn bad_fields_are_named() {
        let time = "must be a date-time such as 2026-11-21T12:00:00.000Z";
        for (rest, reason) in [
            (json!({ "calendarId": null }), "calendarId: is missing".to_owned()),
            (json!({ "date": null }), "date: is missing".to_owned()),
            (json!({ "date": "2027-03-01" }), format!("date: {time}")),
            (json!({ "endDate": null }), "endDate: is missing".to_owned()),
            (json!({ "updateDate": 5 }), format!("updateDate: {time}")),
            (
                json!({ "leadId": "7" }),
                "leadId: must be a whole number that is not negative".to_owned(),
            ),
            (
                json!({ "opportunityId": 0 }),
                "opportunityId: must be an id from 1 to 999999999999999".to_owned(),
            ),
            (
                json!({ "status": "cancelled" }),
                "status: must be scheduled or rescheduled or canceled".to_owned(),
            ),
            (
                json!({ "formData": [] }),
                "formData: must be an object".to_owned(),
            ),
            (
                json!({ "properties": "" }),
                "properties: must be an object".to_owned(),
            ),
            (
                json!({ "formData": { "n".repeat(65): 1 } }),
                format!(
                    "formData.{}: must have a name of at most 64 characters",
                    "n".repeat(64)
                ),
            ),
            (
                json!({ "formData": { "a": "x".repeat(8000) }, "properties": { "b": "y".repeat(8400) } }),
                "formData: must have at most 16 KB together with properties".to_owned(),
            ),
            (
                json!({ "rescheduleKey": "a" }),
                "rescheduleKey: unknown field".to_owned(),
            ),
        ] {
            assert_eq!(read_with(&rest).unwrap_err(), reason, "{rest}");
        }
    }

    #[test]
    fn a_meeting_ends_behind_its_start_and_soon_enough() {
        let until = |end: &str| read_with(&json!({ "endDate": end })).map(drop);
        assert_eq!(until("2027-03-01T12:00:00Z"), Ok(()));
        assert_eq!(until("2027-04-10T12:00:00Z"), Ok(()));
        assert_eq!(
            until("2027-03-01T11:59:59.999Z"),
            Err("endDate: must not be before date".to_owned())
        );
        assert_eq!(
            until("2027-04-10T12:00:00.001Z"),
            Err(
                "endDate: must be at most 40 days after date, because a meeting is written to each of its days"
                    .to_owned()
            )
        );
    }
}
