//! Posts notifications to receivers of the operator's choice (C-76), and to nobody else.
//!
//! What must stay true: the connection is https, to an address that was judged after the name was resolved and is not
//! looked up again; a redirect is not followed; neither the secret nor what a receiver says gets into a log; and whatever a
//! receiver does, a delivery ends within 10 seconds.

mod lanes;

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures_util::future::BoxFuture;
use hmac::{Hmac, KeyInit as _, Mac as _};
use http::header::{CONTENT_TYPE, HOST, USER_AGENT};
use http::{Method, Request};
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

use crate::automation::{Hook, Secret, is_public};
use crate::text::hex;
use crate::time::Timestamp;

pub use lanes::{Lanes, Turn};

/// How much of an answer is read.
const MOST_ANSWER: usize = 64 * 1024;

/// How long things may take.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// From the host's name to a connection that can be spoken over.
    pub connect: Duration,
    /// The rest of an answer whose beginning is there: the receipt is in the beginning.
    pub rest: Duration,
    /// A delivery.
    pub whole: Duration,
    /// How long a batch of the table's stream waits for receivers, once its actions are done.
    pub batch: Duration,
}

/// What holds outside of tests.
pub const LIMITS: Limits = Limits {
    connect: Duration::from_secs(3),
    rest: Duration::from_secs(1),
    whole: Duration::from_secs(10),
    batch: Duration::from_secs(2),
};

/// Why a notification was not received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missed {
    /// In words that hold nothing of letter or answer.
    pub reason: String,
    /// The receiver took too long.
    pub late: bool,
}

impl Missed {
    fn late(reason: &str) -> Self {
        Self {
            reason: reason.to_owned(),
            late: true,
        }
    }
}

impl From<String> for Missed {
    fn from(reason: String) -> Self {
        Self { reason, late: false }
    }
}

/// A notification.
#[derive(Debug, Clone)]
pub struct Letter {
    /// The same for every try, so that a receiver can drop repetitions.
    pub delivery: String,
    /// Where to.
    pub url: Hook,
    /// What it is signed with.
    pub secret: Secret,
    /// When it is sent.
    pub at: Timestamp,
    /// JSON.
    pub body: String,
}

/// Finds the addresses of a host.
type Resolver = Arc<dyn Fn(String, u16) -> BoxFuture<'static, Vec<SocketAddr>> + Send + Sync>;

/// TLS, from the first delivery on; inside `None` where there is none to be had.
type Tls = Arc<OnceLock<Option<TlsConnector>>>;

/// A connection: with TLS or, in tests, without.
trait Wire: AsyncRead + AsyncWrite + Send + Unpin {}
impl<W: AsyncRead + AsyncWrite + Send + Unpin> Wire for W {}

/// What posts notifications.
#[derive(Clone)]
pub struct Courier {
    resolver: Resolver,
    admits: fn(IpAddr) -> bool,
    tls: Option<Tls>,
    limits: Limits,
    lanes: Lanes,
}

impl fmt::Debug for Courier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Courier").finish_non_exhaustive()
    }
}

impl Courier {
    /// One that asks the system for addresses, and takes public ones only.
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
            tls: Some(Arc::default()),
            limits: LIMITS,
            lanes: Lanes::default(),
        }
    }

    /// Posts a letter; any 2xx is a receipt.
    ///
    /// # Errors
    /// Why it was not received, in words that hold nothing of letter or answer.
    pub async fn deliver(&self, letter: &Letter) -> Result<(), String> {
        self.try_to_deliver(letter).await.map_err(|missed| missed.reason)
    }

    /// The same, and whether the receiver took too long.
    ///
    /// # Errors
    /// [`Missed`] where it was not received.
    pub async fn try_to_deliver(&self, letter: &Letter) -> Result<(), Missed> {
        timeout(self.limits.whole, self.post(letter))
            .await
            .unwrap_or_else(|_| Err(Missed::late("it took too long")))
    }

    /// How long a batch of the table's stream waits for receivers.
    #[must_use]
    pub fn batch_limit(&self) -> Duration {
        self.limits.batch
    }

    /// The lanes of this process.
    #[must_use]
    pub fn lanes(&self) -> &Lanes {
        &self.lanes
    }

    async fn post(&self, letter: &Letter) -> Result<(), Missed> {
        let wire = timeout(self.limits.connect, self.connect(&letter.url)).await;
        let wire = wire.map_err(|_| Missed::late("the connection took too long"))?;
        let wire = wire.map_err(str::to_owned)?;
        Ok(self.send(wire, letter).await?)
    }

    /// A connection to a receiver that showed whose it is.
    async fn connect(&self, url: &Hook) -> Result<Box<dyn Wire>, &'static str> {
        let stream = self.reach(url).await?;
        let Some(tls) = &self.tls else {
            return Ok(Box::new(stream));
        };
        let name = ServerName::try_from(url.host().to_owned());
        let name = name.map_err(|_| "the host has no name for a certificate")?;
        let connector = tls.get_or_init(system_tls).as_ref().ok_or("there is no TLS")?;
        match connector.connect(name, stream).await {
            Ok(stream) => Ok(Box::new(stream)),
            Err(cause) => Err(distrust(&cause)),
        }
    }

    /// Connects to the first address that answers. One address that is not admitted is enough for none to be used: a name
    /// that leads to both is not to be trusted.
    async fn reach(&self, url: &Hook) -> Result<TcpStream, &'static str> {
        let found = match url.host().parse::<IpAddr>() {
            Ok(address) => vec![SocketAddr::new(address, url.port())],
            Err(_) => (self.resolver)(url.host().to_owned(), url.port()).await,
        };
        if found.is_empty() {
            return Err("the host has no address");
        }
        if !found.iter().all(|address| (self.admits)(address.ip())) {
            return Err("the host leads to a private address");
        }
        for address in &found {
            if let Ok(stream) = TcpStream::connect(address).await {
                return Ok(stream);
            }
        }
        Err("the host takes no connection")
    }

    /// Sends the letter over a connection and waits for the receipt.
    async fn send(&self, wire: Box<dyn Wire>, letter: &Letter) -> Result<(), String> {
        let broken = |cause: hyper::Error| format!("the connection broke: {cause}");
        let (mut sender, connection) = http1::handshake(TokioIo::new(wire)).await.map_err(broken)?;
        let request = request(letter).map_err(|cause| format!("it cannot be written: {cause}"))?;
        let talk = async {
            let answer = sender.send_request(request).await.map_err(broken)?;
            let status = answer.status();
            // Read so that the receiver sees its answer taken; what it says is nobody's business.
            let rest = Limited::new(answer.into_body(), MOST_ANSWER).collect();
            let _ = timeout(self.limits.rest, rest).await;
            if status.is_success() {
                return Ok(());
            }
            Err(format!("the receiver answered {}", status.as_u16()))
        };
        // The connection is driven beside the talk and ends with it, whatever the receiver still sends. One that breaks
        // once the answer is there, as where it is closed without a farewell of TLS, takes nothing away from the receipt.
        tokio::pin!(connection);
        tokio::pin!(talk);
        tokio::select! {
            biased;
            said = &mut talk => said,
            _ = &mut connection => talk.await,
        }
    }
}

/// For tests.
#[cfg(feature = "faults")]
impl Courier {
    /// One that has the addresses of every host from `resolver`, and speaks plain HTTP to those that `admits` takes.
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
            tls: None,
            limits: LIMITS,
            lanes: Lanes::default(),
        }
    }

    /// The same with TLS, and with trust in these roots or, for `None`, in the system's.
    #[must_use]
    pub fn with_tls(mut self, roots: Option<RootCertStore>) -> Self {
        self.tls = Some(roots.map_or_else(Arc::default, |roots| Arc::new(OnceLock::from(tls(roots)))));
        self
    }

    /// The same within these limits.
    #[must_use]
    pub fn within(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }
}

/// Why there is no TLS with a receiver, without what it says of itself.
fn distrust(cause: &io::Error) -> &'static str {
    let cause = cause
        .get_ref()
        .and_then(|cause| cause.downcast_ref::<rustls::Error>());
    let Some(rustls::Error::InvalidCertificate(cause)) = cause else {
        return "the TLS handshake failed";
    };
    match cause {
        CertificateError::UnknownIssuer => "the certificate is of nobody who is trusted",
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "the certificate is another host's"
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => "the certificate has expired",
        _ => "the certificate is not valid",
    }
}

fn request(letter: &Letter) -> Result<Request<Full<Bytes>>, http::Error> {
    let at = letter.at.unix_seconds();
    let signed = signature(&letter.secret, at, &letter.body);
    Request::builder()
        .method(Method::POST)
        .uri(letter.url.path())
        .header(HOST, letter.url.authority())
        .header(USER_AGENT, "funil")
        .header(CONTENT_TYPE, "application/json")
        .header("x-funil-delivery", &letter.delivery)
        .header("x-funil-timestamp", at)
        .header("x-funil-signature", format!("t={at},v1={signed}"))
        .body(Full::from(letter.body.clone()))
}

/// HMAC-SHA256 of `<at>.<body>` under the secret, in hexadecimal.
fn signature(secret: &Secret, at: i64, body: &str) -> String {
    // HMAC takes keys of every length, so there is none that it refuses.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret.reveal().as_bytes()) else {
        return String::new();
    };
    mac.update(format!("{at}.{body}").as_bytes());
    hex(&mac.finalize().into_bytes())
}

/// TLS with the roots that the system trusts. Without any, no certificate is good.
fn system_tls() -> Option<TlsConnector> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    tls(roots)
}

/// TLS with these roots; `None` where no version of it can be spoken.
fn tls(roots: RootCertStore) -> Option<TlsConnector> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .ok()?;
    let config = config.with_root_certificates(roots).with_no_client_auth();
    Some(TlsConnector::from(Arc::new(config)))
}
