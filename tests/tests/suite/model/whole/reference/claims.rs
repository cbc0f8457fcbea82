//! Credentials (C-2, C-3), and requests with an `Idempotency-Key` (C-10).

use std::collections::BTreeMap;

use serde_json::json;

use super::clock::seconds;
use super::{Asked, Reference, Said, phones};

/// How long a token counts, and how long a key is remembered.
const TOKEN: i64 = 90 * 86_400;
const MEMORY: i64 = 86_400;

/// A user's key and token.
#[derive(Debug, Clone)]
pub struct Credential {
    /// Each pair has another.
    number: u64,
    /// From when on they are not good any more.
    until: i64,
}

/// A request that may be sent again: by whom, under which key, and what it asks for.
#[derive(Debug, Clone)]
pub struct Claim {
    name: String,
    asked: String,
}

/// What was done under which name: for what, what it made, and until when that counts.
#[derive(Debug, Clone, Default)]
pub struct Claims(BTreeMap<String, (String, u64, i64)>);

/// What became of earlier requests with the same key.
pub enum Claimed {
    Free,
    /// An equal one made this.
    Done(u64),
    /// It asked for something else.
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

    /// Only what was done is kept.
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

    /// A key is one for each endpoint and credential; where there is none, for each calendar's name or number called.
    pub fn key_claim(&self, asked: &Asked<'_>) -> Option<Claim> {
        let (key, body) = (asked.key?, asked.body);
        let scope = match asked.path[0] {
            "calendarmeeting" => body["keyName"].to_string(),
            "voip" => phones::line(body["data"]["leadPhone"].as_str().unwrap_or_default())
                .map_or_else(String::new, |line| line.digits),
            _ => format!("{} {}", asked.by, self.credential_number(asked.by)),
        };
        Some(Claim {
            name: format!("{} {scope} {key}", asked.path[0]),
            asked: format!("{} {body}", asked.uri),
        })
    }
}

/// The answer to a key that came with another body.
pub fn mismatch(asked: &Asked<'_>) -> Said {
    let text = "Idempotency-Key was used with another body";
    match asked.path[0] {
        "calendarmeeting" => (422, json!({ "error": text })),
        _ => (422, json!({ "msg": text })),
    }
}
