//! `funil import` and `funil export`: an instance's records as lines of JSON (C-81).

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use database::Database;
use indicatif::ProgressBar;
use operator::kinds::nearest;
use operator::{Operator, UnreadableRecords, progress};
use serde_json::json;
use shared::instance::InstanceName;

use super::text::{PrintableLines, printable, printable_line};
use super::{Answer, Failure, Global, interrupt};
use operator::export::{self, Counts};
use operator::import::{self, CancellationToken, ImportReport, Source};

pub const IMPORT_AFTER_HELP: &str = "\
Kinds: setting, department, group, user, profile, tag, lossReason, company, lead, funnel, opportunity, calendar, meeting,
ticket, file, call, event, report, automation, hook. Lines may be in any order. Bad lines are reported with all their
faults and skipped. Importing a file twice changes nothing; rerun a stopped import to resume it. The custom fields that
the lines have are listed at the end.

Examples:
  funil import --instance acme data.ndjson
  gunzip < data.ndjson.gz | funil import --instance acme -
  funil import --instance acme --overwrite data.ndjson
  funil import --instance acme --dry-run data.ndjson";

pub const EXPORT_AFTER_HELP: &str = "\
The export contains voip_webhook_secret, initial_password and the secrets of automations, but never keys or tokens.

Examples:
  funil export --instance acme > data.ndjson
  funil export --instance acme --output data.ndjson
  funil export --instance acme --output data.ndjson --force";

const SECRETS_NOTICE: &str = "the export contains voip_webhook_secret, initial_password and automations' secrets where they are set: keep it where only you can read it";

#[derive(Debug, Args)]
pub struct ImportArgs {
    /// Instance name [default: `FUNIL_INSTANCE`]
    #[arg(long, value_name = "NAME", env = "FUNIL_INSTANCE", hide_env = true)]
    instance: InstanceName,
    /// Also replace records that were changed through the API since they were imported
    #[arg(long)]
    overwrite: bool,
    /// Report what the import would do, and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Input file, or - for standard input
    file: PathBuf,
}

#[derive(Debug, Args)]
pub struct ExportArgs {
    /// Instance name [default: `FUNIL_INSTANCE`]
    #[arg(long, value_name = "NAME", env = "FUNIL_INSTANCE", hide_env = true)]
    instance: InstanceName,
    /// Output file, readable by you alone, or - for standard output [default: -]
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace the output file if it exists
    #[arg(long)]
    force: bool,
}

pub async fn import(import: ImportArgs, global: &Global) -> Result<Answer, Failure> {
    let mut store = global.store().await?;
    if import.dry_run {
        store = operator::rehearse(&store, Arc::new(Database::temporary()?));
    }
    let mut operator = Operator::new(&store, import.instance);
    if import.dry_run {
        operator = operator.rehearsing();
    }
    operator.directory_head().await?;
    let source = if import.file.as_os_str() == "-" {
        Source::spool(io::stdin().lock())
    } else {
        Source::open(&import.file)
    };
    let source = source.map_err(|cause| unreadable(&import.file, &cause))?;
    let (bar, stop) = (global.progress(), CancellationToken::default());
    let imported = tokio::select! {
        imported = import::import_until(&operator, &source, import.overwrite, &bar, &stop) => imported.map_err(|error| match error {
            import::ImportError::Read(cause) => unreadable(&import.file, &cause),
            import::ImportError::Operator(error) => Failure::from(error).map(|reason| reason + &progress_so_far(&bar)),
        }),
        () = interrupt::twice(stop.clone(), bar.clone()) => {
            Err(Failure::Refused("stopped".to_owned() + &progress_so_far(&bar)))
        }
    };
    bar.finish_and_clear();
    let answer = imported.map(|report| import_answer(&report, global.json))?;
    Ok(if import.dry_run {
        as_dry_run(answer)
    } else {
        answer
    })
}

/// Marks an answer as that of a dry run.
fn as_dry_run(mut answer: Answer) -> Answer {
    if let Some(document) = &mut answer.document {
        document["dryRun"] = true.into();
    }
    let notes = [
        std::mem::take(&mut answer.note),
        "nothing is written: --dry-run".to_owned(),
    ];
    let notes: Vec<_> = notes.into_iter().filter(|note| !note.is_empty()).collect();
    answer.noting(notes.join("\n"))
}

/// The progress of an import that failed, and the next step.
fn progress_so_far(bar: &ProgressBar) -> String {
    let done = match progress::lines(bar) {
        Some((done, total)) => format!(" after {done} of {total} lines"),
        None => String::new(),
    };
    format!("{done}; what was written is kept; rerun the command to resume")
}

pub(super) fn unreadable(file: &Path, cause: &io::Error) -> Failure {
    let name = if file.as_os_str() == "-" {
        "standard input".into()
    } else {
        file.to_string_lossy()
    };
    let next = match cause.kind() {
        io::ErrorKind::NotFound => match similar(file) {
            Some(similar) => {
                return Failure::Refused(format!("{name} does not exist; did you mean {similar}?"));
            }
            None => "check its name",
        },
        io::ErrorKind::IsADirectory => "name a file in it",
        io::ErrorKind::PermissionDenied => "make it readable for you",
        io::ErrorKind::StorageFull => {
            "make room in the temporary directory, or name the file instead of piping it"
        }
        _ => "check the file and its disk",
    };
    Failure::Refused(format!("{name} cannot be read: {cause}; {next}"))
}

/// The file of the same directory with the nearest name, if one is near.
fn similar(file: &Path) -> Option<String> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let entries = std::fs::read_dir(folder.unwrap_or(Path::new("."))).ok()?;
    let names: Vec<_> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    let known: Vec<_> = names.iter().map(String::as_str).collect();
    let near = nearest(file.file_name()?.to_str()?, &known)?;
    Some(file.with_file_name(near).display().to_string())
}

/// Writes refused lines, warnings and custom fields to standard error.
fn print_remarks(report: &ImportReport) {
    let mut stderr = BufWriter::new(io::stderr().lock());
    for refused in &report.refused {
        let _ = writeln!(stderr, "line {}: {}", refused.line, printable(&refused.reason));
    }
    if report.unlisted > 0 {
        let _ = writeln!(stderr, "and {} more lines were refused", report.unlisted);
    }
    for warning in &report.warnings {
        let _ = writeln!(stderr, "warning: {}", printable(warning));
    }
    for field in &report.custom {
        let meant = field.nearest.map(|name| format!("; did you mean {name}?"));
        let (meant, lines) = (meant.unwrap_or_default(), field.lines);
        let _ = writeln!(
            stderr,
            "custom field of {}: {} ({lines} lines){meant}",
            field.kind,
            printable_line(&field.name)
        );
    }
}

/// Whether no line is JSON, so that the file is another one than an import reads.
fn is_no_ndjson(report: &ImportReport) -> bool {
    const NO_JSON: [&str; 3] = ["not JSON", "not UTF-8", "longer than"];
    let is_other =
        |refused: &operator::import::Refused| NO_JSON.iter().any(|start| refused.reason.starts_with(start));
    // One line of another encoding may be a record.
    let mut refused = report.refused.iter();
    let is_table = report.refused.len() > 1 || refused.any(|refused| refused.reason.starts_with("not JSON"));
    report.imported + report.unchanged == 0 && is_table && report.refused.iter().all(is_other)
}

fn import_answer(report: &ImportReport, as_json: bool) -> Answer {
    if !as_json && !is_no_ndjson(report) {
        print_remarks(report);
    }
    let refused = report.refused.len() as u64 + report.unlisted;
    let mut text = format!(
        "{} imported, {} unchanged, {refused} refused",
        report.imported, report.unchanged
    );
    if let Some(left) = report.left {
        let _ = write!(text, ", {left} left");
    }
    let accepted = report.imported + report.unchanged;
    let note = if report.stopped {
        "stopped; rerun the command to resume"
    } else if accepted + refused == 0 {
        "it has no lines; is it the right file?"
    } else if is_no_ndjson(report) {
        "the file is no NDJSON, because no line is a JSON object; convert an export of another product first: funil convert FILE > data.ndjson"
    } else if accepted == 0 {
        "every line must be one record, such as {\"kind\":\"user\",\"id\":7,\"name\":\"Ana\"}"
    } else if refused > 0 {
        "mend the refused lines and import the file again"
    } else {
        ""
    };
    Answer {
        partly: refused > 0 || report.stopped,
        ..Answer::new(text, json!(report)).noting(note)
    }
}

pub async fn export(export: ExportArgs, global: &Global) -> Result<Answer, Failure> {
    let output = export.output.filter(|path| path.as_os_str() != "-");
    if global.json && output.is_none() {
        return Err(Failure::Usage(
            "with --json the records need a file of their own: add --output FILE".to_owned(),
        ));
    }
    if let Some(path) = output.as_deref().filter(|path| !export.force && path.exists()) {
        return Err(Failure::Refused(format!(
            "{} exists; name another file, or add --force to replace it",
            path.display()
        )));
    }
    let operator = Operator::new(&global.store().await?, export.instance).lenient();
    operator.directory_head().await?;
    let _ = writeln!(io::stderr(), "{SECRETS_NOTICE}");
    let bar = global.progress();
    let counts = write_records(output.as_deref(), &operator, &bar).await;
    bar.finish_and_clear();
    let counts = counts?;
    let unreadable = operator.unreadable();
    if !global.json {
        let mut stderr = BufWriter::new(io::stderr().lock());
        for item in &unreadable.items {
            let _ = writeln!(stderr, "left out: {}", printable(item));
        }
    }
    Ok(export_answer(output.as_deref(), &counts, &unreadable))
}

/// Writes the records to a file, or to standard output.
async fn write_records(
    output: Option<&Path>,
    operator: &Operator,
    bar: &ProgressBar,
) -> Result<Counts, Failure> {
    if let Some(path) = output {
        let written = to_file(path, async |file| export::export(operator, file, bar).await);
        return tokio::select! {
            written = written => written.map_err(|error| write_failure(error, path)),
            // Dropping `written` deletes the temporary file.
            () = interrupt::asked() => Err(Failure::Refused(format!("stopped; {} is unchanged", path.display()))),
        };
    }
    protect_standard_output();
    let mut out = PrintableLines::on(BufWriter::new(io::stdout().lock()));
    let counts = export::export(operator, &mut out, bar).await;
    let counts = counts.and_then(|counts| Ok(out.flush().map(|()| counts)?));
    counts.map_err(|error| write_failure(error, Path::new("standard output")))
}

/// The answer of an export: the numbers of written and of omitted records.
fn export_answer(output: Option<&Path>, counts: &Counts, unreadable: &UnreadableRecords) -> Answer {
    let document = output.map(|path| {
        let counts: serde_json::Map<_, _> = counts
            .iter()
            .map(|(kind, count)| ((*kind).to_owned(), json!(count)))
            .collect();
        let mut document = json!({ "output": path.display().to_string(), "exported": counts });
        if unreadable.count > 0 {
            document["leftOut"] = json!(unreadable.count);
            document["unreadable"] = json!(unreadable.items);
        }
        document
    });
    let mut note = format!("exported: {}", listed(counts));
    if unreadable.count > 0 {
        let _ = write!(
            note,
            "; {} records cannot be read and are left out",
            unreadable.count
        );
    }
    Answer {
        note,
        document,
        partly: unreadable.count > 0,
        ..Answer::default()
    }
}

fn listed(counts: &Counts) -> String {
    let written: Vec<_> = counts
        .iter()
        .map(|(kind, count)| format!("{count} {kind}"))
        .collect();
    written.join(", ")
}

/// Writes a temporary file that only its owner can read, then renames it. So a failure leaves the former file.
async fn to_file(
    path: &Path,
    write: impl AsyncFnOnce(&mut BufWriter<File>) -> Result<Counts, export::ExportError>,
) -> Result<Counts, export::ExportError> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let (file, temporary) = tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))?.into_parts();
    let mut out = BufWriter::new(file);
    let counts = write(&mut out).await?;
    let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    file.sync_all()?;
    temporary.persist(path).map_err(|failed| failed.error)?;
    Ok(counts)
}

/// Makes the file of standard output readable by its owner alone, because the shell created it with the process's
/// umask.
#[cfg(unix)]
pub(super) fn protect_standard_output() {
    use std::os::fd::AsFd as _;
    use std::os::unix::fs::PermissionsExt;
    let Ok(owned) = io::stdout().as_fd().try_clone_to_owned() else {
        return;
    };
    let file = File::from(owned);
    let is_regular = file.metadata().is_ok_and(|metadata| metadata.is_file());
    if is_regular && let Err(cause) = file.set_permissions(PermissionsExt::from_mode(0o600)) {
        let _ = writeln!(io::stderr(), "the file's permissions cannot be narrowed: {cause}");
    }
}

/// Other systems have no file modes.
#[cfg(not(unix))]
pub(super) fn protect_standard_output() {}

fn write_failure(error: export::ExportError, to: &Path) -> Failure {
    let cause = match error {
        export::ExportError::Write(cause) => cause,
        export::ExportError::Operator(error) => return error.into(),
    };
    let next = match cause.kind() {
        io::ErrorKind::BrokenPipe => return Failure::Unread,
        io::ErrorKind::NotFound => "make its directory first",
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "name a place where you may write"
        }
        io::ErrorKind::StorageFull => "make room, or name another disk",
        io::ErrorKind::IsADirectory => "name a file, not a directory",
        _ => "name another file with --output FILE",
    };
    Failure::Refused(format!(
        "the export cannot be written to {}: {cause}; {next}",
        to.display()
    ))
}
