//! `funil doctor`: compares derived data with the records and repairs it (C-84).

use std::fmt::Write as _;

use clap::Args;
use operator::{Diagnosis, Operator, Progress};
use serde_json::json;
use shared::instance::InstanceName;

use super::{Answer, Failure, Global};
use operator::progress;

pub const AFTER_HELP: &str = "\
Lists, totals, look-ups, copies, the directory, credentials and running numbers are derived from the records. Each
difference is a line. Requests are served at the same time, also with --repair. Scans the whole table, including other
instances' items.

Examples:
  funil doctor --instance acme
  funil doctor --instance acme --repair
  funil doctor --instance acme --json

Exit codes: 0 nothing differs, or everything was repaired; 1 differences remain; 2 wrong usage.";

#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Instance name
    #[arg(long, value_name = "NAME")]
    instance: InstanceName,
    /// Repair the differences
    #[arg(long)]
    repair: bool,
}

pub async fn run(doctor: DoctorArgs, global: &Global) -> Result<Answer, Failure> {
    let operator = Operator::new(&global.store().await?, doctor.instance);
    let bar = global.progress();
    progress::overall(&bar, 0);
    let diagnosis = operator
        .doctor(doctor.repair, &|progress: Progress| {
            bar.set_message(progress.stage);
            bar.set_length(progress.total);
            bar.set_position(progress.done);
        })
        .await;
    bar.finish_and_clear();
    let diagnosis = diagnosis?;
    let answer = Answer {
        partly: diagnosis.remaining > 0,
        ..Answer::new(text(&diagnosis), json!(diagnosis))
    };
    Ok(if diagnosis.remaining > 0 && !doctor.repair {
        answer.noting("repair them with --repair")
    } else if let Some(former) = diagnosis.former_format {
        answer.noting(format!(
            "the table has format {former}, which a repair does not change; once no former version runs, run: funil migrate"
        ))
    } else {
        answer
    })
}

/// One line for each listed difference, then a summary.
fn text(diagnosis: &Diagnosis) -> String {
    let mut text = String::new();
    for difference in &diagnosis.differences {
        let repaired = if difference.repaired { " (repaired)" } else { "" };
        let _ = writeln!(text, "{}: {}{repaired}", difference.item, difference.reason);
    }
    if diagnosis.unlisted > 0 {
        let _ = writeln!(text, "and {} more", diagnosis.unlisted);
    }
    let checked: Vec<_> = diagnosis
        .checked
        .iter()
        .map(|(what, count)| format!("{count} {what}"))
        .collect();
    let found = diagnosis.differences.len() as u64 + diagnosis.unlisted;
    let _ = write!(
        text,
        "{found} differences, {} remain; looked at {}",
        diagnosis.remaining,
        checked.join(", ")
    );
    text
}
