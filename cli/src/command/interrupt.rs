//! Interruption by Ctrl-C or a signal of a process manager.

use std::io::{self, Write as _};

use indicatif::ProgressBar;

use operator::import::CancellationToken;

/// Waits for an interruption. After the first call, an interruption no longer ends the process by itself.
pub async fn asked() {
    let interrupted = async {
        // Without a handler, Ctrl-C keeps its default effect and ends the process.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminated) = signal(SignalKind::terminate()) {
            tokio::select! {
                () = interrupted => {}
                _ = terminated.recv() => {}
            }
            return;
        }
    }
    interrupted.await;
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
