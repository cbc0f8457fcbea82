//! A ticket's line and a file's. What they refer to is checked where they are written, but for the attendant.

use serde_json::{Map, Value};
use shared::store::operator::TicketLine;
use shared::ticket::{Ticket, TicketFile};
use shared::time::Timestamp;

use super::limits::{self, within};
use super::line::{self, take_dates};

/// The fields that answers derive from times, in Unix seconds, and the times (C-62).
const DERIVED: [(&str, &str); 3] = [
    ("createDateUnix", "createDate"),
    ("updateDateUnix", "updateDate"),
    ("lastMesssageUserUnix", "lastMesssageUser"),
];

/// Reads a ticket's fields.
pub fn read(mut fields: Map<String, Value>) -> Result<TicketLine, String> {
    for (derived, time) in DERIVED {
        let value = fields.shift_remove(derived).filter(|value| !value.is_null());
        value.map_or(Ok(()), |value| agrees(&value, derived, fields.get(time), time))?;
    }
    let (create_date, update_date) = take_dates(&mut fields)?;
    let ticket: Ticket = line::read(fields)?;
    limits::size(&ticket.sparse())?;
    Ok(TicketLine {
        ticket,
        create_date,
        update_date,
    })
}

/// What is derived is not stored, so it must say nothing else.
fn agrees(seconds: &Value, derived: &str, date: Option<&Value>, time: &str) -> Result<(), String> {
    let date = date.and_then(Value::as_str).and_then(Timestamp::parse);
    let same = date.is_some_and(|date| seconds.as_i64() == Some(date.unix_seconds()));
    same.then_some(())
        .ok_or_else(|| format!("{derived}: must be the Unix seconds of {time}"))
}

/// Reads a file's fields.
pub fn read_file(fields: Map<String, Value>) -> Result<TicketFile, String> {
    let file: TicketFile = line::read(fields)?;
    if file.id.is_none() && file.store_path.is_none() {
        return Err("store_path: is missing".to_owned());
    }
    within("store_path", file.store_path.as_deref(), TicketFile::MOST_PATH)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fields(mut line: Value, rest: &Value) -> Map<String, Value> {
        for (name, value) in rest.as_object().unwrap() {
            line[name] = value.clone();
        }
        line.as_object().unwrap().clone()
    }

    fn read_with(rest: &Value) -> Result<TicketLine, String> {
        read(fields(json!({ "id": 501 }), rest))
    }

    fn file_with(rest: &Value) -> Result<TicketFile, String> {
        read_file(fields(json!({ "ticket": 501, "store_path": "s/10" }), rest))
    }

    /// What is stored of a line, without the times that it does not say.
    #[track_caller]
    fn kept(rest: &Value) -> Value {
        let line = read_with(rest).unwrap();
        assert_eq!((line.create_date, line.update_date), (None, None));
        let mut fields = line.ticket.sparse();
        fields.retain(|name, _| !["createDate", "updateDate"].contains(&name.as_str()));
        Value::Object(fields)
    }

    #[test]
    fn what_a_line_leaves_out_has_its_default() {
        let bare = json!({ "id": 501 });
        assert_eq!(kept(&json!({})), bare);
        let nothing = json!({
            "lead_relation": null, "attendant": null, "unread": null, "sequence": 0, "createDate": null,
            "lastMesssageUserUnix": null, "opportunity": null, "name": null,
        });
        assert_eq!(kept(&nothing), bare);
    }

    /// C-62.
    #[test]
    fn derived_fields_say_what_they_are_derived_from() {
        let times = json!({
            "createDate": "2026-05-01T10:00:00.999Z", "createDateUnix": 1_777_629_600,
            "updateDate": "2026-05-01T07:40:00-03:00", "updateDateUnix": 1_777_632_000,
            "lastMesssageUser": "2026-05-01T10:30:00.000Z", "lastMesssageUserUnix": 1_777_631_400,
        });
        assert!(read_with(&times).is_ok());
        for (name, time) in DERIVED {
            for wrong in [json!(1), json!("1777629600"), json!(1.5)] {
                let mut line = times.clone();
                line[name] = wrong;
                assert_eq!(
                    read_with(&line).unwrap_err(),
                    format!("{name}: must be the Unix seconds of {time}")
                );
            }
        }
        assert!(read_with(&json!({ "createDateUnix": 5 })).is_err());
    }

    #[test]
    fn bad_fields_are_named() {
        let number = "must be a whole number that is not negative";
        for (rest, reason) in [
            (json!({ "id": null }), "id: is missing".to_owned()),
            (
                json!({ "lead_relation": "1" }),
                format!("lead_relation: {number}"),
            ),
            (json!({ "unread": -1 }), format!("unread: {number}")),
            (
                json!({ "attendant": 0 }),
                "attendant: must be an id from 1 to 999999999999999".to_owned(),
            ),
            (json!({ "name": 5 }), "name: must be text".to_owned()),
            (
                json!({ "star": [5] }),
                "star: must be text, a number, true, false or null".to_owned(),
            ),
            (
                json!({ "endDate": "today" }),
                "endDate: must be a date-time such as 2026-11-21T12:00:00.000Z".to_owned(),
            ),
            (json!({ "files": [] }), "files: unknown field".to_owned()),
        ] {
            assert_eq!(read_with(&rest).unwrap_err(), reason, "{rest}");
        }
    }

    #[test]
    fn bad_fields_of_files_are_named() {
        for (rest, reason) in [
            (json!({ "ticket": null }), "ticket: is missing"),
            (json!({ "store_path": null }), "store_path: is missing"),
            (
                json!({ "store_path": "é".repeat(251) }),
                "store_path: must have at most 250 characters",
            ),
            (json!({ "id": 0 }), "id: must be an id from 1 to 999999999999999"),
            (json!({ "type": 1 }), "type: must be text"),
            (json!({ "lead": 1 }), "lead: unknown field"),
        ] {
            assert_eq!(file_with(&rest).unwrap_err(), reason, "{rest}");
        }
        assert!(file_with(&json!({ "store_path": null, "id": 7 })).is_ok());
        assert!(file_with(&json!({ "store_path": "é".repeat(250) })).is_ok());
    }
}
