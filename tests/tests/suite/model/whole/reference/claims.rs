use std::collections::BTreeMap;

use serde_json::json;

use super::clock::seconds;
use super::{Asked, Reference, Said, phones};

/// Lifetimes of a token and of an idempotency key.
const TOKEN: i64 = 90 * 86_400;
const MEMORY: i64 = 86_400;

/// A user's key and token.
#[derive(Debug, Clone)]
pub struct Credential {
    /// Number of the pair.
    number: u64,
    /// Expiry.
    until: i64,
}

/// A request with an idempotency key: caller, key and body.
#[derive(Debug, Clone)]
pub struct Claim {
    name: String,
    asked: String,
}

impl Claim {
    pub fn new(name: String, asked: String) -> Self {
        Self { name, asked }
    }
}

/// Results by key: body, created id, and expiry.
#[derive(Debug, Clone, Default)]
pub struct Claims(BTreeMap<String, (String, u64, i64)>);

/// Result of an earlier request with the same key.
pub enum Claimed {
    Free,
    /// An equal request created this id.
    Done(u64),
    /// It had another body.
    Other,
}

impl Claims {
    pub fn find(&self, claim: Option<&Claim>, now: &str) -> Claimed {
        let found = claim.and_then(|claim| Some((claim, self.0.get(&claim.name)?)));
        match found {
            Some((claim, (asked, made, until))) if *until > seconds(now) => {
                if *asked == claim.asked {
                    Claimed::Done(*made)
                } else {
                    Claimed::Other
                }
            }
            _ => Claimed::Free,
        }
    }

    /// Only successful requests are kept.
    pub fn keep(&mut self, claim: Option<Claim>, made: u64, now: &str) {
        if let Some(claim) = claim {
            let until = seconds(now) + MEMORY;
            self.0.insert(claim.name, (claim.asked, made, until));
        }
    }
}

impl Reference {
    pub fn issue(&mut self, user: u64) {
        let number = self.credentials.get(&user).map_or(0, |old| old.number) + 1;
        let until = seconds(&self.now) + TOKEN;
        self.credentials.insert(user, Credential { number, until });
    }

    pub fn revoke(&mut self, user: u64) {
        let now = seconds(&self.now);
        self.credentials.get_mut(&user).expect("credentials").until = now;
    }

    pub fn is_let_in(&self, user: u64) -> bool {
        self.credentials[&user].until > seconds(&self.now)
    }

    pub fn credential_number(&self, user: u64) -> u64 {
        self.credentials[&user].number
    }

    /// Keys are scoped by endpoint and credential; public ones by the calendar's name or the called number.
    pub fn key_claim(&self, asked: &Asked<'_>) -> Option<Claim> {
        let (key, body) = (asked.key?, asked.body);
        let scope = match asked.path[0] {
            "calendarmeeting" => body["keyName"].to_string(),
            "voip" => {
                let phone = body["data"]["leadPhone"].as_str().unwrap_or_default();
                let (phones, _) = phones::lines(phone);
                phones
                    .first()
                    .map_or_else(|| phones::digits(phone), |phone| phone.digits().to_owned())
            }
            _ => format!("{} {}", asked.by, self.credential_number(asked.by)),
        };
        Some(Claim {
            name: format!("{} {scope} {key}", asked.path[0]),
            asked: format!("{} {body}", asked.uri),
        })
    }
}

/// The response to a key with another body.
pub fn mismatch(asked: &Asked<'_>) -> Said {
    let text = "Idempotency-Key was used with another body";
    match asked.path[0] {
        "calendarmeeting" | "leads" | "api" => (422, json!({ "error": text })),
        _ => (422, json!({ "msg": text })),
    }
}
