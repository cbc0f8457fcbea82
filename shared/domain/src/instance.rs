//! Instance names. An instance is a tenant. Every request and record belongs to one instance.

use std::fmt;

use serde::{Deserialize, Serialize};

/// An instance's name: 1 to 63 of `a-z`, `0-9`, `-` and `_`, beginning with a letter or digit.
///
/// It is the beginning of every partition key, so it never contains the delimiter of keys.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct InstanceName(String);

impl InstanceName {
    /// Parses a name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let has_valid_characters = text
            .bytes()
            .all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_'));
        let has_valid_start = text.starts_with(|c: char| c.is_ascii_alphanumeric());
        (has_valid_characters && has_valid_start && text.len() <= 63).then(|| Self(text.to_owned()))
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<InstanceName> for String {
    fn from(name: InstanceName) -> Self {
        name.0
    }
}

impl TryFrom<String> for InstanceName {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text).ok_or("must be 1 to 63 of a-z, 0-9, - and _, beginning with a letter or digit")
    }
}

impl std::str::FromStr for InstanceName {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::try_from(text.to_owned())
    }
}

impl fmt::Display for InstanceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instance_names_cannot_contain_delimiters() {
        for good in ["acme", "a", "loja-1_br", "0x"] {
            assert!(InstanceName::parse(good).is_some(), "{good}");
        }
        for bad in [
            "",
            "Acme",
            "acme#lead",
            "-a",
            "_a",
            "a b",
            "á",
            "acme\0",
            &"a".repeat(64),
        ] {
            assert!(InstanceName::parse(bad).is_none(), "{bad}");
        }
    }
}
