//! The address that a request came from.

use std::net::IpAddr;

use http::Extensions;

/// The address of a request's sender, which its acceptor adds to the request's extensions: `lambda` takes it from API Gateway's
/// context, a server from the connection's peer. No header is believed: a caller writes those.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceAddress(pub IpAddr);

/// The sender's address; `None` where it is unknown.
pub(crate) fn source_address(extensions: &Extensions) -> Option<String> {
    Some(extensions.get::<SourceAddress>()?.0.to_string())
}
