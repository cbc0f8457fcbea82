//! `funil import` and `funil export`: an instance's records as lines of JSON (C-81).

use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;
use shared::instance::InstanceName;

use super::{Answer, Failure, Global};
use crate::export::{self, Counts};
use crate::import::{self, Report, Source};

pub const IMPORT_AFTER_HELP: &str = "\
Kinds: setting, department, group, user, profile, company, lead, funnel, opportunity, calendar, meeting, call, event.
The order of the lines does not matter. A bad line is reported and stops nothing else. Importing the same file twice
changes nothing.

Examples:
  funil import --instance acme data.ndjson
  gunzip < data.ndjson.gz | funil import --instance acme -
  funil import --instance acme --overwrite data.ndjson";

pub const EXPORT_AFTER_HELP: &str = "\
The file holds voip_webhook_secret, initial_password and automations' secrets where they are set, and never keys or tokens.

Examples:
  funil export --instance acme > data.ndjson
  funil export --instance acme --output data.ndjson";

const HOLDS: &str = "the export holds voip_webhook_secret, initial_password and automations' secrets where they are set: keep it where only you can read it";

#[derive(Debug, Args)]
pub struct Import {
    /// The instance
    #[arg(long, value_name = "NAME")]
    instance: InstanceName,
    /// Replace records that were changed through the API since they were imported
    #[arg(long)]
    overwrite: bool,
    /// The file, or - for standard input
    file: PathBuf,
}

#[derive(Debug, Args)]
pub struct Export {
    /// The instance
    #[arg(long, value_name = "NAME")]
    instance: InstanceName,
    /// Write to this file, readable by you alone, instead of standard output
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub async fn import(import: Import, global: &Global) -> Result<Answer, Failure> {
    let operator = global.store().await.operator(import.instance);
    operator.directory().await?;
    let source = if import.file.as_os_str() == "-" {
        Source::spool(io::stdin().lock())
    } else {
        Source::open(&import.file)
    };
    let source = source
        .map_err(|cause| Failure::Refused(format!("{} cannot be read: {cause}", import.file.display())))?;
    let bar = global.progress("lines");
    let imported = import::import(&operator, &source, import.overwrite, &bar).await;
    bar.finish_and_clear();
    match imported {
        Ok(report) => Ok(told(&report, global.json)),
        Err(import::Error::Read(cause)) => {
            Err(Failure::Refused(format!("the lines cannot be read: {cause}")))
        }
        Err(import::Error::Operator(error)) => {
            let (Failure::Refused(reason) | Failure::Usage(reason)) = Failure::from(error);
            let again = "what was written stays; run the same import again to go on";
            Err(Failure::Refused(format!("{reason} ({again})")))
        }
    }
}

fn told(report: &Report, as_json: bool) -> Answer {
    if !as_json {
        let mut stderr = BufWriter::new(io::stderr().lock());
        for refused in &report.refused {
            let _ = writeln!(stderr, "line {}: {}", refused.line, refused.reason);
        }
        if report.unlisted > 0 {
            let _ = writeln!(stderr, "and {} more lines were refused", report.unlisted);
        }
    }
    let count = report.refused.len() as u64 + report.unlisted;
    let text = format!(
        "{} imported, {} unchanged, {count} refused",
        report.imported, report.unchanged
    );
    Answer {
        partly: count > 0,
        ..Answer::new(text, json!(report))
    }
}

pub async fn export(export: Export, global: &Global) -> Result<Answer, Failure> {
    if global.json && export.output.is_none() {
        return Err(Failure::Usage(
            "with --json the records need a file of their own: add --output FILE".to_owned(),
        ));
    }
    let operator = global.store().await.operator(export.instance);
    operator.directory().await?;
    let _ = writeln!(io::stderr(), "{HOLDS}");
    let bar = global.progress("records");
    let counts = if let Some(path) = &export.output {
        to_file(path, async |file| export::export(&operator, file, &bar).await).await
    } else {
        protect_standard_output();
        let mut out = BufWriter::new(io::stdout().lock());
        let counts = export::export(&operator, &mut out, &bar).await;
        counts.and_then(|counts| Ok(out.flush().map(|()| counts)?))
    };
    bar.finish_and_clear();
    let counts = counts.map_err(Failure::from)?;
    let written: Vec<_> = counts
        .iter()
        .map(|(kind, count)| format!("{count} {kind}"))
        .collect();
    let note = format!("exported: {}", written.join(", "));
    let document = export.output.as_ref().map(|path| {
        let counts: serde_json::Map<_, _> = counts
            .iter()
            .map(|(kind, count)| ((*kind).to_owned(), json!(count)))
            .collect();
        json!({ "output": path.display().to_string(), "exported": counts })
    });
    Ok(Answer {
        note,
        document,
        ..Answer::default()
    })
}

/// Writes beside the file first, so that a failure leaves what was there; a temporary file is its owner's alone.
async fn to_file(
    path: &Path,
    write: impl AsyncFnOnce(&mut BufWriter<File>) -> Result<Counts, export::Error>,
) -> Result<Counts, export::Error> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let (file, beside) = tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))?.into_parts();
    let mut out = BufWriter::new(file);
    let counts = write(&mut out).await?;
    let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    file.sync_all()?;
    beside.persist(path).map_err(|failed| failed.error)?;
    Ok(counts)
}

/// The shell made the file that standard output goes to, readable as its mask says.
#[cfg(unix)]
fn protect_standard_output() {
    use std::os::fd::AsFd as _;
    use std::os::unix::fs::PermissionsExt;
    let Ok(owned) = io::stdout().as_fd().try_clone_to_owned() else {
        return;
    };
    let file = File::from(owned);
    let regular = file.metadata().is_ok_and(|metadata| metadata.is_file());
    if regular && let Err(cause) = file.set_permissions(PermissionsExt::from_mode(0o600)) {
        let _ = writeln!(io::stderr(), "the file's permissions cannot be narrowed: {cause}");
    }
}

/// Other systems know no such mode.
#[cfg(not(unix))]
fn protect_standard_output() {}

impl From<export::Error> for Failure {
    fn from(error: export::Error) -> Self {
        match error {
            export::Error::Write(cause) => Self::Refused(format!("the export cannot be written: {cause}")),
            export::Error::Operator(error) => error.into(),
        }
    }
}
