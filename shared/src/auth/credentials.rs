//! The credentials of a request and their placement (C-2), without access to the table.

use http::{HeaderMap, header};

use crate::credential::{CredentialKind, Secret};
use crate::http::Params;
use crate::settings::CredentialPlacement;
use crate::telemetry::request::Refusal;

/// The placement of a group of endpoints under strict placement, and whether `i` may be absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// Place of the API key.
    pub key: KeyPlace,
    /// Whether an access token in `Authorization: Bearer` is required in addition to the key.
    pub token: bool,
    /// Whether a request without `i` names the credential's own instance under strict placement too (C-1).
    pub own_instance: bool,
}

/// A place for an API key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyPlace {
    /// The header `apitoken`.
    Header,
    /// The query parameter `apitoken`.
    Query,
    /// Either place. If both have a key, both must be valid.
    Either,
}

impl KeyPlace {
    /// The text that tells a caller the place of the key (C-103).
    const fn advice(self) -> &'static str {
        match self {
            Self::Header => "apitoken: the API key belongs in the header apitoken",
            Self::Query => "apitoken: the API key belongs in the query parameter apitoken",
            Self::Either => "apitoken: the API key belongs in the header or the query parameter apitoken",
        }
    }
}

/// The text that tells a caller the place of the access token (C-103).
const TOKEN_ADVICE: &str =
    "authorization: the access token belongs in the header Authorization, after Bearer";

/// A placement of credentials as a type, so that a handler's signature states it.
pub trait Placement {
    /// The rule.
    const RULE: Rule;
}

/// Endpoints 1 to 4, 7 and 8: the key in the header, and the access token.
#[derive(Debug)]
pub struct KeyAndToken;

impl Placement for KeyAndToken {
    const RULE: Rule = Rule {
        key: KeyPlace::Header,
        token: true,
        own_instance: false,
    };
}

/// Endpoints 5, 6, 9, 10, 14 and 15: the key in the query.
#[derive(Debug)]
pub struct KeyInQuery;

impl Placement for KeyInQuery {
    const RULE: Rule = Rule {
        key: KeyPlace::Query,
        token: false,
        own_instance: false,
    };
}

/// Endpoints 16 to 18: the key in the header alone.
#[derive(Debug)]
pub struct KeyInHeader;

impl Placement for KeyInHeader {
    const RULE: Rule = Rule {
        key: KeyPlace::Header,
        token: false,
        own_instance: false,
    };
}

/// Endpoints 11 and 12: the key in the header or the query. `i` is optional.
#[derive(Debug)]
pub struct KeyAnywhere;

impl Placement for KeyAnywhere {
    const RULE: Rule = Rule {
        key: KeyPlace::Either,
        token: false,
        own_instance: true,
    };
}

/// The content of one place for a credential.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Slot {
    Absent,
    /// Text that cannot be a credential. Rejected without a read.
    Malformed,
    /// Several values, of which any may be meant. Rejected without a read.
    Repeated,
    Present(Secret),
}

impl Slot {
    /// Reads the values in one place; `None` is a value that is not text. A blank value is absent.
    fn of<'a>(values: impl Iterator<Item = Option<&'a str>>) -> Self {
        let mut values = values.filter(|value| !value.is_some_and(|text| text.trim().is_empty()));
        let (first, second) = (values.next(), values.next());
        match (first, second) {
            (None, _) => Self::Absent,
            (Some(Some(text)), None) => Secret::parse(text).map_or(Self::Malformed, Self::Present),
            (Some(None), None) => Self::Malformed,
            (Some(_), Some(_)) => Self::Repeated,
        }
    }

    /// Whether the place has neither a credential of this kind nor one that cannot be read.
    fn lacks(&self, kind: CredentialKind) -> bool {
        !matches!(self, Self::Malformed | Self::Repeated) && self.of_kind(kind).is_none()
    }

    /// The credential in this place, if it has this kind.
    fn of_kind(&self, kind: CredentialKind) -> Option<&Secret> {
        match self {
            Self::Present(secret) if secret.kind() == kind => Some(secret),
            _ => None,
        }
    }
}

/// The credentials of a request, by place.
#[derive(Debug, Clone)]
pub struct Presented {
    header: Slot,
    query: Slot,
    bearer: Slot,
}

/// The credentials to check under each placement. A field is `None` if the request is invalid under that placement.
#[derive(Debug)]
pub struct Claims<'a> {
    strict: Option<Vec<&'a Secret>>,
    anywhere: Option<Vec<&'a Secret>>,
}

impl Presented {
    /// Reads the credentials of a request from all places.
    pub fn of(headers: &HeaderMap, params: &Params) -> Self {
        let values = |name| headers.get_all(name).iter().map(|value| value.to_str().ok());
        let bearer = values(header::AUTHORIZATION.as_str()).filter_map(|value| {
            // A value that is not text remains, and makes the place malformed.
            let Some(value) = value else { return Some(None) };
            let (scheme, token) = value.trim().split_once(' ').unwrap_or((value.trim(), ""));
            // Any other scheme than Bearer is ignored, like an unknown header.
            scheme.eq_ignore_ascii_case("bearer").then(|| Some(token.trim()))
        });
        let query = match params.one("apitoken") {
            Ok(None) => Slot::Absent,
            Ok(Some(text)) => Slot::of([Some(text)].into_iter()),
            Err(_) => Slot::Repeated,
        };
        Self {
            header: Slot::of(values("apitoken")),
            query,
            bearer: Slot::of(bearer),
        }
    }

    /// The credentials to check under each placement of an endpoint with this rule.
    pub fn claims(&self, rule: Rule) -> Claims<'_> {
        Claims {
            strict: self.strict(rule),
            anywhere: self.anywhere(),
        }
    }

    /// Strict: the places in spec.md's Authentication table. Credentials elsewhere are ignored, like unknown headers.
    /// The API key is first. `None` if a place of the rule lacks its credential.
    fn strict(&self, rule: Rule) -> Option<Vec<&Secret>> {
        let mut secrets = match rule.key {
            KeyPlace::Header => vec![self.header.of_kind(CredentialKind::Key)?],
            KeyPlace::Query => vec![self.query.of_kind(CredentialKind::Key)?],
            KeyPlace::Either => {
                let places = [&self.header, &self.query];
                let filled = places.into_iter().filter(|place| **place != Slot::Absent);
                // `None` if either place has anything but an API key.
                filled
                    .map(|place| place.of_kind(CredentialKind::Key))
                    .collect::<Option<Vec<_>>>()?
            }
        };
        if rule.token {
            secrets.push(self.bearer.of_kind(CredentialKind::Token)?);
        }
        (!secrets.is_empty()).then_some(secrets)
    }

    /// Lenient: the key in any place. `None` without a key, or if a place has anything but a credential that it
    /// accepts.
    fn anywhere(&self) -> Option<Vec<&Secret>> {
        let mut secrets = Vec::new();
        for (slot, accepted_kinds) in [
            (&self.header, [CredentialKind::Key].as_slice()),
            (&self.query, &[CredentialKind::Key]),
            (&self.bearer, &[CredentialKind::Key, CredentialKind::Token]),
        ] {
            match slot {
                Slot::Absent => {}
                Slot::Present(secret) if accepted_kinds.contains(&secret.kind()) => secrets.push(secret),
                Slot::Present(_) | Slot::Malformed | Slot::Repeated => return None,
            }
        }
        let has_key = secrets.iter().any(|secret| secret.kind() == CredentialKind::Key);
        has_key.then_some(secrets)
    }

    /// Names repeated credentials and the right places of misplaced or absent ones. Returns `None` if every place has one. The text
    /// depends on the request alone, not on any instance's placement (C-103).
    pub fn placement_advice(&self, rule: Rule) -> Option<String> {
        let lacks_key = match rule.key {
            KeyPlace::Header => self.header.lacks(CredentialKind::Key),
            KeyPlace::Query => self.query.lacks(CredentialKind::Key),
            KeyPlace::Either => {
                self.header.lacks(CredentialKind::Key) && self.query.lacks(CredentialKind::Key)
            }
        };
        let key = lacks_key.then(|| rule.key.advice());
        let token = (rule.token && self.bearer.lacks(CredentialKind::Token)).then_some(TOKEN_ADVICE);
        let has_two_keys = [&self.header, &self.query].contains(&&Slot::Repeated);
        let keys = has_two_keys.then_some("apitoken: must not be repeated");
        let tokens = (self.bearer == Slot::Repeated).then_some("authorization: must not be repeated");
        let advice: Vec<_> = keys.into_iter().chain(tokens).chain(key).chain(token).collect();
        (!advice.is_empty()).then(|| advice.join("; "))
    }

    /// The logged reason for a request with misplaced or absent credentials. Returns `None` if every place has one.
    pub fn misplacement(&self, rule: Rule) -> Option<Refusal> {
        self.placement_advice(rule)?;
        let slots = [&self.header, &self.query, &self.bearer];
        let is_presented = |kind| slots.iter().any(|slot| slot.of_kind(kind).is_some());
        let has_key = is_presented(CredentialKind::Key);
        let has_token = !rule.token || is_presented(CredentialKind::Token);
        Some(if has_key && has_token {
            Refusal::Elsewhere
        } else {
            Refusal::Missing
        })
    }

    /// Hash of the presented API key, in any place, or an empty text. Identifies the caller for an idempotency key.
    pub fn key_fingerprint(&self) -> String {
        let slots = [&self.header, &self.query, &self.bearer];
        let key = slots
            .into_iter()
            .find_map(|slot| slot.of_kind(CredentialKind::Key));
        key.map(|key| key.hash().as_str().to_owned()).unwrap_or_default()
    }

    /// Hashes of all presented credentials, separated by spaces. They identify the caller before the check.
    pub fn fingerprint(&self) -> String {
        let slots = [&self.header, &self.query, &self.bearer];
        let hashes = slots.into_iter().filter_map(|slot| match slot {
            Slot::Present(secret) => Some(secret.hash().as_str().to_owned()),
            _ => None,
        });
        hashes.collect::<Vec<_>>().join(" ")
    }
}

impl<'a> Claims<'a> {
    /// All credentials to look up. Empty if the request is invalid under both placements.
    pub fn secrets(&self) -> Vec<&'a Secret> {
        let mut secrets: Vec<&Secret> = Vec::new();
        for secret in [&self.strict, &self.anywhere].into_iter().flatten().flatten() {
            if !secrets.contains(secret) {
                secrets.push(secret);
            }
        }
        secrets
    }

    /// The credentials to check under an instance's placement. `None` if the request is invalid under it.
    pub fn under(&self, placement: CredentialPlacement) -> Option<&[&'a Secret]> {
        match placement {
            CredentialPlacement::Strict => self.strict.as_deref(),
            CredentialPlacement::Anywhere => self.anywhere.as_deref(),
        }
    }
}

#[cfg(test)]
mod tests;
