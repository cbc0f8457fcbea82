//! `funil serve`: the whole service on this machine (C-85).
//!
//! Without an endpoint of its own it opens the embedded engine on a file, and a DynamoDB port over it so that the
//! operator's commands and `sam local` work at the same time.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use shared::environment::Environment;
use shared::http::{App, Origins, RouteGroup, service, unreadable};
use shared::jobs::webhook_client::WebhookClient;
use shared::store::{Location, Store, StoreError};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::demo::{self, Demo, DemoError};
use crate::docs;
use crate::engine::{AccessKey, Database, Engine, EngineError};
use crate::listen::{self, Limits, Reword};

/// How often expired items are deleted.
const SWEEP: Duration = Duration::from_mins(10);
/// How often copies of changed leads are brought up to date, on the embedded engine and elsewhere.
const TEND: Duration = Duration::from_secs(1);
const TEND_ELSEWHERE: Duration = Duration::from_secs(15);
/// How many runs of deliveries may be under way. Each takes the lanes that no other has, so those that wait for receivers
/// hold up no further one; a run ends within 50 s.
const MAX_RUNS: usize = 64;

/// What is to be served, and where.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where the engine keeps its file.
    pub data: PathBuf,
    /// The address to listen on.
    pub bind: IpAddr,
    /// The service's port; 0 for any.
    pub port: u16,
    /// The engine's DynamoDB API, if it is to be open.
    pub dynamodb: Option<Dynamodb>,
    /// Without the demo instance.
    pub empty: bool,
    /// A DynamoDB API to serve from in place of the engine.
    pub endpoint: Option<String>,
    /// The table's name.
    pub table: String,
}

/// The engine's DynamoDB API.
#[derive(Debug, Clone)]
pub struct Dynamodb {
    /// The address to listen on; port 0 for any.
    pub address: SocketAddr,
    /// The key that requests must be signed with.
    pub key: Option<AccessKey>,
}

/// Why nothing can be served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The directory of the engine's file cannot be made.
    #[error("{} cannot be made: {cause}; name another directory with --data DIR", path.display())]
    Data {
        /// The directory.
        path: PathBuf,
        /// What the system says.
        cause: io::Error,
    },
    /// Another process serves the directory.
    #[error(
        "another funil serve{} uses {}; stop it, or name another directory with --data DIR",
        process.as_deref().map_or(String::new(), |process| format!(" (process {process})")),
        path.display()
    )]
    Taken {
        /// The directory.
        path: PathBuf,
        /// The other process' number, where it is known.
        process: Option<String>,
    },
    /// The engine does not start.
    #[error("{0}; name another port with --dynamodb-port PORT or another directory with --data DIR")]
    Engine(#[from] EngineError),
    /// The service's address cannot be had.
    #[error("cannot listen on {address}: {cause}; name another port with --port PORT")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system says.
        cause: io::Error,
    },
    /// The table cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The demo cannot be loaded.
    #[error(transparent)]
    Demo(#[from] DemoError),
}

/// A service that is about to answer.
#[derive(Debug)]
pub struct Ready {
    /// Where it answers.
    pub url: String,
    /// The DynamoDB API of the embedded engine, if it is open.
    pub dynamodb: Option<String>,
    /// Whether the embedded engine runs, with a port or without.
    pub is_embedded: bool,
    /// The demo instance, if the table has one.
    pub demo: Demo,
}

/// Serves until `stopped`; says when it is ready.
///
/// # Errors
/// [`ServeError`] where it cannot begin.
pub async fn serve(
    options: &Options,
    ready: impl FnOnce(&Ready),
    stopped: impl Future<Output = ()> + Send + 'static,
) -> Result<(), ServeError> {
    let address = SocketAddr::new(options.bind, options.port);
    let listen = |cause| ServeError::Listen { address, cause };
    let listener = TcpListener::bind(address).await.map_err(listen)?;
    let url = format!("http://{}", listener.local_addr().map_err(listen)?);
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
    let pause = if embedded.is_some() { TEND } else { TEND_ELSEWHERE };
    background.spawn(tend(store.clone(), pause));
    background.spawn(refresh(store.clone(), pause));
    background.spawn(automate(store.clone(), pause));
    if let Some(embedded) = &embedded {
        background.spawn(sweep(embedded.database.clone()));
    }
    let app = App::new(store, environment, Origins::Any);
    let service = service(&app, groups()).merge(docs::routes());
    let mut port = embedded.as_mut().and_then(|embedded| embedded.port.as_mut());
    let dynamodb = port.as_ref().map(|port| port.endpoint());
    let close_port = port.as_mut().and_then(|port| port.stopper());
    let stopped = async {
        stopped.await;
        drop(close_port);
    };
    ready(&Ready {
        url,
        dynamodb,
        is_embedded: options.endpoint.is_none(),
        demo,
    });
    listen::serve(listener, service, Some(reword(app)), Limits::default(), stopped).await;
    Ok(())
}

/// The engine of this process.
struct Embedded {
    database: Database,
    port: Option<Engine>,
    /// Held as long as the engine's file is open.
    _lock: File,
}

/// The store over the embedded engine, or over the DynamoDB API that was named.
async fn open(options: &Options, environment: &Environment) -> Result<(Store, Option<Embedded>), ServeError> {
    let table = options.table.clone();
    if let Some(endpoint) = options.endpoint.clone() {
        let endpoint = Some(endpoint);
        return Ok((
            Store::connect(Location { table, endpoint }, environment.clone()).await,
            None,
        ));
    }
    let (file, lock) = private_file(&options.data)?;
    let database = Database::in_file(&file)?;
    let open = |dynamodb: &Dynamodb| Engine::open(database.clone(), dynamodb.address, dynamodb.key.clone());
    let port = options.dynamodb.as_ref().map(open).transpose()?;
    let store = Store::embedded(Arc::new(database.clone()), table, environment.clone());
    Ok((
        store,
        Some(Embedded {
            database,
            port,
            _lock: lock,
        }),
    ))
}

/// The service's words for what the HTTP library refuses (C-5).
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
        call_webhook::group(),
        tickets::group(),
        reports::group(),
    ];
    single.into_iter().chain(opportunities::groups())
}

/// Makes a directory and the engine's file in it that only their owner can read: they hold people's data. No other process
/// gets the directory while the returned lock is held.
fn private_file(directory: &Path) -> Result<(PathBuf, File), ServeError> {
    let data = |cause| ServeError::Data {
        path: directory.to_owned(),
        cause,
    };
    let (mut made, mut opened) = (DirBuilder::new(), OpenOptions::new());
    made.recursive(true);
    opened.read(true).append(true).create(true);
    #[cfg(unix)]
    {
        std::os::unix::fs::DirBuilderExt::mode(&mut made, 0o700);
        std::os::unix::fs::OpenOptionsExt::mode(&mut opened, 0o600);
    }
    made.create(directory).map_err(data)?;
    let mut lock = opened.open(directory.join("funil.lock")).map_err(data)?;
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut process = String::new();
            let told = lock.read_to_string(&mut process).is_ok() && !process.is_empty();
            return Err(ServeError::Taken {
                path: directory.to_owned(),
                process: told.then_some(process),
            });
        }
        Err(TryLockError::Error(cause)) => return Err(data(cause)),
    }
    lock.set_len(0).map_err(data)?;
    write!(lock, "{}", std::process::id()).map_err(data)?;
    let file = directory.join("funil.db");
    opened.open(&file).map_err(data)?;
    Ok((file, lock))
}

/// What the function `maintenance` does with copies by the clock.
async fn tend(store: Store, pause: Duration) {
    loop {
        tokio::time::sleep(pause).await;
        if let Err(cause) = maintenance::copy(&store).await {
            tracing::warn!(%cause, "maintenance is tried again");
        }
    }
}

/// What it does with reports, which may take minutes and hold up no copies.
async fn refresh(store: Store, pause: Duration) {
    loop {
        tokio::time::sleep(pause).await;
        if let Err(cause) = maintenance::refresh(&store).await {
            tracing::warn!(%cause, "reports are tried again");
        }
    }
}

/// What the function `automations` does by the stream, which the engine has none of. Actions wait for no receiver:
/// deliveries run apart from them and overlap.
async fn automate(store: Store, pause: Duration) {
    let webhook_client = WebhookClient::system();
    let deliveries = overlap(pause, || {
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

/// Begins a run after every pause, beside those that have not ended, but no more than so many at a time.
async fn overlap<R: Future<Output = ()> + Send + 'static>(pause: Duration, run: impl Fn() -> R) {
    let mut runs = JoinSet::new();
    loop {
        tokio::time::sleep(pause).await;
        while runs.try_join_next().is_some() {}
        if runs.len() < MAX_RUNS {
            runs.spawn(run());
        }
    }
}

async fn sweep(database: Database) {
    loop {
        tokio::time::sleep(SWEEP).await;
        let database = database.clone();
        if tokio::task::spawn_blocking(move || database.sweep())
            .await
            .is_err()
        {
            tracing::warn!("expired items were not deleted");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// Runs that never end hold up those behind them only once there are as many as may be.
    #[tokio::test]
    async fn a_hanging_job_delays_no_other() {
        let (begun, told) = (
            Arc::new(AtomicUsize::new(0)),
            Arc::new(tokio::sync::Notify::new()),
        );
        let overlapping = overlap(Duration::from_millis(1), || {
            let at = begun.fetch_add(1, Ordering::Relaxed);
            let told = Arc::clone(&told);
            async move {
                if at == MAX_RUNS - 1 {
                    told.notify_one();
                }
                std::future::pending::<()>().await;
            }
        });
        tokio::select! {
            () = overlapping => {}
            () = told.notified() => {}
        }
        assert_eq!(begun.load(Ordering::Relaxed), MAX_RUNS);
    }
}
