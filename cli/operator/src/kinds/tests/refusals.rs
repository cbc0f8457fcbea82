//! The reasons for which lines are refused. Each begins with the field at fault.

#![expect(clippy::too_many_lines, reason = "a table is as long as it has cases")]

mod calendars;
mod sales;

use super::*;

/// Requires the reasons for good lines with other fields.
#[track_caller]
fn assert_refused<const N: usize>(kind: Kind, cases: [(Value, &str); N]) {
    for (rest, reason) in cases {
        assert_eq!(refused(&with(kind, &rest)), reason, "{rest}");
    }
}

const ID: &str = "id: must be an id from 1 to 999999999999999";
const NUMBER: &str = "must be a whole number that is not negative";
const TIME: &str = "must be a date-time such as 2026-11-21T12:00:00.000Z";

#[test]
fn lines_that_are_no_record() {
    for (line, reason) in [
        ("{", "not JSON: EOF while parsing an object at column 1"),
        ("[]", "must be a JSON object"),
        ("{}", "kind: is missing"),
        (r#"{"kind":7}"#, "kind: must be text"),
        (r#"{"kind":"message","id":1}"#, r#"unknown kind "message""#),
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
        [
            (json!({ "value": 2 }), "value: page_base must be 0 or 1"),
            (json!({ "name": 1 }), "name: must be text"),
            (json!({ "x": 1 }), "x: unknown field"),
        ],
    );
    assert_eq!(refused(r#"{"kind":"setting","value":1}"#), "name: is missing");
    assert_eq!(
        refused(r#"{"kind":"setting","name":"page_base"}"#),
        "value: is missing"
    );
    let unknown = refused(&with(Kind::Settings, &json!({ "name": "pages" })));
    assert!(unknown.starts_with("name: unknown setting"), "{unknown}");
    let id = format!("id: {NUMBER}");
    assert_refused(
        Kind::Departments,
        [
            (json!({ "id": "1" }), &id),
            (json!({ "show_crm": 2 }), "show_crm: must be 0 or 1"),
        ],
    );
    assert_refused(
        Kind::Groups,
        [
            (json!({ "permissions": null }), "permissions: is missing"),
            (
                json!({ "permissions": { "leads": "some" } }),
                "permissions.leads: must be all or department or own or none",
            ),
        ],
    );
    let last_login = format!("last_login: {TIME}");
    assert_refused(
        Kind::Users,
        [
            (json!({ "name": null }), "name: is missing"),
            (json!({ "branch": [] }), "branch: must be a number or text"),
            (json!({ "last_login": "hoje" }), &last_login),
        ],
    );
    assert_eq!(refused(r#"{"kind":"user","id":1}"#), "name: is missing");
    assert_refused(
        Kind::Profiles,
        [(json!({ "number": "none" }), "number: must be a telephone number")],
    );
    assert_refused(
        Kind::Companies,
        [
            (json!({ "vat": 1 }), "vat: unknown field"),
            (json!({ "points": 1e300 }), "points: must be from -1e15 to 1e15"),
        ],
    );
}

#[test]
fn tags_and_loss_reasons() {
    let long = "é".repeat(256);
    assert_refused(
        Kind::Tags,
        [
            (json!({ "id": 0 }), ID),
            (json!({ "tag": null }), "tag: is missing"),
            (json!({ "tag": "" }), "tag: must not be empty"),
            (json!({ "tag": long }), "tag: must have at most 255 characters"),
            (
                json!({ "color": "é".repeat(65) }),
                "color: must have at most 64 characters",
            ),
            (json!({ "color": 7 }), "color: must be text"),
        ],
    );
    assert_refused(
        Kind::LossReasons,
        [
            (json!({ "id": 0 }), ID),
            (json!({ "name": null }), "name: is missing"),
            (json!({ "name": "" }), "name: must not be empty"),
            (json!({ "name": long }), "name: must have at most 255 characters"),
        ],
    );
}

#[test]
fn reports() {
    let date = format!("createDate: {TIME}");
    assert_refused(
        Kind::Reports,
        [
            (json!({ "id": null }), "id: is missing"),
            (json!({ "id": 0 }), ID),
            (json!({ "name": null }), "name: is missing"),
            (json!({ "name": "" }), "name: must not be empty"),
            (
                json!({ "name": "é".repeat(256) }),
                "name: must have at most 255 characters",
            ),
            (json!({ "type": "area" }), "type: must be bar or line or pie"),
            (
                json!({ "entity": "people" }),
                "entity: must be leads or opportunities or tickets or meetings or calls",
            ),
            (
                json!({ "measure": "max" }),
                "measure: must be count or sum or average",
            ),
            (
                json!({ "measure": "sum", "field": "points" }),
                "field: must be value or duration",
            ),
            (json!({ "groupBy": null }), "groupBy: is missing"),
            (json!({ "filters": [] }), "filters: must be an object"),
            (
                json!({ "filters": { "status": "open" } }),
                "filters.status: must be COMPLETE or INCOMPLETE, or a list of such",
            ),
            (
                json!({ "groupBy": "column" }),
                "groupBy: must be day or week or month or status or user or service or type for calls",
            ),
            (json!({ "createDate": "today" }), &date),
        ],
    );
}

#[test]
fn automations() {
    assert_refused(
        Kind::Automations,
        [
            (json!({ "id": null }), "id: is missing"),
            (json!({ "name": "" }), "name: must have 1 to 255 characters"),
            (
                json!({ "name": "é".repeat(256) }),
                "name: must have 1 to 255 characters",
            ),
            (
                json!({ "trigger": "leadEmail" }),
                "trigger: must be leadPhoneCall or lead or opportunity or meeting",
            ),
            (
                json!({ "event": "missed" }),
                "event: must be received or created or updated or ownerChanged or archived or columnChanged or statusChanged or booked or moved",
            ),
            (
                json!({ "event": "booked" }),
                "event: leadPhoneCall.booked does not exist",
            ),
            (
                json!({ "trigger": "lead", "event": "received" }),
                "event: lead.received does not exist",
            ),
            (
                json!({ "trigger": "lead", "event": "created", "filters": { "funnel": 3 } }),
                "filters.funnel: does not apply to this trigger",
            ),
            (
                json!({ "trigger": "opportunity", "event": "created", "filters": { "column": 31 } }),
                "filters.column: needs its funnel",
            ),
            (
                json!({ "trigger": "opportunity", "event": "created", "filters": { "operatorNumber": "1" } }),
                "filters.operatorNumber: does not apply to this trigger",
            ),
            (
                json!({ "trigger": "meeting", "event": "moved", "filters": { "source": "" } }),
                "filters.source: must have 1 to 255 characters",
            ),
            (
                json!({ "filters": { "queue": 1 } }),
                "filters.queue: unknown field",
            ),
            (json!({ "actions": null }), "actions: is missing"),
            (json!({ "actions": [] }), "actions: must have 1 to 20 elements"),
            (
                json!({ "actions": vec![json!({ "type": "addPoints", "points": 1 }); 21] }),
                "actions: must have 1 to 20 elements",
            ),
        ],
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
            json!({ "type": "notify", "url": "http://erp.example/h", "secret": "s" }),
            ": must be an https URL such as https://example.com/hook",
        ),
        (
            json!({ "type": "notify", "url": "https://10.0.0.1/h", "secret": "s" }),
            ": must not lead to a private address",
        ),
        (
            json!({ "type": "notify", "url": "https://erp.example/h", "secret": "s", "method": "GET" }),
            ": must be POST or PUT or PATCH",
        ),
        (
            json!({ "type": "notify", "url": "https://erp.example/h", "secret": "s", "headers": { "Host": "x" } }),
            ".headers.Host: is set by the service",
        ),
        (
            json!({ "type": "notify", "url": "https://erp.example/h", "secret": "s", "body": ["{deal=title}"] }),
            ".body: {deal=title} is no placeholder",
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
        [
            (json!({ "token": null }), "token: is missing"),
            (
                json!({ "token": "a b" }),
                "token: must be 1 to 256 visible ASCII characters",
            ),
            (
                json!({ "token": 5 }),
                "token: must be 1 to 256 visible ASCII characters",
            ),
            (
                json!({ "token": null, "tokenHash": "x" }),
                "tokenHash: must be 64 hexadecimal digits in lower case",
            ),
            (
                json!({ "name": "a b" }),
                "name: must be 1 to 64 characters of A-Z, a-z, 0-9, _ and -",
            ),
            (
                json!({ "fields": [{ "name": "a", "to": "points" }] }),
                "fields[0].to: is not a field that a form can set",
            ),
            (
                json!({ "opportunity": { "column": 31, "title": "" } }),
                "opportunity.title: must have 1 to 255 characters",
            ),
        ],
    );
}
