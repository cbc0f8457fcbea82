//! The reasons for which lines are refused. Each begins with the field at fault.

#![expect(clippy::too_many_lines, reason = "a table is as long as it has cases")]

mod calendars;
mod sales;

use super::*;

const ID: &str = "id: must be an id from 1 to 999999999999999";
const NUMBER: &str = "must be a whole number that is not negative";
const TIME: &str = "must be a date-time such as 2026-11-21T12:00:00.000Z";

/// Expands the abbreviations of a table's text: `<ID>`, `<NUMBER>` and `<TIME>` are the rules above, and `<a*256>` is a
/// letter 256 times.
fn expanded(text: &str) -> String {
    let text = text
        .replace("<ID>", ID)
        .replace("<NUMBER>", NUMBER)
        .replace("<TIME>", TIME);
    let mut parts = text.split('<');
    let mut out = parts.next().unwrap().to_owned();
    for part in parts {
        let (repeated, rest) = part.split_once('>').unwrap();
        let (letter, times) = repeated.split_once('*').unwrap();
        out += &letter.repeat(times.parse().unwrap());
        out += rest;
    }
    out
}

/// Requires the reasons for good lines with other fields. Each case is `FIELDS | REASON`.
#[track_caller]
fn assert_refused(kind: Kind, cases: &str) {
    for case in cases.trim().lines() {
        let (rest, reason) = case.split_once(" | ").unwrap();
        let line = with(kind, &serde_json::from_str(&expanded(rest)).unwrap());
        assert_eq!(refused(&line), expanded(reason), "{rest}");
    }
}

#[test]
fn lines_that_are_no_record() {
    for (line, reason) in [
        ("{", "not JSON: EOF while parsing an object at column 1"),
        ("[]", "must be a JSON object"),
        ("{}", "kind: is missing"),
        (r#"{"kind":7}"#, "kind: must be text"),
        (
            r#"{"kind":"message","id":1}"#,
            r#"unknown kind "message"; the kinds are setting, department, group, user, profile, tag, lossReason, company, lead, funnel, opportunity, calendar, meeting, ticket, file, hook, call, event, report, automation"#,
        ),
        (
            r#"{"kind":"lead","id":1,"notas":[{"chave":35261112345678901234567890123456789012345678}]}"#,
            "notas[0].chave: must be sent as text, because a number cannot hold it exactly",
        ),
        (
            r#"{"kind":"opportunity","id":1,"fields":{"Chave":-1e400}}"#,
            "fields.Chave: must be sent as text, because a number cannot hold it exactly",
        ),
    ] {
        assert_eq!(refused(line), reason, "{line}");
    }
}

#[test]
fn settings_departments_groups_and_people() {
    assert_refused(
        Kind::Settings,
        r#"
{ "value": 2 } | value: page_base must be 0 or 1
{ "x": 1 } | x: unknown field
"#,
    );
    assert_eq!(refused(r#"{"kind":"setting","value":1}"#), "name: is missing");
    assert_eq!(
        refused(r#"{"kind":"setting","name":"page_base"}"#),
        "value: is missing"
    );
    let unknown = refused(&with(Kind::Settings, &json!({ "name": "pages" })));
    assert!(unknown.starts_with("name: unknown setting"), "{unknown}");
    assert_refused(
        Kind::Departments,
        r"
",
    );
    assert_refused(
        Kind::Groups,
        r#"
{ "permissions": { "leads": "some" } } | permissions.leads: must be all or department or own or none
"#,
    );
    assert_refused(
        Kind::Users,
        r"
",
    );
    assert_eq!(refused(r#"{"kind":"user","id":1}"#), "name: is missing");
    assert_refused(
        Kind::Profiles,
        r#"
{ "number": "none" } | number: must be a telephone number
{ "number": "11 98765-7713 / 7714-0000" } | number: must be one telephone number; write a line for each
"#,
    );
    assert_refused(
        Kind::Companies,
        r#"
{ "vat": 1 } | vat: unknown field
{ "points": 1e300 } | points: must be from -1e15 to 1e15
"#,
    );
}

#[test]
fn tags_and_loss_reasons() {
    assert_refused(
        Kind::Tags,
        r#"
{ "id": 0 } | <ID>
"#,
    );
    assert_refused(
        Kind::LossReasons,
        r#"
{ "id": 0 } | <ID>
"#,
    );
}

#[test]
fn reports() {
    assert_refused(
        Kind::Reports,
        r#"
{ "id": 0 } | <ID>
{ "measure": "sum", "field": "points" } | field: must be value or duration
{ "filters": { "status": "open" } } | filters.status: must be COMPLETE or INCOMPLETE, or a list of such
{ "filters": { "service": "x" }, "entity": "opportunities" } | filters.service: is unknown; opportunities are filtered by status or column or funnel or user or channel
{ "field": "duration" } | field: must be absent where measure is count
{ "groupBy": "column" } | groupBy: must be day or week or month or status or user or service or type for calls
"#,
    );
}

#[test]
fn automations() {
    assert_refused(
        Kind::Automations,
        r#"
{ "name": "" } | name: must have 1 to 255 characters
{ "name": "<é*256>" } | name: must have 1 to 255 characters
{ "trigger": "leadEmail" } | trigger: must be leadPhoneCall or lead or opportunity or meeting or form
{ "event": "missed" } | event: must be received or created or updated or ownerChanged or archived or columnChanged or statusChanged or booked or moved or canceled
{ "event": "booked" } | event: leadPhoneCall.booked does not exist
{ "trigger": "lead", "event": "received" } | event: lead.received does not exist
{ "trigger": "lead", "event": "created", "filters": { "funnel": 3 } } | filters.funnel: does not apply to this trigger
{ "trigger": "opportunity", "event": "created", "filters": { "column": 31 } } | filters.column: needs its funnel
{ "trigger": "opportunity", "event": "created", "filters": { "operatorNumber": "1" } } | filters.operatorNumber: does not apply to this trigger
{ "trigger": "meeting", "event": "moved", "filters": { "source": "" } } | filters.source: must have 1 to 255 characters
{ "filters": { "queue": 1 } } | filters.queue: unknown field
{ "actions": [] } | actions: must have 1 to 20 elements
"#,
    );
    assert_eq!(
        refused(&with(
            Kind::Automations,
            &json!({ "actions": vec![json!({ "type": "addPoints", "points": 1 }); 21] })
        )),
        "actions: must have 1 to 20 elements"
    );
}

#[test]
fn actions() {
    for (action, reason) in [
        (
            json!({ "type": "addPoints", "points": 2_000_000_000_000_000_i64 }),
            ".points: must be from -1e15 to 1e15",
        ),
        (
            json!({ "type": "addAccess" }),
            ".users: must not be empty where departments is",
        ),
        (
            json!({ "type": "createOpportunity", "funnel": 3, "column": 31, "title": "" }),
            ".title: must have 1 to 255 characters",
        ),
        (
            json!({ "type": "notify", "url": "https://erp.example/h", "secret": "" }),
            ".secret: must have 1 to 255 characters",
        ),
        (
            json!({ "type": "notify", "url": "ftp://erp.example/h", "secret": "s" }),
            ": must be a URL such as https://example.com/hook",
        ),
        (
            json!({ "type": "notify", "url": "https://169.254.169.254/h", "secret": "s" }),
            ": must not lead to a link-local address",
        ),
        (
            json!({ "type": "notify", "url": "https://erp.example/h", "secret": "s", "method": "DELETE" }),
            ": must be POST or PUT or PATCH or GET",
        ),
        (
            json!({ "type": "notify", "url": "https://erp.example/h", "secret": "s", "headers": { "Host": "x" } }),
            ".headers.Host: is set by the service",
        ),
        (
            json!({ "type": "notify", "url": "https://erp.example/h", "secret": "s", "body": ["{deal=title}"] }),
            ".body: {deal=title} is no placeholder",
        ),
        (
            json!({ "type": "notify", "url": "https://erp.example/{deal=title}", "secret": "s" }),
            ".url: {deal=title} is no placeholder",
        ),
        (
            json!({ "type": "notify", "url": "https://erp.example/?a={form=a b}", "secret": "s" }),
            ".url: {form=a b} has a value only under the trigger form",
        ),
        (
            json!({ "type": "notify", "url": "https://erp.example/", "secret": "s", "method": "GET", "body": [] }),
            ".body: is not sent by GET",
        ),
        (
            json!({ "type": "createOpportunity", "funnel": 3, "column": 31, "title": "{op=title}" }),
            ".title: {op=title} has a value only under the trigger opportunity or meeting",
        ),
        (
            json!({ "type": "notify", "url": "https://erp.example/", "secret": "s", "headers": { "x-a": "{deal=title}" } }),
            ".headers: a value has an unknown placeholder",
        ),
        (
            json!({ "type": "createOpportunity", "funnel": 3, "column": 31, "title": "{op=}" }),
            ".title: {op=} is no placeholder",
        ),
        (json!({ "type": "setOwner" }), ".user: is missing"),
        (
            json!({ "type": "setOwner", "user": 8, "team": 1 }),
            ".team: unknown field",
        ),
        (
            json!({ "type": "sendMail" }),
            ".type: must be addPoints or setOwner or addAccess or createOpportunity or notify",
        ),
    ] {
        let text = with(Kind::Automations, &json!({ "actions": [action] }));
        assert_eq!(refused(&text), format!("actions[0]{reason}"));
    }
}

#[test]
fn forms() {
    assert_refused(
        Kind::Hooks,
        r#"
{ "token": null } | token: is missing
{ "token": "a b" } | token: must be 1 to 256 visible ASCII characters
{ "token": 5 } | token: must be 1 to 256 visible ASCII characters
{ "token": null, "tokenHash": "x" } | tokenHash: must be 64 hexadecimal digits in lower case
{ "name": "a b" } | name: must be 1 to 64 characters of A-Z, a-z, 0-9, _ and -
{ "fields": [{ "name": "a", "to": "points" }] } | fields[0].to: is not a field that a form can set
{ "opportunity": { "column": 31, "title": "" } } | opportunity.title: must have 1 to 255 characters
"#,
    );
}
