//! A client of a running service, for `funil get`.

use std::fmt::Write as _;
use std::io;
use std::time::Duration;

use http::uri::{Authority, Scheme, Uri};
use http::{HeaderMap, HeaderValue, Request, StatusCode, header};
use http_body_util::{BodyExt as _, Empty};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use shared::jobs::webhook_client::system_tls;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::rustls::pki_types::ServerName;

/// Time limit of a request and its response. An HTTP API of AWS responds within 30 seconds.
const TIMEOUT: Duration = Duration::from_mins(1);

/// The address of a service: scheme, host, port, and the path before those of the interface.
#[derive(Debug, Clone)]
pub struct ServiceUrl {
    is_https: bool,
    authority: Authority,
    base: String,
}

/// A response.
#[derive(Debug)]
pub struct ServiceResponse {
    /// The status.
    pub status: StatusCode,
    /// The body.
    pub body: Bytes,
}

/// Reason why a request got no response.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// No connection, or one that broke.
    #[error("{0}")]
    Connection(#[from] io::Error),
    /// No response within the time limit.
    #[error("no response within {} s", TIMEOUT.as_secs())]
    Late,
    /// Something that is not HTTP.
    #[error("{0}")]
    Http(#[from] hyper::Error),
    /// A path or credential that a request cannot contain.
    #[error("{0}")]
    Request(#[from] http::Error),
}

impl ServiceUrl {
    /// Parses a URL with `http` or `https`. Returns `None` for other text and for a URL with a query.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let parts = text.parse::<Uri>().ok()?.into_parts();
        let scheme = parts.scheme?;
        let path = parts.path_and_query?;
        let is_https = scheme == Scheme::HTTPS;
        let is_url = (is_https || scheme == Scheme::HTTP) && path.query().is_none();
        let authority = parts.authority.filter(|_| is_url)?;
        Some(Self {
            is_https,
            authority,
            base: path.path().trim_end_matches('/').to_owned(),
        })
    }

    /// Sends a GET for a path with its query. The path begins with `/`.
    ///
    /// # Errors
    /// [`ClientError`] if there is no response.
    pub async fn get(&self, path: &str, headers: HeaderMap) -> Result<ServiceResponse, ClientError> {
        let mut request =
            Request::get(format!("{}{}", self.base, encoded(path))).body(Empty::<Bytes>::new())?;
        *request.headers_mut() = headers;
        let host = HeaderValue::from_str(self.authority.as_str()).map_err(http::Error::from)?;
        request.headers_mut().insert(header::HOST, host);
        let exchange = async {
            let host = self.authority.host().trim_matches(['[', ']']);
            let port = self
                .authority
                .port_u16()
                .unwrap_or(if self.is_https { 443 } else { 80 });
            let stream = TcpStream::connect((host, port)).await?;
            if !self.is_https {
                return send(stream, request).await;
            }
            let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
            let tls = system_tls().ok_or_else(|| io::Error::other("there is no TLS"))?;
            send(tls.connect(name, stream).await?, request).await
        };
        timeout(TIMEOUT, exchange).await.unwrap_or(Err(ClientError::Late))
    }
}

/// Sends a request over a new connection, and reads the whole response.
async fn send<W: AsyncRead + AsyncWrite + Send + Unpin + 'static>(
    wire: W,
    request: Request<Empty<Bytes>>,
) -> Result<ServiceResponse, ClientError> {
    let (mut sender, connection) = http1::handshake(TokioIo::new(wire)).await?;
    // `send_request` also returns an error of the connection.
    let connection = tokio::spawn(connection);
    let response = sender.send_request(request).await?;
    let status = response.status();
    let body = response.into_body().collect().await?.to_bytes();
    connection.abort();
    Ok(ServiceResponse { status, body })
}

/// Percent-encodes the characters of a path and query that a URL cannot contain, such as spaces, quotes, braces and
/// bytes beyond ASCII. A `%` stays.
fn encoded(path: &str) -> String {
    let mut text = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_graphic() && !b"\"#<>\\^`{|}".contains(&byte) {
            text.push(char::from(byte));
        } else {
            // Writing to a `String` does not fail.
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_have_a_scheme_and_a_host() {
        for (text, shown) in [
            ("http://127.0.0.1:3000", Some("http 127.0.0.1:3000 ")),
            ("https://api.example.com/", Some("https api.example.com ")),
            ("https://example.com/crm/", Some("https example.com /crm")),
            ("http://[::1]:3000", Some("http [::1]:3000 ")),
            ("127.0.0.1:3000", None),
            ("ftp://example.com", None),
            ("https://example.com/?a=b", None),
            ("/leads", None),
            ("", None),
        ] {
            let url = ServiceUrl::parse(text).map(|url| {
                let scheme = if url.is_https { "https" } else { "http" };
                format!("{scheme} {} {}", url.authority, url.base)
            });
            assert_eq!(url.as_deref(), shown, "{text}");
        }
    }

    #[test]
    fn paths_may_be_typed_plainly() {
        assert_eq!(
            encoded("/leads?search=João Silva&query={lead{id}}&x=%20"),
            "/leads?search=Jo%C3%A3o%20Silva&query=%7Blead%7Bid%7D%7D&x=%20"
        );
    }
}
