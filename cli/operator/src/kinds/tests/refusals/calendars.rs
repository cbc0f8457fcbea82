//! Lines of calendars, meetings, tickets, files, calls and events.

use super::*;

#[test]
fn calendars() {
    let link = "must be 1 to 64 characters of A-Z, a-z, 0-9, _ and -";
    let (key, public, date) = (
        format!("keyName: {link}"),
        format!("publicId: {link}"),
        format!("createDate: {TIME}"),
    );
    assert_refused(
        Kind::Calendars,
        [
            (json!({ "name": null }), "name: is missing"),
            (json!({ "name": "" }), "name: must not be empty"),
            (
                json!({ "name": "é".repeat(256) }),
                "name: must have at most 255 characters",
            ),
            (json!({ "keyName": "a b" }), &key),
            (json!({ "keyName": "a".repeat(65) }), &key),
            (json!({ "publicId": "" }), &public),
            (json!({ "publicId": null }), "publicId: is missing"),
            (json!({ "userId": null }), "userId: is missing"),
            (json!({ "hours": null }), "hours: is missing"),
            (json!({ "isPublished": 1 }), "isPublished: must be true or false"),
            (
                json!({ "durationMinutes": 0 }),
                "durationMinutes: must be a whole number of minutes from 1 to 1440",
            ),
            (
                json!({ "hours": { "mon": [["9:00", "12:00"]] } }),
                "hours.mon[0][0]: must be a time from 00:00 to 24:00 such as 09:30",
            ),
            (json!({ "createDate": "today" }), &date),
            (
                json!({ "horizon": { "type": "unlimited", "until": 3 } }),
                "horizon.until: unknown field",
            ),
            (
                json!({ "hours": { "monday": [] } }),
                "hours.monday: unknown field",
            ),
        ],
    );
}

#[test]
fn meetings() {
    let [date, update] = ["date", "updateDate"].map(|name| format!("{name}: {TIME}"));
    let lead = format!("leadId: {NUMBER}");
    let name = format!(
        "formData.{}: must have a name of at most 64 characters",
        "n".repeat(64)
    );
    assert_refused(
        Kind::Meetings,
        [
            (json!({ "calendarId": null }), "calendarId: is missing"),
            (json!({ "date": null }), "date: is missing"),
            (json!({ "date": "2027-03-01" }), &date),
            (json!({ "endDate": null }), "endDate: is missing"),
            (json!({ "updateDate": 5 }), &update),
            (json!({ "leadId": "7" }), &lead),
            (
                json!({ "opportunityId": 0 }),
                "opportunityId: must be an id from 1 to 999999999999999",
            ),
            (
                json!({ "status": "cancelled" }),
                "status: must be scheduled or rescheduled or canceled",
            ),
            (json!({ "formData": [] }), "formData: must be an object"),
            (json!({ "properties": "" }), "properties: must be an object"),
            (json!({ "formData": { "n".repeat(65): 1 } }), &name),
            (
                json!({ "formData": { "a": "x".repeat(8000) }, "properties": { "b": "y".repeat(8400) } }),
                "formData: must have at most 16 KB together with properties",
            ),
            (json!({ "rescheduleKeys": "a" }), "rescheduleKeys: unknown field"),
            (
                json!({ "endDate": "2027-03-01T11:59:59.999Z" }),
                "endDate: must not be before date",
            ),
            (
                json!({ "endDate": "2027-04-10T12:00:00.001Z" }),
                "endDate: must be at most 40 days after date, because a meeting is written to each of its days",
            ),
        ],
    );
}

#[test]
fn tickets_and_files() {
    let [lead, unread] = ["lead_relation", "unread"].map(|name| format!("{name}: {NUMBER}"));
    let end = format!("endDate: {TIME}");
    assert_refused(
        Kind::Tickets,
        [
            (json!({ "id": null }), "id: is missing"),
            (json!({ "lead_relation": "1" }), &lead),
            (json!({ "unread": -1 }), &unread),
            (
                json!({ "attendant": 0 }),
                "attendant: must be an id from 1 to 999999999999999",
            ),
            (json!({ "name": 5 }), "name: must be text"),
            (
                json!({ "star": [5] }),
                "star: must be text, a number, true, false or null",
            ),
            (json!({ "endDate": "today" }), &end),
            (json!({ "files": [] }), "files: unknown field"),
        ],
    );
    assert_refused(
        Kind::Files,
        [
            (json!({ "ticket": null }), "ticket: is missing"),
            (json!({ "store_path": null }), "store_path: is missing"),
            (
                json!({ "store_path": "é".repeat(251) }),
                "store_path: must have at most 250 characters",
            ),
            (json!({ "id": 0 }), ID),
            (json!({ "type": 1 }), "type: must be text"),
            (json!({ "lead": 1 }), "lead: unknown field"),
        ],
    );
}

#[test]
fn calls_and_events() {
    let date = format!("createDate: {TIME}");
    assert_refused(
        Kind::Calls,
        [
            (json!({ "calls": 1 }), "calls: unknown field"),
            (json!({ "createDate": "today" }), &date),
            (
                json!({ "leadName": "é".repeat(65) }),
                "leadName: must have at most 64 characters",
            ),
            (
                json!({ "service": "é".repeat(33) }),
                "service: must have at most 32 characters",
            ),
            (
                json!({ "description": "é".repeat(1001) }),
                "description: must have at most 1000 characters",
            ),
            (
                json!({ "type": "incoming" }),
                "type: must be INCOMING or OUTGOING",
            ),
        ],
    );
    assert_refused(
        Kind::Events,
        [
            (
                json!({ "phone": "1".repeat(65) }),
                "phone: must have at most 64 characters",
            ),
            (
                json!({ "callId": "é".repeat(65) }),
                "callId: must have at most 64 characters",
            ),
        ],
    );
}
