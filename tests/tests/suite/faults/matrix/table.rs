//! What came of it, as a table: a line for each call of each use of a route.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use shared::store::fault::Fault;

use super::moment::Length;
use super::trial::{Answered, Left, Trial, Tried};

/// The columns: a heading, and which moments it is about.
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

/// The table, in Markdown, and under it the totals.
pub fn of(trials: &[Trial<'_>]) -> String {
    let mut text = String::from("| endpoint | call |");
    for (heading, _) in COLUMNS {
        let _ = write!(text, " {heading} |");
    }
    text.push('\n');
    text.push_str(&"| --- ".repeat(COLUMNS.len() + 2));
    text.push_str("|\n");
    for trial in trials {
        lines(&mut text, trial);
    }
    text.push_str(&totals(trials));
    text
}

fn lines(text: &mut String, trial: &Trial<'_>) {
    let (method, route, what) = (trial.ask.method, trial.ask.route, trial.ask.what);
    if trial.calls.is_empty() {
        let _ = writeln!(
            text,
            "| `{method} {route}`, {what} | none |{}",
            " |".repeat(COLUMNS.len())
        );
    }
    for (at, operation) in trial.calls.iter().enumerate() {
        let _ = write!(text, "| `{method} {route}`, {what} | {} {operation} |", at + 1);
        for (_, belongs) in COLUMNS {
            let tried = trial.tried.iter();
            let tried = tried.filter(|tried| tried.moment.at == at && belongs(tried));
            let _ = write!(text, " {} |", cell(tried));
        }
        text.push('\n');
    }
}

fn cell<'t>(tried: impl Iterator<Item = &'t Tried>) -> String {
    let mut counts = BTreeMap::<String, usize>::new();
    for tried in tried {
        *counts.entry(said(tried)).or_default() += 1;
    }
    let one = |(said, count): (String, usize)| match count {
        1 => said,
        _ => format!("{said} ×{count}"),
    };
    counts.into_iter().map(one).collect::<Vec<_>>().join("; ")
}

fn said(tried: &Tried) -> String {
    let answered = match tried.answered {
        Answered::Right => "right",
        Answered::Failed => "500",
    };
    let left = match (tried.answered, tried.left) {
        (Answered::Failed, Left::After) => ", done",
        (Answered::Failed, Left::Other) => ", in part",
        (Answered::Right, Left::Other) => ", without lead",
        _ => "",
    };
    format!("{answered}{left}")
}

fn totals(trials: &[Trial<'_>]) -> String {
    let calls: usize = trials.iter().map(|trial| trial.calls.len()).sum();
    let tried: Vec<_> = trials.iter().flat_map(|trial| &trial.tried).collect();
    let mut text = format!(
        "\n{} uses of routes, {calls} calls, {} bad moments: ",
        trials.len(),
        tried.len()
    );
    text.push_str(&cell(tried.into_iter()));
    text
}
