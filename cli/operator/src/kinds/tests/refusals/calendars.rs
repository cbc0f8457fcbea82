//! Lines of calendars, meetings, tickets, files, calls and events.

use super::*;

#[test]
fn calendars() {
    assert_refused(
        Kind::Calendars,
        r#"
{ "name": null } | name: is missing
{ "name": "" } | name: must not be empty
{ "name": "<é*256>" } | name: must have at most 255 characters
{ "keyName": "a b" } | keyName: must be 1 to 64 characters of A-Z, a-z, 0-9, _ and -
{ "keyName": "<a*65>" } | keyName: must be 1 to 64 characters of A-Z, a-z, 0-9, _ and -
{ "publicId": "" } | publicId: must be 1 to 64 characters of A-Z, a-z, 0-9, _ and -
{ "publicId": null } | publicId: is missing
{ "userId": null } | userId: is missing
{ "hours": null } | hours: is missing
{ "isPublished": "yes" } | isPublished: must be true or false
{ "durationMinutes": 0 } | durationMinutes: must be a whole number of minutes from 1 to 1440
{ "hours": { "mon": [["9:00", "12:00"]] } } | hours.mon[0][0]: must be a time from 00:00 to 24:00 such as 09:30
{ "createDate": "today" } | createDate: <TIME>
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
{ "calendarId": null } | calendarId: is missing
{ "date": null } | date: is missing
{ "date": "2027-03-01" } | date: <TIME>
{ "endDate": null } | endDate: is missing
{ "updateDate": 5 } | updateDate: <TIME>
{ "leadId": "7a" } | leadId: <NUMBER>
{ "opportunityId": 0 } | opportunityId: must be an id from 1 to 999999999999999
{ "status": "cancelled" } | status: must be scheduled or rescheduled or canceled
{ "formData": [] } | formData: must be an object
{ "properties": "" } | properties: must be an object
{ "formData": { "<n*65>": 1 } } | formData.<n*64>: must have a name of at most 64 characters
{ "formData": { "a": "<x*8000>" }, "properties": { "b": "<y*8400>" } } | formData: must have at most 16 KB together with properties
{ "rescheduleKeys": "a" } | rescheduleKeys: unknown field
{ "endDate": "2027-03-01T11:59:59.999Z" } | endDate: must not be before date
{ "moves": 21 } | moves: must be at most 20
{ "moves": -1 } | moves: <NUMBER>
{ "endDate": "2027-03-22T12:00:00.001Z" } | endDate: must be at most 21 days after date, because a meeting is written to each of its days
"#,
    );
}

#[test]
fn tickets_and_files() {
    assert_refused(
        Kind::Tickets,
        r#"
{ "id": null } | id: is missing
{ "lead_relation": "-1" } | lead_relation: <NUMBER>
{ "unread": -1 } | unread: <NUMBER>
{ "attendant": 0 } | attendant: must be an id from 1 to 999999999999999
{ "name": true } | name: must be text
{ "star": [5] } | star: must be text, a number, true, false or null
{ "endDate": "today" } | endDate: <TIME>
{ "files": [] } | files: unknown field
"#,
    );
    assert_refused(
        Kind::Files,
        r#"
{ "ticket": null } | ticket: is missing
{ "store_path": null } | store_path: is missing
{ "store_path": "<é*251>" } | store_path: must have at most 250 characters
{ "id": 0 } | <ID>
{ "type": 1 } | type: must be text
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
{ "createDate": "today" } | createDate: <TIME>
{ "leadName": "<é*65>" } | leadName: must have at most 64 characters
{ "service": "<é*33>" } | service: must have at most 32 characters
{ "description": "<é*1001>" } | description: must have at most 1000 characters
{ "type": "incoming" } | type: must be INCOMING or OUTGOING
"#,
    );
    assert_refused(
        Kind::Events,
        r#"
{ "phone": "<1*65>" } | phone: must have at most 64 characters
{ "callId": "<é*65>" } | callId: must have at most 64 characters
"#,
    );
}
