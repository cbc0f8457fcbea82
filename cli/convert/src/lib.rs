//! Exports of other products as the lines of an import (C-105).
//!
//! Every decision about the data is shown, and what the values do not prove is asked for. A row that cannot be read is
//! reported with file and line, and the others are converted.

mod cells;
mod closing;
mod columns;
mod content;
mod deals;
mod doubts;
mod funnels;
mod ids;
mod index;
mod input;
mod keys;
mod kind;
mod leads;
mod map;
mod mapping;
mod names;
mod people;
mod persons;
mod product;
mod proof;
mod records;
mod reference;
mod report;
mod roles;
mod spool;
mod target;
mod token;
mod totals;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{self, Write};

use domain::people::User;
use domain::time::Zone;
use serde_json::json;

pub use ids::IdMap;
pub use input::{ReadOptions, TextEncoding, read};
pub use map::MapFile;
pub use mapping::{MappedFile, written_map};
pub use product::Product;
pub use token::amount::DecimalMark;
pub use token::date::DateOrder;

use people::RecordFields;
use proof::Proofs;
use records::RecordBuilder;
use spool::line;

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

/// Options of a conversion.
pub struct ConvertOptions<'a> {
    /// The zone of local dates, if it is known.
    pub zone: Option<Zone>,
    /// Whether the lines set the zone of an instance without one.
    pub sets_zone: bool,
    /// The map.
    pub map: &'a MapFile,
    /// Name or e-mail address of the user who gets all permissions, and opportunities without an owner.
    pub admin: Option<&'a str>,
    /// The users of the instance.
    pub known: &'a [User],
    /// The currency of the instance, if its opportunities or its settings have one.
    pub currency: Option<&'a str>,
    /// Called with the number of converted rows and of all rows, before the first row and after each.
    pub advanced: &'a dyn Fn(u64, u64),
}

impl ConvertOptions<'_> {
    /// The currency of all amounts, if it is decided.
    fn wanted_currency(&self) -> Option<String> {
        let named = self.map.currency.as_deref().map(token::amount::currency_code);
        named.or_else(|| self.currency.map(str::to_owned))
    }
}

/// The result of a conversion.
pub struct Converted<'a> {
    records: RecordBuilder<'a>,
    zone: Option<Zone>,
    /// The currency of all amounts, which the lines set in an instance without one.
    currency: Option<String>,
    /// The mapping, the decisions about values, the duplicates and the omitted rows, as text.
    pub report: String,
    /// Questions to answer before anything can be converted.
    pub questions: Vec<String>,
    /// Decisions that the operator has to judge.
    pub doubts: Vec<String>,
}

/// Converts files.
///
/// # Errors
/// The system's error, if a temporary file cannot be written.
pub fn convert<'a>(
    files: &[MappedFile],
    ids: IdMap,
    options: &ConvertOptions<'a>,
) -> io::Result<Converted<'a>> {
    let Proofs {
        styles,
        mut questions,
        local_date,
    } = Proofs::of(files, options.map, options.wanted_currency().as_deref());
    let local_date = local_date.filter(|_| options.zone.is_none());
    questions.extend(local_date.map(|place| {
        format!(
            "the time zone is open: {place} is a local date; add --zone, such as --zone America/Sao_Paulo"
        )
    }));
    let is_decided = questions.is_empty();
    let roles = files
        .iter()
        .map(|file| roles::missing_roles(file, options.map, options.admin.is_some()));
    let (roles, remarks): (Vec<_>, Vec<_>) = roles.unzip();
    questions.extend(roles.concat());
    questions.extend(files.iter().flat_map(proof::unusual_amounts));
    let records = read_rows(files, &styles, ids, options)?;
    questions.extend(report::several_currencies(&records));
    questions.extend(roles::closed_elsewhere(&records, files, false));
    if questions.is_empty() {
        questions.extend(without_records(&records, files));
    }
    let shown = files.iter().zip(&styles);
    let shown = shown.map(|(file, styles)| file.shown(&proof::shown_types(file, *styles)));
    Ok(Converted {
        zone: options.zone.filter(|_| options.sets_zone),
        currency: records.one_currency().filter(|_| options.currency.is_none()),
        report: shown.collect::<String>() + &report::text(&records, files, is_decided),
        doubts: [remarks.concat(), report::doubts(&records, files)].concat(),
        questions,
        records,
    })
}

/// Reads all rows.
fn read_rows<'a>(
    files: &[MappedFile],
    styles: &[proof::Styles],
    ids: IdMap,
    options: &ConvertOptions<'a>,
) -> io::Result<RecordBuilder<'a>> {
    let zone = options.zone.unwrap_or(Zone::UTC);
    let mut records = RecordBuilder::new(zone, options.map, ids, options.known)?;
    if let Some(admin) = options.admin {
        records.set_admin(admin);
    }
    records.currency = options.wanted_currency();
    records.add_files(files, styles, options.advanced)?;
    for file in files.iter().filter(|_| options.zone.is_some()) {
        records.ids.set_zone(file.names.product, zone.name());
    }
    Ok(records)
}

/// The question about a file with rows that gave no record, or about files without rows.
fn without_records(records: &RecordBuilder, files: &[MappedFile]) -> Option<String> {
    let rows = |file: &MappedFile| file.sheet.grid.len() + file.sheet.faults.len();
    if files.iter().all(|file| rows(file) == 0) {
        return Some("the files have headings and no rows; are they the right ones?".to_owned());
    }
    let is_lost = |(index, file): &(usize, &MappedFile)| rows(file) > 0 && !records.taken.contains_key(index);
    let (index, file) = files.iter().enumerate().find(is_lost)?;
    let (name, kind) = (&file.sheet.name, file.main.name());
    if let Some(question) = repeated_ids(records, files, index) {
        return Some(question);
    }
    let has = |role| {
        file.sheet
            .headings
            .iter()
            .any(|heading| names::resembles(role, heading))
    };
    let is_deal = has("title") && (has("value") || has("status"));
    let (likely, other) = if is_deal && file.main != kind::FileKind::Opportunity {
        ("opportunity", "lead")
    } else {
        ("lead", "opportunity")
    };
    let line = format!(
        "kinds.{} = {likely:?}  # or \"company\", {other:?}",
        mapping::quoted(name)
    );
    Some(format!(
        "no row of {name} became a record of kind {kind}; mend the rows, or if it has another kind:\n    {line}"
    ))
}

/// The question about a file of which each row has the id of a row of another file.
fn repeated_ids(records: &RecordBuilder, files: &[MappedFile], index: usize) -> Option<String> {
    let file = files.get(index)?;
    let mut faults = records.faults.iter().filter(|(of, ..)| *of == index);
    let is_repeated = faults.all(|(_, _, reason)| reason.ends_with("occurs twice"));
    let mut others = files
        .iter()
        .enumerate()
        .filter(|(at, other)| *at != index && other.main == file.main);
    let (_, other) = others.next().filter(|_| is_repeated)?;
    let id = file
        .columns
        .iter()
        .position(|column| column.target.field() == Some((file.main, "id")))?;
    let (name, other) = (&file.sheet.name, &other.sheet.name);
    let line = roles::map_line(file, file.heading(id), "");
    Some(format!(
        "{name} and {other} number their rows alike, so the ids of {name} are those of other records; to read its rows without \
         ids:{line}"
    ))
}

impl Converted<'_> {
    /// The id map with the ids of this run.
    #[must_use]
    pub fn ids(&self) -> &IdMap {
        &self.records.ids
    }

    /// Number of omitted rows.
    #[must_use]
    pub fn faults(&self) -> usize {
        self.records.faults.len()
    }

    /// Number of values that are left out, cut or kept in custom fields.
    #[must_use]
    pub fn losses(&self) -> usize {
        self.records.losses.len()
    }

    /// Statuses and funnels as lines of a map.
    #[must_use]
    pub fn map(&self) -> String {
        report::written_decisions(&self.records)
    }

    /// The number of records of each kind, of omitted rows and of values that are left out.
    #[must_use]
    pub fn summary(&self) -> String {
        let records = &self.records;
        let counts = [
            (records.tags.len() as u64, "tag"),
            (records.deals.losses.len() as u64, "lossReason"),
            (records.users.records().count() as u64, "user"),
            (records.company_lines.len() as u64, "company"),
            (records.lead_lines.len, "lead"),
            (records.deals.funnel_count(), "funnel"),
            (records.deals.lines.len, "opportunity"),
        ];
        let counts: Vec<_> = counts
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, kind)| format!("{count} {kind}"))
            .collect();
        let mut summary = counts.join(", ");
        for (count, what) in [
            (self.faults(), "rows left out"),
            (self.losses(), "values not taken as they are"),
        ] {
            if count > 0 {
                let _ = write!(summary, "; {count} {what}");
            }
        }
        summary
    }

    /// Writes the lines of an import. Each kind comes after those to which it refers. An import keeps settings, users,
    /// labels and funnels that exist, and adds to funnels what they lack.
    ///
    /// # Errors
    /// The system's error.
    pub fn write(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let records = &mut self.records;
        let merged = |kind: &str, mut fields: RecordFields| {
            fields.insert("merge".to_owned(), json!(true));
            line(kind, fields)
        };
        let fields = |id: u64, name: &str, value: &str| {
            RecordFields::from_iter([("id".to_owned(), json!(id)), (name.to_owned(), json!(value))])
        };
        let zone = self.zone.map(|zone| ("timezone", zone.name()));
        let currency = self.currency.as_deref().map(|code| ("currency", code));
        for (name, value) in zone.into_iter().chain(currency) {
            let pairs = [("name", json!(name)), ("value", json!(value))];
            let setting = pairs.map(|(name, value)| (name.to_owned(), value));
            writeln!(out, "{}", merged("setting", setting.into_iter().collect()))?;
        }
        for (id, tag) in records.tags.values() {
            writeln!(out, "{}", merged("tag", fields(*id, "tag", tag)))?;
        }
        for (reason, id) in &records.deals.losses {
            writeln!(out, "{}", merged("lossReason", fields(*id, "name", reason)))?;
        }
        for user in records.users.records() {
            writeln!(out, "{}", merged("user", user.clone()))?;
        }
        for company in &records.company_lines {
            writeln!(out, "{company}")?;
        }
        let leads = &records.leads;
        records.lead_lines.copy(out, |at| leads.further(at))?;
        for funnel in records.deals.funnels(records.map) {
            writeln!(out, "{}", merged("funnel", funnel))?;
        }
        records.deals.lines.copy(out, |_| std::iter::empty())
    }
}

/// The product of each sheet. If it is not named, it is that of all sheets as far as their columns agree.
#[must_use]
pub fn products(sheets: &[input::Sheet], product: Product) -> Vec<Product> {
    let headings: Vec<_> = sheets.iter().map(|sheet| &*sheet.headings).collect();
    match product {
        Product::Auto => names::FileNames::products(&headings),
        named => vec![named; sheets.len()],
    }
}

/// The zones that the id map states for the products of files.
///
/// # Errors
/// The reason, if it states another zone than `wanted` for a product, or several.
pub fn zone_of_products(
    ids: &IdMap,
    files: &[MappedFile],
    wanted: Option<Zone>,
) -> Result<Option<Zone>, String> {
    let products: BTreeSet<_> = files.iter().map(|file| file.names.product).collect();
    let mut zone = wanted;
    for product in products {
        let Some(known) = ids.zone(product).and_then(Zone::parse) else {
            continue;
        };
        match zone {
            Some(zone) if zone != known => {
                return Err(format!(
                    "the dates of {product} were converted in {known} before, and now they would be in {zone}, so each would \
                     move; use {known}, or name another id map with --ids FILE"
                ));
            }
            _ => zone = Some(known),
        }
    }
    Ok(zone)
}

#[cfg(test)]
mod tests;
