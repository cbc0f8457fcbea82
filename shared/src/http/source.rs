//! The address that a request came from.

use std::net::IpAddr;

use http::Extensions;
use lambda_http::request::RequestContext;

/// The peer of a connection, which whoever accepted it puts beside the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceAddress(pub IpAddr);

/// The address of the caller as API Gateway tells it, or that of the connection's peer; `None` where neither is known. No header
/// is believed: a caller writes those.
pub(crate) fn source_address(extensions: &Extensions) -> Option<String> {
    let gateway = extensions
        .get::<RequestContext>()
        .and_then(|context| match context {
            RequestContext::ApiGatewayV2(context) => context.http.source_ip.clone(),
            _ => None,
        });
    let peer = || Some(extensions.get::<SourceAddress>()?.0.to_string());
    gateway.or_else(peer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gateway_or_the_peer_tells_the_address() {
        let mut extensions = Extensions::new();
        assert_eq!(source_address(&extensions), None);
        extensions.insert(SourceAddress(IpAddr::from([127, 0, 0, 1])));
        assert_eq!(source_address(&extensions).as_deref(), Some("127.0.0.1"));
        let event = include_str!("../../../tests/events/leads-list.json");
        let request = lambda_http::request::from_str(event).unwrap();
        let context = request.extensions().get::<RequestContext>().unwrap();
        extensions.insert(context.clone());
        assert_eq!(source_address(&extensions).as_deref(), Some("203.0.113.7"));
    }
}
