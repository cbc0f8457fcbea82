//! The courier by itself: whom it trusts, how long it waits and how much it reads (C-76).

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use rustls::{RootCertStore, ServerConfig};
use serde_json::{from_value, json};
use shared::automation::{Hook, Secret};
use shared::courier::{Courier, Letter, Limits};
use tests::NOW;
use tests::world::at;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio_rustls::TlsAcceptor;

/// A certificate for `erp.example` that vouches for itself, made for these tests and for nothing else.
const CERTIFICATE: &[u8] = include_bytes!("tls/receiver.der");
const KEY: &[u8] = include_bytes!("tls/receiver.key.der");

/// Longer than any test takes, and hardly any time.
const LONG: Duration = Duration::from_mins(1);
const SHORT: Duration = Duration::from_millis(50);
const PATIENT: Limits = Limits {
    connect: LONG,
    rest: LONG,
    whole: LONG,
    batch: LONG,
};
const RECEIPT: &[u8] = b"HTTP/1.1 204 No Content\r\n\r\n";

fn letter(url: &str) -> Letter {
    Letter {
        delivery: "acme-1-1-0".to_owned(),
        url: Hook::try_from(url.to_owned()).expect("a URL"),
        secret: from_value::<Secret>(json!("s3gr3do")).expect("a secret"),
        at: at(NOW),
        body: "{}".to_owned(),
    }
}

/// One that finds every host at `address`, and waits long.
fn courier(address: SocketAddr) -> Courier {
    Courier::plain(move |_, _| vec![address], |address| address.is_loopback()).within(PATIENT)
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

/// Receives one request as `answer` says it is answered, and tells its head and how many bytes of the answer were taken.
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
    // What is to be read stays to be read, until the other side goes.
    let _ = stream.read_to_end(&mut Vec::new()).await;
    (head, taken)
}

/// A receiver with the certificate; what it was asked.
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

/// A receiver is told only where somebody who is trusted says that it is the one.
#[tokio::test]
async fn a_receiver_must_show_who_it_is() {
    let (address, asked) = tls_receiver().await;
    let refused = |reason: &str| Err(reason.to_owned());
    for (roots, url, expected) in [
        (
            None,
            "https://erp.example/a",
            refused("the certificate is of nobody who is trusted"),
        ),
        (
            Some(RootCertStore::empty()),
            "https://erp.example/a",
            refused("the certificate is of nobody who is trusted"),
        ),
        (
            Some(trusted()),
            "https://other.example/b",
            refused("the certificate is another host's"),
        ),
        (Some(trusted()), "https://erp.example:8443/c", Ok(())),
    ] {
        let courier = courier(address).with_tls(roots);
        assert_eq!(courier.deliver(&letter(url)).await, expected, "{url}");
    }
    let asked = asked.lock().expect("what was asked");
    assert_eq!(asked.len(), 1);
    assert!(asked[0].starts_with("POST /c HTTP/1.1\r\nhost: erp.example:8443\r\n"));
}

/// Plain HTTP is never spoken, whoever listens.
#[tokio::test]
async fn without_tls_nothing_is_said() {
    let (listener, address) = listener().await;
    let heard = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.expect("a connection");
        let _ = stream.write_all(RECEIPT).await;
        let mut heard = Vec::new();
        let _ = stream.read_to_end(&mut heard).await;
        heard
    });
    let courier = courier(address).with_tls(Some(trusted()));
    let sent = courier.deliver(&letter("https://erp.example/")).await;
    assert_eq!(sent, Err("the TLS handshake failed".to_owned()));
    let heard = heard.await.expect("what was heard");
    assert!(!String::from_utf8_lossy(&heard).contains("POST"));
}

#[tokio::test]
async fn a_connection_takes_no_longer_than_it_may() {
    let (listener, address) = listener().await;
    let courier = courier(address).with_tls(Some(trusted())).within(Limits {
        connect: SHORT,
        ..PATIENT
    });
    let sent = courier.deliver(&letter("https://erp.example/")).await;
    assert_eq!(sent, Err("the connection took too long".to_owned()));
    drop(listener);
}

#[tokio::test]
async fn a_delivery_takes_no_longer_than_it_may() {
    let (address, told) = receiver(|_| None).await;
    let courier = courier(address).within(Limits {
        whole: SHORT,
        ..PATIENT
    });
    let sent = courier.deliver(&letter("https://erp.example/")).await;
    assert_eq!(sent, Err("it took too long".to_owned()));
    assert!(told.await.expect("it was asked").0.starts_with("POST / "));
}

/// The status is the receipt, whatever becomes of the rest.
#[tokio::test]
async fn an_answer_need_not_end() {
    let (address, _told) = receiver(|at| {
        let beginning = b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{";
        (at == 0).then(|| beginning.to_vec())
    })
    .await;
    let courier = courier(address).within(Limits {
        rest: SHORT,
        ..PATIENT
    });
    assert_eq!(courier.deliver(&letter("https://erp.example/")).await, Ok(()));
}

/// Of a long answer the beginning is read: 64 KB, and what lies in buffers on the way.
#[tokio::test]
async fn a_long_answer_is_cut() {
    const LENGTH: usize = 64 << 20;
    let (address, told) = receiver(|at| match at {
        0 => Some(format!("HTTP/1.1 200 OK\r\ncontent-length: {LENGTH}\r\n\r\n").into_bytes()),
        1..=1024 => Some(vec![b'x'; LENGTH / 1024]),
        _ => None,
    })
    .await;
    let sent = courier(address).deliver(&letter("https://erp.example/")).await;
    assert_eq!(sent, Ok(()));
    let (_, taken) = told.await.expect("it was asked");
    assert!(taken < LENGTH / 2, "{taken}");
}

/// What a receiver says instead of HTTP is in no reason.
#[tokio::test]
async fn an_answer_is_not_quoted() {
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
        let sent = courier(address).deliver(&letter("https://erp.example/")).await;
        assert_eq!(sent, Err(reason.to_owned()));
    }
}

/// The name is looked up once: what was judged is what is connected to.
#[tokio::test]
async fn a_name_that_changes_its_mind_gains_nothing() {
    let (listener, address) = listener().await;
    let (public, asked) = (
        SocketAddr::from(([192, 0, 2, 1], 443)),
        Arc::new(AtomicUsize::new(0)),
    );
    let counted = Arc::clone(&asked);
    let courier = Courier::plain(
        move |host, port| {
            assert_eq!((host, port), ("erp.example", 8443));
            match counted.fetch_add(1, Ordering::Relaxed) {
                0 => vec![public],
                _ => vec![address],
            }
        },
        |address| !address.is_loopback(),
    );
    let hasty = courier.within(Limits {
        connect: SHORT,
        ..PATIENT
    });
    let sent = hasty.deliver(&letter("https://erp.example:8443/")).await;
    assert!(sent.is_err());
    assert_eq!(asked.load(Ordering::Relaxed), 1);
    drop(listener);
}

/// An address that takes no connection is passed over, and one in the URL asks nobody.
#[tokio::test]
async fn the_first_address_that_answers_is_taken() {
    let (dead, gone) = listener().await;
    drop(dead);
    let (address, told) = receiver(|at| (at == 0).then(|| RECEIPT.to_vec())).await;
    let courier = Courier::plain(move |_, _| vec![gone, address], |address| address.is_loopback());
    assert_eq!(courier.deliver(&letter("https://erp.example?b=c")).await, Ok(()));
    assert!(
        told.await
            .expect("it was asked")
            .0
            .starts_with("POST /?b=c HTTP/1.1\r\n")
    );
    let nobody = Courier::plain(|_, _| panic!("nobody is asked"), |_| false);
    assert_eq!(
        nobody.deliver(&letter("https://8.8.8.8/")).await,
        Err("the host leads to a private address".to_owned())
    );
}
