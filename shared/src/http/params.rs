//! The query string.

use axum::extract::FromRequestParts;
use http::request::Parts;

use crate::number::plain;

/// The parameters of a query string, decoded, in their order. Unknown ones are ignored (C-6).
#[derive(Clone, Default)]
pub struct Params(Vec<(String, String)>);

const REPEATED: &str = "must not be repeated";

/// A parameter that has not what it must, and what that is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}: {1}")]
pub struct BadParameter(pub &'static str, pub &'static str);

impl Params {
    /// Reads a raw query string. `+` is a space; bytes that are not UTF-8 become U+FFFD.
    #[must_use]
    pub fn parse(raw: &str) -> Self {
        Self(form_urlencoded::parse(raw.as_bytes()).into_owned().collect())
    }

    /// The value of a parameter, `None` where it is absent.
    ///
    /// # Errors
    /// [`BadParameter`] where it stands more than once, so that nobody can know which is meant.
    pub fn one(&self, name: &'static str) -> Result<Option<&str>, BadParameter> {
        let mut values = self
            .0
            .iter()
            .filter(|(key, _)| key == name)
            .map(|(_, value)| value.as_str());
        match (values.next(), values.next()) {
            (value, None) => Ok(value),
            _ => Err(BadParameter(name, REPEATED)),
        }
    }

    /// The value of a parameter that is not blank, `None` where it is absent or blank.
    ///
    /// # Errors
    /// [`BadParameter`] where it stands more than once.
    pub fn filled(&self, name: &'static str) -> Result<Option<&str>, BadParameter> {
        Ok(self.one(name)?.filter(|text| !text.is_empty()))
    }

    /// A parameter that is a whole number from 0; `None` where it is absent or blank. One that is larger than any number
    /// we count to is the largest.
    ///
    /// # Errors
    /// [`BadParameter`] where it is something else, or stands more than once.
    pub fn whole(&self, name: &'static str) -> Result<Option<u64>, BadParameter> {
        let Some(text) = self.filled(name)? else {
            return Ok(None);
        };
        let number = plain(text).ok_or(BadParameter(name, "must be a whole number"))?;
        Ok(Some(number))
    }

    /// How many things are wanted on a page: from 1 to `most`, and `default` where nothing is said.
    ///
    /// # Errors
    /// [`BadParameter`] with `rule` where it is anything else.
    pub fn limit(&self, default: u16, most: u16, rule: &'static str) -> Result<u16, BadParameter> {
        let limit = self.whole("limit")?;
        let limit = limit.map_or(Some(default), |limit| u16::try_from(limit).ok());
        let limit = limit.filter(|limit| (1..=most).contains(limit));
        limit.ok_or(BadParameter("limit", rule))
    }
}

// A query string may hold credentials, so no log line may hold one.
impl std::fmt::Debug for Params {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list()
            .entries(self.0.iter().map(|(name, _)| name))
            .finish()
    }
}

impl<S: Sync> FromRequestParts<S> for Params {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        Ok(Self::parse(parts.uri.query().unwrap_or_default()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_decoded_once() {
        let params =
            Params::parse("i=acme&query=%7Blead%7Bid%7D%7D&search=a+b%2Bc%2520&x&i2=&raw={lead{id,email}}");
        assert_eq!(params.one("i"), Ok(Some("acme")));
        assert_eq!(params.one("query"), Ok(Some("{lead{id}}")));
        assert_eq!(params.one("search"), Ok(Some("a b+c%20")));
        assert_eq!(params.one("raw"), Ok(Some("{lead{id,email}}")));
        assert_eq!(params.one("x"), Ok(Some("")));
        assert_eq!(params.one("y"), Ok(None));
    }

    #[test]
    fn a_repeated_parameter_is_nobodys() {
        assert_eq!(
            Params::parse("i=a&i=a").one("i"),
            Err(BadParameter("i", "must not be repeated"))
        );
        assert!(
            Params::parse("i=%FF")
                .one("i")
                .unwrap()
                .unwrap()
                .contains('\u{FFFD}')
        );
    }

    #[test]
    fn debug_output_has_names_only() {
        assert_eq!(
            format!("{:?}", Params::parse("apitoken=fk_secret")),
            r#"["apitoken"]"#
        );
    }
}
