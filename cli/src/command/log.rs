//! The log of `funil serve`.

use std::io::{self, IsTerminal as _};

use clap::ValueEnum;
use shared::environment::Environment;
use tracing::Metadata;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use super::human::{self, HumanLines};
use super::text::Colours;
use super::variable;

/// Crates of this workspace that may log below `INFO`. They never log credentials, e-mail addresses, phone numbers or
/// bodies.
const OWN: [&str; 12] = [
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
    "table",
    "tickets",
];

/// Form of the log's lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// One JSON object.
    Json,
    /// A short line for people.
    Human,
}

impl LogFormat {
    /// Short lines if standard output and standard error are terminals, else JSON.
    fn by_terminal() -> Self {
        if io::stdout().is_terminal() && io::stderr().is_terminal() {
            Self::Human
        } else {
            Self::Json
        }
    }
}

/// Starts the log on standard error: one line per event, filtered by `FUNIL_LOG`.
pub fn start(format: Option<LogFormat>) {
    let wanted = variable("FUNIL_LOG").and_then(|filter| EnvFilter::try_new(filter.to_str()?).ok());
    let filter = wanted.unwrap_or_else(|| EnvFilter::new("info,dynoxide=error"));
    let format = format.unwrap_or_else(LogFormat::by_terminal);
    let json = || tracing_subscriber::fmt::layer().json().flatten_event(true);
    let json = (format == LogFormat::Json).then(|| json().with_writer(io::stderr));
    let human = (format == LogFormat::Human).then(|| HumanLines {
        environment: Environment::system(),
        colours: Colours::of(&io::stderr()),
        write: human::to_standard_error,
    });
    // Fails only in tests, in which one process starts the log twice.
    let _ = tracing_subscriber::registry()
        .with(json)
        .with(human)
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
