//! What a deployed function writes to its log: JSON, a line for each event, and metrics in the same lines.
//!
//! A line that ends a request or a run is its metrics too, in CloudWatch's embedded metric format ([`metrics`]): what is
//! measured is written and paid for once. `funil serve` writes the same events with a subscriber of its own, without
//! metrics.
//!
//! No line holds a credential, a phone number, an address, a query string or a body.

mod lines;
mod metrics;

use std::future::Future;
use std::io::{self, Write as _};
use std::panic;
use std::time::Instant;

use tracing::level_filters::LevelFilter;

pub use lines::Lines;
pub use metrics::{BATCH, REQUEST, ROUND};

use crate::ambient::Ambient;
use crate::store::{Cost, Deeds, Meter};

/// Lets the process write its log, panics included, to standard output. For the functions alone, and before all else.
pub fn init() {
    let function = std::env::var("AWS_LAMBDA_FUNCTION_NAME").unwrap_or_else(|_| "local".to_owned());
    let level = level(&std::env::var("AWS_LAMBDA_LOG_LEVEL").unwrap_or_default());
    let lines = Lines::new(Ambient::system(), level, function, |line| {
        // Without a log there is nobody to tell.
        let _ = io::stdout().lock().write_all(line.as_bytes());
    });
    let _ = tracing::subscriber::set_global_default(lines);
    report_panics();
}

/// The level that `ApplicationLogLevel` asks for; below INFO nothing is written anyway.
fn level(asked: &str) -> LevelFilter {
    match asked {
        "WARN" => LevelFilter::WARN,
        "ERROR" | "FATAL" => LevelFilter::ERROR,
        _ => LevelFilter::INFO,
    }
}

/// Writes panics as events: where it was and, if the program's text has it word for word, what it said. A message that was
/// put together may quote what it is about.
pub fn report_panics() {
    panic::set_hook(Box::new(|panicked| {
        let place = panicked.location().map(ToString::to_string);
        let reason = panicked.payload().downcast_ref::<&'static str>();
        tracing::error!(place, reason = reason.copied().unwrap_or("withheld"), "panic");
    }));
}

/// What a run that no request set off took and did.
#[derive(Debug, Clone)]
pub struct Observed {
    /// How long it took.
    pub milliseconds: f64,
    /// Its calls and their units.
    pub cost: Cost,
    /// What it came to.
    pub deeds: Deeds,
}

/// Does `work` and measures it.
pub async fn observe<T>(work: impl Future<Output = T>) -> (T, Observed) {
    let (began, meter) = (Stopwatch::start(), Meter::default());
    let outcome = meter.measure(work).await;
    let observed = Observed {
        milliseconds: began.milliseconds(),
        cost: meter.cost(),
        deeds: meter.deeds(),
    };
    (outcome, observed)
}

/// Measures how long something takes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    #[expect(
        clippy::disallowed_methods,
        reason = "a duration in the log is no decision a test must hold still"
    )]
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    /// Milliseconds since the start, to the microsecond.
    pub(crate) fn milliseconds(self) -> f64 {
        (self.0.elapsed().as_secs_f64() * 1e6).round() / 1e3
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The levels of Lambda's logging configuration.
    #[test]
    fn no_level_asks_for_more_than_info() {
        for (asked, level) in [
            ("", LevelFilter::INFO),
            ("TRACE", LevelFilter::INFO),
            ("DEBUG", LevelFilter::INFO),
            ("INFO", LevelFilter::INFO),
            ("WARN", LevelFilter::WARN),
            ("ERROR", LevelFilter::ERROR),
            ("FATAL", LevelFilter::ERROR),
        ] {
            assert_eq!(super::level(asked), level, "{asked}");
        }
    }
}
