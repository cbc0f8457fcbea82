//! The service under Lambda's runtime.

use lambda_http::request::LambdaRequest;
use lambda_http::{Adapter, LambdaEvent};
use lambda_runtime::tower::util::MapRequest;

pub use lambda_runtime::Error;

use crate::http::{App, Group, service};
use crate::telemetry;

/// Answers the events of an HTTP API with the routes of these groups, until Lambda ends the process.
///
/// # Errors
/// Where the function cannot start ([`StartError`](crate::start::StartError)), or the runtime fails.
pub async fn run(groups: impl IntoIterator<Item = Group>) -> Result<(), Error> {
    telemetry::init();
    let app = App::from_env().await?;
    let answer = Adapter::from(service(&app, groups));
    lambda_runtime::run(MapRequest::new(answer, readable)).await
}

/// API Gateway hands a query string over as it came, with bytes in it that no URI may hold. The runtime's library would panic
/// over them, and whoever sent them would get a bare 500: encoded they mean what they were meant to (C-6).
fn readable(mut event: LambdaEvent<LambdaRequest>) -> LambdaEvent<LambdaRequest> {
    let LambdaRequest::ApiGatewayV2(request) = &mut event.payload else {
        return event;
    };
    if let Some(query) = &mut request.raw_query_string {
        *query = query.bytes().map(encoded).collect();
    }
    event
}

fn encoded(byte: u8) -> String {
    match byte {
        b'"' | b'#' | b'<' | b'>' => format!("%{byte:02X}"),
        b'!'..=b'~' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_uri_may_hold_is_encoded_and_all_else_stays() {
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
