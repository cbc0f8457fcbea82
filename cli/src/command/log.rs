//! The log of `funil serve`.

use std::io;

use tracing::Metadata;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

/// The crates of this workspace that log. They never log credentials, e-mail addresses, phone numbers or bodies.
const OWN: [&str; 11] = [
    "automations",
    "calendars",
    "call_webhook",
    "directory",
    "funil",
    "leads",
    "maintenance",
    "opportunities",
    "reports",
    "shared",
    "tickets",
];

/// Starts the log on standard error: one JSON line per event, filtered by `FUNIL_LOG`.
pub fn start() {
    let filter =
        EnvFilter::try_from_env("FUNIL_LOG").unwrap_or_else(|_| EnvFilter::new("info,dynoxide=error"));
    let lines = tracing_subscriber::fmt::layer()
        .json()
        .flatten_event(true)
        .with_writer(io::stderr);
    // A second subscriber in one process belongs to a test.
    let _ = tracing_subscriber::registry()
        .with(lines)
        .with(filter)
        .with(filter_fn(is_harmless))
        .try_init();
}

/// Whether an event may be logged. Below `INFO` the AWS SDK, the HTTP library and the engine log bodies and headers,
/// which contain personal data and secrets (C-21).
fn is_harmless(event: &Metadata<'_>) -> bool {
    let of = event.target().split("::").next().unwrap_or_default();
    *event.level() <= LevelFilter::INFO || OWN.contains(&of)
}
