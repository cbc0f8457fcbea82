//! The mapping of a file's columns to fields: guessed by their names, then changed by a map (C-105).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde::Deserialize;
use serde_json::{Value, json};
use shared::ids::LeadId;
use shared::lead::{DERIVED_FIELDS, Lead, WHATSAPP};
use shared::opportunity::Status;
use shared::time::Timestamp;

use super::columns::{self, Product};
use super::dates::DateOrder;
use super::kind::FileKind;
use super::sheet::{Sheet, SheetRow};
use super::value::{DecimalMark, is_absent};

/// Fields that several columns may fill. All addresses and numbers of a row are read; of other fields, the first value.
const SHARED: [&str; 8] = [
    "email",
    "phone",
    "mobile",
    "name",
    "companyname",
    "closeDate",
    "id",
    "sale_channel",
];
const AMOUNTS: [&str; 1] = ["value"];
const DATES: [&str; 8] = [
    "createDate",
    "lastActive",
    "updateDate",
    "expectedCloseDate",
    "closeDate",
    "gain_date",
    "lost_date",
    "last_column_change",
];

/// Changes to the guessed mapping.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MapFile {
    /// The style of all amounts.
    pub decimal: Option<DecimalMark>,
    /// The order of all dates.
    pub dates: Option<DateOrder>,
    /// The main kind of a file.
    pub kinds: BTreeMap<String, FileKind>,
    /// Fields by heading, in all files.
    pub columns: BTreeMap<String, String>,
    /// Fields by file and heading.
    pub files: BTreeMap<String, BTreeMap<String, String>>,
    /// Statuses by the text of a status or stage.
    pub status: BTreeMap<String, Status>,
    /// The order of each funnel's columns.
    pub funnels: BTreeMap<String, Vec<String>>,
}

impl MapFile {
    /// Requires that the files and headings of the map exist.
    ///
    /// # Errors
    /// A message with the first one that does not exist.
    pub fn check(&self, sheets: &[Sheet]) -> Result<(), String> {
        let named = |name: &String| sheets.iter().any(|sheet| sheet.name == *name);
        if let Some(file) = self
            .kinds
            .keys()
            .chain(self.files.keys())
            .find(|name| !named(name))
        {
            return Err(format!("there is no file {file:?} among the files to convert"));
        }
        let has = |heading: &String| sheets.iter().any(|sheet| sheet.headings.contains(heading));
        let headings = self
            .columns
            .keys()
            .chain(self.files.values().flat_map(BTreeMap::keys));
        match headings.into_iter().find(|heading| !has(heading)) {
            Some(heading) => Err(format!(
                "no file has a column {heading:?}; copy the name from the first line of the file"
            )),
            None => Ok(()),
        }
    }

    fn target(&self, file: &str, heading: &str) -> Option<Result<ColumnTarget, String>> {
        let own = self.files.get(file).and_then(|columns| columns.get(heading));
        let text = own.or_else(|| self.columns.get(heading))?;
        Some(ColumnTarget::parse(text))
    }
}

/// The use of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ColumnTarget {
    /// A field of a record.
    Field(FileKind, &'static str),
    /// A custom field of leads or opportunities.
    Custom(FileKind, String),
    /// No use, for this reason.
    LeftOut(&'static str),
}

impl ColumnTarget {
    const fn field(&self) -> Option<columns::ColumnField> {
        match self {
            Self::Field(part, field) => Some((*part, *field)),
            _ => None,
        }
    }

    /// Parses an entry of a map: a field such as `lead.email`, a custom field such as `lead:ALIAS`, or nothing.
    fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Ok(Self::LeftOut("by the map"));
        }
        if let Some((part, field)) = columns::field(text) {
            return Ok(Self::Field(part, field));
        }
        let custom = text.split_once(':').filter(|(_, name)| !name.is_empty());
        match custom {
            Some(("lead", alias)) if !is_fixed(alias) => Ok(Self::Custom(FileKind::Lead, alias.to_owned())),
            // Any name: an opportunity's custom fields are in an object of their own.
            Some(("opportunity", name)) => Ok(Self::Custom(FileKind::Opportunity, name.to_owned())),
            _ => {
                let fields = FileKind::ALL
                    .iter()
                    .flat_map(|part| part.fields().map(move |field| format!("{}.{field}", part.name())));
                let fields = fields.collect::<Vec<_>>().join(", ");
                Err(format!(
                    "{text:?} is no field; use lead:ALIAS or opportunity:NAME for a custom field, an empty text to leave the column out, or one of {fields}"
                ))
            }
        }
    }

    /// The text of a map.
    fn written(&self) -> String {
        match self {
            Self::Field(part, field) => format!("{}.{field}", part.name()),
            Self::Custom(part, name) => format!("{}:{name}", part.name()),
            Self::LeftOut(_) => String::new(),
        }
    }

    fn shown(&self) -> String {
        match self {
            Self::Field(..) => self.written(),
            Self::Custom(part, name) => format!("{} custom field {name}", part.name()),
            Self::LeftOut(reason) => format!("left out: {reason}"),
        }
    }
}

/// Whether a lead has a field of this name, which no custom field can have.
fn is_fixed(alias: &str) -> bool {
    let lead = LeadId::new(1).zip(Timestamp::parse("1970-01-01T00:00:00Z"));
    let lead = lead.map_or(Value::Null, |(id, date)| json!(Lead::new(id, date)));
    lead.get(alias).is_some()
        || DERIVED_FIELDS.contains(&alias)
        || [WHATSAPP, "utmTags", "kind"].contains(&alias)
}

/// A column with its use.
#[derive(Debug)]
pub struct MappedColumn {
    /// The use.
    pub target: ColumnTarget,
    filled: usize,
    /// The style of its amounts.
    pub decimal: DecimalMark,
    /// The order of its dates.
    pub dates: DateOrder,
    /// Type, as shown.
    shown_type: String,
}

/// A file with its mapping.
#[derive(Debug)]
pub struct MappedFile {
    /// The rows.
    pub sheet: Sheet,
    /// The product that wrote it.
    pub product: Product,
    /// The kind of which every row is one.
    pub main: FileKind,
    /// In the order of the file.
    pub columns: Vec<MappedColumn>,
}

impl MappedFile {
    /// Maps each column of a file to a field, by the map, else by its heading, with the style of its amounts and dates.
    ///
    /// # Errors
    /// A message, if the map names an unknown field.
    pub fn new(sheet: Sheet, product: Product, map: &MapFile) -> Result<Self, String> {
        let main = map.kinds.get(&sheet.name).copied();
        let main = main.unwrap_or_else(|| columns::main_part(product, &sheet.headings));
        // A guess does not repeat a field, unless several columns may fill it.
        let headings = sheet.headings.iter();
        let mapped = headings.filter_map(|heading| map.target(&sheet.name, heading)?.ok()?.field());
        let mut used: BTreeSet<_> = mapped.collect();
        let mut table = Self {
            main,
            product,
            columns: Vec::new(),
            sheet,
        };
        for (at, heading) in table.sheet.headings.iter().enumerate() {
            let cells = || {
                table
                    .sheet
                    .rows
                    .iter()
                    .map(move |row| row.cells[at].as_str())
                    .filter(|cell| !is_absent(cell))
            };
            let target = match map.target(&table.sheet.name, heading) {
                Some(target) => target?,
                None if cells().next().is_none() => ColumnTarget::LeftOut("empty"),
                None => table.guessed(product, heading, &used),
            };
            used.extend(target.field());
            let (decimal, dates) = (
                map.decimal.or_else(|| DecimalMark::proven(cells())),
                map.dates.or_else(|| DateOrder::proven(cells())),
            );
            let assumed = if table.sheet.separator == b';' {
                DecimalMark::Comma
            } else {
                DecimalMark::Point
            };
            table.columns.push(MappedColumn {
                filled: cells().count(),
                shown_type: shown_type(&target, decimal, assumed, dates, &cells),
                decimal: decimal.unwrap_or(assumed),
                dates: dates.unwrap_or(DateOrder::Dmy),
                target,
            });
        }
        Ok(table)
    }

    fn guessed(
        &self,
        product: Product,
        heading: &str,
        used: &BTreeSet<columns::ColumnField>,
    ) -> ColumnTarget {
        if let Some((part, field)) = columns::guessed(product, self.main, heading, &self.sheet.headings)
            && (SHARED.contains(&field) || !used.contains(&(part, field)))
        {
            return ColumnTarget::Field(part, field);
        }
        let (part, name) = columns::of_part(product, self.main, heading);
        match part {
            FileKind::Company => ColumnTarget::LeftOut("a company has no custom fields"),
            FileKind::Opportunity => ColumnTarget::Custom(part, name.to_owned()),
            FileKind::Lead => {
                let alias = columns::plain(name).replace(' ', "_");
                let is_free = !alias.is_empty() && !is_fixed(&alias);
                ColumnTarget::Custom(part, if is_free { alias } else { format!("field_{alias}") })
            }
        }
    }

    /// Whether a column fills a field.
    pub fn has(&self, part: FileKind, field: &str) -> bool {
        let wanted = Some((part, field));
        self.columns.iter().any(|column| column.target.field() == wanted)
    }

    /// The values of a field in a row, without absent ones, each with its column.
    pub fn values<'a>(
        &'a self,
        row: &'a SheetRow,
        part: FileKind,
        field: &str,
    ) -> impl Iterator<Item = (&'a MappedColumn, &'a str)> {
        let cells = self.columns.iter().zip(&row.cells);
        let wanted = Some((part, field));
        let filled = cells.filter(move |(column, cell)| column.target.field() == wanted && !is_absent(cell));
        filled.map(|(column, cell)| (column, cell.as_str()))
    }

    /// The custom fields of a row.
    pub fn custom<'a>(
        &'a self,
        row: &'a SheetRow,
        part: FileKind,
    ) -> impl Iterator<Item = (&'a str, &'a str)> {
        let cells = self.columns.iter().zip(&row.cells);
        cells
            .filter(|(_, cell)| !is_absent(cell))
            .filter_map(move |(column, cell)| match &column.target {
                ColumnTarget::Custom(of, name) if *of == part => Some((name.as_str(), cell.as_str())),
                _ => None,
            })
    }

    /// The mapping as a table of text.
    pub fn shown(&self) -> String {
        let separator = match self.sheet.separator {
            b'\t' => "tabs".to_owned(),
            other => char::from(other).to_string(),
        };
        let mut text = format!(
            "{}: {} rows of kind {}, {}, separated by {separator}\n",
            self.sheet.name,
            self.sheet.rows.len() + self.sheet.faults.len(),
            self.main.name(),
            self.sheet.encoding
        );
        let width = |names: &mut dyn Iterator<Item = usize>| names.max().unwrap_or_default().min(48);
        let first = width(&mut self.sheet.headings.iter().map(|name| name.chars().count()));
        let second = width(
            &mut self
                .columns
                .iter()
                .map(|column| column.target.shown().chars().count()),
        );
        let _ = writeln!(
            text,
            "  {:first$}  {:second$}  {:>7}  type",
            "column", "field", "filled"
        );
        for (heading, column) in self.sheet.headings.iter().zip(&self.columns) {
            let heading = heading.escape_debug().to_string().replace("\\'", "'");
            let _ = writeln!(
                text,
                "  {heading:first$}  {:second$}  {:>7}  {}",
                column.target.shown(),
                column.filled,
                column.shown_type
            );
        }
        text
    }

    /// The mapping as the sections of a map.
    pub fn written(&self) -> (String, String) {
        let quoted = |text: &str| Value::from(text).to_string();
        let name = quoted(&self.sheet.name);
        let mut columns = format!("\n[files.{name}]\n");
        for (heading, column) in self.sheet.headings.iter().zip(&self.columns) {
            let _ = writeln!(
                columns,
                "{} = {}",
                quoted(heading),
                quoted(&column.target.written())
            );
        }
        (format!("{name} = \"{}\"\n", self.main.name()), columns)
    }
}

/// The type of a column, without an example.
fn shown_type<'a, I: Iterator<Item = &'a str>>(
    target: &ColumnTarget,
    decimal: Option<DecimalMark>,
    assumed: DecimalMark,
    dates: Option<DateOrder>,
    cells: &dyn Fn() -> I,
) -> String {
    let ColumnTarget::Field(_, field) = target else {
        return if matches!(target, ColumnTarget::LeftOut(_)) {
            String::new()
        } else {
            "text".to_owned()
        };
    };
    if AMOUNTS.contains(field) {
        let marked = cells().any(|cell| cell.contains(['.', ',']));
        return match decimal {
            Some(decimal) => format!("amount, decimal {decimal}"),
            None if marked => format!("amount, decimal {assumed} assumed (see --decimal)"),
            None => "amount".to_owned(),
        };
    }
    if DATES.contains(field) {
        return match dates {
            _ if !cells().any(DateOrder::matters) => "date y-m-d".to_owned(),
            Some(dates) => format!("date {dates}"),
            None => format!("date {} assumed (see --dates)", DateOrder::Dmy),
        };
    }
    match *field {
        "id" if cells().all(|cell| super::ids::whole(super::contact::first_id(cell).0).is_some()) => {
            "whole number".to_owned()
        }
        "id" => "text, ids are assigned".to_owned(),
        "phone" | "mobile" | "chatapp" | "companyphone" => "telephone number".to_owned(),
        "email" | "companyemail" => "e-mail address".to_owned(),
        "createTime" | "closeTime" => "time of day".to_owned(),
        _ => "text".to_owned(),
    }
}
