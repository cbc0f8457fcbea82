//! `funil convert`: exports of other products as the lines of an import (C-105).

use std::fs;
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use clap::Args;
use indicatif::ProgressBar;
use operator::{Operator, TakenIds, progress};
use shared::instance::InstanceName;
use shared::time::Zone;

use super::data::{protect_standard_output, unreadable};
use super::text::printable;
use super::{Answer, Failure, Global};
use crate::convert::{
    self, ConvertOptions, DateOrder, DecimalMark, IdMap, MapFile, MappedFile, Product, Sheet,
};

pub const AFTER_HELP: &str = "\
The mapping of columns to fields is printed on standard error. Ids that are whole numbers are kept; the others are
assigned and remembered in the id map, so a second conversion gives the same ids. Rows that cannot be read are named by
file and line and left out.

Examples:
  funil convert --from csv --zone America/Sao_Paulo --admin ana@example.com --dry-run leads.csv > map.toml
  funil convert --from csv --zone America/Sao_Paulo --admin ana@example.com --map map.toml leads.csv > data.ndjson
  funil convert --from hubspot --instance acme contacts.csv companies.csv deals.csv > data.ndjson";

#[derive(Debug, Args)]
pub struct ConvertArgs {
    /// Product that wrote the files
    #[arg(long, value_enum, value_name = "PRODUCT")]
    from: Product,
    /// Instance that gets the records; its time zone and users apply, and ids are assigned above its own
    #[arg(long, value_name = "NAME")]
    instance: Option<InstanceName>,
    /// Time zone of local dates, if there is no instance yet
    #[arg(
        long,
        value_name = "ZONE",
        value_parser = zone,
        required_unless_present = "instance",
        conflicts_with = "instance"
    )]
    zone: Option<Zone>,
    /// Changes to the guessed mapping, a TOML file
    #[arg(long, value_name = "FILE")]
    map: Option<PathBuf>,
    /// File that remembers assigned ids
    #[arg(long, value_name = "FILE", default_value = "funil-ids.json")]
    ids: PathBuf,
    /// Lowest id to assign [default: 1, or above those of the instance]
    #[arg(long, value_name = "ID", value_parser = clap::value_parser!(u64).range(1..=999_999_999))]
    first_id: Option<u64>,
    /// Name or e-mail address of the user who gets all permissions, and opportunities without an owner
    #[arg(long, value_name = "USER")]
    admin: Option<String>,
    /// Style of amounts [default: by the values of each column]
    #[arg(long, value_enum)]
    decimal: Option<DecimalMark>,
    /// Order of dates such as 03/04/2026 [default: by the values of each column]
    #[arg(long, value_enum)]
    dates: Option<DateOrder>,
    /// Write no records and no id map; print the mapping for --map instead
    #[arg(long)]
    dry_run: bool,
    /// CSV files
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

fn zone(name: &str) -> Result<Zone, &'static str> {
    Zone::parse(name).ok_or("must be an IANA time zone such as America/Sao_Paulo")
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
    let (zone, taken) = instance(&convert, global).await?;
    for kind in convert::ASSIGNED {
        let last = taken.last.get(kind).copied().unwrap_or_default();
        ids.begin_at(kind, convert.first_id.unwrap_or(last + 1));
    }
    let options = ConvertOptions {
        zone,
        map: &map,
        admin: convert.admin.as_deref(),
        known: &taken.users,
        bar: &bar,
    };
    let converted = convert::convert(&files, ids, &options);
    bar.finish_and_clear();
    let shown = files.iter().map(MappedFile::shown).collect::<String>();
    let _ = write!(
        io::stderr().lock(),
        "{}",
        printable(&format!("{shown}{}", converted.report))
    );
    answered(&convert, converted, &files)
}

/// The zone of local dates, and the ids and users that the instance has.
async fn instance(convert: &ConvertArgs, global: &Global) -> Result<(Zone, TakenIds), Failure> {
    let Some(instance) = &convert.instance else {
        return Ok((convert.zone.unwrap_or(Zone::UTC), TakenIds::default()));
    };
    let operator = Operator::new(&global.store().await?, instance.clone());
    let directory = operator.directory_head().await?;
    Ok((directory.settings.zone(), operator.taken().await?))
}

/// Writes the records and the id map, or the mapping.
fn answered(
    convert: &ConvertArgs,
    converted: convert::Converted,
    files: &[MappedFile],
) -> Result<Answer, Failure> {
    let lines = if convert.dry_run {
        vec![convert::written_map(files) + &converted.map]
    } else {
        converted.lines
    };
    if !convert.dry_run {
        let written = converted.ids.write(&convert.ids);
        let place = convert.ids.display();
        written.map_err(|cause| {
            Failure::Refused(format!(
                "{place} cannot be written: {cause}; name another place with --ids FILE"
            ))
        })?;
        protect_standard_output();
    }
    let mut out = BufWriter::new(io::stdout().lock());
    let written = lines
        .iter()
        .try_for_each(|line| writeln!(out, "{}", line.trim_end()));
    match written.and_then(|()| out.flush()) {
        Err(cause) if cause.kind() == io::ErrorKind::BrokenPipe => return Err(Failure::Unread),
        Err(cause) => {
            return Err(Failure::Refused(format!(
                "the records cannot be written to standard output: {cause}; make room"
            )));
        }
        Ok(()) => {}
    }
    let note = note(convert, &converted.summary, converted.ids.len(), converted.faults);
    Ok(Answer {
        note,
        partly: converted.faults > 0,
        ..Answer::default()
    })
}

/// The last line on standard error.
fn note(convert: &ConvertArgs, summary: &str, assigned: usize, faults: usize) -> String {
    let mut note = if convert.dry_run {
        format!("would convert: {summary}")
    } else {
        format!("converted: {summary}")
    };
    if assigned > 0 && !convert.dry_run {
        let ids = convert.ids.display();
        note = format!("{note}; assigned ids are in {ids}, which the next conversion needs");
    }
    if faults > 0 {
        note += "; mend the rows and convert all files again";
    }
    note
}

fn read_map(path: Option<&Path>) -> Result<MapFile, Failure> {
    let Some(path) = path else {
        return Ok(MapFile::default());
    };
    let read = fs::read_to_string(path).and_then(|text| convert::read_map(&text));
    read.map_err(|cause| unreadable(path, &cause))
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
    let mut sheets = Vec::new();
    for (path, name) in convert.files.iter().zip(sheet_names(&convert.files)) {
        let bytes = fs::read(path).map_err(|cause| unreadable(path, &cause))?;
        if bytes.starts_with(b"PK\x03\x04") {
            return Err(Failure::Refused(format!(
                "{} is a spreadsheet; save it as CSV first",
                path.display()
            )));
        }
        let sheet = Sheet::read(name, &bytes)
            .map_err(|reason| Failure::Refused(format!("{} {reason}", path.display())))?;
        sheets.push(sheet);
        bar.inc(bytes.len() as u64);
    }
    let invalid_map = |reason| Failure::Refused(format!("--map: {reason}"));
    map.check(&sheets).map_err(invalid_map)?;
    sheets
        .into_iter()
        .map(|sheet| MappedFile::new(sheet, convert.from, map).map_err(invalid_map))
        .collect()
}
