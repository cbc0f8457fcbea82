//! Progress bars for long work on a terminal (C-80): the progress, the rate, and the remaining time where that is known.

use std::fmt;
use std::io::IsTerminal as _;

use indicatif::{ProgressBar, ProgressState, ProgressStyle};

/// A bar on standard error where that is a terminal, and nothing elsewhere.
#[must_use]
pub fn bar() -> ProgressBar {
    if std::io::stderr().is_terminal() {
        ProgressBar::no_length()
    } else {
        ProgressBar::hidden()
    }
}

/// Begins a part of the work that reads `total` bytes.
pub fn bytes(bar: &ProgressBar, doing: &'static str, total: u64) {
    let template =
        "{msg} {wide_bar} {decimal_bytes}/{decimal_total_bytes} {decimal_bytes_per_sec} {eta} left";
    begin(bar, template, doing, Some(total));
}

/// Begins a part of the work that has `total` of the unit.
pub fn counted(bar: &ProgressBar, unit: &str, total: u64) {
    let template = format!("{{msg}} {{wide_bar}} {{human_pos}}/{{human_len}} {unit} {{rate}} {{eta}} left");
    begin(bar, &template, "", Some(total));
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

/// Whole numbers; the library's own rate has four decimals.
fn rate(state: &ProgressState, out: &mut dyn fmt::Write) {
    let _ = write!(out, "{:.0}/s", state.per_sec());
}
