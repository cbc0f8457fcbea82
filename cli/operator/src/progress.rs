//! Progress bars for long work on a terminal (C-80): the progress, the rate and, if known, the remaining time.

use std::fmt;
use std::io::IsTerminal as _;

use indicatif::{ProgressBar, ProgressState, ProgressStyle};

/// A bar on standard error if that is a terminal, else a hidden one.
#[must_use]
pub fn bar() -> ProgressBar {
    if std::io::stderr().is_terminal() {
        ProgressBar::no_length()
    } else {
        ProgressBar::hidden()
    }
}

/// Number of equal shares of work in two parts. The first part is one share.
const PARTS: u64 = 20;

/// Begins work that has `total` of any unit, with one bar for all of it.
pub fn overall(bar: &ProgressBar, total: u64) {
    let template = "{msg} {wide_bar} {percent} % {elapsed}, {eta} left";
    begin(bar, template, "", Some(total));
}

/// Begins work of two parts with one bar. The first part reads `total` bytes; the position is that of the reader.
pub fn reading(bar: &ProgressBar, doing: &'static str, total: u64) {
    overall(bar, total.saturating_mul(PARTS));
    bar.set_message(doing);
}

/// Begins the second part, which has `total` lines.
pub fn working(bar: &ProgressBar, total: u64) {
    bar.set_length(total.saturating_mul(PARTS));
    bar.set_position(total);
    // The first part has another rate.
    bar.reset_eta();
}

/// Moves the bar by lines of the second part.
pub fn worked(bar: &ProgressBar, lines: u64) {
    bar.inc(lines.saturating_mul(PARTS - 1));
}

/// The finished lines of the second part, and all its lines; `None` during the first part.
#[must_use]
pub fn lines(bar: &ProgressBar) -> Option<(u64, u64)> {
    let total = bar.length()? / PARTS;
    let done = bar.position().checked_sub(total)?;
    Some((done / (PARTS - 1), total))
}

/// Begins work of unknown size.
pub fn uncounted(bar: &ProgressBar, unit: &str) {
    let template = format!("{{spinner}} {{msg}} {{human_pos}} {unit} {{rate}} {{elapsed}}");
    begin(bar, &template, "", None);
}

fn begin(bar: &ProgressBar, template: &str, doing: &'static str, total: Option<u64>) {
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.with_key("rate", rate));
    }
    bar.reset();
    if let Some(total) = total {
        bar.set_length(total);
    }
    bar.set_message(doing);
}

/// Writes a whole number; the library's own rate has four decimals.
fn rate(state: &ProgressState, out: &mut dyn fmt::Write) {
    let _ = write!(out, "{:.0}/s", state.per_sec());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_bar_moves_over_both_parts() {
        let bar = ProgressBar::hidden();
        let percent = || bar.position() * 100 / bar.length().unwrap();
        reading(&bar, "checking", 8_000);
        bar.set_position(4_000);
        assert_eq!((percent(), lines(&bar)), (2, None));
        bar.set_position(8_000);
        assert_eq!(percent(), 5);
        working(&bar, 400);
        assert_eq!((percent(), lines(&bar)), (5, Some((0, 400))));
        worked(&bar, 100);
        assert_eq!((percent(), lines(&bar)), (28, Some((100, 400))));
        worked(&bar, 300);
        assert_eq!((percent(), lines(&bar)), (100, Some((400, 400))));
    }
}
