//! `funil doctor`: compares derived data with the records and repairs it (C-84).

use std::fmt::Write as _;

use clap::Args;
use database::Database;
use operator::{Diagnosis, Operator, OperatorError, Progress};
use serde_json::json;
use shared::instance::InstanceName;
use shared::time::zone_version;

use super::{Answer, Failure, Global, now};
use operator::progress;

/// Minutes after which deleted bytes that are still in the files are worth a note (C-104).
const LATE: i64 = 10;

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
    /// Instance name [default: `FUNIL_INSTANCE`]
    #[arg(long, value_name = "NAME", env = "FUNIL_INSTANCE", hide_env = true)]
    instance: InstanceName,
    /// Repair the differences
    #[arg(long)]
    repair: bool,
}

pub async fn run(doctor: DoctorArgs, global: &Global) -> Result<Answer, Failure> {
    let operator = Operator::new(&global.store().await?, doctor.instance);
    let diagnosis = diagnose(&operator, doctor.repair, global).await?;
    let answer = Answer {
        partly: diagnosis.remaining > 0,
        ..Answer::new(text(&diagnosis), json!(diagnosis))
    };
    let mut notes = Vec::new();
    if diagnosis.remaining > 0 && !doctor.repair {
        notes.push("repair them with --repair".to_owned());
    }
    notes.extend(unscrubbed(global)?);
    notes.push(format!("time zones are those of tzdata {}", zone_version()));
    Ok(answer.noting(notes.join("; ")))
}

/// Says that `funil serve` could not overwrite deleted data for a long time.
fn unscrubbed(global: &Global) -> Result<Option<String>, Failure> {
    let Some(directory) = global.directory()? else {
        return Ok(None);
    };
    let since = Database::open_directory(&directory, now())?.unscrubbed_since();
    let minutes = since.map_or(0, |since| (now() - since) / 60);
    Ok((minutes >= LATE).then(|| {
        format!("data deleted {minutes} minutes ago is still in the files, because a reader keeps them open: end it")
    }))
}

/// Runs the doctor with a line of progress.
async fn diagnose(operator: &Operator, repair: bool, global: &Global) -> Result<Diagnosis, OperatorError> {
    let bar = global.progress();
    progress::uncounted(&bar, "checked");
    let watch = |progress: Progress| {
        bar.set_message(progress.stage);
        bar.set_position(progress.done);
    };
    let diagnosis = operator.doctor(repair, &watch).await;
    bar.finish_and_clear();
    diagnosis
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
    for warning in &diagnosis.warnings {
        let _ = writeln!(text, "warning: {warning}");
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
