//! The W3C Trace Context of a request: its header `traceparent`, which log lines name and notifications repeat.

use std::fmt;
use std::future::Future;

use table::item::{Item, s};

/// The header.
pub const HEADER: &str = "traceparent";
/// The attribute of an outbox item with the header of the request that caused it.
pub const TRACE: &str = "trace";

tokio::task_local! {
    static CURRENT: Option<Traceparent>;
}

/// A valid `traceparent` of version 00: `00-<trace id>-<parent id>-<flags>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Traceparent(String);

impl Traceparent {
    /// Parses a header; `None` if it is malformed or of another version, as the standard requires it to be ignored.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let is_hex = |part: &str| part.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        // Ids of only zeros are invalid.
        let is_id = |part: &str| is_hex(part) && part.bytes().any(|byte| byte != b'0');
        let parts: Vec<_> = text.split('-').collect();
        let ["00", trace, parent, flags] = parts[..] else {
            return None;
        };
        let lengths = (trace.len(), parent.len(), flags.len());
        let is_valid = lengths == (32, 16, 2) && is_id(trace) && is_id(parent) && is_hex(flags);
        is_valid.then(|| Self(text.to_owned()))
    }

    /// The header of the current request.
    #[must_use]
    pub fn current() -> Option<Self> {
        CURRENT.try_with(Clone::clone).ok().flatten()
    }

    /// The header of the request that caused an outbox item.
    #[must_use]
    pub fn of_item(item: &Item) -> Option<Self> {
        Self::parse(item.get(TRACE)?.as_s().ok()?)
    }

    /// The id of the whole trace, 32 hexadecimal digits.
    #[must_use]
    pub fn trace_id(&self) -> &str {
        self.0.get(3..35).unwrap_or_default()
    }
}

impl fmt::Display for Traceparent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The attribute of an outbox item; empty without a header.
#[must_use]
pub fn attribute(header: Option<&Traceparent>) -> Item {
    let header = header.map(|header| (TRACE.to_owned(), s(header.to_string())));
    header.into_iter().collect()
}

/// Runs the work of a request with this header.
pub async fn follow<T>(header: Option<Traceparent>, work: impl Future<Output = T>) -> T {
    CURRENT.scope(header, work).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_valid_headers_are_followed() {
        let (trace, parent) = ("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7");
        let valid = format!("00-{trace}-{parent}-01");
        let parsed = Traceparent::parse(&valid).unwrap();
        assert_eq!((parsed.trace_id(), parsed.to_string()), (trace, valid));
        for bad in [
            String::new(),
            format!("01-{trace}-{parent}-01"),
            format!("00-{trace}-{parent}"),
            format!("00-{trace}-{parent}-01-x"),
            format!("00-{}-{parent}-01", trace.to_uppercase()),
            format!("00-{}-{parent}-01", "0".repeat(32)),
            format!("00-{trace}-{}-01", "0".repeat(16)),
            format!("00-{trace}é-{parent}-1"),
        ] {
            assert_eq!(Traceparent::parse(&bad), None, "{bad}");
        }
    }
}
