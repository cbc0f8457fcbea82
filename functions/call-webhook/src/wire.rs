//! The body of a call's record (C-70, C-71).

use shared::call::{CallStatus, CallType};
use shared::http::parse_json_doubles;
use shared::http::query::json_schema::CALL_WEBHOOK;
use shared::ids::{LeadId, UserId};
use shared::integer::whole;
use shared::phone;
use shared::store::{CallParty, IdempotencyKey, NewCall};
use shared::text::{clean, cut};

use crate::error::CallError;

/// Maximum digits that are kept. Fields with several telephone numbers have fewer.
const MAX_DIGITS: usize = 1000;
/// Maximum duration; every number up to it is exact in JSON clients.
const MAX_DURATION: u64 = 9_007_199_254_740_991;

/// Parses a body as JSON, then against the schema (C-70). Text is cut at its limit (C-71). An idempotency key is
/// scoped to the calling line, in any notation of its number (C-10).
pub fn read(key: Option<&str>, bytes: &[u8]) -> Result<NewCall, CallError> {
    let body = parse_json_doubles(bytes)?;
    CALL_WEBHOOK
        .check(&body)
        .map_err(|violation| CallError::Schema(Box::new(violation)))?;
    // The schema guarantees the required fields.
    let data = &body["data"];
    let text = |name: &str, limit| {
        let text = data[name].as_str().and_then(clean);
        text.map(|text| cut(text, limit).to_owned())
    };
    let written = data["leadPhone"].as_str().unwrap_or_default();
    let phones = phone::identifying(written);
    let number = cut(&phone::digits(written), MAX_DIGITS).to_owned();
    let line = phones.first().map_or(number.as_str(), |read| read.phone.digits());
    Ok(NewCall {
        claim: key.map(|key| IdempotencyKey::new("POST /voip/webhook", line, key, bytes)),
        user: whole(&data["user"]).and_then(UserId::new),
        party: match data.get("lead") {
            Some(lead) => CallParty::Lead(whole(lead).and_then(LeadId::new)),
            None => CallParty::Phone(phones),
        },
        number,
        kind: match data["type"].as_str() {
            Some("INCOMING") => CallType::Incoming,
            _ => CallType::Outgoing,
        },
        status: match data["status"].as_str() {
            Some("COMPLETE") => CallStatus::Complete,
            _ => CallStatus::Incomplete,
        },
        duration: whole(&data["duration"]).unwrap_or_default().min(MAX_DURATION),
        record: data["record"] == true,
        service: text("service", 32).unwrap_or_default(),
        lead_name: text("leadName", 64),
        user_name: text("userName", 64),
        call_id: text("callId", 64),
        description: text("description", 1000),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn read(changes: &Value) -> NewCall {
        let mut data = json!({
            "user": 7, "leadPhone": "+55 (11) 98700-1122", "type": "INCOMING", "status": "COMPLETE",
            "duration": 42, "record": false, "service": "acme",
        });
        for (name, value) in changes.as_object().unwrap() {
            data[name] = value.clone();
        }
        let body = json!({ "event": "call", "data": data }).to_string();
        super::read(None, body.as_bytes()).unwrap()
    }

    #[test]
    fn whole_numbers_have_several_forms() {
        assert_eq!(
            read(&json!({ "user": 7.0, "duration": 1e2 })),
            read(&json!({ "user": 7, "duration": 100 }))
        );
        assert_eq!(read(&json!({ "duration": -0.0 })).duration, 0);
        assert_eq!(
            read(&json!({ "duration": 1e300 })).duration,
            9_007_199_254_740_991
        );
        for nobody in [json!(0), json!(-7), json!(1e30), json!(1_000_000_000_000_000_u64)] {
            assert_eq!(
                read(&json!({ "user": nobody.clone(), "lead": nobody })).user,
                None
            );
        }
        assert_eq!(read(&json!({ "lead": -1 })).party, CallParty::Lead(None));
        assert_eq!(
            read(&json!({ "lead": 1001 })).party,
            CallParty::Lead(LeadId::new(1001))
        );
    }

    #[test]
    fn text_is_cut_at_its_limit_in_characters() {
        let long = "ã".repeat(2000);
        let call = read(&json!({
            "service": long, "leadName": long, "userName": long, "callId": long, "description": long,
        }));
        let lengths = [
            Some(call.service),
            call.lead_name,
            call.user_name,
            call.call_id,
            call.description,
        ]
        .map(|text| text.unwrap().chars().count());
        assert_eq!(lengths, [32, 64, 64, 64, 1000]);
    }

    #[test]
    fn a_number_keeps_its_digits() {
        assert_eq!(read(&json!({})).number, "5511987001122");
        let none = read(&json!({ "leadPhone": "anonymous" }));
        assert_eq!(
            (none.number.as_str(), none.party),
            ("", CallParty::Phone(Vec::new()))
        );
        let endless = read(&json!({ "leadPhone": "9".repeat(5000) }));
        assert_eq!(
            (endless.number.len(), endless.party),
            (MAX_DIGITS, CallParty::Phone(Vec::new()))
        );
    }
}
