//! A TLS proxy for the emulator, which has no TLS.
//!
//! It replaces DynamoDB's endpoint: a host name with a trusted certificate. It costs both compared programs
//! the same.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

/// Starts a TLS proxy for the engine at `endpoint`, with `localhost.pem` and `localhost.key` of a directory.
/// Returns its address.
pub async fn before(endpoint: &str, certificates: &Path) -> String {
    let acceptor = TlsAcceptor::from(Arc::new(config(certificates)));
    // Clients try the first address of the name first.
    let listener = TcpListener::bind("localhost:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let engine = endpoint.trim_start_matches("http://").to_owned();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(pass(acceptor.clone(), stream, engine.clone()));
        }
    });
    format!("https://localhost:{port}")
}

fn config(certificates: &Path) -> ServerConfig {
    let read = |name: &str| fs::read(certificates.join(name)).expect("tests/cold-start.sh made it");
    let certificate = CertificateDer::from_pem_slice(&read("localhost.pem")).expect("a certificate");
    let key = PrivateKeyDer::from_pem_slice(&read("localhost.key")).expect("a key");
    ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions of TLS")
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .expect("a certificate and its key")
}

/// Forwards both directions. A broken connection is the client's error.
async fn pass(acceptor: TlsAcceptor, client: TcpStream, engine: String) {
    let _ = client.set_nodelay(true);
    let connected = tokio::try_join!(acceptor.accept(client), TcpStream::connect(engine));
    if let Ok((mut client, mut engine)) = connected {
        let _ = engine.set_nodelay(true);
        let _ = copy_bidirectional(&mut client, &mut engine).await;
    }
}
