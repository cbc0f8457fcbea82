//! The source address of a request.

use std::net::IpAddr;

use http::Extensions;

/// The source address, an extension of the request. `lambda` takes it from API Gateway's context, `funil serve` from
/// the connection. Headers are not trusted, because callers write them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceAddress(pub IpAddr);

/// The source address, if known.
pub(crate) fn source_address(extensions: &Extensions) -> Option<String> {
    Some(extensions.get::<SourceAddress>()?.0.to_string())
}
