//! Interruption by Ctrl-C or a signal of a process manager.

use std::io::{self, Write as _};

use indicatif::ProgressBar;

use operator::import::CancellationToken;

/// Handles interruptions from the call on: they no longer end the process by themselves. The future ends at the next one.
#[cfg(unix)]
pub fn asked() -> impl Future<Output = ()> + Send + 'static {
    use tokio::signal::unix::{SignalKind, signal};

    let next = |kind| {
        // Without a handler, the signal keeps its default effect and ends the process.
        let signals = signal(kind);
        async move {
            match signals {
                Ok(mut signals) => drop(signals.recv().await),
                Err(_) => std::future::pending().await,
            }
        }
    };
    let (interrupted, terminated) = (next(SignalKind::interrupt()), next(SignalKind::terminate()));
    async move {
        tokio::select! {
            () = interrupted => {}
            () = terminated => {}
        }
    }
}

/// Waits for an interruption. From the first poll on, it no longer ends the process by itself.
#[cfg(not(unix))]
pub async fn asked() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// Sends the first interruption to `stop` and returns at the second. Runs in its own task, because reading an import's
/// lines blocks the current one.
pub async fn twice(stop: CancellationToken, bar: ProgressBar) {
    let waiting = tokio::spawn(async move {
        asked().await;
        stop.ask();
        bar.suspend(|| {
            let _ = writeln!(
                io::stderr(),
                "stopping after the current batch; interrupt again to stop at once"
            );
        });
        asked().await;
    });
    if waiting.await.is_err() {
        std::future::pending::<()>().await;
    }
}
