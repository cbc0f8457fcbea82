//! Which credentials a request presents, and whether they stand where they belong (C-2). Pure: nothing is read here.

use http::{HeaderMap, header};

use crate::credential::{Kind, Secret};
use crate::http::Params;
use crate::settings::CredentialPlacement;

/// Where a group of endpoints takes its credentials from, under strict placement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// The API key in the header `apitoken`; otherwise in the query.
    pub key_in_header: bool,
    /// The access token in `Authorization: Bearer`, beside the key.
    pub token: bool,
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
        key_in_header: true,
        token: true,
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
    /// Reads the values that stand in a place; more than one is none, for nobody can know which is meant.
    fn of<'a>(mut values: impl Iterator<Item = Option<&'a str>>) -> Self {
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
        let bearer = values(header::AUTHORIZATION.as_str()).map(|value| {
            let (scheme, token) = value?.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
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
        let place = if rule.key_in_header {
            &self.header
        } else {
            &self.query
        };
        let key = place.of_kind(Kind::Key)?;
        if !rule.token {
            return Some(vec![key]);
        }
        Some(vec![key, self.bearer.of_kind(Kind::Token)?])
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
mod tests {
    use super::*;
    use crate::ambient::Ambient;
    use http::HeaderValue;

    struct Wallet {
        key: Secret,
        other_key: Secret,
        token: Secret,
    }

    fn wallet() -> Wallet {
        let ambient = Ambient::system();
        let issue = |kind| Secret::issue(kind, &ambient);
        Wallet {
            key: issue(Kind::Key),
            other_key: issue(Kind::Key),
            token: issue(Kind::Token),
        }
    }

    fn presented(headers: &[(&'static str, &str)], query: &str) -> Presented {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, HeaderValue::from_str(value).unwrap());
        }
        Presented::of(&map, &Params::parse(query))
    }

    /// How many credentials the request rests on, strictly placed and anywhere; 0 where it is refused unread.
    fn counts(headers: &[(&'static str, &str)], query: &str, rule: Rule) -> (usize, usize) {
        let presented = presented(headers, query);
        let claims = presented.claims(rule);
        let count = |placement| claims.under(placement).map_or(0, <[_]>::len);
        (
            count(CredentialPlacement::Strict),
            count(CredentialPlacement::Anywhere),
        )
    }

    #[test]
    fn key_and_token_stand_in_headers() {
        let Wallet {
            key,
            other_key,
            token,
        } = wallet();
        let (key, other, token) = (key.reveal(), other_key.reveal(), token.reveal());
        let bearer = &format!("Bearer {token}");
        let query = &format!("apitoken={key}");
        let rule = KeyAndToken::RULE;
        assert_eq!(
            counts(&[("apitoken", key), ("authorization", bearer)], "", rule),
            (2, 2)
        );
        assert_eq!(
            counts(
                &[("apitoken", key), ("authorization", &format!("bEARER  {token} "))],
                "",
                rule
            ),
            (2, 2)
        );
        assert_eq!(counts(&[("apitoken", key)], "", rule), (0, 1));
        assert_eq!(counts(&[], query, rule), (0, 1));
        assert_eq!(counts(&[("authorization", bearer)], query, rule), (0, 2));
        assert_eq!(
            counts(&[("authorization", &format!("Bearer {key}"))], "", rule),
            (0, 1)
        );
        assert_eq!(
            counts(&[("authorization", bearer)], "", rule),
            (0, 0),
            "a token is no key"
        );
        assert_eq!(
            counts(&[("apitoken", token), ("authorization", bearer)], "", rule),
            (0, 0)
        );
        assert_eq!(
            counts(&[("apitoken", key), ("authorization", token)], "", rule),
            (0, 0),
            "no scheme"
        );
        assert_eq!(
            counts(&[("apitoken", key), ("authorization", "Basic YTpi")], "", rule),
            (0, 0)
        );
        assert_eq!(
            counts(
                &[("apitoken", key), ("apitoken", other), ("authorization", bearer)],
                "",
                rule
            ),
            (0, 0)
        );
        let joined = &format!("{key}, {other}");
        assert_eq!(
            counts(&[("apitoken", joined), ("authorization", bearer)], "", rule),
            (0, 0)
        );
        assert_eq!(
            counts(
                &[("apitoken", key), ("authorization", bearer)],
                "apitoken=x",
                rule
            ),
            (2, 0)
        );
        assert_eq!(
            counts(
                &[("apitoken", key), ("authorization", bearer)],
                &format!("apitoken={other}"),
                rule
            ),
            (2, 3)
        );
        assert_eq!(counts(&[], "", rule), (0, 0));
    }

    #[test]
    fn a_key_stands_in_the_query_or_the_header() {
        let key = wallet().key;
        let query = &format!("apitoken={}", key.reveal());
        let (in_query, in_header) = (
            Rule {
                key_in_header: false,
                token: false,
            },
            Rule {
                key_in_header: true,
                token: false,
            },
        );
        assert_eq!(counts(&[], query, in_query), (1, 1));
        assert_eq!(counts(&[], query, in_header), (0, 1));
        assert_eq!(counts(&[("apitoken", key.reveal())], "", in_header), (1, 1));
        assert_eq!(counts(&[("apitoken", key.reveal())], "", in_query), (0, 1));
        assert_eq!(counts(&[], &format!("{query}&{query}"), in_query), (0, 0));
    }

    #[test]
    fn one_credential_in_two_places_is_looked_up_once() {
        let key = wallet().key;
        let presented = presented(
            &[("apitoken", key.reveal())],
            &format!("apitoken={}", key.reveal()),
        );
        assert_eq!(presented.claims(KeyAndToken::RULE).secrets(), [&key]);
    }

    #[test]
    fn a_fingerprint_tells_no_credential() {
        let key = wallet().key;
        let fingerprint = presented(&[("apitoken", key.reveal())], "").fingerprint();
        assert!(!fingerprint.is_empty() && !fingerprint.contains(key.reveal()));
    }
}
