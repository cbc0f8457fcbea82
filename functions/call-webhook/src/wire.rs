//! The headers and the body of a call's record.

use http::HeaderMap;
use serde_json::Value;
use shared::call::{Call, CallStatus, CallType};
use shared::http::{idempotency_key, parse_json_doubles};
use shared::id::{CallId, LeadId, UserId};
use shared::number::whole;
use shared::phone::{self, Phone};
use shared::schema::CALL_WEBHOOK;
use shared::store::Claim;
use shared::text::cut;
use shared::time::Timestamp;

use crate::error::CallError;

/// The most digits of a number that are kept. No telephone number has as many.
const NUMBER_DIGITS: usize = 32;
/// The longest duration that is kept: every number up to it is exact in JSON clients.
const LONGEST: u64 = 9_007_199_254_740_991;

/// Which lead a call belongs to, as the provider says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sent {
    /// `data.lead`; `None` for a number that can be no id, and so no lead.
    Lead(Option<LeadId>),
    /// No lead, but a number; `None` for one without digits or with more than any number has.
    Phone(Option<Phone>),
}

/// A call as it was sent, with its text cut at the limits (C-71).
#[derive(Debug, Clone, PartialEq)]
pub struct NewCall {
    /// The operator; `None` for a number that can be no id, and so no user.
    pub user: Option<UserId>,
    /// The lead or its number.
    pub sent: Sent,
    /// The number's digits.
    pub number: String,
    /// By which an equal request is recognised, where the caller wants that.
    pub claim: Option<Claim>,
    kind: CallType,
    status: CallStatus,
    duration: u64,
    record: bool,
    service: String,
    lead_name: Option<String>,
    user_name: Option<String>,
    call_id: Option<String>,
    description: Option<String>,
}

impl NewCall {
    /// Reads the key, then the body: JSON, then the schema (C-70). A key is one for each line that calls, however its number
    /// is written (C-10).
    pub fn read(headers: &HeaderMap, bytes: &[u8]) -> Result<Self, CallError> {
        let key = idempotency_key(headers)?;
        let body = parse_json_doubles(bytes)?;
        CALL_WEBHOOK
            .check(&body)
            .map_err(|violation| CallError::Body(Box::new(violation)))?;
        let call = Self::of(&body["data"]);
        let phone = Phone::of(body["data"]["leadPhone"].as_str().unwrap_or_default());
        let line = phone.as_ref().map_or(call.number.as_str(), Phone::digits);
        let claim = key.map(|key| Claim::new("POST /voip/webhook", line, key, bytes));
        Ok(Self { claim, ..call })
    }

    /// The schema has said what each field is, so what is read here is never absent where it is required.
    fn of(data: &Value) -> Self {
        let text = |name: &str, limit| data[name].as_str().map(|text| cut(text, limit).to_owned());
        let phone = data["leadPhone"].as_str().unwrap_or_default();
        Self {
            user: whole(&data["user"]).and_then(UserId::new),
            sent: match data.get("lead") {
                Some(lead) => Sent::Lead(whole(lead).and_then(LeadId::new)),
                None => Sent::Phone(Phone::of(phone)),
            },
            number: cut(&phone::digits(phone), NUMBER_DIGITS).to_owned(),
            claim: None,
            kind: if data["type"] == "INCOMING" {
                CallType::Incoming
            } else {
                CallType::Outgoing
            },
            status: if data["status"] == "COMPLETE" {
                CallStatus::Complete
            } else {
                CallStatus::Incomplete
            },
            duration: whole(&data["duration"]).unwrap_or_default().min(LONGEST),
            record: data["record"] == true,
            service: text("service", 32).unwrap_or_default(),
            lead_name: text("leadName", 64),
            user_name: text("userName", 64),
            call_id: text("callId", 64),
            description: text("description", 1000),
        }
    }

    /// The record of the call.
    pub fn record(&self, id: CallId, user: UserId, lead: Option<LeadId>, now: Timestamp) -> Call {
        Call {
            id,
            user,
            lead_phone: Some(self.number.clone()),
            kind: self.kind,
            status: self.status,
            duration: self.duration,
            record: self.record,
            service: self.service.clone(),
            lead,
            lead_name: self.lead_name.clone(),
            user_name: self.user_name.clone(),
            call_id: self.call_id.clone(),
            description: self.description.clone(),
            create_date: now,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(changes: &Value) -> NewCall {
        let mut data = json!({
            "user": 7, "leadPhone": "+55 (11) 98700-1122", "type": "INCOMING", "status": "COMPLETE",
            "duration": 42, "record": false, "service": "acme",
        });
        for (name, value) in changes.as_object().unwrap() {
            data[name] = value.clone();
        }
        let body = json!({ "event": "call", "data": data }).to_string();
        NewCall::read(&HeaderMap::new(), body.as_bytes()).unwrap()
    }

    #[test]
    fn whole_numbers_are_read_in_every_spelling() {
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
        assert_eq!(read(&json!({ "lead": -1 })).sent, Sent::Lead(None));
        assert_eq!(read(&json!({ "lead": 1001 })).sent, Sent::Lead(LeadId::new(1001)));
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
        assert_eq!((none.number.as_str(), none.sent), ("", Sent::Phone(None)));
        let endless = read(&json!({ "leadPhone": "9".repeat(5000) }));
        assert_eq!(
            (endless.number.len(), endless.sent),
            (NUMBER_DIGITS, Sent::Phone(None))
        );
    }
}
