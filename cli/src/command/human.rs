//! Log lines for people (C-106): one short line for each request, with the reason if it was refused.

use std::fmt::{self, Write as _};
use std::io::Write as _;

use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::layer::{Context, Layer};

use shared::environment::Environment;
use shared::telemetry::REQUEST;

use super::text::{Colours, printable_line};

/// Writes each event as one line, to `write`.
pub struct HumanLines<W> {
    pub environment: Environment,
    /// Whether statuses and levels have colours.
    pub colours: Colours,
    pub write: W,
}

/// The fields of an event.
#[derive(Debug, Default)]
struct Fields(Vec<(&'static str, String)>);

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.push((field.name(), printable_line(value)));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.push((field.name(), printable_line(&format!("{value:?}"))));
    }
}

impl Fields {
    fn take(&mut self, name: &str) -> String {
        let at = self.0.iter().position(|(own, _)| *own == name);
        at.map(|at| self.0.remove(at).1).unwrap_or_default()
    }
}

impl<S: Subscriber, W: Fn(&str) + 'static> Layer<S> for HumanLines<W> {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let time = self.environment.now().to_string();
        // The line omits the date.
        let mut line = time.get(11..19).unwrap_or_default().to_owned();
        let formatted = if event.metadata().target() == REQUEST {
            self.request(&mut line, &mut fields)
        } else {
            self.other(&mut line, *event.metadata().level(), &mut fields)
        };
        if formatted.is_ok() {
            line.push('\n');
            (self.write)(&line);
        }
    }
}

impl<W> HumanLines<W> {
    /// Writes status, route, instance, duration and the reason of a refusal.
    fn request(&self, line: &mut String, fields: &mut Fields) -> fmt::Result {
        let status = fields.take("status");
        let colour = match status.as_bytes().first() {
            Some(b'2' | b'3') => "32",
            Some(b'4') => "33",
            _ => "31",
        };
        let status = self.colours.coloured(colour, &status);
        write!(line, " {status} {}", fields.take("route"))?;
        let instance = fields.take("instance");
        if !instance.is_empty() {
            write!(line, " {instance}")?;
        }
        let milliseconds = fields.take("milliseconds").parse().unwrap_or(0.0);
        write!(line, " {milliseconds:.1} ms")?;
        let refused = fields.take("refused");
        if !refused.is_empty() {
            write!(line, "  refused: {refused}")?;
        }
        Ok(())
    }

    /// Writes level, message and the other fields.
    fn other(&self, line: &mut String, level: Level, fields: &mut Fields) -> fmt::Result {
        let colour = match level {
            Level::ERROR => "31",
            Level::WARN => "33",
            _ => "2",
        };
        let level = self.colours.coloured(colour, level.as_str());
        write!(line, " {level} {}", fields.take("message"))?;
        fields
            .0
            .iter()
            .try_for_each(|(name, value)| write!(line, " {name}={value}"))
    }
}

/// Writes a line to standard error.
pub fn to_standard_error(line: &str) {
    // There is no other place to report an error of the log.
    let _ = std::io::stderr().lock().write_all(line.as_bytes());
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use shared::time::Timestamp;
    use tracing_subscriber::layer::SubscriberExt as _;

    use super::*;

    fn lines(colours: Colours) -> Vec<String> {
        let written = Arc::new(Mutex::new(Vec::new()));
        let (environment, _) = Environment::frozen(Timestamp::parse("2026-11-21T09:08:07Z").unwrap());
        let to = Arc::clone(&written);
        let layer = HumanLines {
            environment,
            colours,
            write: move |line: &str| to.lock().unwrap().push(line.to_owned()),
        };
        tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), || {
            tracing::info!(target: REQUEST, request_id = "x", route = "GET /leads", instance = "acme", credential = "k",
                status = 200_u16, refused = None::<&str>, milliseconds = 3.216, calls = 2, "request");
            tracing::info!(target: REQUEST, route = "GET /leads", instance = "", status = 401_u16,
                refused = Some("missing"), milliseconds = 0.04, "request");
            tracing::warn!(item = "acme#lead 1", "an item cannot be read");
        });
        written.lock().unwrap().clone()
    }

    #[test]
    fn a_request_is_one_short_line() {
        assert_eq!(
            lines(Colours::NEVER),
            [
                "09:08:07 200 GET /leads acme 3.2 ms\n",
                "09:08:07 401 GET /leads 0.0 ms  refused: missing\n",
                "09:08:07 WARN an item cannot be read item=acme#lead 1\n",
            ]
        );
        assert!(lines(Colours::ALWAYS)[0].starts_with("09:08:07 \u{1b}[32m200\u{1b}[0m GET"));
    }
}
