//! `funil convert`: exports of other products as the lines of an import (C-105).

use std::fmt::Write as _;
use std::fs;
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use clap::Args;
use indicatif::ProgressBar;
use operator::{Operator, TakenIds, progress};
use shared::ids::MAX_IMPORTED_ID;
use shared::instance::InstanceName;
use shared::text::fold;
use shared::time::Zone;

use super::data::{protect_standard_output, unreadable};
use super::text::printable;
use super::{Answer, Failure, Global};
use convert::{
    ConvertOptions, Converted, DateOrder, DecimalMark, IdMap, MapFile, MappedFile, Product, ReadOptions,
    TextEncoding,
};

pub const AFTER_HELP: &str = "\
Files are .csv, .tsv or .xlsx. The mapping of columns to fields is printed on standard error. What the values do not
prove, such as the order of dates, is asked for. The id map remembers all converted records, so a second conversion
changes only what the export changed. Rows that cannot be read are named by file and line and left out.

Examples:
  funil convert --zone America/Sao_Paulo --admin ana@example.com deals.csv people.csv > data.ndjson
  funil convert --zone America/Sao_Paulo --admin ana@example.com --dry-run leads.xlsx > map.toml
  funil convert --instance acme --map map.toml leads.xlsx > data.ndjson";

#[derive(Debug, Args)]
pub struct ConvertArgs {
    /// Product that wrote the files
    #[arg(long, value_enum, value_name = "PRODUCT", default_value = "auto")]
    from: Product,
    /// Instance that gets the records; its time zone, users and funnels apply, and new records get ids reserved in it
    #[arg(long, value_name = "NAME", env = "FUNIL_INSTANCE", hide_env = true)]
    instance: Option<InstanceName>,
    /// Time zone of local dates, if the instance has none yet
    #[arg(long, value_name = "ZONE", value_parser = zone)]
    zone: Option<Zone>,
    /// Changes to the guessed mapping, a TOML file
    #[arg(long, value_name = "FILE")]
    map: Option<PathBuf>,
    /// File that remembers the ids of converted records
    #[arg(long, value_name = "FILE", default_value = "funil-ids.json")]
    ids: PathBuf,
    /// Lowest id to assign without --instance [default: 1]
    #[arg(long, value_name = "ID", value_parser = clap::value_parser!(u64).range(1..=MAX_IMPORTED_ID))]
    first_id: Option<u64>,
    /// Name or e-mail address of the user who gets all permissions, and opportunities without an owner
    #[arg(long, value_name = "USER")]
    admin: Option<String>,
    /// Decimal mark of amounts [default: by the values of all files]
    #[arg(long, value_enum)]
    decimal: Option<DecimalMark>,
    /// Order of dates such as 03/04/2026 [default: by the values of all files]
    #[arg(long, value_enum)]
    dates: Option<DateOrder>,
    /// Encoding of text files, such as windows-1252 [default: by their bytes]
    #[arg(long, value_name = "NAME", value_parser = TextEncoding::named)]
    encoding: Option<TextEncoding>,
    /// Sheet of workbooks [default: the one visible sheet with rows]
    #[arg(long, value_name = "NAME")]
    sheet: Option<String>,
    /// Write no records and no id map; print the mapping for --map instead
    #[arg(long)]
    dry_run: bool,
    /// Exported files
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

fn zone(name: &str) -> Result<Zone, &'static str> {
    Zone::parse(name).ok_or(Zone::MUST)
}

/// The zone, the users and the ids of an instance.
#[derive(Default)]
struct InstanceState {
    operator: Option<Operator>,
    zone: Option<Zone>,
    /// If it has opportunities or the setting.
    currency: Option<String>,
    taken: TakenIds,
}

pub async fn run(convert: ConvertArgs, global: &Global) -> Result<Answer, Failure> {
    if global.json {
        return Err(Failure::Usage(
            "standard output has the records, one JSON object per line; leave out --json".to_owned(),
        ));
    }
    let mut map = read_map(convert.map.as_deref())?;
    map.decimal = convert.decimal.or(map.decimal);
    map.dates = convert.dates.or(map.dates);
    let bar = global.progress();
    let files = mapped_files(&convert, &map, &bar)?;
    let mut ids = IdMap::read(&convert.ids).map_err(|cause| unreadable(&convert.ids, &cause))?;
    let instance = instance(&convert, global).await?;
    begin_ids(&mut ids, &convert, &instance);
    let zone =
        convert::zone_of_products(&ids, &files, instance.zone.or(convert.zone)).map_err(Failure::Refused)?;
    let options = ConvertOptions {
        zone,
        sets_zone: instance.zone.is_none(),
        map: &map,
        admin: convert.admin.as_deref(),
        known: &instance.taken.users,
        currency: instance.currency.as_deref(),
        advanced: &|done, rows| show_progress(&bar, done, rows),
    };
    let mut converted = convert::convert(&files, ids.clone(), &options).map_err(|cause| spooled(&cause))?;
    let is_final = convert.dry_run || !converted.questions.is_empty();
    if let Some(operator) = instance.operator.as_ref().filter(|_| !is_final)
        && reserve(operator, &mut ids, &converted).await?
    {
        converted = convert::convert(&files, ids, &options).map_err(|cause| spooled(&cause))?;
    }
    bar.finish_and_clear();
    show(&convert, &instance, &converted);
    answered(&convert, converted, &files)
}

fn show_progress(bar: &ProgressBar, done: u64, rows: u64) {
    if done == 0 {
        bar.set_message("converting");
        progress::working(bar, rows);
    } else {
        progress::worked(bar, 1);
    }
}

fn spooled(cause: &io::Error) -> Failure {
    Failure::Refused(format!(
        "a temporary file cannot be written: {cause}; make room in the temporary directory"
    ))
}

/// The zone, the ids, the users and the funnels of the instance, if one is named.
async fn instance(convert: &ConvertArgs, global: &Global) -> Result<InstanceState, Failure> {
    let Some(instance) = &convert.instance else {
        return Ok(InstanceState::default());
    };
    let operator = Operator::new(&global.store().await?, instance.clone());
    let directory = operator.directory_head().await?;
    let (settings, taken) = (&directory.settings, operator.taken().await?);
    let is_set = settings.entries().iter().any(|(name, _)| *name == "currency");
    let has_deals = taken.last.get("opportunity").is_some_and(|last| *last > 0);
    Ok(InstanceState {
        zone: settings.timezone().map(|_| settings.zone()),
        currency: (is_set || has_deals).then(|| settings.currency().to_owned()),
        taken,
        operator: Some(operator),
    })
}

/// Begins the ids above those of the instance, and uses its funnels, columns, tags and loss reasons by their names.
fn begin_ids(ids: &mut IdMap, convert: &ConvertArgs, instance: &InstanceState) {
    let taken = &instance.taken;
    for kind in convert::ASSIGNED {
        let last = taken.last.get(kind).copied().unwrap_or_default();
        let named = convert.first_id.filter(|_| instance.operator.is_none());
        ids.begin_at(kind, named.unwrap_or(last + 1));
    }
    ids.is_assigning = instance.operator.is_some();
    for (kind, name, id) in &taken.names {
        let key = match *kind {
            "tag" => name.to_lowercase(),
            "lossReason" => fold(name),
            _ => name.clone(),
        };
        ids.adopt(kind, key, *id);
    }
}

/// Reserves the ids of new records in the instance. Returns whether the records need other ids than those assigned,
/// because the instance has made records since.
async fn reserve(operator: &Operator, ids: &mut IdMap, converted: &Converted<'_>) -> Result<bool, Failure> {
    let mut differs = false;
    for kind in ["lead", "opportunity"] {
        let count = converted.ids().assigned(kind);
        if count > 0 {
            let first = operator.reserve_ids(kind, count).await?;
            differs |= ids.first(kind) != first;
            ids.begin_at(kind, first);
        }
    }
    Ok(differs)
}

/// Prints the mapping, the decisions, what has to be answered and what has to be judged.
fn show(convert: &ConvertArgs, instance: &InstanceState, converted: &Converted<'_>) {
    let mut text = converted.report.clone();
    if let (Some(own), Some(named)) = (instance.zone, convert.zone)
        && own != named
    {
        let _ = writeln!(
            text,
            "the instance is in {own}, so local dates are too, and not in {named} of --zone"
        );
    }
    text.extend(lost_ids(convert, instance));
    for (head, lines) in [
        (
            "to judge, with the lines to write into a file for --map:",
            &converted.doubts,
        ),
        (
            "to answer before anything is converted, with the lines to write into a file for --map:",
            &converted.questions,
        ),
    ] {
        if !lines.is_empty() {
            let _ = writeln!(text, "{head}\n  {}", lines.join("\n  "));
        }
    }
    let _ = write!(io::stderr().lock(), "{}", printable(&text));
}

/// The warning about records of earlier conversions, if their id map is missing.
fn lost_ids(convert: &ConvertArgs, instance: &InstanceState) -> Option<String> {
    let last = &instance.taken.last;
    let has_records = ["lead", "opportunity"]
        .iter()
        .any(|kind| last.get(kind).is_some_and(|last| *last > 0));
    let is_lost = has_records && !convert.ids.exists();
    is_lost.then(|| {
        format!(
            "there is no {}, and the instance has leads or opportunities: those of an earlier conversion are made a second \
             time; copy its id map here, or name it with --ids FILE\n",
            convert.ids.display()
        )
    })
}

/// Writes the records and the id map, or the mapping.
fn answered(
    convert: &ConvertArgs,
    mut converted: Converted<'_>,
    files: &[MappedFile],
) -> Result<Answer, Failure> {
    let is_open = !converted.questions.is_empty();
    if !convert.dry_run && !is_open {
        let written = converted.ids().write(&convert.ids);
        let place = convert.ids.display();
        written.map_err(|cause| {
            Failure::Refused(format!(
                "{place} cannot be written: {cause}; name another place with --ids FILE"
            ))
        })?;
        protect_standard_output();
    }
    let mut out = BufWriter::new(io::stdout().lock());
    let written = match (convert.dry_run, is_open) {
        (true, _) => write!(out, "{}{}", convert::written_map(files), converted.map()),
        (false, false) => converted.write(&mut out),
        (false, true) => Ok(()),
    };
    match written.and_then(|()| out.flush()) {
        Err(cause) if cause.kind() == io::ErrorKind::BrokenPipe => return Err(Failure::Unread),
        Err(cause) => {
            return Err(Failure::Refused(format!(
                "the records cannot be written to standard output: {cause}; make room"
            )));
        }
        Ok(()) => {}
    }
    Ok(Answer {
        note: note(convert, &converted),
        partly: is_open || converted.faults() + converted.losses() > 0,
        ..Answer::default()
    })
}

/// The last line on standard error.
fn note(convert: &ConvertArgs, converted: &Converted<'_>) -> String {
    let summary = converted.summary();
    if !converted.questions.is_empty() {
        return format!("nothing is converted; answer the questions and convert all files again ({summary})");
    }
    if convert.dry_run {
        return format!("would convert: {summary}");
    }
    let ids = convert.ids.display();
    let mut note = format!("converted: {summary}; ids are in {ids}, which the next conversion needs");
    if converted.faults() + converted.losses() > 0 {
        note += "; mend the rows and convert all files again";
    }
    note
}

fn read_map(path: Option<&Path>) -> Result<MapFile, Failure> {
    let Some(path) = path else {
        return Ok(MapFile::default());
    };
    let read = fs::read_to_string(path).and_then(|text| MapFile::read(&text));
    read.map_err(|cause| match cause.kind() {
        io::ErrorKind::InvalidData => Failure::Refused(format!(
            "{} cannot be read: {}; mend the line; one with points before the \"=\" belongs before the first [section]",
            path.display(),
            cause.to_string().trim_end()
        )),
        _ => unreadable(path, &cause),
    })
}

/// The names of files in the map and in reports: without the directory, except for files that would then share a name.
fn sheet_names(paths: &[PathBuf]) -> Vec<String> {
    let file_name = |path: &PathBuf| path.file_name().unwrap_or_default().to_owned();
    let names = paths.iter().map(|path| {
        let name = file_name(path);
        let is_shared = paths.iter().filter(|other| file_name(other) == name).count() > 1;
        let name = if is_shared { path.as_os_str() } else { &name };
        name.to_string_lossy().into_owned()
    });
    names.collect()
}

/// Reads the files and maps their columns. The map is checked when all are read, because it may name any of them.
fn mapped_files(convert: &ConvertArgs, map: &MapFile, bar: &ProgressBar) -> Result<Vec<MappedFile>, Failure> {
    let size = |path: &PathBuf| fs::metadata(path).map_or(0, |file| file.len());
    progress::reading(bar, "reading", convert.files.iter().map(size).sum());
    let options = ReadOptions {
        encoding: convert.encoding,
        sheet: convert.sheet.as_deref(),
    };
    let mut sheets = Vec::new();
    for (path, name) in convert.files.iter().zip(sheet_names(&convert.files)) {
        let bytes = fs::read(path).map_err(|cause| unreadable(path, &cause))?;
        let length = bytes.len() as u64;
        let sheet = convert::read(name, bytes, options);
        sheets.push(sheet.map_err(|reason| Failure::Refused(format!("{} {reason}", path.display())))?);
        bar.inc(length);
    }
    let invalid_map = |reason| Failure::Refused(format!("--map: {reason}"));
    map.check(&sheets).map_err(invalid_map)?;
    let products = convert::products(&sheets, convert.from);
    let with_products = sheets.into_iter().zip(products);
    with_products
        .map(|(sheet, product)| MappedFile::new(sheet, product, map).map_err(invalid_map))
        .collect()
}
