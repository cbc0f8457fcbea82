//! The body of `POST /voip/webhook` (C-70, C-71).

use std::sync::LazyLock;

use http::HeaderMap;
use serde_json::Value;
use shared::http::query::json_schema::CALL_WEBHOOK;
use shared::phone;

use crate::json_schema::Judges;

static JUDGES: LazyLock<Option<Judges>> = LazyLock::new(|| {
    let text = include_str!("../../../shared/schemas/call-webhook.schema.json");
    Judges::new(text, &CALL_WEBHOOK)
});

/// A body is rejected exactly with AJV's first error; texts of an accepted body are cut to their limits in
/// characters, and numbers to their digits.
///
/// # Panics
/// If any of this is violated.
pub fn webhook(data: &[u8]) {
    let read = call_webhook::fuzzing::read(&HeaderMap::new(), data);
    let Some(body) = crate::json(data) else {
        assert!(read.is_err(), "what is no JSON is no call");
        return;
    };
    let judges = JUDGES.as_ref();
    assert!(judges.is_some(), "the schema is one");
    let verdict = judges.map(|judges| judges.judge(&body));
    assert_eq!(verdict, Some(read.is_ok()), "{body}");
    let Ok(call) = read else { return };
    let sent = &body["data"];
    let service = Some(call.service);
    for (name, kept, limit) in [
        ("service", &service, 32),
        ("leadName", &call.lead_name, 64),
        ("userName", &call.user_name, 64),
        ("callId", &call.call_id, 64),
        ("description", &call.description, 1000),
    ] {
        let sent = sent[name].as_str();
        let cut = sent.map(|text| text.chars().take(limit).collect::<String>());
        assert_eq!(*kept, cut, "{name}");
    }
    let digits = phone::digits(sent["leadPhone"].as_str().unwrap_or_default());
    let digits: String = digits.chars().take(1000).collect();
    assert_eq!(call.lead_phone, Some(digits));
    assert_eq!(Value::from(call.record), sent["record"]);
    assert_eq!(serde_json::to_value(call.kind).ok().as_ref(), Some(&sent["type"]));
    assert_eq!(
        serde_json::to_value(call.status).ok().as_ref(),
        Some(&sent["status"])
    );
    // Durations are capped at the largest integer of clients. `-0` is a number, and not negative.
    let seconds = sent["duration"].as_u64().or_else(|| {
        let written = format!("{:.0}", sent["duration"].as_f64()?);
        written.trim_start_matches('-').parse().ok()
    });
    assert_eq!(
        call.duration,
        seconds.unwrap_or(u64::MAX).min((1 << 53) - 1),
        "{body}"
    );
}
