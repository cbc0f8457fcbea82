//! The log of a deployed function: one line of JSON for each event, including its metrics.
//!
//! The line at the end of a request or a run also contains its metrics, in CloudWatch's embedded metric
//! format ([`metrics`]). `funil serve` writes the same events with its own subscriber, without metrics.
//!
//! No line contains a credential, a phone number, an address, a query string or a body.

mod metrics;
pub(crate) mod request;
mod subscriber;

use std::future::Future;
use std::io::{self, Write as _};
use std::panic;
use std::time::Instant;

use tracing::level_filters::LevelFilter;

pub use metrics::{BATCH, REQUEST, ROUND};
pub use subscriber::JsonSubscriber;

use crate::config::Config;
use crate::environment::Environment;
use crate::jobs::{JobCounters, JobLog};
use crate::store::{Cost, Meter};

/// Sets up the log, including panics, on standard output. Functions call it first.
pub fn init(config: &Config) {
    let (level, function) = (level(&config.log_level), config.function.clone());
    let lines = JsonSubscriber::new(Environment::system(), level, function, |line| {
        // There is no other place to report an error of the log.
        let _ = io::stdout().lock().write_all(line.as_bytes());
    });
    let _ = tracing::subscriber::set_global_default(lines.lean(config.has_lean_metrics));
    report_panics();
}

/// The level by `ApplicationLogLevel`; lines below INFO are never written.
fn level(asked: &str) -> LevelFilter {
    match asked {
        "WARN" => LevelFilter::WARN,
        "ERROR" | "FATAL" => LevelFilter::ERROR,
        _ => LevelFilter::INFO,
    }
}

/// Logs panics with their location, and with their message if it is a literal of the program. Formatted
/// messages may contain personal data.
pub fn report_panics() {
    panic::set_hook(Box::new(|panicked| {
        let place = panicked.location().map(ToString::to_string);
        let reason = panicked.payload().downcast_ref::<&'static str>();
        tracing::error!(place, reason = reason.copied().unwrap_or("withheld"), "panic");
    }));
}

/// Cost and counters of a job.
#[derive(Debug, Clone)]
pub struct Observed {
    /// Duration.
    pub milliseconds: f64,
    /// Calls and units.
    pub cost: Cost,
    /// Counters.
    pub counters: JobCounters,
}

/// Runs `work` and measures it.
pub async fn observe<T>(work: impl Future<Output = T>) -> (T, Observed) {
    let (began, meter, log) = (Stopwatch::start(), Meter::default(), JobLog::default());
    let outcome = meter.measure(log.record(work)).await;
    let observed = Observed {
        milliseconds: began.milliseconds(),
        cost: meter.cost(),
        counters: log.counters(),
    };
    (outcome, observed)
}

/// Measures a duration.
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

    /// Milliseconds since the start, with microsecond precision.
    pub(crate) fn milliseconds(self) -> f64 {
        (self.0.elapsed().as_secs_f64() * 1e6).round() / 1e3
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The levels of Lambda's logging configuration.
    #[test]
    fn no_level_enables_lines_below_info() {
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
