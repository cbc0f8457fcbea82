//! The results as a table with a line for each operation of each route.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use dynamodb::faults::Fault;

use super::moment::Length;
use super::outcome::{Answered, Left};
use super::trial::{Trial, Tried};

/// A column: heading and selected moments.
type Column = (&'static str, fn(&Tried) -> bool);

const COLUMNS: [Column; 9] = [
    ("one bad attempt", |tried| {
        tried.moment.length == Length::Once && !is_corrupt(tried)
    }),
    ("throttled", |tried| is_call(tried, Fault::Throttled)),
    ("500", |tried| is_call(tried, Fault::FailedBefore)),
    ("answer lost", |tried| {
        is_call(tried, Fault::FailedAfter) || is_call(tried, Fault::BrokenOff)
    }),
    ("conflict", |tried| stays(tried, Fault::Conflict)),
    ("unprocessed", |tried| stays(tried, Fault::Unprocessed)),
    ("partial", |tried| stays(tried, Fault::Partial)),
    ("all fails from here", |tried| {
        tried.moment.length == Length::Outage
    }),
    ("corrupt item", is_corrupt),
];

fn is_corrupt(tried: &Tried) -> bool {
    matches!(tried.moment.fault, Fault::Corrupt(_))
}

fn is_call(tried: &Tried, fault: Fault) -> bool {
    tried.moment.fault == fault && tried.moment.length == Length::Call
}

fn stays(tried: &Tried, fault: Fault) -> bool {
    tried.moment.fault == fault && tried.moment.length == Length::Stays
}

/// The table in Markdown, followed by the totals.
pub fn of(trials: &[Trial<'_>]) -> String {
    let mut text = String::from("| endpoint | call |");
    for (heading, _) in COLUMNS {
        let _ = write!(text, " {heading} |");
    }
    text.push('\n');
    text.push_str(&"| --- ".repeat(COLUMNS.len() + 2));
    text.push_str("|\n");
    for trials in trials.chunk_by(|one, next| endpoint(one) == endpoint(next)) {
        lines(&mut text, trials);
    }
    text.push_str(&totals(trials));
    text
}

fn endpoint<'a>(trial: &Trial<'a>) -> (&'a str, &'a str) {
    (trial.ask.method, trial.ask.route)
}

/// The lines of one route: its operations in the order of first use.
fn lines(text: &mut String, trials: &[Trial<'_>]) {
    let mut operations = Vec::new();
    for operation in trials.iter().flat_map(|trial| &trial.calls) {
        if !operations.contains(&operation) {
            operations.push(operation);
        }
    }
    let (method, route) = endpoint(&trials[0]);
    if operations.is_empty() {
        let _ = writeln!(
            text,
            "| `{method} {route}` | none |{}",
            " |".repeat(COLUMNS.len())
        );
    }
    for operation in operations {
        let _ = write!(text, "| `{method} {route}` | {operation} |");
        for (_, belongs) in COLUMNS {
            let tried = trials.iter().flat_map(|trial| &trial.tried);
            let tried = tried.filter(|tried| tried.moment.operation == *operation && belongs(tried));
            let kinds: BTreeSet<_> = tried.map(said).collect();
            let _ = write!(text, " {} |", kinds.into_iter().collect::<Vec<_>>().join(" or "));
        }
        text.push('\n');
    }
}

fn said(tried: &Tried) -> String {
    let answered = match tried.answered {
        Answered::Right => "right",
        Answered::Partial => "partial",
        Answered::Failed => "500",
        Answered::Busy => "503",
    };
    let left = match (tried.answered, tried.left) {
        (Answered::Failed | Answered::Busy, Left::After) => ", done",
        (Answered::Busy, Left::Reserved) => ", an id reserved",
        (Answered::Failed | Answered::Busy, Left::Other) => ", in part",
        (Answered::Right, Left::Other) => ", without lead",
        _ => "",
    };
    format!("{answered}{left}")
}

fn totals(trials: &[Trial<'_>]) -> String {
    let calls: usize = trials.iter().map(|trial| trial.calls.len()).sum();
    let mut counts = BTreeMap::<String, usize>::new();
    for tried in trials.iter().flat_map(|trial| &trial.tried) {
        *counts.entry(said(tried)).or_default() += 1;
    }
    let moments: usize = counts.values().sum();
    let counts = counts.into_iter().map(|(said, count)| format!("{said} ×{count}"));
    format!(
        "\n{} uses of routes, {calls} calls, {moments} bad moments: {}",
        trials.len(),
        counts.collect::<Vec<_>>().join("; ")
    )
}
