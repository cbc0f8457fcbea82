//! CSV exports of other products as the lines of an import (C-105).
//!
//! Every decision about the data is shown: the mapping of columns, the style of amounts and dates, the statuses and the
//! order of columns. A row that cannot be read is reported with file and line, and the others are converted.

mod cells;
mod columns;
mod contact;
mod dates;
mod deals;
mod ids;
mod kind;
mod mapping;
mod names;
mod people;
mod records;
mod sheet;
mod value;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io;

use indicatif::ProgressBar;
use serde_json::{Value, json};
use shared::people::User;
use shared::time::Zone;

pub use columns::Product;
pub use dates::DateOrder;
pub use ids::IdMap;
pub use mapping::{MapFile, MappedFile};

pub use sheet::Sheet;
pub use value::DecimalMark;

use people::RecordFields;
use records::RecordBuilder;

/// The kinds with assigned ids, including the columns of funnels.
pub const ASSIGNED: [&str; 8] = [
    "user",
    "company",
    "lead",
    "funnel",
    "column",
    "opportunity",
    "tag",
    "lossReason",
];
/// Maximum listed duplicates, and maximum listed rows.
const MAX_LISTED: usize = 1000;
/// Rows with one reason that are listed one by one.
const MAX_SAME: u64 = 10;

/// Options of a conversion.
pub struct ConvertOptions<'a> {
    /// The zone of local dates.
    pub zone: Zone,
    /// The map.
    pub map: &'a MapFile,
    /// Name or e-mail address of the user who gets all permissions, and opportunities without an owner.
    pub admin: Option<&'a str>,
    /// The users of the instance.
    pub known: &'a [User],
    /// Progress bar of the conversion, after it has shown the reading of the files.
    pub bar: &'a ProgressBar,
}

/// The result of a conversion.
pub struct Converted {
    /// The lines of an import. Each kind comes after those to which it refers.
    pub lines: Vec<String>,
    /// The id map with the ids of this run.
    pub ids: IdMap,
    /// The decisions about values, the duplicates and the omitted rows, as text.
    pub report: String,
    /// The number of records of each kind, and of omitted rows.
    pub summary: String,
    /// Number of omitted rows.
    pub faults: usize,
    /// Statuses and funnels as sections of a map.
    pub map: String,
}

/// Converts files.
#[must_use]
pub fn convert(files: &[MappedFile], ids: IdMap, options: &ConvertOptions<'_>) -> Converted {
    let mut records = RecordBuilder::new(options.zone, options.map, ids, options.known);
    if let Some(admin) = options.admin {
        let id = records.users.of(admin, &mut records.ids);
        records.users.grant_all_permissions(id);
        records.admin = Some(id);
    }
    options.bar.set_message("converting");
    records.add_files(files, options.bar);
    let mut lines = LineWriter::default();
    let tags = records.tags.iter();
    lines.add("tag", tags.map(|(name, id)| json!({ "id": id, "tag": name })));
    let losses = records.deals.losses.iter();
    lines.add(
        "lossReason",
        losses.map(|(name, id)| json!({ "id": id, "name": name })),
    );
    lines.add("user", records.users.records().cloned().map(Value::Object));
    lines.add(
        "company",
        records.companies.records.iter().cloned().map(Value::Object),
    );
    lines.add("lead", records.leads.records.iter().cloned().map(Value::Object));
    lines.add("funnel", records.deals.funnels(options.map).into_iter());
    lines.add(
        "opportunity",
        records.deals.records.iter().cloned().map(Value::Object),
    );
    let mut report = String::new();
    // Writing to a `String` does not fail.
    let _ = write_decisions(&records, &mut report).and_then(|()| write_problems(&records, &mut report));
    let mut summary = lines.counts.join(", ");
    if !records.faults.is_empty() {
        let _ = write!(summary, "; {} rows left out", records.faults.len());
    }
    Converted {
        lines: lines.lines,
        report,
        summary,
        faults: records.faults.len(),
        map: written_decisions(&records),
        ids: records.ids,
    }
}

#[derive(Default)]
struct LineWriter {
    lines: Vec<String>,
    counts: Vec<String>,
}

impl LineWriter {
    /// Adds records of a kind as lines that begin with `kind` and `id`.
    fn add(&mut self, kind: &str, records: impl Iterator<Item = Value>) {
        let before = self.lines.len();
        self.lines.extend(records.filter_map(|record| {
            let Value::Object(record) = record else {
                return None;
            };
            let mut line = RecordFields::from_iter([("kind".to_owned(), json!(kind))]);
            line.extend(record.get("id").cloned().map(|id| ("id".to_owned(), id)));
            line.extend(record);
            Some(Value::Object(line).to_string())
        }));
        let count = self.lines.len() - before;
        if count > 0 {
            self.counts.push(format!("{count} {kind}"));
        }
    }
}

/// Writes the decisions about values.
fn write_decisions(records: &RecordBuilder, text: &mut String) -> std::fmt::Result {
    writeln!(text, "local dates are in {}", records.zone)?;
    for ((status, meaning), rows) in &records.deals.statuses {
        writeln!(text, "status {status:?}: {} ({rows})", meaning.as_str())?;
    }
    let known: BTreeMap<_, _> = records.deals.shown(records.map).collect();
    for funnel in records
        .map
        .funnels
        .keys()
        .filter(|name| !known.contains_key(name.as_str()))
    {
        writeln!(text, "no row has the funnel {funnel:?} of the map")?;
    }
    for (funnel, columns) in known {
        let is_in_map = records.map.funnels.contains_key(funnel);
        let order = if is_in_map {
            "of the map"
        } else {
            "of the rows, closed ones last; change it in the map's [funnels]"
        };
        writeln!(
            text,
            "funnel {funnel:?} has the columns {} (in the order {order})",
            columns.join(", ")
        )?;
    }
    write_users(records, text)?;
    for (remark, rows) in &records.notes {
        writeln!(text, "{remark} ({rows})")?;
    }
    Ok(())
}

/// Writes the new users.
fn write_users(records: &RecordBuilder, text: &mut String) -> std::fmt::Result {
    for user in records.users.records() {
        let field = |name: &str| user.get(name).and_then(Value::as_str);
        let names = [field("name"), field("lastName"), field("email")];
        let mut names: Vec<_> = names.into_iter().flatten().collect();
        names.dedup();
        let admin = if user.contains_key("admin") {
            ", with all permissions"
        } else {
            ""
        };
        writeln!(text, "new user {}: {}{admin}", user["id"], names.join(" "))?;
    }
    match records
        .admin
        .and_then(|id| records.users.address_without_name(id))
    {
        Some(email) => writeln!(
            text,
            "if {email} is the address of another of these users, convert again with --admin \"NAME ({email})\""
        ),
        None => Ok(()),
    }
}

/// Writes the duplicates and the omitted rows.
fn write_problems(records: &RecordBuilder, text: &mut String) -> std::fmt::Result {
    let seen = records.leads.seen.iter().filter(|(_, places)| places.len() > 1);
    let duplicates: Vec<_> = seen.collect();
    for (what, places) in duplicates.iter().take(MAX_LISTED) {
        writeln!(text, "duplicate {what}: {}", places.join(", "))?;
    }
    if duplicates.len() > MAX_LISTED {
        writeln!(text, "and {} more duplicates", duplicates.len() - MAX_LISTED)?;
    }
    write_omitted_rows(&records.faults, text)
}

/// Writes the omitted rows (file, line, reason), each on a line. Many rows of a file with one reason are one line.
fn write_omitted_rows(faults: &[(String, u64, String)], text: &mut String) -> std::fmt::Result {
    let mut rows = BTreeMap::<_, u64>::new();
    for (file, _, reason) in faults {
        *rows.entry((file, reason)).or_default() += 1;
    }
    let mut joined = BTreeSet::new();
    let (mut lines, mut listed) = (0, 0);
    for (file, line, reason) in faults {
        let same = rows.get(&(file, reason)).copied().unwrap_or_default();
        let is_joined = same > MAX_SAME;
        if lines == MAX_LISTED || (is_joined && !joined.insert((file, reason))) {
            continue;
        }
        let more = if is_joined {
            format!(" (and {} more rows)", same - 1)
        } else {
            String::new()
        };
        let reason = reason.escape_debug().to_string();
        let reason = reason.replace("\\\"", "\"").replace("\\'", "'");
        writeln!(text, "{file}:{line}: {reason}{more}")?;
        lines += 1;
        listed += if is_joined { same } else { 1 };
    }
    match faults.len() as u64 - listed {
        0 => Ok(()),
        unlisted => writeln!(text, "and {unlisted} more rows"),
    }
}

/// The mapping of the files as a map, for editing.
#[must_use]
pub fn written_map(files: &[MappedFile]) -> String {
    let mut text = "[kinds]\n".to_owned();
    let sections: Vec<_> = files.iter().map(MappedFile::written).collect();
    for (kind, _) in &sections {
        text.push_str(kind);
    }
    for (_, columns) in &sections {
        text.push_str(columns);
    }
    text
}

/// Statuses and the order of columns as sections of a map.
fn written_decisions(records: &RecordBuilder) -> String {
    let quoted = |text: &str| Value::from(text).to_string();
    let mut text = String::new();
    if !records.deals.statuses.is_empty() || !records.deals.unknown.is_empty() {
        text += "\n[status]\n";
    }
    for (status, meaning) in records.deals.statuses.keys() {
        let _ = writeln!(text, "{} = {}", quoted(status), quoted(meaning.as_str()));
    }
    for status in &records.deals.unknown {
        let _ = writeln!(text, "# {} = \"open\", \"gain\" or \"lost\"", quoted(status));
    }
    for (at, (funnel, columns)) in records.deals.shown(records.map).enumerate() {
        let head = if at == 0 { "\n[funnels]\n" } else { "" };
        let _ = writeln!(text, "{head}{} = {}", quoted(funnel), Value::from(columns));
    }
    text
}

/// Reads a map.
///
/// # Errors
/// An error of kind `InvalidData`, if the text is not TOML or has an unknown key.
pub fn read_map(text: &str) -> io::Result<MapFile> {
    toml::from_str(text).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}
