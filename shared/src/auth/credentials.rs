//! Which credentials a request presents, and whether they stand where they belong (C-2). Pure: nothing is read here.

use http::{HeaderMap, header};

use crate::credential::{Kind, Secret};
use crate::http::Params;
use crate::settings::CredentialPlacement;

/// Where a group of endpoints takes its credentials from, under strict placement, and whether `i` may be absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// Where the API key stands.
    pub key: KeyPlace,
    /// The access token in `Authorization: Bearer`, besides the key.
    pub token: bool,
    /// Without `i` the instance is the credential's own (C-1).
    pub own_instance: bool,
}

/// A place for an API key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyPlace {
    /// The header `apitoken`.
    Header,
    /// The query parameter `apitoken`.
    Query,
    /// Either; where both hold one, both must be good.
    Either,
}

/// A placement of credentials, as a type: a handler's signature says what its endpoint takes.
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

/// Endpoints 11 and 12: the key in the header or in the query, and `i` only where the caller likes.
#[derive(Debug)]
pub struct KeyAnywhere;

impl Placement for KeyAnywhere {
    const RULE: Rule = Rule {
        key: KeyPlace::Either,
        token: false,
        own_instance: true,
    };
}

/// What stands in one of the places for a credential.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Slot {
    Absent,
    /// Something that can be no credential: refused without a read.
    Malformed,
    Present(Secret),
}

impl Slot {
    /// Reads the values that stand in a place; more than one is none, for nobody can know which is meant. A blank one is
    /// absent.
    fn of<'a>(values: impl Iterator<Item = Option<&'a str>>) -> Self {
        let mut values = values.filter(|value| !value.is_some_and(|text| text.trim().is_empty()));
        match (values.next(), values.next()) {
            (None, _) => Self::Absent,
            (Some(Some(text)), None) => Secret::parse(text).map_or(Self::Malformed, Self::Present),
            _ => Self::Malformed,
        }
    }

    fn of_kind(&self, kind: Kind) -> Option<&Secret> {
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

/// The credentials that a request rests on, under either placement; `None` where it can rest on none.
#[derive(Debug)]
pub struct Claims<'a> {
    strict: Option<Vec<&'a Secret>>,
    anywhere: Option<Vec<&'a Secret>>,
}

impl Presented {
    pub fn of(headers: &HeaderMap, params: &Params) -> Self {
        let values = |name| headers.get_all(name).iter().map(|value| value.to_str().ok());
        // Another scheme than Bearer is not for us, so it is ignored like any unknown header.
        let bearer = values(header::AUTHORIZATION.as_str()).filter_map(|value| {
            let Some(value) = value else { return Some(None) };
            let (scheme, token) = value.trim().split_once(' ').unwrap_or((value.trim(), ""));
            scheme.eq_ignore_ascii_case("bearer").then(|| Some(token.trim()))
        });
        let query = match params.one("apitoken") {
            Ok(None) => Slot::Absent,
            Ok(Some(text)) => Slot::of([Some(text)].into_iter()),
            Err(_) => Slot::Malformed,
        };
        Self {
            header: Slot::of(values("apitoken")),
            query,
            bearer: Slot::of(bearer),
        }
    }

    pub fn claims(&self, rule: Rule) -> Claims<'_> {
        Claims {
            strict: self.strict(rule),
            anywhere: self.anywhere(),
        }
    }

    /// Exactly the places of the Authentication table; what stands elsewhere is ignored like any unknown header.
    fn strict(&self, rule: Rule) -> Option<Vec<&Secret>> {
        let mut secrets = match rule.key {
            KeyPlace::Header => vec![self.header.of_kind(Kind::Key)?],
            KeyPlace::Query => vec![self.query.of_kind(Kind::Key)?],
            KeyPlace::Either => {
                let places = [&self.header, &self.query];
                let filled = places.into_iter().filter(|place| **place != Slot::Absent);
                filled
                    .map(|place| place.of_kind(Kind::Key))
                    .collect::<Option<Vec<_>>>()?
            }
        };
        if rule.token {
            secrets.push(self.bearer.of_kind(Kind::Token)?);
        }
        (!secrets.is_empty()).then_some(secrets)
    }

    /// The key in any place; everything that is presented must be good.
    fn anywhere(&self) -> Option<Vec<&Secret>> {
        let mut secrets = Vec::new();
        for (slot, kinds) in [
            (&self.header, [Kind::Key].as_slice()),
            (&self.query, &[Kind::Key]),
            (&self.bearer, &[Kind::Key, Kind::Token]),
        ] {
            match slot {
                Slot::Absent => {}
                Slot::Present(secret) if kinds.contains(&secret.kind()) => secrets.push(secret),
                Slot::Present(_) | Slot::Malformed => return None,
            }
        }
        secrets
            .iter()
            .any(|secret| secret.kind() == Kind::Key)
            .then_some(secrets)
    }

    /// Stands for the API key that was presented, without telling it.
    pub fn key_fingerprint(&self) -> String {
        let slots = [&self.header, &self.query, &self.bearer];
        let key = slots.into_iter().find_map(|slot| slot.of_kind(Kind::Key));
        key.map(|key| key.hash().as_str().to_owned()).unwrap_or_default()
    }

    /// Stands for what was presented, without telling it.
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
    /// Everything that may have to be looked up; nothing where no placement lets the request in.
    pub fn secrets(&self) -> Vec<&'a Secret> {
        let mut secrets: Vec<&Secret> = Vec::new();
        for secret in [&self.strict, &self.anywhere].into_iter().flatten().flatten() {
            if !secrets.contains(secret) {
                secrets.push(secret);
            }
        }
        secrets
    }

    /// What the request rests on under an instance's placement.
    pub fn under(&self, placement: CredentialPlacement) -> Option<&[&'a Secret]> {
        match placement {
            CredentialPlacement::Strict => self.strict.as_deref(),
            CredentialPlacement::Anywhere => self.anywhere.as_deref(),
        }
    }
}

#[cfg(test)]
mod tests;
