//! `funil serve`: the whole service on this machine (C-85).
//!
//! Without `--endpoint` it opens the embedded engine on a directory, which the operator's commands open beside it.

use std::fs;
use std::io::{self, Write as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::middleware::from_fn_with_state;
use database::{Database, DatabaseError, Sync};
use shared::automation::NotifyHost;
use shared::environment::Environment;
use shared::http::{App, Origins, RouteGroup, one_host, service};
use shared::jobs::webhook_client::WebhookClient;
use shared::store::{Location, Store, StoreError};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::demo::{self, Demo, DemoError};
use crate::listen::{self, Limits};
use crate::panel;

/// Interval of deletions of expired items. Readers ignore those that are left.
const SWEEP_PAUSE: Duration = Duration::from_mins(10);
/// Interval of attempts to remove deleted data from the files.
const SCRUB_PAUSE: Duration = Duration::from_secs(1);
/// Pause between two runs of the background jobs, on the embedded engine and on other tables.
const JOB_PAUSE: Duration = Duration::from_secs(1);
const REMOTE_JOB_PAUSE: Duration = Duration::from_secs(15);
/// Maximum concurrent runs of deliveries. Each run takes lanes that no other run has, so a slow receiver does not delay
/// the next run. A run ends within 50 s.
const MAX_RUNS: usize = 64;

/// The file in the directory of the engine with the address of the running service.
const URL_FILE: &str = "serve.url";

/// The address of the `funil serve` that runs on a directory, as far as it is known. A killed one leaves its file.
#[must_use]
pub fn running_url(directory: &Path) -> Option<String> {
    if !database::is_served(directory) {
        return None;
    }
    let url = fs::read_to_string(directory.join(URL_FILE)).ok()?;
    url.starts_with("http://").then(|| url.trim().to_owned())
}

/// The file with the address of this service while it runs. Only its user can read it, like every file of the directory.
struct UrlFile(PathBuf);

impl UrlFile {
    fn new(directory: &Path, url: &str) -> Self {
        let written = tempfile::NamedTempFile::new_in(directory).and_then(|mut file| {
            file.write_all(url.as_bytes())?;
            Ok(file.persist(directory.join(URL_FILE))?)
        });
        if let Err(cause) = written {
            tracing::warn!(%cause, "links of other commands have the usual address");
        }
        Self(directory.join(URL_FILE))
    }
}

impl Drop for UrlFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Options of the service.
#[derive(Debug, Clone)]
pub struct Options {
    /// Directory of the engine's file.
    pub data: PathBuf,
    /// The address to listen on.
    pub bind: IpAddr,
    /// The service's port; 0 for any.
    pub port: u16,
    /// When the engine's commits are on disk.
    pub sync: Sync,
    /// Do not create the demo instance.
    pub empty: bool,
    /// DynamoDB API to use instead of the engine.
    pub endpoint: Option<String>,
    /// The table's name.
    pub table: String,
    /// Receivers of notifications that may be plain or private (C-102).
    pub notify_hosts: Vec<NotifyHost>,
}

/// Error of starting the service.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The engine's file cannot be opened.
    #[error(transparent)]
    Open(#[from] DatabaseError),
    /// The service's address is not available.
    #[error(
        "cannot listen on {address}: {cause}; name another port with --port PORT, or another address with --bind ADDRESS"
    )]
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
    /// The option of other commands that names the same database.
    pub place: String,
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

/// Listens at the address of the options. Returns it with the port.
async fn bind(options: &Options) -> Result<(TcpListener, SocketAddr), ServeError> {
    let address = SocketAddr::new(options.bind, options.port);
    let error = |cause| ServeError::Listen { address, cause };
    let listener = TcpListener::bind(address).await;
    if listener.is_err() && options.endpoint.is_none() && database::is_served(&options.data) {
        // It probably has the port, and another port would not help.
        open(options, &Environment::system()).await?;
    }
    let listener = listener.map_err(error)?;
    let address = listener.local_addr().map_err(error)?;
    Ok((listener, address))
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
    let (listener, address) = bind(options).await?;
    let limits = Limits::raised();
    let environment = Environment::system();
    let (store, database) = open(options, &environment).await?;
    operator::ensure_table(&store).await?;
    store.check_format().await?;
    store.check_time_zones().await?;
    let demo = if options.empty {
        Demo::None
    } else {
        demo::load(&store).await?
    };
    let mut background = JoinSet::new();
    let is_embedded = database.is_some();
    let pause = job_pause(is_embedded);
    background.spawn(refresh_copies(store.clone(), pause));
    background.spawn(refresh_reports(store.clone(), pause));
    let webhook_client = WebhookClient::system().admitting(&options.notify_hosts);
    background.spawn(run_automations(store.clone(), webhook_client, pause));
    if let Some(database) = &database {
        background.spawn(delete_expired(environment.clone(), database.clone()));
        background.spawn(scrub(environment.clone(), database.clone()));
    }
    let app = App::new(store, environment, Origins::Any);
    let pages = documents::routes().merge(panel::routes());
    let service = service(&app, groups()).merge(pages);
    let service = service.layer(from_fn_with_state(app, one_host));
    let stopped = stopped();
    let service_ready = Ready {
        address,
        place: match &options.endpoint {
            Some(url) => format!("--endpoint {url}"),
            None => format!("--data {}", options.data.display()),
        },
        demo,
    };
    let _url_file = is_embedded.then(|| UrlFile::new(&options.data, &service_ready.url()));
    ready(&service_ready);
    listen::serve(listener, service, limits, stopped).await;
    Ok(())
}

fn job_pause(is_embedded: bool) -> Duration {
    if is_embedded { JOB_PAUSE } else { REMOTE_JOB_PAUSE }
}

/// The store of the embedded engine, or of the named DynamoDB API.
async fn open(options: &Options, environment: &Environment) -> Result<(Store, Option<Database>), ServeError> {
    if let Some(endpoint) = options.endpoint.clone() {
        let location = Location {
            table: options.table.clone(),
            endpoint: Some(endpoint),
        };
        return Ok((Store::connect(location, environment.clone()).await, None));
    }
    let database = Database::serve_directory(&options.data, options.sync, environment.now().unix_seconds())?;
    let store = Store::on(Arc::new(database.clone()), environment.clone());
    Ok((store, Some(database)))
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
async fn run_automations(store: Store, webhook_client: WebhookClient, pause: Duration) {
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

/// Deletes expired items.
async fn delete_expired(environment: Environment, database: Database) {
    loop {
        tokio::time::sleep(SWEEP_PAUSE).await;
        let (database, now) = (database.clone(), environment.now().unix_seconds());
        if let Ok(Err(cause)) = tokio::task::spawn_blocking(move || database.sweep(now)).await {
            tracing::warn!(%cause, "expired items were not deleted");
        }
    }
}

/// Shows that this service runs (C-85), and removes deleted data from the files (C-104).
async fn scrub(environment: Environment, database: Database) {
    loop {
        tokio::time::sleep(SCRUB_PAUSE).await;
        let (database, now) = (database.clone(), environment.now().unix_seconds());
        if let Err(cause) = database.renew(now) {
            tracing::warn!(%cause, "the lock file is not renewed");
        }
        if let Ok(Err(cause)) = tokio::task::spawn_blocking(move || database.scrub(now, false)).await {
            tracing::warn!(%cause, "deleted data is still in the files");
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
