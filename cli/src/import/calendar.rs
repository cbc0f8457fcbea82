//! A calendar's line. Whether its names are its own alone is known only where it is written.

use serde_json::{Map, Value};
use shared::calendar::Calendar;
use shared::store::operator::CalendarLine;

use super::limits::{self, within};
use super::line::{self, take_dates};

/// The most characters of a name.
const MOST_NAME: usize = 255;

/// Reads a calendar's fields.
pub fn read(mut fields: Map<String, Value>) -> Result<CalendarLine, String> {
    let (create_date, update_date) = take_dates(&mut fields)?;
    let calendar: Calendar = line::read(fields)?;
    if calendar.name.is_empty() {
        return Err("name: must not be empty".to_owned());
    }
    within("name", Some(&calendar.name), MOST_NAME)?;
    limits::size(&calendar)?;
    Ok(CalendarLine {
        calendar,
        create_date,
        update_date,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read_with(rest: &Value) -> Result<CalendarLine, String> {
        let mut line = json!({
            "id": 5, "name": "Demonstração", "keyName": "demo", "publicId": "pub_5", "userId": 7,
            "timezone": "America/Sao_Paulo", "durationMinutes": 30, "hours": {},
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
        let mut fields = json!(line.calendar);
        let times = ["createDate", "updateDate"];
        fields
            .as_object_mut()
            .unwrap()
            .retain(|name, _| !times.contains(&name.as_str()));
        fields
    }

    #[test]
    fn what_a_line_leaves_out_has_its_default() {
        let bare = json!({
            "id": 5, "name": "Demonstração", "keyName": "demo", "publicId": "pub_5", "isPublished": false, "userId": 7,
            "timezone": "America/Sao_Paulo", "durationMinutes": 30, "bufferMinutes": 0, "minimumNoticeMinutes": 0,
            "hours": { "mon": [], "tue": [], "wed": [], "thu": [], "fri": [], "sat": [], "sun": [] },
            "dates": {}, "horizon": { "type": "unlimited" },
        });
        assert_eq!(kept(&json!({})), bare);
        let nothing = json!({
            "isPublished": null, "bufferMinutes": null, "minimumNoticeMinutes": null, "dates": null, "horizon": null,
            "createDate": null, "updateDate": null,
        });
        assert_eq!(kept(&nothing), bare);
    }

    #[test]
    fn bad_fields_are_named() {
        let link = "must be 1 to 64 characters of A-Z, a-z, 0-9, _ and -";
        for (rest, reason) in [
            (json!({ "name": null }), "name: is missing".to_owned()),
            (json!({ "name": "" }), "name: must not be empty".to_owned()),
            (
                json!({ "name": "é".repeat(256) }),
                "name: must have at most 255 characters".to_owned(),
            ),
            (json!({ "keyName": "a b" }), format!("keyName: {link}")),
            (json!({ "keyName": "a".repeat(65) }), format!("keyName: {link}")),
            (json!({ "publicId": "" }), format!("publicId: {link}")),
            (json!({ "publicId": null }), "publicId: is missing".to_owned()),
            (json!({ "userId": null }), "userId: is missing".to_owned()),
            (json!({ "hours": null }), "hours: is missing".to_owned()),
            (
                json!({ "isPublished": 1 }),
                "isPublished: must be true or false".to_owned(),
            ),
            (
                json!({ "durationMinutes": 0 }),
                "durationMinutes: must be a whole number of minutes from 1 to 1440".to_owned(),
            ),
            (
                json!({ "hours": { "mon": [["9:00", "12:00"]] } }),
                "hours.mon[0][0]: must be a time from 00:00 to 24:00 such as 09:30".to_owned(),
            ),
            (
                json!({ "createDate": "today" }),
                "createDate: must be a date-time such as 2026-11-21T12:00:00.000Z".to_owned(),
            ),
        ] {
            assert_eq!(read_with(&rest).unwrap_err(), reason, "{rest}");
        }
        assert!(read_with(&json!({ "name": "é".repeat(255) })).is_ok());
    }

    #[test]
    fn unknown_fields_are_named() {
        for (rest, name) in [
            (
                json!({ "horizon": { "type": "unlimited", "until": 3 } }),
                "horizon.until",
            ),
            (json!({ "hours": { "monday": [] } }), "hours.monday"),
            (json!({ "nextMeeting": null, "color": "red" }), "color"),
        ] {
            let reason = format!("{name}: unknown field");
            assert_eq!(read_with(&rest).unwrap_err(), reason, "{rest}");
        }
    }
}
