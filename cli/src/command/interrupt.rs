//! Interruption by Ctrl-C or a signal of a process manager.

use std::io::{self, Write as _};

use indicatif::ProgressBar;

use operator::import::CancellationToken;

/// Handles interruptions from the call on: they no longer end the process by themselves. The future ends at the next one.
pub fn asked() -> impl Future<Output = ()> + Send + 'static {
    let mut interruptions = Interruptions::listen();
    async move { interruptions.next().await }
}

/// Handles interruptions from the call on. The first one cancels `stop`; the future ends at the second. They are received
/// in a task of their own, because reading an import's lines blocks the current one.
pub fn twice(stop: CancellationToken, bar: ProgressBar) -> impl Future<Output = ()> {
    let mut interruptions = Interruptions::listen();
    let waiting = tokio::spawn(async move {
        interruptions.next().await;
        stop.ask();
        bar.suspend(|| {
            let _ = writeln!(
                io::stderr(),
                "stopping after the current batch; interrupt again to stop at once"
            );
        });
        interruptions.next().await;
    });
    async move {
        if waiting.await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

#[cfg(unix)]
use of_unix::Interruptions;

#[cfg(unix)]
mod of_unix {
    use tokio::signal::unix::{Signal, SignalKind, signal};

    /// SIGINT and SIGTERM. A signal that cannot be handled keeps its default effect and ends the process.
    pub struct Interruptions {
        interrupt: Option<Signal>,
        terminate: Option<Signal>,
    }

    impl Interruptions {
        pub fn listen() -> Self {
            Self {
                interrupt: signal(SignalKind::interrupt()).ok(),
                terminate: signal(SignalKind::terminate()).ok(),
            }
        }

        pub async fn next(&mut self) {
            tokio::select! {
                () = received(self.interrupt.as_mut()) => {}
                () = received(self.terminate.as_mut()) => {}
            }
        }
    }

    async fn received(signal: Option<&mut Signal>) {
        match signal {
            Some(signal) => drop(signal.recv().await),
            None => std::future::pending().await,
        }
    }
}

/// Ctrl-C, handled from the first poll on.
#[cfg(not(unix))]
struct Interruptions;

#[cfg(not(unix))]
impl Interruptions {
    fn listen() -> Self {
        Self
    }

    async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
