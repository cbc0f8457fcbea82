//! Sends notifications to the receivers that operators configure (C-76), with `POST`, `PUT`, `PATCH` or `GET`.
//!
//! Connections are https, to an address that is checked after the name is resolved and not resolved again. Plain http and
//! private addresses need a process that admits their host (C-102); link-local ones are always refused. Redirects are not
//! followed. Neither the secret nor a receiver's response is logged. A delivery ends within 10 seconds in any
//! case.

mod lanes;

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures_util::future::BoxFuture;
use hmac::{Hmac, KeyInit as _, Mac as _};
use http::header::{CONTENT_TYPE, HOST, USER_AGENT};
use http::{HeaderName, HeaderValue, Request};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use rustls::{CertificateError, ClientConfig, RootCertStore};
use sha2::Sha256;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use crate::automation::{Headers, Method, NotifyHost, SecretText, WebhookUrl, is_link_local, is_public};
use crate::text::hex;
use crate::time::Timestamp;
use crate::traceparent::{self, Traceparent};

pub use lanes::{Lanes, Turn};

/// Maximum bytes read of a response.
const MAX_ANSWER: usize = 64 * 1024;

/// Timeouts.
#[derive(Debug, Clone, Copy)]
pub struct RequestLimits {
    /// From resolving the host name to an established TLS connection.
    pub connect: Duration,
    /// The rest of a response after its status line, which is the receipt.
    pub rest: Duration,
    /// The whole delivery.
    pub whole: Duration,
    /// Maximum time that a stream batch waits for receivers after its actions are done.
    pub batch: Duration,
}

/// Production values.
pub const LIMITS: RequestLimits = RequestLimits {
    connect: Duration::from_secs(3),
    rest: Duration::from_secs(1),
    whole: Duration::from_secs(10),
    batch: Duration::from_secs(2),
};

/// A failed delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryFailure {
    /// The reason, without any text of request or response.
    pub reason: String,
    /// Whether the receiver took too long.
    pub is_late: bool,
}

impl DeliveryFailure {
    fn late(reason: &str) -> Self {
        Self {
            reason: reason.to_owned(),
            is_late: true,
        }
    }
}

impl From<String> for DeliveryFailure {
    fn from(reason: String) -> Self {
        Self {
            reason,
            is_late: false,
        }
    }
}

/// A notification to send.
#[derive(Debug, Clone)]
pub struct WebhookRequest {
    /// The same for every try, so receivers can drop duplicates.
    pub delivery: String,
    /// Receiver.
    pub url: WebhookUrl,
    /// Signing secret.
    pub secret: SecretText,
    /// Method.
    pub method: Method,
    /// Headers in addition to those of the service.
    pub headers: Headers,
    /// The trace of the request that caused it.
    pub trace: Option<Traceparent>,
    /// Time of sending.
    pub at: Timestamp,
    /// JSON.
    pub body: String,
}

/// Resolves a host.
type Resolver = Arc<dyn Fn(String, u16) -> BoxFuture<'static, Vec<SocketAddr>> + Send + Sync>;

/// TLS configuration, created at the first delivery. The inner `None` if TLS is unavailable.
type Tls = Arc<OnceLock<Option<TlsConnector>>>;

/// A connection with TLS or, in tests, without.
trait Connection: AsyncRead + AsyncWrite + Send + Unpin {}
impl<W: AsyncRead + AsyncWrite + Send + Unpin> Connection for W {}

/// Sends notifications.
#[derive(Clone)]
pub struct WebhookClient {
    resolver: Resolver,
    admits: fn(IpAddr) -> bool,
    /// Receivers that may be plain or private.
    hosts: Arc<[NotifyHost]>,
    tls: Option<Tls>,
    limits: RequestLimits,
    lanes: Lanes,
}

impl fmt::Debug for WebhookClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebhookClient").finish_non_exhaustive()
    }
}

impl WebhookClient {
    /// A client with the system's resolver that accepts public addresses only.
    #[must_use]
    pub fn system() -> Self {
        Self {
            resolver: Arc::new(|host, port| {
                Box::pin(async move {
                    let found = tokio::net::lookup_host((host, port)).await;
                    found.map(Iterator::collect).unwrap_or_default()
                })
            }),
            admits: is_public,
            hosts: Arc::default(),
            tls: Some(Arc::default()),
            limits: LIMITS,
            lanes: Lanes::default(),
        }
    }

    /// Admits plain and private receivers at these hosts (C-102).
    #[must_use]
    pub fn admitting(mut self, hosts: &[NotifyHost]) -> Self {
        self.hosts = hosts.into();
        self
    }

    /// Sends a notification. Any 2xx confirms its receipt.
    ///
    /// # Errors
    /// The reason of the failed delivery, without any text of request or response.
    pub async fn deliver(&self, request: &WebhookRequest) -> Result<(), String> {
        self.try_to_deliver(request)
            .await
            .map_err(|failure| failure.reason)
    }

    /// Like [`Self::deliver`], with a flag for timeouts.
    ///
    /// # Errors
    /// [`DeliveryFailure`] if it was not received.
    pub async fn try_to_deliver(&self, request: &WebhookRequest) -> Result<(), DeliveryFailure> {
        timeout(self.limits.whole, self.post(request))
            .await
            .unwrap_or_else(|_| Err(DeliveryFailure::late("it took too long")))
    }

    /// Maximum time that a stream batch waits for receivers.
    #[must_use]
    pub fn batch_limit(&self) -> Duration {
        self.limits.batch
    }

    /// The lanes of this process.
    #[must_use]
    pub fn lanes(&self) -> &Lanes {
        &self.lanes
    }

    /// Connects and sends a notification, without a limit for the whole delivery.
    async fn post(&self, request: &WebhookRequest) -> Result<(), DeliveryFailure> {
        let connected = timeout(self.limits.connect, self.connect(&request.url)).await;
        let connected = connected.map_err(|_| DeliveryFailure::late("the connection took too long"))?;
        let connection = connected.map_err(str::to_owned)?;
        Ok(self.send(connection, request).await?)
    }

    /// A connection to a receiver, authenticated by its certificate. The error is the reason.
    async fn connect(&self, url: &WebhookUrl) -> Result<Box<dyn Connection>, &'static str> {
        let stream = self.connect_tcp(url).await?;
        let Some(tls) = self.tls.as_ref().filter(|_| !url.is_plain()) else {
            return Ok(Box::new(stream));
        };
        let name = ServerName::try_from(url.host().to_owned());
        let name = name.map_err(|_| "the host has no name for a certificate")?;
        let connector = tls.get_or_init(system_tls).as_ref().ok_or("there is no TLS")?;
        match connector.connect(name, stream).await {
            Ok(stream) => Ok(Box::new(stream)),
            Err(cause) => Err(handshake_failure(&cause)),
        }
    }

    /// Connects to the first address that accepts. If any address of the name is not permitted, none is used.
    async fn connect_tcp(&self, url: &WebhookUrl) -> Result<TcpStream, &'static str> {
        let is_admitted = self.hosts.iter().any(|host| host.admits(url));
        if url.is_plain() && !is_admitted {
            return Err("the address is http, and `funil serve --notify-host` does not name its host");
        }
        let found = match url.host().parse::<IpAddr>() {
            Ok(address) => vec![SocketAddr::new(address, url.port())],
            Err(_) => (self.resolver)(url.host().to_owned(), url.port()).await,
        };
        if found.is_empty() {
            return Err("the host has no address");
        }
        if found.iter().any(|address| is_link_local(address.ip())) {
            return Err("the host leads to a link-local address");
        }
        if !is_admitted && !found.iter().all(|address| (self.admits)(address.ip())) {
            return Err("the host leads to a private address");
        }
        for address in &found {
            if let Ok(stream) = TcpStream::connect(address).await {
                return Ok(stream);
            }
        }
        Err("the host takes no connection")
    }

    /// Sends a notification and waits for the receipt: a status of 2xx. The error is the reason.
    async fn send(&self, connection: Box<dyn Connection>, request: &WebhookRequest) -> Result<(), String> {
        let broken = |cause: hyper::Error| format!("the connection broke: {cause}");
        let (mut sender, driver) = http1::handshake(TokioIo::new(connection)).await.map_err(broken)?;
        let http_request = http_request(request).map_err(|cause| format!("it cannot be written: {cause}"))?;
        let exchange = async {
            let answer = sender.send_request(http_request).await.map_err(broken)?;
            let status = answer.status();
            // Reads and discards the body, so that the receiver can finish sending.
            let rest = Limited::new(answer.into_body(), MAX_ANSWER).collect();
            let _ = timeout(self.limits.rest, rest).await;
            if status.is_success() {
                return Ok(());
            }
            Err(format!("the receiver answered {}", status.as_u16()))
        };
        // `driver` does the connection's I/O and is polled until the exchange ends. Its error after the response, such
        // as a close without TLS close_notify, does not invalidate the receipt, so only the exchange has an outcome.
        tokio::pin!(driver);
        tokio::pin!(exchange);
        tokio::select! {
            biased;
            outcome = &mut exchange => outcome,
            _ = &mut driver => exchange.await,
        }
    }
}

/// For tests.
#[cfg(feature = "testing")]
impl WebhookClient {
    /// A client that takes all addresses from `resolver`, and speaks plain HTTP to those that `admits`
    /// accepts.
    #[must_use]
    pub fn plain(
        resolver: impl Fn(&str, u16) -> Vec<SocketAddr> + Send + Sync + 'static,
        admits: fn(IpAddr) -> bool,
    ) -> Self {
        Self {
            resolver: Arc::new(move |host, port| {
                let found = resolver(&host, port);
                Box::pin(async move { found })
            }),
            admits,
            hosts: Arc::default(),
            tls: None,
            limits: LIMITS,
            lanes: Lanes::default(),
        }
    }

    /// Adds TLS that trusts these roots or, for `None`, the system's.
    #[must_use]
    pub fn with_tls(mut self, roots: Option<RootCertStore>) -> Self {
        self.tls = Some(roots.map_or_else(Arc::default, |roots| Arc::new(OnceLock::from(tls(roots)))));
        self
    }

    /// Replaces the timeouts.
    #[must_use]
    pub fn within(mut self, limits: RequestLimits) -> Self {
        self.limits = limits;
        self
    }
}

/// The reason of a failed TLS handshake, without the receiver's own text.
fn handshake_failure(cause: &io::Error) -> &'static str {
    let cause = cause
        .get_ref()
        .and_then(|cause| cause.downcast_ref::<rustls::Error>());
    let Some(rustls::Error::InvalidCertificate(cause)) = cause else {
        return "the TLS handshake failed";
    };
    match cause {
        CertificateError::UnknownIssuer => "the certificate's issuer is not trusted",
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "the certificate is another host's"
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => "the certificate has expired",
        _ => "the certificate is not valid",
    }
}

/// The request with its signatures. The signed text is `<Unix time>.<body>` of the first one, and
/// `<Unix time>.<method>.<authority>.<path and query>.<body>` of the second.
fn http_request(request: &WebhookRequest) -> Result<Request<Full<Bytes>>, http::Error> {
    let at = request.at.unix_seconds();
    let first = signature(&request.secret, at, &request.body);
    let method = http::Method::from(request.method);
    let (authority, path) = (request.url.authority(), request.url.path());
    let second = format!("{method}.{authority}.{path}.{}", request.body);
    let second = signature(&request.secret, at, &second);
    let mut http_request = Request::builder()
        .method(request.method)
        .uri(request.url.path())
        .header(HOST, request.url.authority())
        .header(USER_AGENT, "funil")
        .header(CONTENT_TYPE, "application/json")
        .body(Full::from(request.body.clone()))?;
    // A configured header may replace `user-agent` and `content-type`. The import refuses other headers of the service.
    let headers = http_request.headers_mut();
    for (name, value) in &request.headers {
        headers.insert(HeaderName::from_bytes(name.as_bytes())?, value.reveal().parse()?);
    }
    headers.insert("x-funil-delivery", request.delivery.parse()?);
    headers.insert("x-funil-timestamp", HeaderValue::from(at));
    headers.insert(
        "x-funil-signature",
        format!("t={at},v1={first},v2={second}").parse()?,
    );
    if method == http::Method::GET {
        headers.remove(CONTENT_TYPE);
    }
    if let Some(trace) = &request.trace {
        headers.insert(traceparent::HEADER, trace.to_string().parse()?);
    }
    Ok(http_request)
}

/// HMAC-SHA256 of `<at>.<body>` under the secret, in hexadecimal.
fn signature(secret: &SecretText, at: i64, body: &str) -> String {
    // Infallible: HMAC accepts keys of any length.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret.reveal().as_bytes()) else {
        return String::new();
    };
    mac.update(format!("{at}.{body}").as_bytes());
    hex(&mac.finalize().into_bytes())
}

/// TLS with the system's trusted roots; `None` if no version is supported. Without any root, no certificate is valid.
fn system_tls() -> Option<TlsConnector> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    tls(roots)
}

/// TLS with these roots; `None` if no version is supported.
fn tls(roots: RootCertStore) -> Option<TlsConnector> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .ok()?;
    let config = config.with_root_certificates(roots).with_no_client_auth();
    Some(TlsConnector::from(Arc::new(config)))
}
