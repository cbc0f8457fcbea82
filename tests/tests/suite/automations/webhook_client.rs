//! The webhook client alone: trust, timeouts and limits (C-76).

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use rustls::{RootCertStore, ServerConfig};
use serde_json::{from_value, json};
use shared::automation::{Headers, Method, SecretText, WebhookUrl, is_public};
use shared::jobs::webhook_client::{RequestLimits, WebhookClient, WebhookRequest};
use tests::NOW;
use tests::world::at;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio_rustls::TlsAcceptor;

/// A self-signed certificate for `erp.example`, used by these tests only.
const CERTIFICATE: &[u8] = include_bytes!("tls/receiver.der");
const KEY: &[u8] = include_bytes!("tls/receiver.key.der");

/// Longer than any test, and almost no time.
const LONG: Duration = Duration::from_mins(1);
const SHORT: Duration = Duration::from_millis(50);
const PATIENT: RequestLimits = RequestLimits {
    connect: LONG,
    rest: LONG,
    whole: LONG,
    batch: LONG,
};
const RECEIPT: &[u8] = b"HTTP/1.1 204 No Content\r\n\r\n";

fn letter(url: &str) -> WebhookRequest {
    WebhookRequest {
        delivery: "acme-1-1-0".to_owned(),
        url: WebhookUrl::try_from(url.to_owned()).expect("a URL"),
        secret: from_value::<SecretText>(json!("s3gr3do")).expect("a secret"),
        method: Method::Post,
        headers: Headers::new(),
        trace: None,
        at: at(NOW),
        body: "{}".to_owned(),
    }
}

/// A client that resolves every host to `address`, with long timeouts.
fn webhook_client(address: SocketAddr) -> WebhookClient {
    WebhookClient::plain(move |_, _| vec![address], |address| address.is_loopback()).within(PATIENT)
}

async fn listener() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    (listener, address)
}

/// The head of a request.
async fn head(stream: &mut (impl AsyncRead + Unpin)) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => break,
        }
    }
    String::from_utf8(head).expect("a head is text")
}

/// Receives one request and responds with `answer`; returns its head and the number of response bytes that
/// were read.
async fn receiver(answer: impl Fn(usize) -> Option<Vec<u8>> + Send + 'static) -> (SocketAddr, Told) {
    let (listener, address) = listener().await;
    let (tell, told) = oneshot::channel();
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.expect("a connection");
        let _ = tell.send(answered(stream, answer).await);
    });
    (address, told)
}

type Told = oneshot::Receiver<(String, usize)>;

async fn answered(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    answer: impl Fn(usize) -> Option<Vec<u8>>,
) -> (String, usize) {
    let (head, mut taken) = (head(&mut stream).await, 0);
    for at in 0.. {
        let Some(part) = answer(at) else { break };
        if stream.write_all(&part).await.is_err() {
            break;
        }
        taken += part.len();
    }
    // Unread bytes remain until the other side closes.
    let _ = stream.read_to_end(&mut Vec::new()).await;
    (head, taken)
}

/// A receiver with the certificate, and its requests.
async fn tls_receiver() -> (SocketAddr, Arc<Mutex<Vec<String>>>) {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions of TLS")
        .with_no_client_auth()
        .with_single_cert(
            vec![CertificateDer::from(CERTIFICATE)],
            PrivatePkcs8KeyDer::from(KEY).into(),
        )
        .expect("a certificate and its key");
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let (listener, address) = listener().await;
    let asked = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&asked);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let Ok(mut stream) = acceptor.accept(stream).await else {
                continue;
            };
            let head = head(&mut stream).await;
            kept.lock().expect("what was asked").push(head);
            let _ = stream.write_all(RECEIPT).await;
        }
    });
    (address, asked)
}

fn trusted() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots
        .add(CertificateDer::from(CERTIFICATE))
        .expect("a certificate");
    roots
}

#[tokio::test]
async fn receivers_without_a_trusted_certificate_get_nothing() {
    let (address, asked) = tls_receiver().await;
    let refused = |reason: &str| Err(reason.to_owned());
    for (roots, url, expected) in [
        (
            None,
            "https://erp.example/a",
            refused("the certificate's issuer is not trusted"),
        ),
        (
            Some(RootCertStore::empty()),
            "https://erp.example/a",
            refused("the certificate's issuer is not trusted"),
        ),
        (
            Some(trusted()),
            "https://other.example/b",
            refused("the certificate is another host's"),
        ),
        (Some(trusted()), "https://erp.example:8443/c", Ok(())),
    ] {
        let webhook_client = webhook_client(address).with_tls(roots);
        assert_eq!(webhook_client.deliver(&letter(url)).await, expected, "{url}");
    }
    let asked = asked.lock().expect("what was asked");
    assert_eq!(asked.len(), 1);
    assert!(asked[0].starts_with("POST /c HTTP/1.1\r\nhost: erp.example:8443\r\n"));
}

#[tokio::test]
async fn plain_http_is_never_sent() {
    let (listener, address) = listener().await;
    let heard = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.expect("a connection");
        let _ = stream.write_all(RECEIPT).await;
        let mut heard = Vec::new();
        let _ = stream.read_to_end(&mut heard).await;
        heard
    });
    let webhook_client = webhook_client(address).with_tls(Some(trusted()));
    let sent = webhook_client.deliver(&letter("https://erp.example/")).await;
    assert_eq!(sent, Err("the TLS handshake failed".to_owned()));
    let heard = heard.await.expect("what was heard");
    assert!(!String::from_utf8_lossy(&heard).contains("POST"));
}

/// C-102: an admitted receiver may be plain and private, but its name must not lead to a link-local address. The name is
/// resolved once.
#[tokio::test]
async fn admitted_receivers_are_plain_or_private() {
    let (address, told) = receiver(|at| (at == 0).then(|| RECEIPT.to_vec())).await;
    let (secure, asked) = tls_receiver().await;
    let link_local = SocketAddr::from(([169, 254, 169, 254], 80));
    let resolved = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&resolved);
    let strict = WebhookClient::plain(
        move |host, _| match host {
            "erp.example" => vec![secure],
            "cloud.local" => vec![address, link_local],
            _ if counted.fetch_add(1, Ordering::Relaxed) == 0 => vec![address],
            _ => vec![link_local],
        },
        is_public,
    );
    let strict = strict.with_tls(Some(trusted())).within(PATIENT);
    let hosts = ["erp.local:8080", "erp.example", "cloud.local"].map(|host| host.parse().expect("a host"));
    let open = strict.clone().admitting(&hosts);
    let plain = "the address is http, and `funil serve --notify-host` does not name its host";
    for (client, url, expected) in [
        (&strict, "http://erp.local:8080/a", Err(plain)),
        (&open, "http://erp.local/a", Err(plain)),
        (&open, "http://8.8.8.8/a", Err(plain)),
        (&open, "http://erp.local:8080/a", Ok(())),
        (
            &strict,
            "https://erp.example/b",
            Err("the host leads to a private address"),
        ),
        (&open, "https://erp.example/b", Ok(())),
        (
            &open,
            "https://10.0.0.1/b",
            Err("the host leads to a private address"),
        ),
        (
            &open,
            "http://cloud.local/c",
            Err("the host leads to a link-local address"),
        ),
    ] {
        let sent = client.deliver(&letter(url)).await;
        assert_eq!(sent, expected.map_err(str::to_owned), "{url}");
    }
    assert_eq!(resolved.load(Ordering::Relaxed), 1);
    let head = told.await.expect("it was asked").0;
    assert!(
        head.starts_with("POST /a HTTP/1.1\r\nhost: erp.local:8080\r\n"),
        "{head}"
    );
    assert_eq!(asked.lock().expect("what was asked").len(), 1);
}

#[tokio::test]
async fn connecting_times_out() {
    let (listener, address) = listener().await;
    let webhook_client = webhook_client(address)
        .with_tls(Some(trusted()))
        .within(RequestLimits {
            connect: SHORT,
            ..PATIENT
        });
    let sent = webhook_client.deliver(&letter("https://erp.example/")).await;
    assert_eq!(sent, Err("the connection took too long".to_owned()));
    drop(listener);
}

#[tokio::test]
async fn deliveries_time_out() {
    let (address, told) = receiver(|_| None).await;
    let webhook_client = webhook_client(address).within(RequestLimits {
        whole: SHORT,
        ..PATIENT
    });
    let sent = webhook_client.deliver(&letter("https://erp.example/")).await;
    assert_eq!(sent, Err("it took too long".to_owned()));
    assert!(told.await.expect("it was asked").0.starts_with("POST / "));
}

/// The status is the receipt.
#[tokio::test]
async fn responses_need_not_end() {
    let (address, _told) = receiver(|at| {
        let beginning = b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{";
        (at == 0).then(|| beginning.to_vec())
    })
    .await;
    let webhook_client = webhook_client(address).within(RequestLimits {
        rest: SHORT,
        ..PATIENT
    });
    assert_eq!(
        webhook_client.deliver(&letter("https://erp.example/")).await,
        Ok(())
    );
}

/// Up to 64 KB, plus the buffers on the way.
#[tokio::test]
async fn long_responses_are_cut() {
    const LENGTH: usize = 64 << 20;
    let (address, told) = receiver(|at| match at {
        0 => Some(format!("HTTP/1.1 200 OK\r\ncontent-length: {LENGTH}\r\n\r\n").into_bytes()),
        1..=1024 => Some(vec![b'x'; LENGTH / 1024]),
        _ => None,
    })
    .await;
    let sent = webhook_client(address)
        .deliver(&letter("https://erp.example/"))
        .await;
    assert_eq!(sent, Ok(()));
    let (_, taken) = told.await.expect("it was asked");
    assert!(taken < LENGTH / 2, "{taken}");
}

#[tokio::test]
async fn errors_do_not_quote_responses() {
    for (said, reason) in [
        (
            &b"s3gr3do\r\n\r\n"[..],
            "the connection broke: invalid HTTP version parsed",
        ),
        (
            b"HTTP/1.1 418 s3gr3do\r\ncontent-length: 0\r\n\r\n",
            "the receiver answered 418",
        ),
    ] {
        let (address, _told) = receiver(|at| (at == 0).then(|| said.to_vec())).await;
        let sent = webhook_client(address)
            .deliver(&letter("https://erp.example/"))
            .await;
        assert_eq!(sent, Err(reason.to_owned()));
    }
}

/// The name is resolved once, so the checked address is the one connected to.
#[tokio::test]
async fn names_are_resolved_once() {
    let (listener, address) = listener().await;
    let (public, asked) = (
        SocketAddr::from(([192, 0, 2, 1], 443)),
        Arc::new(AtomicUsize::new(0)),
    );
    let counted = Arc::clone(&asked);
    let webhook_client = WebhookClient::plain(
        move |host, port| {
            assert_eq!((host, port), ("erp.example", 8443));
            match counted.fetch_add(1, Ordering::Relaxed) {
                0 => vec![public],
                _ => vec![address],
            }
        },
        |address| !address.is_loopback(),
    );
    let hasty = webhook_client.within(RequestLimits {
        connect: SHORT,
        ..PATIENT
    });
    let sent = hasty.deliver(&letter("https://erp.example:8443/")).await;
    assert!(sent.is_err());
    assert_eq!(asked.load(Ordering::Relaxed), 1);
    drop(listener);
}

/// Addresses that refuse the connection are skipped; an IP literal is not resolved.
#[tokio::test]
async fn the_first_reachable_address_is_used() {
    let (dead, gone) = listener().await;
    drop(dead);
    let (address, told) = receiver(|at| (at == 0).then(|| RECEIPT.to_vec())).await;
    let webhook_client =
        WebhookClient::plain(move |_, _| vec![gone, address], |address| address.is_loopback());
    assert_eq!(
        webhook_client.deliver(&letter("https://erp.example?b=c")).await,
        Ok(())
    );
    assert!(
        told.await
            .expect("it was asked")
            .0
            .starts_with("POST /?b=c HTTP/1.1\r\n")
    );
    let nobody = WebhookClient::plain(|_, _| panic!("nobody is asked"), |_| false);
    assert_eq!(
        nobody.deliver(&letter("https://8.8.8.8/")).await,
        Err("the host leads to a private address".to_owned())
    );
}
