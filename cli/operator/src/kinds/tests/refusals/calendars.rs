//! Lines of calendars, meetings, tickets, files, calls and events.

use super::*;

#[test]
fn calendars() {
    assert_refused(
        Kind::Calendars,
        r#"
{ "keyName": "a b" } | keyName: must be 1 to 64 characters of A-Z, a-z, 0-9, _ and -
{ "keyName": "<a*65>" } | keyName: must be 1 to 64 characters of A-Z, a-z, 0-9, _ and -
{ "publicId": "" } | publicId: must be 1 to 64 characters of A-Z, a-z, 0-9, _ and -
{ "timezone": "Mars" } | timezone: must be an IANA time zone such as America/Sao_Paulo
{ "hours": { "mon": [["09:00", "09:00"]] } } | hours.mon[0]: must begin before 24:00 and end at another time, unlike 09:00 to 09:00
{ "durationMinutes": 0 } | durationMinutes: must be a whole number of minutes from 1 to 1440
{ "hours": { "mon": [["9:00", "12:00"]] } } | hours.mon[0][0]: must be a time from 00:00 to 24:00 such as 09:30
{ "horizon": { "type": "unlimited", "until": 3 } } | horizon.until: unknown field
{ "hours": { "monday": [] } } | hours.monday: unknown field, did you mean mon?
"#,
    );
}

#[test]
fn meetings() {
    assert_refused(
        Kind::Meetings,
        r#"
{ "date": "2027-03-01" } | date: <TIME>
{ "opportunityId": 0 } | opportunityId: must be an id from 1 to 999999999999999
{ "formData": { "<n*65>": 1 } } | formData.<n*64>: must have a name of at most 64 characters
{ "formData": { "a": "<x*8000>" }, "properties": { "b": "<y*8400>" } } | formData: must have at most 16 KB together with properties
{ "rescheduleKeys": "a" } | rescheduleKeys: unknown field
{ "endDate": "2027-03-01T11:59:59.999Z" } | endDate: must not be before date
{ "moves": 21 } | moves: must be at most 20
{ "endDate": "2027-03-22T12:00:00.001Z" } | endDate: must be at most 21 days after date, because a meeting is written to each of its days
"#,
    );
}

#[test]
fn tickets_and_files() {
    assert_refused(
        Kind::Tickets,
        r#"
{ "attendant": 0 } | attendant: must be an id from 1 to 999999999999999
{ "star": [5] } | star: must be text, a number, true, false or null
{ "files": [] } | files: unknown field
"#,
    );
    assert_refused(
        Kind::Files,
        r#"
{ "id": 0 } | <ID>
{ "lead": 1 } | lead: unknown field
"#,
    );
}

#[test]
fn calls_and_events() {
    assert_refused(
        Kind::Calls,
        r#"
{ "calls": 1 } | calls: unknown field
"#,
    );
    assert_refused(
        Kind::Events,
        r"
",
    );
}
