//! Being asked to stop: by Ctrl-C, or by whoever manages processes.

use std::io::{self, Write as _};

use indicatif::ProgressBar;

use crate::import::Stop;

/// Waits until the process is asked to stop. From the first call on being asked ends it no more by itself.
pub async fn asked() {
    let interrupted = async {
        // Where the system does not tell, only killing it is left.
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

/// Hands the first wish to end on as `stop`, and returns at the second. A task of its own waits, because an import that
/// reads its lines lets nothing else run beside it.
pub async fn twice(stop: Stop, bar: ProgressBar) {
    let waiting = tokio::spawn(async move {
        asked().await;
        stop.ask();
        bar.suspend(|| {
            let _ = writeln!(
                io::stderr(),
                "stopping behind the lines at hand; once more stops at once"
            );
        });
        asked().await;
    });
    if waiting.await.is_err() {
        std::future::pending::<()>().await;
    }
}
