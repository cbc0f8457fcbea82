//! The query string.

use encoding_rs::WINDOWS_1252;
use percent_encoding::percent_decode;

use super::query::selection::{Field, Selection};
use super::{InvalidField, RequestError};
use crate::input::flag_text;
use crate::integer::plain;
use crate::store::ListRequest;
use crate::text::without_index;

/// The decoded parameters of a query string, in order. Handlers ignore unknown parameters (C-6).
#[derive(Clone, Default)]
pub struct Params(Vec<(String, String)>);

const REPEATED: &str = "must not be repeated";

impl Params {
    /// Parses a raw query string. A name followed by `[]` or `[n]` is that name.
    #[must_use]
    pub fn parse(raw: &str) -> Self {
        let pairs = decoded(raw.as_bytes()).into_iter();
        Self(pairs.map(|(name, value)| (without_index(name), value)).collect())
    }

    /// The parameters in their order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// All values of a parameter that is a list.
    pub fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        let values = self.0.iter().filter(move |(key, _)| key == name);
        values.map(|(_, value)| value.as_str())
    }

    /// The value of a parameter, if present.
    ///
    /// # Errors
    /// [`InvalidField`] if the parameter is repeated, because its value is ambiguous.
    pub fn one(&self, name: &'static str) -> Result<Option<&str>, InvalidField> {
        let mut values = self
            .0
            .iter()
            .filter(|(key, _)| key == name)
            .map(|(_, value)| value.as_str());
        match (values.next(), values.next()) {
            (value, None) => Ok(value),
            _ => Err(InvalidField::new(name, REPEATED)),
        }
    }

    /// The value of a parameter. `None` if absent or blank.
    ///
    /// # Errors
    /// [`InvalidField`] if the parameter is repeated.
    pub fn filled(&self, name: &'static str) -> Result<Option<&str>, InvalidField> {
        Ok(self.one(name)?.filter(|text| !text.trim().is_empty()))
    }

    /// A whole number. `None` if absent or blank. Numbers above `u64::MAX` become `u64::MAX`.
    ///
    /// # Errors
    /// [`InvalidField`] if the value is anything else, or the parameter is repeated.
    pub fn whole(&self, name: &'static str) -> Result<Option<u64>, InvalidField> {
        self.parsed(name, "must be a whole number", plain)
    }

    /// An id. `None` if absent or blank.
    ///
    /// # Errors
    /// [`InvalidField`] if the value is anything else, or the parameter is repeated.
    pub fn id<I: TryFrom<u64>>(&self, name: &'static str) -> Result<Option<I>, InvalidField> {
        self.parsed(name, InvalidField::MUST_BE_ID, |text| {
            I::try_from(plain(text)?).ok()
        })
    }

    /// A parameter parsed by `parse`. `None` if absent or blank.
    ///
    /// # Errors
    /// [`InvalidField`] with `rule` if `parse` rejects the value. [`InvalidField`] if the parameter is repeated.
    pub fn parsed<T>(
        &self,
        name: &'static str,
        rule: &'static str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, InvalidField> {
        let Some(text) = self.filled(name)? else {
            return Ok(None);
        };
        parse(text).map(Some).ok_or(InvalidField::new(name, rule))
    }

    /// A flag. `false` if absent or blank.
    ///
    /// # Errors
    /// [`InvalidField`] if the value is anything else, or the parameter is repeated.
    pub fn flag(&self, name: &'static str) -> Result<bool, InvalidField> {
        Ok(self
            .parsed(name, "must be true or false", flag_text)?
            .unwrap_or_default())
    }

    /// A GraphQL selection in `query` of the fields in `roots`. `None` if absent or blank (C-22).
    ///
    /// # Errors
    /// [`RequestError::Selection`] if the value is anything else. [`RequestError::Field`] if the parameter is repeated.
    pub fn selection(&self, roots: &'static [Field]) -> Result<Option<Selection>, RequestError> {
        let query = self.one("query")?.filter(|query| !query.trim().is_empty());
        Ok(query.map(|query| Selection::parse(query, roots)).transpose()?)
    }

    /// The size of a page in items, from 1 to `max`. `None` if absent or blank.
    ///
    /// # Errors
    /// [`InvalidField`] with `rule` if the number is out of range. [`InvalidField`] if the value is not a number or the
    /// parameter is repeated.
    pub fn limit(&self, max: u16, rule: &'static str) -> Result<Option<u16>, InvalidField> {
        let Some(limit) = self.whole("limit")? else {
            return Ok(None);
        };
        let limit = u16::try_from(limit)
            .ok()
            .filter(|limit| (1..=max).contains(limit));
        limit.map(Some).ok_or(InvalidField::new("limit", rule))
    }

    /// All records of a list, or a page of them (C-62, C-95).
    ///
    /// # Errors
    /// [`InvalidField`] if `page` or `limit` is invalid or repeated.
    pub fn records(&self) -> Result<ListRequest, InvalidField> {
        let limit = self.limit(1000, "must be a whole number from 1 to 1000")?;
        let page = self.whole("page")?;
        Ok(ListRequest { page, limit })
    }
}

/// The pairs of a form-encoded text. `+` is a space. A name or value that is not valid UTF-8 is read as Windows-1252,
/// which browsers send for pages in Latin-1 too.
#[must_use]
pub fn decoded(text: &[u8]) -> Vec<(String, String)> {
    let pairs = text.split(|byte| *byte == b'&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| {
            let name_end = pair.iter().position(|byte| *byte == b'=').unwrap_or(pair.len());
            let value = pair.get(name_end + 1..).unwrap_or_default();
            (text_of(&pair[..name_end]), text_of(value))
        })
        .collect()
}

/// The text of a form-encoded name or value, in UTF-8 or else Windows-1252.
fn text_of(encoded: &[u8]) -> String {
    let spaced: Vec<_> = encoded
        .iter()
        .map(|byte| if *byte == b'+' { b' ' } else { *byte })
        .collect();
    let bytes: Vec<_> = percent_decode(&spaced).collect();
    String::from_utf8(bytes).unwrap_or_else(|error| {
        let (text, _) = WINDOWS_1252.decode_without_bom_handling(error.as_bytes());
        text.into_owned()
    })
}

// A query string may contain credentials, so its values stay out of logs.
impl std::fmt::Debug for Params {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list()
            .entries(self.0.iter().map(|(name, _)| name))
            .finish()
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
    fn values_that_are_not_utf_8_are_windows_1252() {
        let params = Params::parse("utf=Jo%C3%A3o&latin=Jo%E3o+%28a&&%E7=%FF&=b&dash=%96+%93a%94+%80");
        assert_eq!(params.one("dash"), Ok(Some("– “a” €")));
        assert_eq!(params.one("utf"), Ok(Some("João")));
        assert_eq!(params.one("latin"), Ok(Some("João (a")));
        assert_eq!(params.iter().nth(3), Some(("", "b")));
        assert_eq!(params.iter().nth(2), Some(("ç", "ÿ")));
    }

    #[test]
    fn repeated_parameters_are_rejected() {
        assert_eq!(
            Params::parse("i=a&i=a").one("i"),
            Err(InvalidField::new("i", "must not be repeated"))
        );
    }

    /// axios, Faraday and PHP write lists so.
    #[test]
    fn a_name_with_an_index_is_the_name() {
        let params =
            Params::parse("unique[]=phone&unique%5B1%5D=email&tag[0]=7&x[a]=1&[]=2&limit[]=1&limit[]=2");
        assert_eq!(params.all("unique").collect::<Vec<_>>(), ["phone", "email"]);
        assert_eq!(params.one("tag"), Ok(Some("7")));
        assert_eq!(params.one("x"), Ok(None));
        assert_eq!(
            params.one("limit"),
            Err(InvalidField::new("limit", "must not be repeated"))
        );
        assert_eq!(params.iter().nth(4), Some(("[]", "2")));
    }

    #[test]
    fn flags_are_read_in_any_case() {
        let params = Params::parse("a=True&b=FALSE&c=&d=1&e=yes");
        let read = |name| params.flag(name).ok();
        assert_eq!(
            ["a", "b", "c", "d", "e", "f"].map(read),
            [
                Some(true),
                Some(false),
                Some(false),
                Some(true),
                None,
                Some(false)
            ]
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
