//! `funil serve`: the whole service on this machine (C-85).
//!
//! Without an endpoint of its own it starts the embedded engine on a file and opens it as a DynamoDB API too, so that
//! the operator's commands and `sam local` work beside it.

use std::fs::{DirBuilder, OpenOptions};
use std::future::IntoFuture as _;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use shared::ambient::Ambient;
use shared::courier::Courier;
use shared::http::{App, Group, Origins, service};
use shared::store::{Location, Store, StoreError};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::demo::{self, Demo, DemoError};
use crate::docs;
use crate::engine::{Engine, EngineError};

/// How often expired items are deleted.
const SWEEP: Duration = Duration::from_mins(10);
/// How often copies of changed leads are brought up to date, on the embedded engine and elsewhere.
const TEND: Duration = Duration::from_secs(1);
const TEND_ELSEWHERE: Duration = Duration::from_secs(15);
/// How many runs of automations may be under way: a notification takes 10 s at most.
const MOST_RUNS: usize = 12;
/// How long requests that are under way may take once the service is asked to stop.
const LAST_REQUESTS: Duration = Duration::from_secs(10);

/// What is to be served, and where.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where the engine keeps its file.
    pub data: PathBuf,
    /// The address to listen on.
    pub bind: IpAddr,
    /// The service's port; 0 for any.
    pub port: u16,
    /// The engine's port; 0 for any.
    pub dynamodb_port: u16,
    /// Without the demo instance.
    pub empty: bool,
    /// A DynamoDB API to serve from in place of the engine.
    pub endpoint: Option<String>,
    /// The table's name.
    pub table: String,
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
    /// The service stopped by itself.
    #[error("the service stopped: {0}")]
    Stopped(io::Error),
}

/// A service that is about to answer.
#[derive(Debug)]
pub struct Ready {
    /// Where it answers.
    pub url: String,
    /// The DynamoDB API beside it, where the embedded engine runs.
    pub dynamodb: Option<String>,
    /// The demo instance, if the table has one.
    pub demo: Demo,
}

/// Serves until `stopped`; says when it is ready.
///
/// # Errors
/// [`ServeError`] where it cannot begin, or stops by itself.
pub async fn serve(
    options: &Options,
    ready: impl FnOnce(&Ready),
    stopped: impl Future<Output = ()> + Send + 'static,
) -> Result<(), ServeError> {
    let address = SocketAddr::new(options.bind, options.port);
    let listen = |cause| ServeError::Listen { address, cause };
    let listener = TcpListener::bind(address).await.map_err(listen)?;
    let url = format!("http://{}", listener.local_addr().map_err(listen)?);
    let engine = options
        .endpoint
        .is_none()
        .then(|| engine(options))
        .transpose()?
        .map(Arc::new);
    let dynamodb = engine.as_ref().map(|engine| engine.endpoint());
    let location = Location {
        table: options.table.clone(),
        endpoint: options.endpoint.clone().or_else(|| dynamodb.clone()),
    };
    let ambient = Ambient::system();
    let store = Store::connect(location, ambient.clone()).await;
    store.ensure_table().await?;
    store.check_format().await?;
    let demo = if options.empty {
        Demo::None
    } else {
        demo::load(&store).await?
    };
    let sweeper = engine.clone().map(|engine| tokio::spawn(sweep(engine)));
    let pause = if engine.is_some() { TEND } else { TEND_ELSEWHERE };
    let tender = tokio::spawn(tend(store.clone(), pause));
    let automat = tokio::spawn(automate(store.clone(), pause));
    let app = App::new(store, ambient, Origins::Any);
    let service = service(&app, groups()).merge(docs::routes(&url));
    ready(&Ready { url, dynamodb, demo });
    let ended = run(listener, service, stopped).await;
    tender.abort();
    automat.abort();
    if let Some(sweeper) = sweeper {
        sweeper.abort();
    }
    ended.map_err(ServeError::Stopped)
}

/// The routes of all functions.
fn groups() -> impl Iterator<Item = Group> {
    let single = [
        leads::group(),
        calendars::group(),
        call_webhook::group(),
        tickets::group(),
        reports::group(),
    ];
    single.into_iter().chain(opportunities::groups())
}

/// Answers until `stopped`, and a little longer those who asked before.
async fn run(
    listener: TcpListener,
    service: axum::Router,
    stopped: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    let (stop, stopping) = tokio::sync::oneshot::channel();
    let stopped = async move {
        stopped.await;
        let _ = stop.send(());
    };
    let server = axum::serve(listener, service)
        .with_graceful_shutdown(stopped)
        .into_future();
    let too_long = async {
        match stopping.await {
            Ok(()) => tokio::time::sleep(LAST_REQUESTS).await,
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        ended = server => ended,
        () = too_long => Ok(()),
    }
}

fn engine(options: &Options) -> Result<Engine, ServeError> {
    let file = private_file(&options.data).map_err(|cause| ServeError::Data {
        path: options.data.clone(),
        cause,
    })?;
    let address = SocketAddr::new(options.bind, options.dynamodb_port);
    Ok(Engine::in_file(&file, address)?)
}

/// Makes a directory and the engine's file in it that only their owner can read: they hold people's data.
fn private_file(directory: &Path) -> io::Result<PathBuf> {
    let (mut made, mut opened) = (DirBuilder::new(), OpenOptions::new());
    made.recursive(true);
    opened.append(true).create(true);
    #[cfg(unix)]
    {
        std::os::unix::fs::DirBuilderExt::mode(&mut made, 0o700);
        std::os::unix::fs::OpenOptionsExt::mode(&mut opened, 0o600);
    }
    made.create(directory)?;
    let file = directory.join("funil.db");
    opened.open(&file)?;
    Ok(file)
}

/// What the function `maintenance` does by the clock.
async fn tend(store: Store, pause: Duration) {
    loop {
        tokio::time::sleep(pause).await;
        if let Err(cause) = maintenance::tend(&store).await {
            tracing::warn!(%cause, "maintenance is tried again");
        }
    }
}

/// What the function `automations` does by the stream, which the engine has none of. Runs overlap: a receiver that takes its
/// time holds up neither copies nor the calls that come meanwhile.
async fn automate(store: Store, pause: Duration) {
    let courier = Courier::system();
    overlap(pause, || {
        let (store, courier) = (store.clone(), courier.clone());
        async move {
            if let Err(cause) = maintenance::automate(&store, &courier).await {
                tracing::warn!(%cause, "automations are tried again");
            }
        }
    })
    .await;
}

/// Begins a run after every pause, beside those that have not ended, but no more than so many at a time.
async fn overlap<R: Future<Output = ()> + Send + 'static>(pause: Duration, run: impl Fn() -> R) {
    let mut runs = JoinSet::new();
    loop {
        tokio::time::sleep(pause).await;
        while runs.try_join_next().is_some() {}
        if runs.len() < MOST_RUNS {
            runs.spawn(run());
        }
    }
}

async fn sweep(engine: Arc<Engine>) {
    loop {
        tokio::time::sleep(SWEEP).await;
        let engine = Arc::clone(&engine);
        if tokio::task::spawn_blocking(move || engine.sweep()).await.is_err() {
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
    async fn a_run_that_hangs_holds_up_no_other() {
        let (begun, told) = (
            Arc::new(AtomicUsize::new(0)),
            Arc::new(tokio::sync::Notify::new()),
        );
        let overlapping = overlap(Duration::from_millis(1), || {
            let at = begun.fetch_add(1, Ordering::Relaxed);
            let told = Arc::clone(&told);
            async move {
                if at == MOST_RUNS - 1 {
                    told.notify_one();
                }
                std::future::pending::<()>().await;
            }
        });
        tokio::select! {
            () = overlapping => {}
            () = told.notified() => {}
        }
        assert_eq!(begun.load(Ordering::Relaxed), MOST_RUNS);
    }
}
