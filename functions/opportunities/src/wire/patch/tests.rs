//! What a body of endpoint 8 may hold, and what comes of it.

use super::super::shop::{Shop, at, column, lead, user};
use super::*;
use serde_json::json;
use shared::id::OpportunityId;

const BEFORE: &str = "2026-01-01T00:00:00Z";
const NOW: &str = "2026-11-21T12:00:00Z";

/// Opportunity 5 of lead 1002 in column 31, as it was made.
fn stored() -> Opportunity {
    let place = (Shop::new().funnel.id, column(31));
    let mut stored = Opportunity::new(
        OpportunityId::new(5).unwrap(),
        place,
        lead(1002),
        user(8),
        at(BEFORE),
    );
    stored.title = "Reforma".to_owned();
    stored.fields.insert("Cor".to_owned(), json!("azul"));
    stored.fields.insert("Antigo".to_owned(), json!(1));
    stored
}

fn read(changes: &Value) -> Result<OpportunityPatch, Breach> {
    OpportunityPatch::read(changes.to_string().as_bytes())
}

fn applied_to(stored: &Opportunity, changes: &Value) -> Result<Opportunity, String> {
    let patch = read(changes).map_err(|breach| breach.to_string())?;
    patch
        .apply(stored, &Shop::new().ground())
        .map_err(|breach| breach.to_string())
}

fn applied(changes: &Value) -> Opportunity {
    applied_to(&stored(), changes).unwrap()
}

fn refused(changes: &Value) -> String {
    applied_to(&stored(), changes).unwrap_err()
}

#[test]
fn what_is_absent_stays() {
    for changes in [
        json!({}),
        json!({ "id": 9, "crm_id": 4, "sale_channel": "x", "dataLead": {}, "fields": {} }),
    ] {
        assert_eq!(applied(&changes), stored(), "{changes}");
    }
}

/// A record sent back unchanged changes nothing, not even where what it refers to is gone or hidden since.
#[test]
fn what_already_holds_is_no_change() {
    let mut stored = stored();
    (stored.crm_column, stored.user) = (column(99), user(99));
    let echo = json!({
        "title": "Reforma", "value": 0, "crm_column": 99, "lead_id": 1002, "sequence": "0", "status": "open",
        "expectedCloseDate": null, "user": "99", "gain_reason": null, "loss_reason": null, "archived": false,
        "fields": { "Cor": "azul", "Antigo": 1, "Data": null },
    });
    assert_eq!(applied_to(&stored, &echo).unwrap(), stored);
}

#[test]
fn everything_sent_is_taken() {
    let changed = applied(&json!({
        "title": "Nova", "value": "213.20", "crm_column": "32", "lead_id": 1001.0, "sequence": 4, "status": "lost",
        "expectedCloseDate": "2026-12-24", "user": 7, "gain_reason": "", "loss_reason": "caro", "archived": true,
        "fields": { "Data": false },
    }));
    let expected = Opportunity {
        title: "Nova".to_owned(),
        value: Cents::new(21320).unwrap(),
        crm_column: column(32),
        lead_id: Some(lead(1001)),
        sequence: 4,
        status: Status::Lost,
        expected_close_date: Some(at("2026-12-24T03:00:00Z")),
        user: user(7),
        gain_reason: Some(String::new()),
        loss_reason: Some("caro".to_owned()),
        archived: true,
        lost_date: Some(at(NOW)),
        last_status_change: Some(at(NOW)),
        last_column_change: Some(at(NOW)),
        update_date: at(NOW),
        fields: [
            ("Cor", json!("azul")),
            ("Antigo", json!(1)),
            ("Data", json!(false)),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into_iter()
        .collect(),
        ..stored()
    };
    assert_eq!(changed, expected);
}

#[test]
fn null_clears_what_it_may() {
    let full = applied(&json!({
        "expectedCloseDate": "2026-12-24T00:00:00Z", "gain_reason": "bom", "loss_reason": "caro",
    }));
    let nulls = json!({
        "expectedCloseDate": null, "gain_reason": null, "loss_reason": null, "fields": { "Cor": null, "Antigo": null },
    });
    let cleared = applied_to(&full, &nulls).unwrap();
    let expected = Opportunity {
        update_date: at(NOW),
        fields: Map::new(),
        ..stored()
    };
    assert_eq!(cleared, expected);
}

#[test]
fn null_elsewhere_is_refused() {
    let number = "must be a whole number from 1 to 999999999999999";
    for (name, must) in [
        ("title", "must have 1 to 255 characters"),
        (
            "value",
            "must be an amount from 0 to 9999999999999.99 with at most two decimals",
        ),
        ("crm_column", number),
        ("lead_id", number),
        ("sequence", "must be a whole number from 0 to 999999999999999"),
        ("status", "must be open, gain or lost"),
        ("user", number),
        ("archived", "must be true or false"),
        ("fields", "must be an object of values by their fields' names"),
    ] {
        assert_eq!(refused(&json!({ name: null })), format!("{name}: {must}"));
    }
}

#[test]
fn a_breach_names_its_field() {
    for (changes, reason) in [
        (
            json!({ "crm_column": 9 }),
            "crm_column: column 9 is not one of funnel 3",
        ),
        (json!({ "lead_id": 1003 }), "lead_id: lead 1003 does not exist"),
        (json!({ "user": 9 }), "user: user 9 does not exist"),
        (json!({ "archived": 1 }), "archived: must be true or false"),
        (
            json!({ "gain_reason": 5 }),
            "gain_reason: must be text of at most 10000 characters, or null",
        ),
        (
            json!({ "loss_reason": {} }),
            "loss_reason: must be text of at most 10000 characters, or null",
        ),
        (
            json!({ "expectedCloseDate": "" }),
            "expectedCloseDate: must be RFC 3339, a date such as 2026-11-21, or null",
        ),
        (
            json!({ "fields": { "cor": "azul" } }),
            "fields.cor: is not a field of funnel 3",
        ),
        (
            json!({ "fields": { "nope": null } }),
            "fields.nope: is not a field of funnel 3",
        ),
        (
            json!({ "fields": { "Antigo": 2 } }),
            "fields.Antigo: is not a field of funnel 3",
        ),
        (
            json!({ "fields": { "Cor": [] } }),
            "fields.Cor: must be text of at most 10000 characters, a number, a boolean or null",
        ),
        (json!([]), "body: must be a JSON object"),
    ] {
        assert_eq!(refused(&changes), reason, "{changes}");
    }
}

/// C-32: each way from status to status, with its dates.
#[test]
fn a_status_turns_with_its_dates() {
    let now = Some(at(NOW));
    let dates = |stored: &Opportunity| {
        (
            stored.gain_date,
            stored.lost_date,
            stored.reopen_date,
            stored.last_status_change,
        )
    };
    for (from, to, expected) in [
        ("open", "gain", (now, None, None, now)),
        ("open", "lost", (None, now, None, now)),
        ("gain", "lost", (None, now, None, now)),
        ("lost", "gain", (now, None, None, now)),
        ("gain", "open", (None, None, now, now)),
        ("lost", "open", (None, None, now, now)),
    ] {
        let mut before = stored();
        before.begin_as(Status::parse(from).unwrap());
        let changed = applied_to(&before, &json!({ "status": to })).unwrap();
        assert_eq!(
            (changed.status.as_str(), dates(&changed)),
            (to, expected),
            "{from} to {to}"
        );
        let same = applied_to(&before, &json!({ "status": from })).unwrap();
        assert_eq!(same, before, "{from} stays");
    }
}

#[test]
fn custom_fields_merge_by_name() {
    let changed = applied(&json!({ "fields": { "Cor": "verde", " Número do pedido ": 7, "Antigo": null } }));
    assert_eq!(
        Value::Object(changed.fields),
        json!({ "Cor": "verde", " Número do pedido ": 7 })
    );
}

#[test]
fn a_record_has_a_largest_size() {
    let mut large = stored();
    large.files = vec![json!("x".repeat(90_000))];
    let long = "x".repeat(10_000);
    let reason = "fields: the record must not be larger than 100 KB";
    assert_eq!(
        applied_to(&large, &json!({ "fields": { "Cor": long } })).unwrap_err(),
        reason
    );
    assert!(applied_to(&large, &json!({ "fields": { "Cor": "verde" } })).is_ok());
    large.files = vec![json!("x".repeat(100_000))];
    assert_eq!(applied_to(&large, &json!({ "title": "Reforma" })).unwrap(), large);
}
