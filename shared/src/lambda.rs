//! The service under Lambda's runtime.

use std::pin::Pin;

use axum::Router;
use http_body_util::BodyExt as _;
use lambda_http::request::{LambdaRequest, RequestContext};
use lambda_http::{Adapter, Body, IntoResponse, LambdaEvent, Request};
use lambda_runtime::tower::util::{MapRequest, MapResponse};

pub use lambda_runtime::Error;

use crate::config::Config;
use crate::http::{App, RouteGroup, SourceAddress, service};
use crate::startup::StartError;
use crate::telemetry;

/// Serves the events of an HTTP API with the routes of these groups until Lambda ends the process.
///
/// # Errors
/// If the function cannot start ([`StartError`](crate::startup::StartError)) or the runtime fails.
pub async fn run(groups: impl IntoIterator<Item = RouteGroup>) -> Result<(), Error> {
    let config = Config::from_env();
    telemetry::init(&config);
    let app = App::of_function(&config).await?;
    serve(service(&app, groups)).await
}

/// Serves the events of an HTTP API with routes that use no table, until Lambda ends the process. They have no log line
/// by request.
///
/// # Errors
/// If a variable of the environment is missing or the runtime fails.
pub async fn run_without_table(routes: Router) -> Result<(), Error> {
    let config = Config::from_env();
    telemetry::init(&config);
    config.location().map_err(StartError::Environment)?;
    serve(routes).await
}

/// Serves events with these routes until Lambda ends the process.
async fn serve(routes: Router) -> Result<(), Error> {
    let routes = MapRequest::new(routes, with_source);
    let handler = Adapter::from(MapResponse::new(routes, Plain));
    lambda_runtime::run(MapRequest::new(handler, with_valid_query)).await
}

/// A response whose body reaches API Gateway unchanged: text if it is UTF-8, else base64, such as gzip. The runtime
/// library's own conversion supports every charset, and their tables take 300 KB of the binary.
struct Plain(axum::response::Response);

impl IntoResponse for Plain {
    fn into_response(self) -> Pin<Box<dyn Future<Output = http::Response<Body>> + Send>> {
        Box::pin(async {
            let (parts, body) = self.0.into_parts();
            // Bodies of the service are whole before they are sent, so none breaks off.
            let bytes = body.collect().await.map(http_body_util::Collected::to_bytes);
            let body = match String::from_utf8(bytes.unwrap_or_default().into()) {
                Ok(text) => Body::Text(text),
                Err(other) => Body::Binary(other.into_bytes()),
            };
            http::Response::from_parts(parts, body)
        })
    }
}

/// Adds the source address from API Gateway's context.
fn with_source(mut request: Request) -> Request {
    if let Some(RequestContext::ApiGatewayV2(context)) = request.extensions().get()
        && let Some(Ok(address)) = context.http.source_ip.as_deref().map(str::parse)
    {
        request.extensions_mut().insert(SourceAddress(address));
    }
    request
}

/// API Gateway forwards query strings with bytes that are invalid in a URI. The runtime's library panics on them, and
/// the caller gets an empty 500. Percent-encoded, they keep their meaning (C-6).
fn with_valid_query(mut event: LambdaEvent<LambdaRequest>) -> LambdaEvent<LambdaRequest> {
    let LambdaRequest::ApiGatewayV2(request) = &mut event.payload else {
        return event;
    };
    if let Some(query) = &mut request.raw_query_string {
        *query = query.bytes().map(encoded).collect();
    }
    event
}

/// A byte of a query string as it may be in a URI. `%` remains, because the query is already encoded.
fn encoded(byte: u8) -> String {
    match byte {
        b'"' | b'#' | b'<' | b'>' => format!("%{byte:02X}"),
        b'!'..=b'~' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn the_source_is_that_of_the_gateways_context() {
        let events: Value =
            serde_json::from_str(include_str!("../../tests/events/LeadsFunction.json")).unwrap();
        let request = with_source(lambda_http::request::from_str(&events["leads-list"].to_string()).unwrap());
        let source = request.extensions().get::<SourceAddress>().unwrap();
        assert_eq!(source.0.to_string(), "203.0.113.7");
    }

    #[test]
    fn invalid_uri_bytes_are_encoded() {
        let of = |query: &str| query.bytes().map(encoded).collect::<String>();
        let fine = "i=demo&query={lead{id,email}}&search=a%20b+c&x='~|^`[]\\";
        assert_eq!(of(fine), fine);
        assert_eq!(
            of("search=<maria \"ã\"#\t\u{7f}"),
            "search=%3Cmaria%20%22%C3%A3%22%23%09%7F"
        );
        for byte in 0..=0xFF_u8 {
            let uri = format!("/leads?{}", encoded(byte));
            assert!(uri.parse::<http::Uri>().is_ok(), "{byte}");
        }
    }
}
