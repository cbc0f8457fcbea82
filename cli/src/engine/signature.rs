//! Signature verification of DynamoDB requests (AWS Signature Version 4), if the port requires signatures.
//!
//! Verifies the access key's id, the date, which must be within 15 minutes, and the signature of method, path, query,
//! body and signed headers. The signed headers must include `host`, `x-amz-date` and `x-amz-target`. Session tokens are
//! not supported.

use std::fmt;

use hmac::{Hmac, KeyInit as _, Mac as _};
use http::request::Parts;
use http::{HeaderMap, header};
use sha2::{Digest as _, Sha256};
use shared::text::hex;
use shared::time::Timestamp;
use subtle::ConstantTimeEq as _;

const ALGORITHM: &str = "AWS4-HMAC-SHA256";
/// Headers that must be signed, so that a request cannot be repeated with another operation or date.
const SIGNED: [&str; 3] = ["host", "x-amz-date", "x-amz-target"];
/// Maximum clock difference of a request's date, as on AWS.
const MAX_SKEW_SECONDS: i64 = 15 * 60;

/// The key of the port's signatures.
#[derive(Clone)]
pub struct AccessKey {
    /// `AWS_ACCESS_KEY_ID`.
    pub id: String,
    /// `AWS_SECRET_ACCESS_KEY`.
    pub secret: String,
}

impl fmt::Debug for AccessKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AccessKey(…)")
    }
}

/// Error of an unsigned or wrongly signed request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unsigned {
    /// No signature, or one with another access key id.
    UnknownKey,
    /// A signature that does not match the request, or is expired.
    WrongSignature,
}

/// The parts of an `Authorization` header.
struct Authorization<'a> {
    id: &'a str,
    /// Day, region, service and terminator.
    scope: &'a str,
    /// Names of the signed headers, separated by `;`.
    signed: &'a str,
    signature: &'a str,
}

impl AccessKey {
    /// Verifies a request with its complete body.
    ///
    /// # Errors
    /// [`Unsigned`] if it is not signed with this key within the time limit.
    pub fn check(&self, request: &Parts, body: &[u8], now: Timestamp) -> Result<(), Unsigned> {
        let given = Authorization::of(&request.headers).ok_or(Unsigned::UnknownKey)?;
        if !bool::from(given.id.as_bytes().ct_eq(self.id.as_bytes())) {
            return Err(Unsigned::UnknownKey);
        }
        let right = self.signature(&given, request, body, now);
        let right = right.ok_or(Unsigned::WrongSignature)?;
        if bool::from(given.signature.as_bytes().ct_eq(right.as_bytes())) {
            Ok(())
        } else {
            Err(Unsigned::WrongSignature)
        }
    }

    /// The expected signature of a request; `None` if its date, scope or signed headers exclude a valid one.
    fn signature(
        &self,
        given: &Authorization,
        request: &Parts,
        body: &[u8],
        now: Timestamp,
    ) -> Option<String> {
        let date = request.headers.get("x-amz-date")?.to_str().ok()?;
        let skew = instant(date)?.unix_seconds() - now.unix_seconds();
        let day = date.get(..8)?;
        let signs_all_required = SIGNED
            .iter()
            .all(|name| given.signed.split(';').any(|signed| signed == *name));
        if skew.abs() > MAX_SKEW_SECONDS || !given.scope.starts_with(day) || !signs_all_required {
            return None;
        }
        let headers: Option<String> = given
            .signed
            .split(';')
            .map(|name| Some(format!("{name}:{}\n", canonical_value(&request.headers, name)?)))
            .collect();
        let canonical_request = [
            request.method.as_str(),
            request.uri.path(),
            request.uri.query().unwrap_or_default(),
            &headers?,
            given.signed,
            &hex(&Sha256::digest(body)),
        ];
        let hash = hex(&Sha256::digest(canonical_request.join("\n")));
        let text_to_sign = [ALGORITHM, date, given.scope, &hash].join("\n");
        let secret = format!("AWS4{}", self.secret).into_bytes();
        // The signing key is derived from the secret by the parts of the scope, one after the other.
        let signing_key = given.scope.split('/').fold(secret, |key, part| hmac(&key, part));
        Some(hex(&hmac(&signing_key, &text_to_sign)))
    }
}

impl<'a> Authorization<'a> {
    /// Parses the `Authorization` header; `None` if it is absent or of another form.
    fn of(headers: &'a HeaderMap) -> Option<Self> {
        let text = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
        let rest = text.strip_prefix(ALGORITHM)?;
        let part = |name: &str| {
            let mut parts = rest.split(',').map(str::trim);
            parts.find_map(|part| part.strip_prefix(name)?.strip_prefix('='))
        };
        let (id, scope) = part("Credential")?.split_once('/')?;
        Some(Self {
            id,
            scope,
            signed: part("SignedHeaders")?,
            signature: part("Signature")?,
        })
    }
}

/// A header's value in the canonical form: all values joined, runs of spaces collapsed.
fn canonical_value(headers: &HeaderMap, name: &str) -> Option<String> {
    let values = headers.get_all(name).iter().map(|value| {
        let words: Vec<_> = value.to_str().ok()?.split_whitespace().collect();
        Some(words.join(" "))
    });
    let values: Option<Vec<_>> = values.collect();
    values
        .filter(|values| !values.is_empty())
        .map(|values| values.join(","))
}

/// Parses `20261121T080910Z`.
fn instant(date: &str) -> Option<Timestamp> {
    let (day, time) = date.strip_suffix('Z')?.split_once('T')?;
    let digits = |text: &str, length| text.len() == length && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(day, 8) || !digits(time, 6) {
        return None;
    }
    let ((year, rest), (hour, minutes)) = (day.split_at(4), time.split_at(2));
    let ((month, day), (minute, second)) = (rest.split_at(2), minutes.split_at(2));
    Timestamp::parse(&format!("{year}-{month}-{day}T{hour}:{minute}:{second}Z"))
}

fn hmac(key: &[u8], text: &str) -> Vec<u8> {
    // HMAC accepts keys of every length.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else {
        return Vec::new();
    };
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::{HeaderValue, Request};

    const DATE: &str = "20261121T080910Z";
    const ALL: &str = "host;x-amz-date;x-amz-target";

    fn key() -> AccessKey {
        AccessKey {
            id: "KEY1".to_owned(),
            secret: "s3cret".to_owned(),
        }
    }

    fn now() -> Timestamp {
        instant(DATE).unwrap()
    }

    /// A request as its owner would sign it.
    fn sign(signed: &str, body: &[u8]) -> Parts {
        let scope = "20261121/us-east-1/dynamodb/aws4_request";
        let request = Request::post("/")
            .header("host", "localhost:8000")
            .header("x-amz-date", DATE)
            .header("x-amz-target", "DynamoDB_20120810.GetItem")
            .body(());
        let mut parts = request.unwrap().into_parts().0;
        let given = Authorization {
            id: "KEY1",
            scope,
            signed,
            signature: "",
        };
        let signature = key().signature(&given, &parts, body, now()).unwrap_or_default();
        let text =
            format!("{ALGORITHM} Credential=KEY1/{scope}, SignedHeaders={signed}, Signature={signature}");
        parts
            .headers
            .insert(header::AUTHORIZATION, HeaderValue::from_str(&text).unwrap());
        parts
    }

    #[test]
    fn a_signature_is_good_for_its_request_at_its_time() {
        let wrong = Err(Unsigned::WrongSignature);
        let good = sign(ALL, b"{}");
        assert_eq!(key().check(&good, b"{}", now()), Ok(()));
        assert_eq!(key().check(&good, b"{ }", now()), wrong);
        assert_eq!(key().check(&good, b"{}", now().plus_seconds(900)), Ok(()));
        assert_eq!(key().check(&good, b"{}", now().plus_seconds(901)), wrong);
        let mut other = good.clone();
        let target = HeaderValue::from_static("DynamoDB_20120810.DeleteItem");
        other.headers.insert("x-amz-target", target);
        assert_eq!(key().check(&other, b"{}", now()), wrong);
        let partly = sign("host;x-amz-date", b"{}");
        assert_eq!(key().check(&partly, b"{}", now()), wrong);
    }
}
