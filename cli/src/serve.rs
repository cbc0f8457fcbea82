//! `funil serve`: the whole service on this machine (C-85).
//!
//! Without `--endpoint` it opens the embedded engine on a file, with a DynamoDB port for the operator's commands and
//! `sam local`.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use database::{Database, DatabaseError};
use shared::environment::Environment;
use shared::http::{App, Origins, RouteGroup, service, unreadable};
use shared::jobs::webhook_client::WebhookClient;
use shared::store::unscoped::key;
use shared::store::{Location, Store, StoreError};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::demo::{self, Demo, DemoError};
use crate::engine::{AccessKey, Engine, EngineError};
use crate::listen::{self, Limits, Reword};
use crate::panel;

/// Interval of deletions of expired items. Readers ignore those that are left.
const SWEEP_PAUSE: Duration = Duration::from_mins(10);
/// Pause between two runs of the background jobs, on the embedded engine and on other tables.
const JOB_PAUSE: Duration = Duration::from_secs(1);
const REMOTE_JOB_PAUSE: Duration = Duration::from_secs(15);
/// Maximum concurrent runs of deliveries. Each run takes lanes that no other run has, so a slow receiver does not delay
/// the next run. A run ends within 50 s.
const MAX_RUNS: usize = 64;

/// Options of the service.
#[derive(Debug, Clone)]
pub struct Options {
    /// Directory of the engine's file.
    pub data: PathBuf,
    /// The address to listen on.
    pub bind: IpAddr,
    /// The service's port; 0 for any.
    pub port: u16,
    /// The engine's DynamoDB API, if enabled.
    pub dynamodb: Option<Dynamodb>,
    /// Do not create the demo instance.
    pub empty: bool,
    /// DynamoDB API to use instead of the engine.
    pub endpoint: Option<String>,
    /// The table's name.
    pub table: String,
}

/// The engine's DynamoDB API.
#[derive(Debug, Clone)]
pub struct Dynamodb {
    /// The address to listen on; port 0 for any.
    pub address: SocketAddr,
    /// Required signature key, if any.
    pub key: Option<AccessKey>,
}

/// Error of starting the service.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The engine's file cannot be opened.
    #[error(transparent)]
    Open(#[from] DatabaseError),
    /// The engine does not start.
    #[error("{0}; name another port with --dynamodb-port PORT")]
    Engine(#[from] EngineError),
    /// The service's address is not available.
    #[error("cannot listen on {address}: {cause}; name another port with --port PORT")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The system's error.
        cause: io::Error,
    },
    /// The table cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The demo cannot be loaded.
    #[error(transparent)]
    Demo(#[from] DemoError),
}

/// A service that is ready to accept requests.
#[derive(Debug)]
pub struct Ready {
    /// The address at which it listens.
    pub address: SocketAddr,
    /// URL of the embedded engine's DynamoDB API, if enabled.
    pub dynamodb: Option<String>,
    /// Whether the embedded engine runs, with or without a port.
    pub is_embedded: bool,
    /// The demo instance, if any.
    pub demo: Demo,
}

impl Ready {
    /// URL of the service on this machine. A service on all addresses is reached at the loopback one.
    #[must_use]
    pub fn url(&self) -> String {
        let mut address = self.address;
        match address.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => address.set_ip(Ipv4Addr::LOCALHOST.into()),
            IpAddr::V6(ip) if ip.is_unspecified() => address.set_ip(Ipv6Addr::LOCALHOST.into()),
            _ => {}
        }
        format!("http://{address}")
    }
}

/// Serves until the future of `stopped` ends; calls `ready` once it accepts requests. Calls `stopped` before, because a
/// script may stop the service as soon as it is ready.
///
/// # Errors
/// [`ServeError`] if it cannot start.
pub async fn serve<S: Future<Output = ()> + Send + 'static>(
    options: &Options,
    ready: impl FnOnce(&Ready),
    stopped: impl FnOnce() -> S,
) -> Result<(), ServeError> {
    let address = SocketAddr::new(options.bind, options.port);
    let listen = |cause| ServeError::Listen { address, cause };
    let listener = TcpListener::bind(address).await.map_err(listen)?;
    let address = listener.local_addr().map_err(listen)?;
    listen::raise_limit();
    let environment = Environment::system();
    let (store, mut embedded) = open(options, &environment).await?;
    operator::ensure_table(&store).await?;
    store.check_format().await?;
    let demo = if options.empty {
        Demo::None
    } else {
        demo::load(&store).await?
    };
    let mut background = JoinSet::new();
    let pause = job_pause(embedded.is_some());
    background.spawn(refresh_copies(store.clone(), pause));
    background.spawn(refresh_reports(store.clone(), pause));
    background.spawn(run_automations(store.clone(), pause));
    if let Some(embedded) = &embedded {
        let (database, table) = (embedded.database.clone(), options.table.clone());
        background.spawn(delete_expired(store.clone(), database, table));
    }
    let app = App::new(store, environment, Origins::Any);
    let pages = documents::routes().merge(panel::routes());
    let service = service(&app, groups()).merge(pages);
    let mut port = embedded.as_mut().and_then(|embedded| embedded.port.as_mut());
    let dynamodb = port.as_ref().map(|port| port.endpoint());
    let close_port = port.as_mut().and_then(|port| port.take_stopper());
    // Both ports stop accepting requests at once, and finish the open ones concurrently.
    let stopped = stopped();
    let stopped = async {
        stopped.await;
        drop(close_port);
    };
    ready(&Ready {
        address,
        dynamodb,
        is_embedded: options.endpoint.is_none(),
        demo,
    });
    listen::serve(listener, service, Some(reword(app)), Limits::default(), stopped).await;
    Ok(())
}

fn job_pause(is_embedded: bool) -> Duration {
    if is_embedded { JOB_PAUSE } else { REMOTE_JOB_PAUSE }
}

/// The engine of this process.
struct Embedded {
    database: Database,
    port: Option<Engine>,
}

/// The store of the embedded engine, or of the named DynamoDB API.
async fn open(options: &Options, environment: &Environment) -> Result<(Store, Option<Embedded>), ServeError> {
    let table = options.table.clone();
    if let Some(endpoint) = options.endpoint.clone() {
        let endpoint = Some(endpoint);
        return Ok((
            Store::connect(Location { table, endpoint }, environment.clone()).await,
            None,
        ));
    }
    let database = Database::in_directory(&options.data)?;
    let open = |dynamodb: &Dynamodb| Engine::open(database.clone(), dynamodb.address, dynamodb.key.clone());
    let port = options.dynamodb.as_ref().map(open).transpose()?;
    let store = Store::embedded(Arc::new(database.clone()), table, environment.clone());
    Ok((store, Some(Embedded { database, port })))
}

/// Error responses in the service's format to requests that hyper rejects (C-5).
fn reword(app: App) -> Reword {
    Arc::new(move |status| {
        let answer = unreadable(&app, status)?;
        let mut text = format!("HTTP/1.1 {status}\r\n").into_bytes();
        for (name, value) in answer.headers() {
            text.extend([name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"].concat());
        }
        let body = answer.body();
        text.extend(format!("content-length: {}\r\nconnection: close\r\n\r\n", body.len()).into_bytes());
        text.extend(body);
        Some(text)
    })
}

/// The routes of all functions.
fn groups() -> impl Iterator<Item = RouteGroup> {
    let single = [
        leads::group(),
        calendars::group(),
        tickets::group(),
        reports::group(),
        directory::group(),
    ];
    single
        .into_iter()
        .chain(opportunities::groups())
        .chain(call_webhook::groups())
}

/// Refreshes copies of changed leads, as the scheduled `maintenance` does.
async fn refresh_copies(store: Store, pause: Duration) {
    loop {
        tokio::time::sleep(pause).await;
        if let Err(cause) = maintenance::copy(&store).await {
            tracing::warn!(%cause, "maintenance is tried again");
        }
    }
}

/// Refreshes reports, as the scheduled `maintenance` does. Separate from [`refresh_copies`], because it may take
/// minutes.
async fn refresh_reports(store: Store, pause: Duration) {
    loop {
        tokio::time::sleep(pause).await;
        if let Err(cause) = maintenance::refresh(&store).await {
            tracing::warn!(%cause, "reports are tried again");
        }
    }
}

/// Runs automations by polling, because no stream of the table triggers them here. Deliveries run concurrently and
/// separately, so no action waits for a receiver.
async fn run_automations(store: Store, pause: Duration) {
    let webhook_client = WebhookClient::system();
    let deliveries = run_overlapping(pause, || {
        let (store, webhook_client) = (store.clone(), webhook_client.clone());
        async move {
            if let Err(cause) = maintenance::deliver(&store, &webhook_client).await {
                tracing::warn!(%cause, "notifications are tried again");
            }
        }
    });
    let actions = async {
        loop {
            tokio::time::sleep(pause).await;
            if let Err(cause) = maintenance::act(&store).await {
                tracing::warn!(%cause, "automations are tried again");
            }
        }
    };
    let ((), ()) = tokio::join!(actions, deliveries);
}

/// Starts a run after every pause, concurrently with unfinished ones up to a maximum.
async fn run_overlapping<R: Future<Output = ()> + Send + 'static>(pause: Duration, run: impl Fn() -> R) {
    let mut runs = JoinSet::new();
    loop {
        tokio::time::sleep(pause).await;
        while runs.try_join_next().is_some() {}
        if runs.len() < MAX_RUNS {
            runs.spawn(run());
        }
    }
}

/// Deletes expired items, instance by instance.
async fn delete_expired(store: Store, database: Database, table: String) {
    loop {
        tokio::time::sleep(SWEEP_PAUSE).await;
        let instances = operator::instances(&store).await.unwrap_or_default();
        for instance in instances {
            let (database, table) = (database.clone(), table.clone());
            let now = store.environment().now().unix_seconds();
            let run = move || database.sweep(&table, &key::expiring(&instance.name), now);
            if tokio::task::spawn_blocking(run).await.is_err() {
                tracing::warn!("expired items were not deleted");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// Blocked runs delay others only once their maximum is reached.
    #[tokio::test]
    async fn a_hanging_job_delays_no_other() {
        let (begun, reached) = (
            Arc::new(AtomicUsize::new(0)),
            Arc::new(tokio::sync::Notify::new()),
        );
        let overlapping = run_overlapping(Duration::from_millis(1), || {
            let at = begun.fetch_add(1, Ordering::Relaxed);
            let reached = Arc::clone(&reached);
            async move {
                if at == MAX_RUNS - 1 {
                    reached.notify_one();
                }
                std::future::pending::<()>().await;
            }
        });
        tokio::select! {
            () = overlapping => {}
            () = reached.notified() => {}
        }
        assert_eq!(begun.load(Ordering::Relaxed), MAX_RUNS);
    }
}
