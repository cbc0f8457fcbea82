//! C-2 and C-3, as tables.

use super::*;
use crate::environment::Environment;
use http::HeaderValue;

struct Wallet {
    key: Secret,
    other_key: Secret,
    token: Secret,
}

fn wallet() -> Wallet {
    let environment = Environment::system();
    let issue = |kind| Secret::issue(kind, &environment);
    Wallet {
        key: issue(CredentialKind::Key),
        other_key: issue(CredentialKind::Key),
        token: issue(CredentialKind::Token),
    }
}

fn presented(headers: &[(&'static str, &str)], query: &str) -> Presented {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        map.append(*name, HeaderValue::from_str(value).unwrap());
    }
    Presented::of(&map, &Params::parse(query))
}

/// Number of credentials to check under strict and lenient placement. 0 if the request is rejected without a read.
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
fn key_and_token_in_headers() {
    let Wallet {
        key,
        other_key,
        token,
    } = wallet();
    let (key, other, token) = (key.reveal(), other_key.reveal(), token.reveal());
    let bearer = format!("Bearer {token}");
    let (spaced, of_key) = (format!("bEARER  {token} "), format!("Bearer {key}"));
    let (query, other_query) = (format!("apitoken={key}"), format!("apitoken={other}"));
    let joined = format!("{key}, {other}");
    // The header `apitoken`, the header `authorization`, the query, and the number of credentials.
    for (keys, authorization, query, expected) in [
        (&[key][..], Some(&*bearer), "", (2, 2)),
        (&[key], Some(&*spaced), "", (2, 2)),
        (&[key], None, "", (0, 1)),
        (&[], None, &*query, (0, 1)),
        (&[], Some(&*bearer), &*query, (0, 2)),
        (&[], Some(&*of_key), "", (0, 1)),
        // A token is no key.
        (&[], Some(&*bearer), "", (0, 0)),
        (&[token], Some(&*bearer), "", (0, 0)),
        (&[key, other], Some(&*bearer), "", (0, 0)),
        (&[&*joined], Some(&*bearer), "", (0, 0)),
        (&[key], Some(&*bearer), "apitoken=x", (2, 0)),
        (&[key], Some(&*bearer), &*other_query, (2, 3)),
        (&[], None, "", (0, 0)),
    ] {
        let keys = keys.iter().map(|key| ("apitoken", *key));
        let headers: Vec<_> = keys
            .chain(authorization.map(|value| ("authorization", value)))
            .collect();
        assert_eq!(
            counts(&headers, query, KeyAndToken::RULE),
            expected,
            "{headers:?} {query}"
        );
    }
    // A value with another scheme than Bearer is no token. It is ignored if no token is required.
    for foreign in [token, key, "Basic YTpi", "Negotiate", "Bearer"] {
        let foreign = ("authorization", foreign);
        assert_eq!(
            counts(&[("apitoken", key), foreign], "", KeyAndToken::RULE),
            (0, 1),
            "{foreign:?}"
        );
        assert_eq!(counts(&[foreign], "", KeyAndToken::RULE), (0, 0), "{foreign:?}");
    }
}

#[test]
fn a_key_in_query_or_header() {
    let key = wallet().key;
    let query = &format!("apitoken={}", key.reveal());
    let (in_query, in_header) = (KeyInQuery::RULE, KeyInHeader::RULE);
    assert_eq!(counts(&[], query, in_query), (1, 1));
    assert_eq!(counts(&[], query, in_header), (0, 1));
    assert_eq!(counts(&[("apitoken", key.reveal())], "", in_header), (1, 1));
    assert_eq!(counts(&[("apitoken", key.reveal())], "", in_query), (0, 1));
    assert_eq!(counts(&[], &format!("{query}&{query}"), in_query), (0, 0));
}

/// C-2: endpoints 11 and 12. A token in addition to the key is ignored, as by every endpoint without tokens.
#[test]
fn a_key_in_either_or_both_places() {
    let Wallet {
        key,
        other_key,
        token,
    } = wallet();
    let (key, other) = (key.reveal(), other_key.reveal());
    let (query, bearer) = (format!("apitoken={key}"), format!("Bearer {}", token.reveal()));
    let rule = KeyAnywhere::RULE;
    assert_eq!(counts(&[], &query, rule), (1, 1));
    assert_eq!(counts(&[("apitoken", key)], "", rule), (1, 1));
    assert_eq!(counts(&[("apitoken", other)], &query, rule), (2, 2));
    assert_eq!(counts(&[("apitoken", "fk_x")], &query, rule), (0, 0));
    assert_eq!(counts(&[("apitoken", key)], "apitoken=x", rule), (0, 0));
    assert_eq!(counts(&[("authorization", &bearer)], &query, rule), (1, 2));
    assert_eq!(counts(&[("authorization", &bearer)], "", rule), (0, 0));
    assert_eq!(counts(&[], "", rule), (0, 0));
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
fn fingerprints_reveal_no_credential() {
    let key = wallet().key;
    let fingerprint = presented(&[("apitoken", key.reveal())], "").fingerprint();
    assert!(!fingerprint.is_empty() && !fingerprint.contains(key.reveal()));
}
