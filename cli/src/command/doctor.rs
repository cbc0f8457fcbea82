//! `funil doctor`: compares derived data with the records and repairs it (C-84).

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use operator::import::CancellationToken;
use operator::{Diagnosis, Operator, OperatorError, Progress, ResumeFile};
use serde_json::json;
use shared::instance::InstanceName;

use super::{Answer, Failure, Global, interrupt};
use operator::progress;

pub const AFTER_HELP: &str = "\
Lists, totals, look-ups, copies, the directory, credentials and running numbers are derived from the records. Each
difference is a line. Requests are served at the same time, also with --repair. Scans the whole table, including other
instances' items.

With --state FILE a run that is interrupted goes on when the same command is given again, without the finished part. The
file is written every 30 seconds and at an interruption, and deleted at the end.

Examples:
  funil doctor --instance acme
  funil doctor --instance acme --repair
  funil doctor --instance acme --json
  funil doctor --instance acme --state acme.doctor

Exit codes: 0 nothing differs, or everything was repaired; 1 differences remain; 2 wrong usage.";

#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Instance name
    #[arg(long, value_name = "NAME")]
    instance: InstanceName,
    /// Repair the differences
    #[arg(long)]
    repair: bool,
    /// Keep the progress in a file, and go on from there if it exists
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
}

pub async fn run(doctor: DoctorArgs, global: &Global) -> Result<Answer, Failure> {
    let operator = Operator::new(&global.store().await?, doctor.instance);
    let resume_file = doctor.state.map(|path| ResumeFile {
        path,
        table: global.table(),
        stop: CancellationToken::default(),
    });
    let diagnosis = diagnose(&operator, doctor.repair, resume_file.as_ref(), global).await;
    let diagnosis = diagnosis.map_err(|error| {
        let is_usable = !matches!(error, OperatorError::Progress(_));
        let is_saved = is_usable && resume_file.is_some_and(|file| file.path.exists());
        let next = if is_saved {
            "; rerun the command to resume"
        } else {
            ""
        };
        Failure::from(error).adding(next)
    })?;
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

/// Runs the doctor with a progress bar. With a file, an interrupt stops it after the current page.
async fn diagnose(
    operator: &Operator,
    repair: bool,
    resume_file: Option<&ResumeFile>,
    global: &Global,
) -> Result<Diagnosis, OperatorError> {
    let bar = global.progress();
    progress::overall(&bar, 0);
    let watch = |progress: Progress| {
        bar.set_message(progress.stage);
        bar.set_length(progress.total);
        bar.set_position(progress.done);
    };
    let work = operator.resumable_doctor(repair, &watch, resume_file);
    let diagnosis = match resume_file {
        None => work.await,
        Some(file) => tokio::select! {
            diagnosis = work => diagnosis,
            () = interrupt::twice(file.stop.clone(), bar.clone()) => Err(OperatorError::Stopped),
        },
    };
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
